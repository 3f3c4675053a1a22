"""The matrix on a terminal: kinds down, stores across, what each witness says, then what failed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from conformance.report.summary import counts, failing, kinds_of, ranged, stores_of
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


_NAMED_ALIKE = 3


def show(cells: Sequence[Cell], failures: Sequence[tuple[Cell, str]], console: Console) -> None:
    """Print the table, a line of counts and what failed: cells that fail alike on one line."""
    table = Table(
        title="What survives",
        caption="the best and the worst of what was read back and of what the model was shown; "
        "✓ the CLI resumed all of it",
        caption_justify="left",
    )
    table.add_column("kind", no_wrap=True)
    for store in stores_of(cells):
        table.add_column(f"into {store}", overflow="fold")
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
    alike: dict[tuple[str, str, str, str], list[Cell]] = {}
    for cell, why in failures:
        alike.setdefault((cell.kind, cell.store, why, cell.why), []).append(cell)
    for (_, store, why, more), failed in alike.items():
        names = ", ".join(cell.name for cell in failed[:_NAMED_ALIKE])
        if len(failed) > _NAMED_ALIKE:
            names = f"{failed[0].name} and {len(failed) - 1} more into {store}"
        console.print(
            Text(f"{names}: {why}" + (f": {more}" if more else ""), style="red"), soft_wrap=True
        )
    console.print(failing(len(failures)))


def _square(cells: Sequence[Cell]) -> Text:
    verdicts, resumed, losses = ranged(cells)
    text = Text(" … ").join(Text(verdict, style=STYLES[verdict]) for verdict in verdicts)
    if resumed:
        text.append(" ✓", style="green")
    if losses:
        text.append("".join(f"\n{loss}" for loss in losses), style="dim")
    return text
