"""Which releases are worth a look, so that few installs find where a format changed.

Every eighth release of the whole list, and the two ends; then the middle between any two whose
shapes differ, until the edge lies between neighbours; and last, between releases of one shape,
a sample drawn from a seed. What is known already counts, however it came to be known: a search
that was ended, or done by others in part, goes on where it stood.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from math import ceil

STRIDE = 8
SHARE = 0.05
SEED = "timeline"


def wanted(
    count: int,
    known: Mapping[int, str],
    pending: Collection[int] = (),
    *,
    offset: int = 0,
    names: Sequence[str] | None = None,
) -> list[int]:
    """Return the places in a list of ``count`` releases to look at next, the most telling first.

    ``known`` are the shapes seen, by place; ``pending`` the places being looked at, between whose
    neighbours nothing else is asked until they are known. ``offset`` is where the list begins in
    the list of all releases: the grid lies on that one, and stays when older ones are left out.
    ``names`` are what the sample is drawn by.
    """
    if not count:
        return []
    done = {*known, *pending}
    grid = _grid(count, done, offset)
    seen = sorted(known)
    gaps = [(one, two) for one, two in pairwise(seen) if not any(one < at < two for at in pending)]
    unequal = [(one + two) // 2 for one, two in gaps if two - one > 1 and known[one] != known[two]]
    if grid or pending or unequal:
        return [*reversed(grid), *reversed([at for at in unequal if at not in grid])]
    equal = [(one, two) for one, two in gaps if known[one] == known[two]]
    return [at for at in sample(count, offset, names) if any(one < at < two for one, two in equal)]


def sample(count: int, offset: int = 0, names: Sequence[str] | None = None) -> list[int]:
    """Return the places of the sample: those drawn first, as many as the grid's ends leave."""
    grid = set(_grid(count, (), offset))
    places = [at for at in range(count) if at not in grid]
    places.sort(key=lambda at: _lot(names[at] if names else str(at + offset)))
    return places[: max(0, int(count / STRIDE + SHARE * count) - len(grid))]


def most(count: int, edges: int) -> float:
    """Return how many looks a search of so many releases with so many edges takes at most."""
    bisecting = STRIDE.bit_length()  # log2 of the stride, and one
    return max(2 + ceil(count / STRIDE), count / STRIDE + SHARE * count) + edges * bisecting


def _grid(count: int, done: Collection[int], offset: int) -> list[int]:
    """Return the grid's places that are needed: none where what is done lies close enough."""
    last = count - 1
    stops = [at for at in (0, last) if at not in done]
    marks = sorted({0, last, *(at for at in done if 0 <= at <= last)})
    for one, two in pairwise(marks):
        if two - one > STRIDE:
            stops += [at for at in range(one + 1, two) if (at + offset) % STRIDE == 0]
    return sorted({*stops} - {*done})


def _lot(name: str) -> str:
    return hashlib.sha256(f"{SEED} {name}".encode()).hexdigest()
