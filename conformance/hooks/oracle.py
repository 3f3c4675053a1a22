"""Which links the evidence decides: found by listing every consistent assignment there is.

No algorithm for matching stands here: all ways to give ends to starts are written out, those of
the highest total are kept (and of those the ones that explain most ends), and a link is decided
if it stands in all that are left. That is slow, so groups of events that evidence ties together
must be small; a group that is too large is reported, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from conformance.hooks.evidence import Reading, Role, Seen, admits, read

_MOST = 40_000
"""So many assignments of one group are listed at most."""


class Link(NamedTuple):
    """An end and what it is the end of, by line."""

    end: int
    start: int
    role: Role


class Decided(NamedTuple):
    """What the evidence decides; ``too_large`` are the ends in groups that were not listed."""

    links: frozenset[Link]
    too_large: frozenset[int]


def decided(lines: Iterable[bytes], agent: str) -> Decided:
    """Return the links that the evidence of a log decides."""
    return decided_by(read(lines, agent))


def decided_by(reading: Reading) -> Decided:
    """Return the links that the evidence of events decides, turn by turn and layer by layer."""
    turns: dict[object, list[Seen]] = {}
    for event in reading.events:
        turn = ("subagent", event.turn[0]) if event.layer == "subagent" else event.turn
        turns.setdefault(turn, []).append(event)
    links: set[Link] = set()
    too_large: set[int] = set()
    for events in turns.values():
        judged = _Turn(reading, events)
        links |= judged.links
        too_large |= judged.too_large
    return Decided(frozenset(links), frozenset(too_large))


class _Turn:
    """One turn, judged: calls first, then what hangs below them."""

    def __init__(self, reading: Reading, events: Sequence[Seen]) -> None:
        self.links: set[Link] = set()
        self.too_large: set[int] = set()
        self._dialect = reading.dialect
        self._pres = [event for event in events if event.part == "pre" and not event.again]
        ends = [event for event in events if event.part in ("post", "failure")]
        if self._dialect.ids == "unique":
            ended = self._at_once(ends, self._pres, "end")
        else:
            ended = self._judge(ends, self._pres, "end", lambda end, start: start.line < end.line)
        self._closed = {start: end for end, start in ended.items()}
        failed = {event.line for event in ends if event.part == "failure"}
        befores = [event for event in events if event.part == "before"]
        owned = self._judge(befores, self._pres, "before", self._open)
        afters = [event for event in events if event.part == "after"]

        def waits(after: Seen, before: Seen) -> bool:
            end = self._closed.get(owned.get(before.line, 0), 0)
            cleared = end in failed and after.line > end
            return before.line < after.line and not cleared

        self._judge(afters, befores, "after", waits)
        bare = [pre for pre in self._pres if pre.line not in owned.values()]
        alone = [
            after
            for after in afters
            if not any(
                waits(after, before) and admits(self._dialect, after, before) is not None
                for before in befores
            )
        ]
        self._failed = {start for start, end in self._closed.items() if end in failed}
        self._judge(alone, bare, "after", self._not_failed)
        for layer, reached in (("read", self._open), ("edit", self._not_failed)):
            files = [event for event in events if event.part == "file" and event.layer == layer]
            self._judge(files, self._pres, "file", reached)
        self._at_once(
            [event for event in events if event.part == "subagent-stop"],
            [event for event in events if event.part == "subagent-start"],
            "stop",
        )

    def _open(self, inner: Seen, call: Seen) -> bool:
        """Whether a call was begun and not yet ended when something inside it arrived."""
        end = self._closed.get(call.line)
        return call.line < inner.line and (end is None or inner.line < end)

    def _not_failed(self, inner: Seen, call: Seen) -> bool:
        """Whether a call had begun and not failed: what is done may be told after a success."""
        return call.line < inner.line and (call.line not in self._failed or self._open(inner, call))

    def _at_once(self, ends: Sequence[Seen], starts: Sequence[Seen], role: Role) -> dict[int, int]:
        """Give each end, as it comes, the one open start that has its id: that is final."""
        found: dict[int, int] = {}
        for end in ends:
            fitting = [
                start.line
                for start in starts
                if start.line < end.line
                and start.line not in found.values()
                and admits(self._dialect, end, start) is not None
            ]
            if len(fitting) == 1:
                found[end.line] = fitting[0]
        self.links |= {Link(end, start, role) for end, start in found.items()}
        return found

    def _judge(
        self,
        ends: Sequence[Seen],
        starts: Sequence[Seen],
        role: Role,
        possible: _Possible,
    ) -> dict[int, int]:
        """Decide one layer; return the start of each end that has one."""
        options: dict[int, dict[int, int]] = {}
        for end in ends:
            scores: dict[int, int] = {}
            for start in starts:
                score = admits(self._dialect, end, start) if possible(end, start) else None
                if score is not None:
                    scores[start.line] = score
            if scores:
                options[end.line] = scores
        found: dict[int, int] = {}
        for group in _groups(options):
            standing = _standing(group)
            if standing is None:
                self.too_large |= group.keys()
            else:
                found |= standing
        self.links |= {Link(end, start, role) for end, start in found.items()}
        return found


class _Possible(Protocol):
    """Whether a start can be an end's at all, by what arrived when."""

    def __call__(self, end: Seen, start: Seen, /) -> bool: ...


_Options = Mapping[int, Mapping[int, int]]


def _groups(options: _Options) -> Iterator[dict[int, Mapping[int, int]]]:
    """Yield the ends that compete, directly or over others, group by group."""
    rest = dict(options)
    while rest:
        end, scores = rest.popitem()
        group, reached = {end: scores}, set(scores)
        grown = True
        while grown:
            joining = {end for end, scores in rest.items() if reached & scores.keys()}
            for end in joining:
                group[end] = rest.pop(end)
                reached |= group[end].keys()
            grown = bool(joining)
        yield group


def _standing(group: _Options) -> dict[int, int] | None:
    """Return the links that stand in each of the best assignments; None if there are too many."""
    count = 1
    for scores in group.values():
        count *= len(scores) + 1
    if count > _MOST:
        return None
    best, kept = (-1, -1), list[dict[int, int]]()
    for assignment in _assignments(sorted(group), group):
        total = sum(group[end][start] for end, start in assignment.items())
        if (total, len(assignment)) > best:
            best, kept = (total, len(assignment)), []
        if (total, len(assignment)) == best:
            kept.append(assignment)
    return {
        end: start
        for end, start in kept[0].items()
        if all(other.get(end) == start for other in kept)
    }


def _assignments(ends: Sequence[int], group: _Options) -> Iterator[dict[int, int]]:
    """Yield every way to give each end one of its starts or none, no start twice."""
    if not ends:
        yield {}
        return
    end, rest = ends[0], ends[1:]
    for assignment in _assignments(rest, group):
        yield assignment
        for start in group[end]:
            if start not in assignment.values():
                yield {**assignment, end: start}
