"""Where what is generated takes its decisions from: a tape that shrinks, or a seed.

One generator serves both: hypothesis hands it a tape of bytes and makes the tape smaller until a
failure is as small as it gets, and the long run hands it a seed. Zero always means the plainest
choice, so that a tape that has run out ends it in the plainest way.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

_T = TypeVar("_T")
_BYTE = 256


class Source(Protocol):
    """Whatever decides."""

    def below(self, bound: int) -> int:
        """Return a number from 0 that is less than the bound."""
        ...


class Tape:
    """Decisions read from bytes, one after the other; zero where they have run out."""

    def __init__(self, recorded: bytes) -> None:
        self._recorded = recorded
        self._place = 0

    def below(self, bound: int) -> int:
        """Return the next decision."""
        width = 1 if bound <= _BYTE else 2
        taken = self._recorded[self._place : self._place + width]
        self._place += width
        return int.from_bytes(taken, "big") % bound


class Seeded:
    """Decisions from a seed, as many as are wanted."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def below(self, bound: int) -> int:
        """Return the next decision."""
        return int(self._random() * bound)


class Choices:
    """The kinds of decision that a generator takes."""

    def __init__(self, source: Source) -> None:
        self.below = source.below

    def chance(self, percent: int) -> bool:
        """Whether something that happens in so many cases of a hundred happens now."""
        return self.below(100) >= 100 - percent

    def among(self, items: Sequence[_T]) -> _T:
        """Return one of the items; the first is the plainest."""
        return items[self.below(len(items))]

    def between(self, least: int, most: int) -> int:
        """Return a number between the two, both possible."""
        return least + self.below(most - least + 1)

    def shuffled(self, items: Sequence[_T]) -> list[_T]:
        """Return the items in any order; as they stand is the plainest."""
        rest = list(items)
        return [rest.pop(self.below(len(rest))) for _ in items]
