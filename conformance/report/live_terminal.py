"""Live results on a terminal: cases down, directions across, then why what did not pass did not."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from conformance.livechecks.results import LiveReport, Result, Verdict
from conformance.report.live import (
    LEGEND,
    MARKS,
    Column,
    Grid,
    ReleaseRow,
    Remark,
    by_release,
    counts,
    dates,
    grid,
    remarks,
)
from live.checks import order

STYLES: dict[str, str] = {
    "passed": "green",
    "failed": "bold red",
    "disagrees": "bold red",
    "impossible": "yellow",
    "skipped": "dim",
}
_LETTERS = {"claude": "C", "codex": "X", "copilot": "P"}
_NAMED_ALIKE = 3
_SHORTEST_TITLE = 24
_GAP = "  "


class _Group(NamedTuple):
    """Columns that stand together under one name, each with a short head of its own."""

    name: str
    heads: Sequence[str]

    @property
    def width(self) -> int:
        return max(len(self.name), len(" ".join(self.heads)))


class _Row(NamedTuple):
    """A line of a picture: whose it is, in more words what that is, and its marks by group."""

    name: str
    title: str
    marks: Sequence[Sequence[Verdict | None]]


def show_live(report: LiveReport, console: Console, keep: str | None = None) -> None:
    """Print the grid, what older releases did, how many checks ended how, and every reason.

    ``keep`` is the directory in which recordings of failed runs lie.
    """
    results = report.results
    if results:
        gathered = grid(results)
        console.print(_head(report, gathered), soft_wrap=True)
        _show_grid(gathered, report.titles, console)
        console.print(Text(f"\n{LEGEND}\n{_legend(gathered)}", "dim"), soft_wrap=True)
        if rows := by_release(results):
            _show_releases(rows, console)
    console.print()
    for remark in remarks(results):
        _explain(remark, console, keep)
    console.print(counts(results))


def _head(report: LiveReport, gathered: Grid) -> Text:
    releases = ", ".join(f"{agent} {release}" for agent, release in gathered.releases.items())
    return Text(
        f"Moved by {report.mover}, gone on with by the real CLIs: {releases}; "
        f"checked {dates(report.results)}",
        "bold",
    )


def _legend(gathered: Grid) -> str:
    """Say what the letters are."""
    said = [f"{_letter(agent)} {agent}" for agent in gathered.releases]
    said += [
        f"{letter} {column.target}'s {column.witness}"
        for letter, column in zip(ascii_lowercase, _model_free(gathered), strict=False)
    ]
    if any(column.source == "own" for column in gathered.columns):
        said.append("own: what the CLI wrote itself, not moved")
    return " · ".join(said)


def _letter(agent: str) -> str:
    return _LETTERS.get(agent, agent[:1].upper())


def _model_free(gathered: Grid) -> list[Column]:
    return [column for column in gathered.columns if column.witness]


def _show_grid(gathered: Grid, titles: Mapping[str, str], console: Console) -> None:
    """Print the grid: a letter for each target, and above it where the conversation came from."""
    by_source: dict[str, list[Column]] = {}
    for column in gathered.columns:
        by_source.setdefault(column.source, []).append(column)
    letters = {column: _letter(column.target) for column in gathered.columns}
    letters.update(zip(_model_free(gathered), ascii_lowercase, strict=False))
    groups = [
        _Group(source, [letters[column] for column in columns])
        for source, columns in by_source.items()
    ]
    rows = [
        _Row(
            case,
            titles.get(case, ""),
            [
                [gathered.cells.get((case, column)) for column in columns]
                for columns in by_source.values()
            ],
        )
        for case in gathered.cases
    ]
    _draw(rows, groups, ("from", "to"), console)


def _show_releases(found: Sequence[ReleaseRow], console: Console) -> None:
    """Print a line for every release as a target: what was moved into it, and its own."""
    moved = sorted({case for row in found for case in row.moved}, key=order)
    own = sorted({case for row in found for case in row.own}, key=order)
    groups = [
        _Group(name, [_brief(case) for case in asked])
        for name, asked in (("moved", moved), ("own", own))
        if asked
    ]
    rows = [
        _Row(
            f"{row.agent} {row.release}",
            "",
            [
                [cells.get(case) for case in asked]
                for cells, asked in ((row.moved, moved), (row.own, own))
                if asked
            ],
        )
        for row in found
    ]
    _draw(rows, groups, ("", ""), console)
    longer = [f"{_brief(case)} {case}" for case in sorted({*moved, *own}, key=order) if "-" in case]
    said = ["moved: moved into it", "own: what it wrote itself, not moved", *longer]
    console.print(Text(f"\n{' · '.join(said)}", "dim"), soft_wrap=True)


def _brief(case: str) -> str:
    """Return ``t6m`` for ``t6-midstream``."""
    number, _, rest = case.partition("-")
    return number + rest[:1]


def _draw(
    rows: Sequence[_Row], groups: Sequence[_Group], corner: tuple[str, str], console: Console
) -> None:
    named = max(len(row.name) for row in rows)
    taken = named + len(_GAP) + sum(len(_GAP) + group.width for group in groups)
    room = max(_SHORTEST_TITLE, console.width - taken)
    titled = [textwrap.wrap(row.title, room) or [""] for row in rows]
    wide = max(len(line) for lines in (*titled, list(corner)) for line in lines)
    start = " " * named + _GAP
    heads = (
        (corner[0], [group.name for group in groups]),
        (corner[1], [" ".join(group.heads) for group in groups]),
    )
    console.print()
    for word, over in heads:
        line = Text(start + word.rjust(wide), "dim")
        for group, head in zip(groups, over, strict=True):
            line.append(_GAP + head.ljust(group.width), "not dim bold")
        line.rstrip()
        console.print(line, soft_wrap=True)
    for row, (first, *rest) in zip(rows, titled, strict=True):
        line = Text(row.name.ljust(named), "bold").append(_GAP + first.ljust(wide), "not bold")
        for group, marks in zip(groups, row.marks, strict=True):
            line.append_text(_marks(group, marks))
        line.rstrip()
        console.print(line, soft_wrap=True)
        for more in rest:
            console.print(f"{start}{more}", highlight=False, soft_wrap=True)


def _marks(group: _Group, verdicts: Sequence[Verdict | None]) -> Text:
    """Return a group's marks, each below its head."""
    marks = Text(_GAP)
    for head, verdict in zip(group.heads, verdicts, strict=True):
        marks.append_text(_mark(verdict)).append(" " * len(head))
    marks.pad_right(len(_GAP) + group.width - len(marks))
    return marks[: len(_GAP) + group.width]


def _mark(verdict: Verdict | None) -> Text:
    return Text(" ") if verdict is None else Text(MARKS[verdict], STYLES[verdict])


def _explain(remark: Remark, console: Console, keep: str | None) -> None:
    named = ", ".join(one.name for one in remark.checks[:_NAMED_ALIKE])
    if len(remark.checks) > _NAMED_ALIKE:
        named = f"{remark.checks[0].name} and {len(remark.checks) - 1} more"
    said = f"{remark.verdict}: {named}: {remark.why}"
    if remark.more:
        said += f" ({remark.more})"
    console.print(Text(said, STYLES[remark.verdict]), soft_wrap=True)
    for one in remark.checks:
        _point(one, console, keep)


def _point(result: Result, console: Console, keep: str | None) -> None:
    recording = result.evidence.get("recording")
    if recording and keep:
        console.print(Text(f"  the terminal's recording: {keep}/{recording}"), soft_wrap=True)
