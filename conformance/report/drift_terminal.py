"""A drift report on a terminal: the answers first, then what changed, most severe first."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from conformance.drift.findings import DriftReport
from conformance.drift.rules import RULES
from conformance.report.drift import alike, answers, scenarios

_STYLES = {"error": "bold red", "warning": "yellow", "info": "dim"}
_INDENT = "  "


def show_drift(report: DriftReport, console: Console) -> None:
    """Print a report."""
    console.print(Text(f"{report.agent} {report.from_} → {report.to}", "bold"))
    console.print(f"compared in {len(report.compared)} scenarios")
    for question, answer in answers(report):
        console.print(Text.assemble((question, "bold"), f" {answer}"), soft_wrap=True)
    for broken in report.broken:
        console.print(Text(f"{_INDENT}{broken}", "bold red"), soft_wrap=True)
    for stale in report.unused:
        console.print(Text(f"{_INDENT}{stale}", "bold red"), soft_wrap=True)
    for said in report.vendor or ():
        console.print(Text(f"{_INDENT}{said}", "dim"), soft_wrap=True)
    rule = None
    for group in alike(report.findings):
        one = group.first
        if one.rule != rule:
            rule = one.rule
            console.print()
            console.print(
                Text.assemble(
                    (rule, _STYLES[group.severity]),
                    (f"  readers: {one.reader}, writers: {one.writer}", "dim"),
                )
            )
            console.print(Text(f"{_INDENT}{RULES[rule].doc}", "dim"), soft_wrap=True)
        console.print(
            Text.assemble(_INDENT, (group.place, "bold"), f": {group.text}"), soft_wrap=True
        )
        seen = scenarios(one.scenarios, len(report.compared))
        accepted = f"  accepted by {one.accepted}" if one.accepted else ""
        line = f"{_INDENT * 2}{one.fingerprint}{f'  {seen}' if seen else ''}{accepted}"
        console.print(Text(line, "dim"), soft_wrap=True)
