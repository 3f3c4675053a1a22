"""Cells condensed for a page: a row a kind, a column a store, a verdict for each witness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from conformance.matrix import KIND_NAMES
from conformance.verdicts import (
    DEFECTS,
    VERDICTS,
    WITNESSES,
    Cell,
    Verdict,
    Witness,
    in_order,
    worst,
)
from transcripts.losses import LossId

_SAID_BY_THE_VERDICT = ("narrated", "withheld-error")


class Square(NamedTuple):
    """All cells of one kind in one store by one witness."""

    verdict: Verdict
    cells: Sequence[Cell]

    @property
    def losses(self) -> tuple[LossId, ...]:
        """Every loss in the square, each once."""
        return tuple(sorted({loss for cell in self.cells for loss in cell.losses}))


Grid = dict[tuple[str, str, Witness], Square]


def grid(cells: Iterable[Cell]) -> Grid:
    """Gather cells by kind, store and witness; a square's verdict is its worst cell's."""
    gathered: dict[tuple[str, str, Witness], list[Cell]] = {}
    for cell in cells:
        gathered.setdefault((cell.kind, cell.store, cell.witness), []).append(cell)
    return {
        place: Square(worst(cell.verdict for cell in found), found)
        for place, found in gathered.items()
    }


def stores_of(cells: Iterable[Cell]) -> list[str]:
    """Return the stores that occur, sorted."""
    return sorted({cell.store for cell in cells})


def kinds_of(cells: Sequence[Cell]) -> list[str]:
    """Return the kinds that occur, in the order of the matrix."""
    present = {cell.kind for cell in cells}
    return [kind for kind in KIND_NAMES if kind in present]


def counts(cells: Iterable[Cell]) -> Counter[Verdict]:
    """Count cells by verdict."""
    return Counter(cell.verdict for cell in cells)


def failing(count: int) -> str:
    """Say in one line how many cells fail."""
    if not count:
        return "none lost, stale or under the floor"
    return f"{count} lost, stale or under the floor"


def witnesses_of(cells: Iterable[Cell]) -> list[Witness]:
    """Return the witnesses that occur, in their order."""
    present = {cell.witness for cell in cells}
    return [witness for witness in WITNESSES if witness in present]


class Range(NamedTuple):
    """What became of one kind in one store, for somebody who reads one line.

    ``verdicts`` are the best and the worst of what was read back and of what the model was
    shown (one of them where both are equal; a defect alone where there is one), ``resumed``
    whether the CLI resumed all of it, ``losses`` what was lost besides the form.
    """

    verdicts: tuple[Verdict, ...]
    resumed: bool
    losses: tuple[LossId, ...]


def ranged(cells: Iterable[Cell]) -> Range:
    """Condense the cells of one kind in one store."""
    found = list(cells)
    resumed = {cell.verdict for cell in found if cell.witness == "cli"}
    seen = {cell.verdict for cell in found if cell.witness != "cli"}
    ordered: list[Verdict] = [verdict for verdict in VERDICTS if verdict in seen]
    defects: list[Verdict] = [v for v in VERDICTS if v in (seen | resumed) & DEFECTS]
    ends: list[Verdict] = ordered[:1] + (ordered[-1:] if len(ordered) > 1 else [])
    losses = in_order(loss for cell in found for loss in cell.losses)
    return Range(
        tuple(defects[-1:] or ends),
        resumed == {"exact"},
        tuple(loss for loss in losses if loss not in _SAID_BY_THE_VERDICT),
    )
