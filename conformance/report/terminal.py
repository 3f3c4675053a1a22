"""The matrix on a terminal: kinds down, stores across, what each witness says, then what failed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from conformance.report.summary import counts, kinds_of, ranged, stores_of
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
    table = Table(
        title="What survives",
        caption="the best and the worst of what was read back and of what the model was shown; "
        "✓ the CLI resumed all of it",
    )
    table.add_column("kind", no_wrap=True)
    for store in stores_of(cells):
        table.add_column(f"into {store}")
    for kind in kinds_of(cells):
        row = [
            _square([cell for cell in cells if (cell.kind, cell.store) == (kind, store)])
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


def _square(cells: Sequence[Cell]) -> Text:
    verdicts, resumed, losses = ranged(cells)
    text = Text(" … ").join(Text(verdict, style=STYLES[verdict]) for verdict in verdicts)
    if resumed:
        text.append(" ✓", style="green")
    if losses:
        text.append(f"\n{', '.join(losses)}", style="dim")
    return text
