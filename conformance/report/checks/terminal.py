"""A check's report on a terminal: a line a check, then what failed, grouped and indented."""

from __future__ import annotations

import io
from collections.abc import Sequence
from textwrap import TextWrapper

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from conformance.checks.check import CheckReport, Verdict
from conformance.report.checks.summary import (
    WORDS,
    Alike,
    Row,
    about,
    alike,
    rows,
    verdict_line,
    verdicts_of,
    visible,
)

_NAMED = 3
"""How many subjects that end alike are named."""

_REASONS = 6
"""How many reasons of one check are told."""

_WIDTH = 80

_STYLES: dict[Verdict, str] = {
    "passed": "green",
    "failed": "red",
    "known": "yellow",
    "flaky": "magenta",
    "skipped": "dim",
}


def text(report: CheckReport) -> str:
    """Return what a terminal of 80 columns would show."""
    file = io.StringIO()
    show(report, Console(file=file, width=_WIDTH))
    return file.getvalue()


def show(report: CheckReport, console: Console) -> None:
    """Print a line a check, then what did not pass: subjects that end alike together."""
    found = rows(report)
    console.print(_table(report, found))
    _explain(alike(found, "failed"), "failed", console)
    for verdict in ("known", "flaky", "skipped"):
        groups = alike(found, verdict)
        if groups:
            console.print(Text(f"{WORDS[verdict]}:", style=_STYLES[verdict]))
            _explain(groups, verdict, console)
    console.print(verdict_line(report), highlight=False, soft_wrap=True)


def _table(report: CheckReport, found: Sequence[Row]) -> Table:
    table = Table(
        title=f"{visible(about(report))}: {', '.join(report.offers) or 'offers nothing'}",
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("check", no_wrap=True)
    table.add_column("what it claims")
    verdicts = verdicts_of(found)
    for verdict in verdicts:
        table.add_column(verdict, justify="right", no_wrap=True)
    for row in found:
        counts = row.counts
        table.add_row(
            Text(visible(row.check), style=_STYLES[row.verdict]),
            row.claim,
            *(Text(str(counts[verdict] or ""), style=_STYLES[verdict]) for verdict in verdicts),
        )
    return table


def _explain(groups: Sequence[Alike], verdict: Verdict, console: Console) -> None:
    wrapper = TextWrapper(
        console.width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    )
    of_check: dict[str, list[Alike]] = {}
    for group in groups:
        of_check.setdefault(group.check, []).append(group)
    for check, reasons in of_check.items():
        claim = f": {reasons[0].claim}" if reasons[0].claim else ""
        console.print(Text(visible(f"{check}{claim}"), style=_STYLES[verdict]))
        for group in reasons[:_REASONS]:
            console.print(Text(wrapper.fill(visible(_told(group)))), soft_wrap=True)
        if len(reasons) > _REASONS:
            more = f"and {len(reasons) - _REASONS} other reasons, in every other form of the report"
            console.print(Text(wrapper.fill(more), style="dim"), soft_wrap=True)


def _told(group: Alike) -> str:
    names = ", ".join(group.cases[:_NAMED])
    more = len(group.cases) - _NAMED
    return f"{names}{f' and {more} more' if more > 0 else ''}: {group.why}"
