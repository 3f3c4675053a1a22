"""The matrix on a terminal: kinds down, stores across, what each witness says, then what failed."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import TextWrapper

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
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
        table.add_column(f"into {store}")
    for kind in kinds_of(cells):
        row = [
            _Square([cell for cell in cells if (cell.kind, cell.store) == (kind, store)])
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


class _Square:
    """A square that fits its column: a loss that is too long goes on behind one of its hyphens."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        verdicts, resumed, self._losses = ranged(cells)
        self._said = Text(" … ").join(Text(verdict, style=STYLES[verdict]) for verdict in verdicts)
        if resumed:
            self._said.append(" ✓", style="green")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._said
        wrapper = TextWrapper(options.max_width, subsequent_indent=" ", break_long_words=False)
        for loss in self._losses:
            yield Text(wrapper.fill(loss), style="dim")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        parts = [part for loss in self._losses for part in loss.replace("-", "- ").split()]
        least = max((len(f" {part}") for part in parts), default=1)
        longest = max(map(len, self._losses), default=1)
        said = Measurement.get(console, options, self._said)
        return Measurement(max(said.minimum, least), max(said.maximum, longest))
