"""What must hold of every correlator, each check under a name of its own.

A check is given something that correlates (the lines of a log, and whose they are, to a tree)
and a conversation whose truth is known, and returns what it found wrong. Nothing here knows how
links are made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from conformance.hooks import trees
from conformance.hooks.evidence import Reading, Seen, admits, read
from conformance.hooks.happenings import Conversation, Part, line
from conformance.hooks.oracle import Link, decided_by
from conformance.hooks.payloads import BY_NAME
from conformance.hooks.trees import Tree

Correlate = Callable[[Sequence[bytes], str], Tree]
"""From a log's lines and the agent's name to the tree that is printed."""


class Finding(NamedTuple):
    """Something that does not hold: which check says so, and of which lines."""

    check: str
    why: str
    lines: tuple[int, ...] = ()


class Judged(NamedTuple):
    """A conversation, its log read by the rules of evidence, and the tree to judge."""

    told: Conversation
    reading: Reading
    links: frozenset[Link]
    too_large: frozenset[int]
    tree: Tree


def judged(correlate: Correlate, told: Conversation) -> Judged:
    """Return a conversation with its tree and with what the evidence decides."""
    lines = told.lines()
    reading = read(lines, told.agent, BY_NAME[told.dialect])
    links, too_large = decided_by(reading)
    return Judged(told, reading, links, too_large, correlate(lines, told.agent))


# Links


def no_false_link(given: Judged) -> Iterator[Finding]:
    """No two events of different calls are linked, unless a twin was lost that explains it.

    Truth and links make chains: the end's true start, which is linked to another end, whose true
    start ...; and the start's true end, which is linked to another start, whose true end ... A
    false link is excused exactly if evidence doesn't reject it and one of the two chains comes to
    a lost event over links that evidence doesn't reject either: nothing in the log tells the
    conversation that happened from one in which these links are true.
    """
    calls = {number: each.call for number, each in enumerate(given.told.arrived, start=1)}
    false = [
        (end, start)
        for end, start in sorted(trees.links(given.tree))
        if calls[end] is None or calls[end] != calls[start]
    ]
    if false:
        twins = _Twins(given.told)
        for end, start in false:
            if not twins.excuse(end, start):
                yield Finding("no-false-link", "two calls' events are linked", (end, start))
    for subagent, call in sorted(trees.spawns(given.tree)):
        if calls[subagent] != calls[call]:
            why = "a subagent hangs under a call that did not start it"
            yield Finding("no-false-link", why, (subagent, call))


_ENDS_ALIKE: Mapping[Part, frozenset[Part]] = {
    "post": frozenset({"post", "failure"}),
    "failure": frozenset({"post", "failure"}),
}
_STARTS_OF: Mapping[Part, tuple[Part, ...]] = {
    "after": ("before", "pre"),
    "subagent-stop": ("subagent-start",),
}
_STARTS: frozenset[Part] = frozenset({"pre", "before", "subagent-start"})


class _Twins:
    """Which events of a conversation evidence can't tell apart, those that were lost included."""

    def __init__(self, told: Conversation) -> None:
        # In the order in which it happened, so that turns without a name can be counted.
        everything = sorted([*told.arrived, *told.lost], key=lambda each: each.key)
        reading = read(
            [line(each, bare=told.bare) for each in everything],
            told.agent,
            BY_NAME[told.dialect],
        )
        self._dialect = reading.dialect
        self._seen = {event.line: event for event in reading.events}
        self._happened = dict(enumerate(everything, start=1))
        lost = {each.key for each in told.lost} | told.late
        self._lost = frozenset(
            number for number, happening in self._happened.items() if happening.key in lost
        )
        numbers = {happening.key: number for number, happening in self._happened.items()}
        self._number = {
            place: numbers[each.key] for place, each in enumerate(told.arrived, start=1)
        }
        self._mates: dict[int | None, list[int]] = {}
        for number, happening in self._happened.items():
            self._mates.setdefault(happening.call, []).append(number)
        turns: dict[object, list[int]] = {}
        for number, event in self._seen.items():
            turns.setdefault(self._turn(event), []).append(number)
        self._turns = turns

    @staticmethod
    def _turn(event: Seen) -> object:
        return event.turn[0] if event.layer == "subagent" else event.turn

    def excuse(self, end: int, start: int) -> bool:
        """Whether a chain of events that nothing tells apart leads to a lost one."""
        end, start = self._number[end], self._number[start]
        if not self._admitted(end, start):
            return False
        ends = _ENDS_ALIKE.get(self._happened[end].part, frozenset({self._happened[end].part}))
        return self._lost_before(end, ends) or self._lost_behind(start, ends)

    def _lost_before(self, end: int, ends: frozenset[Part]) -> bool:
        """Whether a true start is lost: the end's own, or that of an end that has taken it."""
        reached, waiting = {end}, [end]
        while waiting:
            end = waiting.pop()
            start = self._start_of(end)
            if start is None or start in self._lost or not self._admitted(end, start):
                # A start that leaves out what its end is told by is as good as lost.
                return True
            for taker in self._nearby(start, ends):
                if taker not in reached and self._admitted(taker, start):
                    reached.add(taker)
                    waiting.append(taker)
        return False

    def _lost_behind(self, start: int, ends: frozenset[Part]) -> bool:
        """Whether a true end is lost: the start's own, or that of a start that it has taken."""
        reached, waiting = {start}, [start]
        while waiting:
            start = waiting.pop()
            for end in self._ends_of(start, ends):
                if end in self._lost or not self._admitted(end, start):
                    # An end that leaves out what names its start is as good as lost.
                    return True
                for taken in self._nearby(end, _STARTS):
                    if taken not in reached and self._admitted(end, taken):
                        reached.add(taken)
                        waiting.append(taken)
        return False

    def _admitted(self, end: int, start: int) -> bool:
        return admits(self._dialect, self._seen[end], self._seen[start]) is not None

    def _start_of(self, end: int) -> int | None:
        """Return an end's true start: what it ends, or the call that it tells of."""
        wanted = _STARTS_OF.get(self._happened[end].part, ("pre",))
        mates = self._mates[self._happened[end].call]
        for part in wanted:
            for mate in mates:
                if self._happened[mate].part == part and self._happened[mate].again is None:
                    return mate
        return None

    def _ends_of(self, start: int, ends: frozenset[Part]) -> list[int]:
        return [
            mate
            for mate in self._mates[self._happened[start].call]
            if self._happened[mate].part in ends
        ]

    def _nearby(self, number: int, parts: frozenset[Part]) -> list[int]:
        """Return the events of its turn that did arrive and are of these parts."""
        return [
            other
            for other in self._turns[self._turn(self._seen[number])]
            if other not in self._lost and self._happened[other].part in parts
        ]


def every_decided_link(given: Judged) -> Iterator[Finding]:
    """Each link that stands in every best assignment is made."""
    made = trees.links(given.tree)
    for link in sorted(given.links):
        if (link.end, link.start) not in made:
            why = f"a decided link is missing: {link.role}"
            yield Finding("every-decided-link", why, (link.end, link.start))


def no_guess(given: Judged) -> Iterator[Finding]:
    """Nothing is linked that another assignment explains just as well."""
    decided = {(link.end, link.start) for link in given.links}
    # How much of a call a request for permission repeats differs: no rule for it is fixed.
    open_to_rule = {event.line for event in given.reading.events if event.part == "permission"}
    open_to_rule |= given.too_large
    for end, start in sorted(trees.links(given.tree)):
        if end not in open_to_rule and (end, start) not in decided:
            yield Finding("no-guess", "linked, but not decided", (end, start))


def nothing_across_turns(given: Judged) -> Iterator[Finding]:
    """What is linked is of one session and, but for subagents, of one turn."""
    seen = {event.line: event for event in given.reading.events}
    for end, start in sorted(trees.links(given.tree)):
        one, other = seen[end], seen[start]
        if one.turn[0] != other.turn[0] or (one.layer != "subagent" and one.turn != other.turn):
            yield Finding("nothing-across-turns", "a link leaves its turn", (end, start))


def failure_clears(given: Judged) -> Iterator[Finding]:
    """What waited under a call that failed is not ended by anything that comes later."""
    parts = {event.line: event.part for event in given.reading.events}
    made = trees.links(given.tree)
    failed = {start: end for end, start in made if parts[end] == "failure"}
    owner = {end: start for end, start in made if parts[end] == "before"}
    for after, before in sorted(made):
        if parts[after] == "after" and parts[before] == "before":
            failure = failed.get(owner.get(before, 0))
            if failure is not None and after > failure:
                yield Finding("failure-clears", "ended after its call failed", (after, before))


# The tree as a whole


def every_line_once(given: Judged) -> Iterator[Finding]:
    """Each line of the log stands in the tree once, or among the bad lines."""
    counted = Counter(trees.lines(given.tree))
    for number in range(1, len(given.told.arrived) + 1):
        if counted[number] != 1:
            yield Finding("every-line-once", f"stands {counted[number]} times", (number,))
    for number in counted.keys() - set(range(1, len(given.told.arrived) + 1)):
        yield Finding("every-line-once", "no line of the log", (number,))


def orphans_are_listed(given: Judged) -> Iterator[Finding]:
    """An end without a start is listed as an orphan once, and has a node; nothing else is."""
    listed = Counter(trees.orphans(given.tree))
    standing = {node["event"] for node, *_ in trees.nodes(given.tree)}
    linked = {end for end, _ in trees.links(given.tree)}
    ends = {
        event.line
        for event in given.reading.events
        if event.part in ("post", "failure", "before", "after", "file", "permission")
    }
    for number in sorted(ends - linked):
        if listed[number] != 1:
            yield Finding("orphans-are-listed", f"listed {listed[number]} times", (number,))
        if number not in standing:
            yield Finding("orphans-are-listed", "stands nowhere", (number,))
    for number in sorted(listed.keys() & linked):
        yield Finding("orphans-are-listed", "an orphan that is linked", (number,))


def each_in_its_turn(given: Judged) -> Iterator[Finding]:
    """The events of one turn stand in one turn of the tree, those of two turns in two."""
    truly: dict[object, object] = {}
    told: dict[object, object] = {}
    places = {
        node["event"]: (session, turn)
        for node, session, turn, _ in trees.nodes(given.tree)
        if node["event"] is not None
    }
    turns = {event.line: event.turn for event in given.reading.events}
    for number, happening in enumerate(given.told.arrived, start=1):
        if happening.part == "boundary" or happening.layer == "subagent" or number not in places:
            continue
        if turns[number][1] is None:
            # It names no turn where it should: it is of none.
            continue
        place, true = places[number], (turns[number][0], happening.turn)
        if place[1] is None:
            yield Finding("each-in-its-turn", "stands in no turn", (number,))
        elif truly.setdefault(place, true) != true or told.setdefault(true, place) != place:
            yield Finding("each-in-its-turn", "stands in another turn", (number,))


# Waves


def waves_are_what_overlaps(given: Judged) -> Iterator[Finding]:
    """Calls side by side are one wave if their intervals overlap, directly or over others."""
    for siblings, waves in _calls_side_by_side(given):
        drawn = {frozenset(node["event"] for node in wave["children"]) for wave in waves}
        for wave in sorted(map(sorted, drawn ^ _overlapping(siblings))):
            yield Finding("waves-are-what-overlaps", "not one wave, or not drawn", tuple(wave))


def a_wave_lasts_from_first_to_last(given: Judged) -> Iterator[Finding]:
    """A wave's time is its last end less its first start, whatever its calls add up to."""
    for siblings, waves in _calls_side_by_side(given):
        for wave in waves:
            members = [node["event"] for node in wave["children"]]
            spans = [siblings[member] for member in members if member in siblings]
            if len(spans) != len(members) or not spans:
                continue
            wall = max(end for _, end in spans) - min(start for start, _ in spans)
            if abs((wave["duration_ms"] or 0) - wall) > _ROUNDED:
                why = f"{wave['duration_ms']} ms instead of {wall}"
                yield Finding("a-wave-lasts-from-first-to-last", why, tuple(members))


_ROUNDED = 0.5
"""So much of a millisecond may be lost between two ways to count."""

_Spans = dict[int, tuple[int, int]]


def _calls_side_by_side(given: Judged) -> Iterator[tuple[_Spans, list[Mapping[str, Any]]]]:
    """Yield the ended calls that stand side by side, with their times, and the waves there."""
    ticks = {number: each.tick for number, each in enumerate(given.told.arrived, start=1)}
    parts = {event.line: event.part for event in given.reading.events}
    ended = {
        start: end for end, start in trees.links(given.tree) if parts[end] in ("post", "failure")
    }
    side_by_side: dict[object, tuple[_Spans, list[Mapping[str, Any]]]] = {}
    for node, session, turn, above in trees.nodes(given.tree):
        number = node["event"]
        place = (session, turn, id(above))
        spans, waves = side_by_side.setdefault(place, ({}, []))
        if node["kind"] == "wave":
            waves.append(node)
        elif number in ended:
            spans[number] = (ticks[number], ticks[ended[number]])
    yield from side_by_side.values()


def _overlapping(spans: _Spans) -> set[frozenset[int]]:
    """Return the groups of two and more whose intervals overlap; to touch is not to overlap."""
    groups: list[set[int]] = []
    reach = -1
    for number in sorted(spans, key=lambda each: spans[each]):
        start, end = spans[number]
        if start < reach:
            groups[-1].add(number)
        else:
            groups.append({number})
        reach = max(reach, end)
    return {frozenset(group) for group in groups if len(group) > 1}


OF_ONE_TREE: Mapping[str, Callable[[Judged], Iterable[Finding]]] = {
    "no-false-link": no_false_link,
    "every-decided-link": every_decided_link,
    "no-guess": no_guess,
    "nothing-across-turns": nothing_across_turns,
    "failure-clears": failure_clears,
    "every-line-once": every_line_once,
    "orphans-are-listed": orphans_are_listed,
    "each-in-its-turn": each_in_its_turn,
    "waves-are-what-overlaps": waves_are_what_overlaps,
    "a-wave-lasts-from-first-to-last": a_wave_lasts_from_first_to_last,
}
"""The checks that look at one tree of one conversation."""
