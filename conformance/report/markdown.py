"""The fidelity table as Markdown, kept up to date between two markers of a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.report.summary import grid, kinds_of, stores_of, witnesses_of
from conformance.verdicts import Cell

START, END = "<!-- fidelity:start -->", "<!-- fidelity:end -->"


class NoMarkers(Exception):
    """The page has no place for the table."""


def table(cells: Sequence[Cell]) -> str:
    """Return the matrix as a Markdown table: the worst verdict of each kind in each store.

    Where witnesses differ, each is named.
    """
    squares = grid(cells)
    stores = stores_of(cells)
    witnesses = witnesses_of(cells)
    lines = [
        f"| | {' | '.join(f'into {store}' for store in stores)} |",
        f"|---|{'---|' * len(stores)}",
    ]
    for kind in kinds_of(cells):
        row: list[str] = []
        for store in stores:
            found = {
                witness: squares[kind, store, witness].verdict
                for witness in witnesses
                if (kind, store, witness) in squares
            }
            verdicts = set(found.values())
            if len(verdicts) == 1:
                row.append(verdicts.pop())
            else:
                row.append("<br>".join(f"{name}: {verdict}" for name, verdict in found.items()))
        lines.append(f"| {kind} | {' | '.join(row)} |")
    return "\n".join(lines)


def put(page: Path, text: str) -> None:
    """Write a table between a page's markers; a page without them is an error."""
    page.write_text(placed(page, text), encoding="utf-8")


def placed(page: Path, text: str) -> str:
    """Return a page's text with a table between its markers."""
    before, start, rest = page.read_text(encoding="utf-8").partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise NoMarkers(f"{page}: has no {START} … {END} to put the table between")
    return f"{before}{START}\n\n{text}\n\n{END}{after}"
