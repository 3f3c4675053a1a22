"""The matrix on a terminal: kinds down, stores across, what each witness says, then what failed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from conformance.report.summary import Square, counts, grid, kinds_of, stores_of, witnesses_of
from conformance.verdicts import VERDICTS, Cell, Verdict

STYLES: dict[Verdict, str] = {
    "exact": "green",
    "translated": "green",
    "degraded": "yellow",
    "narrated": "cyan",
    "withheld": "blue",
    "refused": "magenta",
    "lost": "bold red",
    "stale": "bold red",
}


def show(cells: Sequence[Cell], failures: Sequence[tuple[Cell, str]], console: Console) -> None:
    """Print the table, a line of counts and every failing cell."""
    squares = grid(cells)
    witnesses = witnesses_of(cells)
    table = Table(title="What survives", caption=f"witnesses: {', '.join(witnesses)}")
    table.add_column("kind", no_wrap=True)
    for store in stores_of(cells):
        table.add_column(f"into {store}")
    for kind in kinds_of(cells):
        row = [
            _square([squares.get((kind, store, witness)) for witness in witnesses])
            for store in stores_of(cells)
        ]
        table.add_row(kind, *row)
    console.print(table)
    counted = counts(cells)
    console.print(
        f"{len(cells)} cells: "
        + ", ".join(f"{counted[verdict]} {verdict}" for verdict in VERDICTS if counted[verdict])
    )
    for cell, why in failures:
        console.print(
            Text(f"{cell.name}: {why}" + (f": {cell.why}" if cell.why else ""), style="red"),
            soft_wrap=True,
        )
    console.print(f"{len(failures)} under the floor" if failures else "none under the floor")


def _square(squares: Sequence[Square | None]) -> Text:
    text = Text()
    for index, square in enumerate(squares):
        if index:
            text.append(" · ")
        if square is None:
            text.append("–", style="dim")
        else:
            text.append(square.verdict, style=STYLES[square.verdict])
    return text
