"""The fidelity table as Markdown, kept up to date between two markers of a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.report.summary import kinds_of, ranged, stores_of
from conformance.verdicts import DEFECTS, Cell

_FIDELITY = "fidelity"


def _markers(name: str) -> tuple[str, str]:
    return f"<!-- {name}:start -->", f"<!-- {name}:end -->"


START, END = _markers(_FIDELITY)


class NoMarkers(Exception):
    """The page has no place for the table."""


def table(cells: Sequence[Cell]) -> str:
    """Return the matrix as a Markdown table: from the best to the worst verdict of each kind.

    Of what was read back and what the model was shown; whether the CLI resumed all of it is
    said behind, what was lost below, and a defect in bold.
    """
    stores = stores_of(cells)
    lines = [
        f"| | {' | '.join(_heading(store, cells) for store in stores)} |",
        f"|---|{'---|' * len(stores)}",
    ]
    for kind in kinds_of(cells):
        row = [
            _square([cell for cell in cells if (cell.kind, cell.store) == (kind, store)])
            for store in stores
        ]
        lines.append(f"| {kind} | {' | '.join(row)} |")
    return "\n".join(lines)


def _heading(store: str, cells: Sequence[Cell]) -> str:
    witnessed = {cell.cli_version for cell in cells if cell.store == store and cell.cli_version}
    return " ".join(["into", store, *sorted(witnessed)])


def _square(cells: Sequence[Cell]) -> str:
    verdicts, resumed, losses = ranged(cells)
    if DEFECTS.intersection(verdicts):
        return f"**{verdicts[0]}**"
    said = " … ".join(verdicts) + (", resumed" if resumed else "")
    return f"{said}<br><sub>{', '.join(losses)}</sub>" if losses else said


def put(page: Path, text: str) -> None:
    """Write a table between a page's markers; a page without them is an error."""
    page.write_text(placed(page, text), encoding="utf-8")


def placed(page: Path, text: str, name: str = _FIDELITY) -> str:
    """Return a page's text with a generated one between the markers of its name."""
    start, end = _markers(name)
    before, began, rest = page.read_text(encoding="utf-8").partition(start)
    _, ended, after = rest.partition(end)
    if not began or not ended:
        raise NoMarkers(f"{page}: has no {start} … {end} to put a table between")
    return f"{before}{start}\n\n{text}\n\n{end}{after}"
