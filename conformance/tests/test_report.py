"""Every view of the matrix says the same, and nothing in a cell can break a page."""

from __future__ import annotations

import io
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from conformance.report import markdown
from conformance.report.page import page
from conformance.report.summary import grid
from conformance.report.terminal import show
from conformance.verdicts import Cell, Verdict, Witness, load_floor, worst


def _cell(
    kind: str = "ToolCall",
    verdict: Verdict = "exact",
    witness: Witness = "file",
    store: str = "claude",
    **more: object,
) -> Cell:
    values: dict[str, object] = {"variant": "plain", "source": None, **more}
    return Cell(kind=kind, verdict=verdict, witness=witness, store=store, **values)  # pyright: ignore[reportArgumentType]


CELLS = [
    _cell(),
    _cell(verdict="translated", variant="error"),
    _cell(witness="model", verdict="translated"),
    _cell(store="codex", verdict="narrated", losses=("narrated",)),
    _cell(kind="UserMessage", store="codex", verdict="lost", why="<script>x</script> &"),
]


def test_a_square_is_its_worst_cell() -> None:
    squares = grid(CELLS)
    assert squares["ToolCall", "claude", "file"].verdict == "translated"
    assert squares["ToolCall", "codex", "file"].losses == ("narrated",)
    assert worst(["exact", "stale", "lost"]) == "stale"
    assert worst([]) == "exact"


def test_the_terminal_names_every_failure() -> None:
    out = io.StringIO()
    show(CELLS, [(CELLS[4], "lost")], Console(file=out, width=120))
    text = out.getvalue()
    assert "UserMessage/plain model->codex file: lost" in text
    assert "5 cells: 1 exact, 2 translated, 1 narrated, 1 lost" in text
    assert "\x1b" not in text


def test_the_terminal_says_once_what_many_cells_fail_of() -> None:
    failing = [_cell(verdict="stale", variant=f"v{n}", why="other bytes") for n in range(9)]
    out = io.StringIO()
    show(failing, [(cell, "stale") for cell in failing], Console(file=out, width=80))
    lines = out.getvalue().splitlines()
    assert lines[-2:] == [
        "ToolCall/v0 model->claude file and 8 more into claude: stale: other bytes",
        "9 lost, stale or under the floor",
    ]


def test_the_table_on_a_terminal_of_80_columns_cuts_no_loss() -> None:
    cells = [
        _cell(store=store, verdict="degraded", losses=("replacement-character",))
        for store in ("claude", "codex", "copilot")
    ]
    out = io.StringIO()
    show(cells, [], Console(file=out, width=80))
    assert max(map(len, out.getvalue().splitlines())) <= 80
    table, _, _ = out.getvalue().partition("└")
    assert "…" not in table


def test_the_table_on_a_terminal_of_80_columns_breaks_no_word() -> None:
    losses = ("superseded-dropped", "replacement-character", "reasoning-opaque-dropped")
    cells = [
        _cell(
            kind="PermissionRequest", store=store, verdict=verdict, witness=witness, losses=losses
        )
        for store in ("claude", "codex", "copilot")
        for verdict in ("translated", "degraded")
        for witness in ("file", "cli")
    ]
    out = io.StringIO()
    show(cells, [], Console(file=out, width=80))
    table, _, _ = out.getvalue().partition("└")
    assert max(map(len, table.splitlines())) <= 80
    words = {word for line in table.splitlines() for word in line.replace("│", " ").split()}
    parts = {part for loss in losses for part in loss.split("-")}
    assert {part for word in words for part in word.split("-")} >= parts


def test_markdown_names_best_and_worst_what_was_resumed_and_every_defect() -> None:
    cells = [
        *CELLS,
        _cell(witness="cli", cli_version="2.1.332"),
        _cell(kind="Plan", verdict="narrated"),
        _cell(kind="Plan", witness="cli", verdict="stale"),
    ]
    assert markdown.table(cells) == (
        "| | into claude 2.1.332 | into codex |\n"
        "|---|---|---|\n"
        "| UserMessage |  | **lost** |\n"
        "| ToolCall | exact … translated, resumed | narrated |\n"
        "| Plan | **stale** |  |"
    )


def test_what_was_lost_stands_below_the_verdict() -> None:
    cells = [
        _cell(kind="ToolCall", verdict="exact"),
        _cell(kind="ToolCall", verdict="degraded", losses=("time-moved", "model-dropped")),
        _cell(kind="ToolCall", witness="cli", verdict="exact"),
        _cell(kind="Plan", verdict="narrated", losses=("narrated",)),
    ]
    assert markdown.table(cells).splitlines()[2:] == [
        "| ToolCall | exact … degraded, resumed<br><sub>model-dropped, time-moved</sub> |",
        "| Plan | narrated |",
    ]


def test_markdown_goes_between_the_markers_and_touches_nothing_else(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"# A\n{markdown.START}\nold\n{markdown.END}\n\nend\n", encoding="utf-8")
    markdown.put(readme, "| new |")
    expected = f"# A\n{markdown.START}\n\n| new |\n\n{markdown.END}\n\nend\n"
    assert readme.read_text(encoding="utf-8") == expected
    readme.write_text("# A\n", encoding="utf-8")
    with pytest.raises(markdown.NoMarkers, match="README"):
        markdown.put(readme, "| new |")


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: set[str] = set()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            if name in ("href", "src") and value:
                self.targets.add(value)


def test_the_page_stands_alone_and_escapes_what_it_shows() -> None:
    text = page(CELLS, [(CELLS[4], "lost")])
    found = _Links()
    found.feed(text)
    assert "script" not in found.tags
    assert {target.removeprefix("#") for target in found.targets} <= found.ids
    assert "&lt;script&gt;" in text


# ------------------------------------------------------------------ the floor


@pytest.mark.parametrize(
    ("cell", "under"),
    [
        (_cell(verdict="exact"), False),
        (_cell(verdict="translated"), False),
        (_cell(verdict="narrated", losses=("narrated",)), True),
        (_cell(verdict="degraded", losses=("time-moved",)), False),
        (_cell(verdict="degraded", losses=("narrated",)), True),
        (_cell(verdict="refused"), True),
        (_cell(verdict="lost"), True),
        (_cell(verdict="stale"), True),
        (_cell(kind="Reasoning", verdict="narrated", losses=("narrated",)), False),
        (_cell(kind="Reasoning", verdict="lost"), True),
        (_cell(kind="PermissionRequest", verdict="degraded", losses=("harness-dropped",)), True),
        (_cell(kind="UserMessage", verdict="degraded", losses=("harness-dropped",)), False),
        (_cell(kind="Plan", verdict="narrated", losses=("duration-dropped", "narrated")), False),
        (_cell(source="claude", verdict="degraded", losses=("time-moved",)), True),
        (_cell(kind="Error", verdict="withheld", losses=("withheld-error",)), False),
        (_cell(source="claude", verdict="translated"), True),
        (_cell(source="claude", verdict="exact"), False),
        (_cell(source="claude", verdict="translated", witness="model"), False),
        (_cell(source="claude", verdict="narrated", witness="model"), True),
        (_cell(source="codex", verdict="translated"), False),
        (_cell(kind="CommandExecution", verdict="degraded", losses=("asset-dropped",)), True),
    ],
)
def test_the_floor(cell: Cell, under: bool) -> None:
    assert (load_floor().below(cell) is not None) is under


def test_every_kind_has_a_floor_in_every_store() -> None:
    floor = load_floor()
    from conformance.matrix import KIND_NAMES
    from transcripts.stores.base import agents

    for table in (floor.same, floor.across):
        assert set(table) == set(KIND_NAMES)
        assert all(set(row) == set(agents()) for row in table.values())
    assert set(floor.may_lose) == {*KIND_NAMES, "all"}
