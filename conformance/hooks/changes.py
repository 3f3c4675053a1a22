"""What must not change when a log changes: its order, what is lost, what arrives twice, its end.

Each check correlates one conversation several times over, so conversations must be small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from conformance.choices import Choices
from conformance.hooks import trees
from conformance.hooks.checks import (
    Correlate,
    Finding,
    every_line_once,
    judged,
    no_false_link,
    nothing_across_turns,
    orphans_are_listed,
)
from conformance.hooks.conversations import some_late
from conformance.hooks.evidence import Reading, Seen, admits, read
from conformance.hooks.happenings import Conversation, Happening
from conformance.hooks.payloads import BY_NAME
from conformance.hooks.trees import Tree

Check = Callable[[Correlate, Conversation, Choices], Iterable[Finding]]


# Order


def another_order(told: Conversation, choices: Choices) -> Conversation:
    """Return the same events in another order that could have been the true one as well.

    What is of one call keeps its order, and so do two events that could be each other's start and
    end by what they show, or that could be a call's end and something of that call. Nothing moves
    across the beginning or the end of its turn or session, and of two deliveries of one event the
    first stays the first.
    """
    apart = _Apart(told)
    order = list(told.arrived)
    for _ in range(4 * len(order)):
        place = choices.below(max(len(order) - 1, 1))
        if place + 1 < len(order) and apart.may_swap(order[place], order[place + 1]):
            order[place], order[place + 1] = order[place + 1], order[place]
    return told.reordered(order)


class _Apart:
    """Whether two events that arrived one after the other might have come the other way round."""

    def __init__(self, told: Conversation) -> None:
        reading = read(told.lines(), told.agent, BY_NAME[told.dialect])
        self._dialect = reading.dialect
        self._seen = dict(
            zip((each.key for each in told.arrived), _each(reading, told), strict=True)
        )
        pres = [seen for seen in self._seen.values() if seen.part == "pre"]
        self._calls = {
            key: frozenset(pre.line for pre in pres if self._admitted(seen, pre))
            for key, seen in self._seen.items()
        }

    def may_swap(self, first: Happening, second: Happening) -> bool:
        """Whether nothing holds the two in their order."""
        if first.call is not None and first.call == second.call:
            return False
        one, other = self._seen[first.key], self._seen[second.key]
        if one.turn[0] != other.turn[0]:
            return True
        if {first.part, second.part} & {"boundary", "prompt"}:
            return False
        if self._admitted(other, one) or self._admitted(one, other):
            return False
        if _agent(first) is not None and _agent(first) == _agent(second):
            return False
        if one.part == other.part == "pre":
            return dict(first.payload) != dict(second.payload)
        closes = {"post", "failure"} & {one.part, other.part}
        return not (closes and self._calls[first.key] & self._calls[second.key]) or (
            {one.part, other.part} <= {"post", "failure"}
        )

    def _admitted(self, end: Seen, start: Seen) -> bool:
        return admits(self._dialect, end, start) is not None


def _agent(happening: Happening) -> Any:
    return happening.payload.get("agent_id")


def _each(reading: Reading, told: Conversation) -> Iterator[Seen]:
    by_line = {event.line: event for event in reading.events}
    for number in range(1, len(told.arrived) + 1):
        yield by_line[number]


def order_changes_nothing(
    correlate: Correlate, told: Conversation, choices: Choices
) -> Iterator[Finding]:
    """A log in another order that could have been the true one gives the same finished tree."""
    other = another_order(told, choices)
    trees_of_both = [_by_key(correlate(each.lines(), each.agent), each) for each in (told, other)]
    if trees_of_both[0] != trees_of_both[1]:
        links = [
            {(_key(each, end), _key(each, start)) for end, start in trees.links(tree)}
            for each, tree in (
                (told, correlate(told.lines(), told.agent)),
                (other, correlate(other.lines(), other.agent)),
            )
        ]
        line_of = {each.key: number for number, each in enumerate(told.arrived, start=1)}
        lines = sorted(line_of[key] for pair in links[0] ^ links[1] for key in pair)
        moved = [line_of[each.key] for each in other.arrived]
        yield Finding("order-changes-nothing", f"another tree in the order {moved}", tuple(lines))


def _key(told: Conversation, number: int) -> int:
    return told.arrived[number - 1].key


def _by_key(tree: Tree, told: Conversation) -> Any:
    names = {number: each.key for number, each in enumerate(told.arrived, start=1)}
    return trees.renamed(tree, names)


# Loss


def losing_one_mispairs_nothing(
    correlate: Correlate, told: Conversation, choices: Choices
) -> Iterator[Finding]:
    """Whatever single event is lost, no false link comes of it that no lost twin explains."""
    losable = [each for each in told.arrived if each.part not in ("boundary", "prompt")]
    for lost in choices.shuffled(losable)[:4]:
        left = told.without([lost.key])
        for finding in no_false_link(judged(correlate, left)):
            was = told.arrived.index(lost) + 1
            why = f"{finding.why}, once line {was} is lost (numbered without it)"
            yield Finding("losing-one-mispairs-nothing", why, finding.lines)


# Second deliveries


def a_second_delivery_is_one_call(
    correlate: Correlate, told: Conversation, choices: Choices
) -> Iterator[Finding]:
    """A start that arrives twice, where that is known to happen, is one call and ends once."""
    dialect = BY_NAME[told.dialect]
    tools = {dialect.tools[verb] for verb in dialect.redelivers}
    twice = {each.again for each in told.arrived}
    places = [
        place
        for place, each in enumerate(told.arrived)
        if each.part == "pre"
        and each.payload.get("tool_name") in tools
        and each.again is None
        and each.key not in twice
    ]
    if not places:
        return
    place = choices.among(places)
    key = 1 + max(each.key for each in (*told.arrived, *told.lost))
    copy = told.arrived[place]._replace(key=key, again=told.arrived[place].key)
    arrived = (*told.arrived[: place + 1], copy, *told.arrived[place + 1 :])
    doubled = told.reordered(arrived)
    before = correlate(told.lines(), told.agent)
    after = correlate(doubled.lines(), doubled.agent)
    lines = (place + 1, place + 2)
    links = {(_key(doubled, end), _key(doubled, start)) for end, start in trees.links(after)}
    if links != {(_key(told, end), _key(told, start)) for end, start in trees.links(before)}:
        yield Finding("a-second-delivery-is-one-call", "other links than without it", lines)
    if _count(after, "call") != _count(before, "call"):
        yield Finding("a-second-delivery-is-one-call", "counted as another call", lines)


def _count(tree: Tree, kind: str) -> int:
    return sum(node["kind"] == kind for node, *_ in trees.nodes(tree))


# What is no part of the conversation

_BAD = (
    b"",
    b"{",
    b"[1, 2]",
    b"\xff\xfe",
    b'{"observed_at": "2026-01-01T00:00:00.000000Z", "event": "x", "fault": "empty_payload"}',
    b'{"payload": {}}',
)
_UNKNOWN: Mapping[str, Mapping[str, str]] = {
    "conversation_id": {"hook_event_name": "afterSomethingNew"},
    "session_id": {"hook_event_name": "SomethingNew"},
    "sessionId": {},
}


def bad_lines_are_named(
    correlate: Correlate, told: Conversation, choices: Choices
) -> Iterator[Finding]:
    """A line that is no event is named as a bad one, and everything else is as without it."""
    lines = told.lines()
    for _ in range(choices.between(1, 3)):
        lines.insert(choices.below(len(lines) + 1), choices.among(_BAD))
    places = [number for number, each in enumerate(lines, start=1) if each not in _BAD]
    bad = [number for number, each in enumerate(lines, start=1) if each in _BAD]
    tree = correlate(lines, told.agent)
    if sorted(each["line"] for each in tree["bad_lines"]) != bad:
        yield Finding("bad-lines-are-named", "other bad lines are named", tuple(bad))
    names = {place: each.key for place, each in zip(places, told.arrived, strict=True)}
    without = {**tree, "bad_lines": []}
    if trees.renamed(without, names) != _by_key(correlate(told.lines(), told.agent), told):
        yield Finding("bad-lines-are-named", "another tree than without them", tuple(bad))


def the_unknown_is_kept(
    correlate: Correlate, told: Conversation, choices: Choices
) -> Iterator[Finding]:
    """An event that nobody knows stands in the tree, unknown fields too; no link changes."""
    place = choices.below(len(told.arrived))
    model = told.arrived[place]
    key = 1 + max(each.key for each in (*told.arrived, *told.lost))
    kept = ("conversation_id", "generation_id", "session_id", "sessionId", "prompt_id", "cwd")
    payload = {field: model.payload[field] for field in kept if field in model.payload}
    named = next(names for field, names in _UNKNOWN.items() if field in payload)
    payload |= {**named, "something_new": {"deep": [1]}}
    stranger = model._replace(
        key=key, part="remark", layer="none", call=None, event="somethingNew", payload=payload
    )
    arrived = [each._replace(payload={**each.payload, "something_new": 1}) for each in told.arrived]
    arrived.insert(place + 1, stranger)
    more = told.reordered(arrived)
    before, after = correlate(told.lines(), told.agent), correlate(more.lines(), more.agent)
    if {(_key(more, end), _key(more, start)) for end, start in trees.links(after)} != {
        (_key(told, end), _key(told, start)) for end, start in trees.links(before)
    }:
        yield Finding("the-unknown-is-kept", "other links than without it", (place + 2,))
    if trees.lines(after).count(place + 2) != 1 or after["bad_lines"]:
        yield Finding("the-unknown-is-kept", "it does not stand in the tree", (place + 2,))


# Streaming


def streaming_only_takes_back(
    correlate: Correlate, told: Conversation, choices: Choices
) -> Iterator[Finding]:
    """While a log grows, a link stays what it is or, if only evidence made it, becomes an orphan.

    A link by a unique id is final. A link by evidence may be taken back, and never comes again
    as another one. Once the next prompt of its session or the session's end has arrived, nothing
    of a turn changes.
    """
    del choices
    lines = told.lines()
    reading = read(lines, told.agent, BY_NAME[told.dialect])
    unique = reading.dialect.ids == "unique"
    turns = {event.line: event.turn for event in reading.events}
    by_id = {
        event.line
        for event in reading.events
        if event.layer == "subagent" or (unique and event.part in ("post", "failure"))
    }
    closed_turns: set[object] = set()
    first: dict[int, int] = {}
    before: dict[int, int] = {}
    for length in range(1, len(lines) + 1):
        links = dict(trees.links(correlate(lines[:length], told.agent)))
        for end in sorted(before.keys() | links.keys()):
            was, now = before.get(end), links.get(end)
            if now is not None and first.setdefault(end, now) != now:
                why = f"linked to another start when line {length} came"
                yield Finding("streaming-only-takes-back", why, (end, first[end], now))
            if was is not None and now is None and end in by_id:
                why = f"a final link was taken back when line {length} came"
                yield Finding("streaming-only-takes-back", why, (end, was))
            if was != now and turns[end] in closed_turns and end < length:
                why = f"a closed turn changed when line {length} came"
                yield Finding("streaming-only-takes-back", why, (end,))
        before = links
        closed_turns |= _closed_by(told.arrived[length - 1], turns, length)


def what_is_late_changes_nothing(
    correlate: Correlate, told: Conversation, choices: Choices
) -> Iterator[Finding]:
    """What arrives when its turn is over makes no false link, and what was settled stays."""
    if not BY_NAME[told.dialect].native_turns:
        return
    for _ in range(_LATE_TRIES):
        late = some_late(told, choices)
        if late.late:
            yield from _judged_late(correlate, late, choices)


_LATE_TRIES = 4


def _judged_late(correlate: Correlate, late: Conversation, choices: Choices) -> Iterator[Finding]:
    arrived = {each.key: number for number, each in enumerate(late.arrived, start=1)}
    what = f" (late are {sorted(arrived[key] for key in late.late & arrived.keys())})"
    tree = judged(correlate, late)
    for check in (no_false_link, every_line_once, orphans_are_listed, nothing_across_turns):
        for finding in check(tree):
            yield Finding("what-is-late-changes-nothing", finding.why + what, finding.lines)
    for finding in streaming_only_takes_back(correlate, late, choices):
        yield Finding("what-is-late-changes-nothing", finding.why + what, finding.lines)


def _closed_by(
    happening: Happening, turns: Mapping[int, tuple[str, Any]], line: int
) -> set[tuple[str, Any]]:
    """Return the turns that an event closes: those of its session that came before it.

    What names no turn where it should is of none, and no prompt closes that.
    """
    last = happening.part == "boundary" and happening.event in ("sessionEnd", "SessionEnd")
    if happening.part != "prompt" and not last:
        return set()
    session, turn = turns[line]
    return {
        turns[number]
        for number in range(1, line)
        if turns[number][0] == session and (last or turns[number][1] not in (turn, None))
    }


OF_SEVERAL_TREES: Mapping[str, Check] = {
    "order-changes-nothing": order_changes_nothing,
    "losing-one-mispairs-nothing": losing_one_mispairs_nothing,
    "a-second-delivery-is-one-call": a_second_delivery_is_one_call,
    "bad-lines-are-named": bad_lines_are_named,
    "the-unknown-is-kept": the_unknown_is_kept,
    "streaming-only-takes-back": streaming_only_takes_back,
    "what-is-late-changes-nothing": what_is_late_changes_nothing,
}
"""The checks that correlate one conversation several times."""


def same_tree(
    one: Correlate, other: Correlate, told: Conversation, name: str = "batch-equals-incremental"
) -> Iterator[Finding]:
    """Two ways to correlate give the same tree."""
    lines = told.lines()
    first, second = one(lines, told.agent), other(lines, told.agent)
    if _by_key(first, told) != _by_key(second, told):
        differing = trees.links(first) ^ trees.links(second)
        yield Finding(
            name, "the trees differ", tuple(sorted({n for pair in differing for n in pair}))
        )
