"""The matrix as one self-contained page: table, failures, and every cell with its evidence."""

from __future__ import annotations

from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from conformance.report.summary import counts, failing, grid, kinds_of, stores_of, witnesses_of
from conformance.verdicts import VERDICTS, Cell


def page(cells: Sequence[Cell], failures: Sequence[tuple[Cell, str]]) -> str:
    """Return the page's HTML; everything in it is escaped, it needs no script and no network."""
    environment = Environment(
        loader=PackageLoader("conformance", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    by_place: dict[tuple[str, str], list[Cell]] = {
        (kind, store): [] for kind in kinds_of(cells) for store in stores_of(cells)
    }
    for cell in cells:
        by_place[cell.kind, cell.store].append(cell)
    counted = counts(cells)
    return environment.get_template("page.html.j2").render(
        cells=cells,
        failures=failures,
        failing=failing(len(failures)),
        bad={(cell.kind, cell.store) for cell, _ in failures},
        counted=[(verdict, counted[verdict]) for verdict in VERDICTS if counted[verdict]],
        kinds=kinds_of(cells),
        stores=stores_of(cells),
        witnesses=witnesses_of(cells),
        squares=grid(cells),
        by_place=by_place,
        anchor=lambda kind, store: f"{kind}-{store}",
    )
