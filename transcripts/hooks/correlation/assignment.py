"""Which end belongs to which start, where that can be known: what every best assignment says.

An end goes to one start at most and a start has one end at most. Of all assignments that the
evidence allows those of the greatest total score count (of equal scores, those that link
more), and a link is decided only if it stands in *every* one of them. So a tie is never
broken by the order in which events happened to arrive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

_MOST_TOGETHER = 48
"""More events than this that could be each other's are never told apart one by one."""


def decided(scores: Mapping[tuple[int, int], int]) -> dict[int, int]:
    """Return the start of each end whose link stands in every best assignment.

    ``scores`` holds the score, 0 or more, of each pair (start, end) that is possible at all.
    """
    found: dict[int, int] = {}
    for edges in _components(scores):
        if len(edges) == 1:
            (start, end) = edges[0]
            found[end] = start
        elif _size(edges) <= _MOST_TOGETHER:
            found.update(_solve({edge: scores[edge] for edge in edges}))
    return found


def decided_in_turn(starts: Sequence[int], ends: Sequence[int]) -> dict[int, int]:
    """Return the same for starts and ends that nothing tells apart but their order.

    A start is possible for every end behind it. Written as brackets, a pair is decided if it
    stands alone, ``()`` with nothing open around it: a pair inside another could change
    partners with it. An end too many could take any start before it, and a start that stays
    open any end behind it, so only pairs between the last such end and the first such start
    are certain.
    """
    sequence = sorted([(start, True) for start in starts] + [(end, False) for end in ends])
    open_starts: list[int] = []
    alone: list[tuple[int, int]] = []
    last_surplus = -1
    depth_reached = 0
    for place, is_start in sequence:
        if is_start:
            open_starts.append(place)
            depth_reached = max(depth_reached, len(open_starts))
        elif open_starts:
            start = open_starts.pop()
            if not open_starts:
                if depth_reached == 1:
                    alone.append((start, place))
                depth_reached = 0
        else:
            last_surplus = place
    first_left = open_starts[0] if open_starts else None
    return {
        end: start
        for start, end in alone
        if start > last_surplus and (first_left is None or end < first_left)
    }


def _components(edges: Iterable[tuple[int, int]]) -> Iterable[list[tuple[int, int]]]:
    """Yield the edges that hang together, through a start or an end that they share."""
    parent: dict[tuple[str, int], tuple[str, int]] = {}

    def root(node: tuple[str, int]) -> tuple[str, int]:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    listed = list(edges)
    for start, end in listed:
        parent[root(("start", start))] = root(("end", end))
    together: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for edge in listed:
        together.setdefault(root(("end", edge[1])), []).append(edge)
    return together.values()


def _size(edges: Sequence[tuple[int, int]]) -> int:
    return max(len({start for start, _ in edges}), len({end for _, end in edges}))


def _solve(scores: Mapping[tuple[int, int], int]) -> dict[int, int]:
    """Return what all best assignments of one component have in common."""
    # One point more for each link: of equal totals, those that link more.
    weights = {edge: score * (len(scores) + 1) + 1 for edge, score in scores.items()}
    best, links = _best(weights)
    return {
        end: start
        for start, end in links
        if _best({edge: w for edge, w in weights.items() if edge != (start, end)})[0] < best
    }


def _best(weights: Mapping[tuple[int, int], int]) -> tuple[int, list[tuple[int, int]]]:
    """Return the greatest total weight of an assignment, and one that has it.

    The Hungarian method with potentials: each end in turn finds the cheapest way to a start,
    moving those before it where that is better; not to be linked costs nothing.
    """
    starts = sorted({start for start, _ in weights})
    ends = sorted({end for _, end in weights})
    # A start of its own for each end stands for "linked to nothing".
    columns = len(starts) + len(ends)
    worst = max(weights.values(), default=0) + 1
    cost = [
        [
            -weights.get((start, end), -worst * (columns + 1)) if column < len(starts) else 0
            for column, start in enumerate([*starts, *ends])
        ]
        for end in ends
    ]
    of_row = [0] * (len(ends) + 1)
    of_column = [0] * (columns + 1)
    row_at = [0] * (columns + 1)
    for row in range(1, len(ends) + 1):
        _augment(row, cost, of_row, of_column, row_at, columns)
    links = [
        (starts[column - 1], ends[row_at[column] - 1])
        for column in range(1, len(starts) + 1)
        if row_at[column] and (starts[column - 1], ends[row_at[column] - 1]) in weights
    ]
    return sum(weights[link] for link in links), links


def _augment(
    row: int,
    cost: Sequence[Sequence[int]],
    of_row: list[int],
    of_column: list[int],
    row_at: list[int],
    columns: int,
) -> None:
    """Give one more end its place, keeping the potentials right."""
    infinite = float("inf")
    way = [0] * (columns + 1)
    least: list[float] = [infinite] * (columns + 1)
    used = [False] * (columns + 1)
    row_at[0] = row
    column = 0
    while True:
        used[column] = True
        here, delta, following = row_at[column], infinite, 0
        for other in range(1, columns + 1):
            if used[other]:
                continue
            reduced = cost[here - 1][other - 1] - of_row[here] - of_column[other]
            if reduced < least[other]:
                least[other], way[other] = reduced, column
            if least[other] < delta:
                delta, following = least[other], other
        for other in range(columns + 1):
            if used[other]:
                of_row[row_at[other]] += int(delta)
                of_column[other] -= int(delta)
            else:
                least[other] -= delta
        column = following
        if row_at[column] == 0:
            break
    while column:
        row_at[column] = row_at[way[column]]
        column = way[column]
