"""A drift report on a terminal: the answers first, then what changed, most severe first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from conformance.drift.findings import DriftReport
from conformance.drift.rules import RULES
from conformance.report.drift import Alike, alike, answers, not_compared, scenarios

_STYLES = {"error": "bold red", "warning": "yellow", "info": "dim"}
_STEP = 2
MOST_EACH = 10
"""How many findings for information are shown one by one, unless all are asked for."""


def show_drift(report: DriftReport, console: Console, *, every: bool = False) -> None:
    """Print a report; long lists of what is for information only as counts, unless ``every``."""
    console.print(Text(f"{report.agent} {report.from_} → {report.to}", "bold"))
    console.print(f"compared in {len(report.compared)} scenarios")
    for said in not_compared(report):
        _print(console, Text(f"not compared: {said}", "dim"))
    for question, answer in answers(report):
        _print(console, Text.assemble((question, "bold"), f" {answer}"))
    for broken in (*report.broken, *report.unused):
        _print(console, Text(broken, "bold red"), 1)
    for said in report.vendor or ():
        _print(console, Text(said, "dim"), 1)
    groups = alike(report.findings)
    informing = [group for group in groups if group.severity == "info"]
    short = not every and len(informing) > MOST_EACH
    for rule, of_it in groupby(groups, lambda group: group.first.rule):
        together = list(of_it)
        if not short or together[0].severity != "info":
            _show_rule(console, rule, together, len(report.compared))
    if short:
        _show_counts(console, informing)


def _show_rule(console: Console, rule: str, groups: Sequence[Alike], total: int) -> None:
    one = groups[0].first
    console.print()
    severities = f"  readers: {one.reader}, writers: {one.writer}"
    console.print(Text.assemble((rule, _STYLES[groups[0].severity]), (severities, "dim")))
    _print(console, Text(RULES[rule].doc, "dim"), 1)
    for group in groups:
        _print(console, Text.assemble((group.place, "bold"), f": {group.text}"), 1)
        one = group.first
        seen = scenarios(one.scenarios, total)
        accepted = f"  accepted by {one.accepted}" if one.accepted else ""
        line = f"{one.fingerprint}{f'  {seen}' if seen else ''}{accepted}"
        _print(console, Text(line, "dim"), 2)


def _show_counts(console: Console, groups: Sequence[Alike]) -> None:
    console.print()
    _print(console, Text(f"for information: {len(groups)}; --all shows each", "dim"))
    for rule, count in Counter(group.first.rule for group in groups).most_common():
        _print(console, Text(f"{count:4} {rule}", "dim"), 1)


def _print(console: Console, text: Text, depth: int = 0) -> None:
    """Print a line: wrapped within its indent on a terminal, else whole, as it is searched."""
    if console.is_terminal:
        console.print(Padding(text, (0, 0, 0, depth * _STEP), expand=False))
    else:
        console.print(Text(" " * depth * _STEP).append_text(text), soft_wrap=True)
