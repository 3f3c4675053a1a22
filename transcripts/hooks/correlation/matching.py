"""Which of a turn's events belong together, by what they show of themselves.

The same rule pairs a call with its end, a shell or MCP event with the call above it and with
its own end, and a file event with the call that worked on the file: what must be equal is
equal, nothing that both show differs, and the link stands in every best assignment
(:mod:`transcripts.hooks.correlation.assignment`). Whatever that leaves open stays an orphan.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from transcripts.hooks.correlation.assignment import decided, decided_in_turn
from transcripts.hooks.correlation.evidence import REJECTED, Field, Values, score, shared

Role = Literal[
    "end", "before", "after", "file", "stop", "batch", "permission", "redelivery", "spawn"
]
Quality = Literal["observed", "corroborated", "derived", "heuristic", "ambiguous"]

NEVER = 1 << 62
NAMED = 5
"""How many rivals are named at most."""

_MOST_COMPARED = 250_000
"""More pairs than this are not weighed one by one: nothing among them is decided."""


class Link(msgspec.Struct, frozen=True):
    """One event belongs to another: ``event`` to ``to`` (line numbers), and why.

    ``score`` is the weight of the evidence, None where no weighing was needed. ``quality``:
    *observed* by a native id; *corroborated* by an id and by the input; *derived* from where
    it stands; *heuristic*: the one that fits best; *ambiguous* is never a link.
    """

    event: int
    to: int
    role: Role
    evidence: tuple[str, ...]
    score: int | None
    quality: Quality


class Item(msgspec.Struct, kw_only=True):
    """What an event shows of itself on one layer.

    ``gate`` has to be equal, ``values`` are weighed. A start can't be reached by what arrives
    after ``expires``.
    """

    line: int
    gate: Hashable
    values: Values
    expires: int = NEVER


class Match(msgspec.Struct, frozen=True):
    """What is known of an end: its start, or None, and all starts that it could have.

    ``rivals`` are the lines of the starts that fit, the expired ones too; a few of many.
    ``reachable``: one of them has not expired.
    """

    start: int | None
    score: int
    shown: tuple[str, ...]
    rivals: tuple[int, ...]
    reachable: bool


def match(
    starts: Sequence[Item],
    ends: Sequence[Item],
    table: Sequence[Field],
    *,
    unweighed: bool = False,
) -> dict[int, Match]:
    """Return for each end, by its line, which start it belongs to.

    A pair that shares nothing to weigh is none, unless the gate alone says enough
    (``unweighed``).
    """
    found: dict[int, Match] = {}
    if not ends:
        return found
    for some_starts, some_ends in _alike(starts, ends, len(table)):
        if _indistinguishable(some_starts, some_ends):
            found.update(_by_order(some_starts, some_ends, table, unweighed))
        else:
            found.update(_by_score(some_starts, some_ends, table, unweighed))
    return found


_Group = tuple[list[Item], list[Item]]


def _alike(starts: Sequence[Item], ends: Sequence[Item], width: int) -> Iterator[_Group]:
    """Yield the groups beyond which no pair is possible: one side shows what the other doesn't."""
    if len(starts) == len(ends) == 1:
        if starts[0].gate == ends[0].gate:
            yield list(starts), list(ends)
        else:
            yield [], list(ends)
        return
    groups = _split([(list(starts), list(ends))], lambda item: item.gate)
    for place in range(width):
        groups = _split(groups, lambda item, place=place: item.values[place])
    for group in groups:
        if group[1]:
            yield group


def _split(groups: Iterable[_Group], key: Callable[[Item], Hashable]) -> list[_Group]:
    """Part each group by a value, unless one of its events does not show it."""
    parted: list[_Group] = []
    for starts, ends in groups:
        keys = [[key(item) for item in side] for side in (starts, ends)]
        if any(value is None for side in keys for value in side):
            parted.append((starts, ends))
            continue
        by_value: dict[Hashable, _Group] = {}
        for place, (side, values) in enumerate(zip((starts, ends), keys, strict=True)):
            for item, value in zip(side, values, strict=True):
                by_value.setdefault(value, ([], []))[place].append(item)
        parted += by_value.values()
    return parted


def _indistinguishable(starts: Sequence[Item], ends: Sequence[Item]) -> bool:
    """Return whether nothing but their order tells the members of a group apart."""
    if any(start.expires != NEVER for start in starts):
        return False
    shown = [start.values for start in starts]
    first = ends[0].values
    return all(values == first for values in shown) and all(end.values == first for end in ends)


def _by_order(
    starts: Sequence[Item], ends: Sequence[Item], table: Sequence[Field], unweighed: bool
) -> Iterator[tuple[int, Match]]:
    values = ends[0].values
    weight = score(values, values, table)
    if weight == 0 and not unweighed:
        starts = []
    of_end = decided_in_turn([start.line for start in starts], [end.line for end in ends])
    evidence = shared(values, values, table)
    places = sorted(start.line for start in starts)
    for end in ends:
        rivals = places[: min(bisect(places, end.line), NAMED)]
        yield (
            end.line,
            Match(of_end.get(end.line), weight, evidence, tuple(rivals), reachable=bool(rivals)),
        )


def _by_score(
    starts: Sequence[Item], ends: Sequence[Item], table: Sequence[Field], unweighed: bool
) -> Iterator[tuple[int, Match]]:
    edges: dict[tuple[int, int], int] = {}
    rivals: dict[int, list[int]] = {end.line: [] for end in ends}
    values = {item.line: item.values for side in (starts, ends) for item in side}
    if len(starts) * len(ends) <= _MOST_COMPARED:
        for end in ends:
            for start in starts:
                if start.line > end.line:
                    continue
                weight = score(start.values, end.values, table)
                if weight == REJECTED or (weight == 0 and not unweighed):
                    continue
                if len(rivals[end.line]) < NAMED:
                    rivals[end.line].append(start.line)
                if end.line < start.expires:
                    edges[start.line, end.line] = weight
    else:
        rivals = {end.line: [start.line for start in starts[:NAMED]] for end in ends}
    of_end = decided(edges)
    reached = {end for _, end in edges}
    for end in ends:
        start = of_end.get(end.line)
        weight = 0 if start is None else edges[start, end.line]
        evidence = () if start is None else shared(values[start], end.values, table)
        yield (
            end.line,
            Match(start, weight, evidence, tuple(rivals[end.line]), reachable=end.line in reached),
        )
