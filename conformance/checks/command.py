"""What ``conformance check`` does: smoke first, then everything; shown as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from conformance.checks.catalogue import PROBES, checks
from conformance.checks.check import CheckReport, Result

_SHOWN = 3
"""How many subjects that fail a check alike are named."""


def show(report: CheckReport, console: Console) -> None:
    """Print a line a check, and then what failed: subjects that fail alike together."""
    table = Table(
        title=f"{report.adapter}: {', '.join(report.offers) or 'offers nothing'}",
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("check", no_wrap=True)
    table.add_column("what it claims", overflow="fold")
    table.add_column("passed", justify="right")
    table.add_column("failed", justify="right")
    table.add_column("skipped", justify="right")
    for check, claim in checks().items():
        of_it = [result for result in report.results if result.check == check]
        passed, failed, known, skipped = (
            sum(one.verdict == verdict for one in of_it)
            for verdict in ("passed", "failed", "known", "skipped")
        )
        if of_it:
            table.add_row(
                Text(check, style="red" if failed else "green" if passed else "dim"),
                claim,
                str(passed or ""),
                Text(f"{failed or ''}{f' ({known} known)' if known else ''}", style="red"),
                str(skipped or ""),
            )
    console.print(table)
    for check, why, failed in _alike(report.results):
        names = ", ".join(failed[:_SHOWN])
        more = f" and {len(failed) - _SHOWN} more" if len(failed) > _SHOWN else ""
        console.print(Text(f"{check}: {names}{more}: {why}", style="red"), soft_wrap=True)
    summary = report.summary
    console.print(
        f"{summary.passed} passed, {summary.failed} failed, "
        f"{summary.known} known to fail, {summary.skipped} skipped"
    )


def _alike(results: Sequence[Result]) -> list[tuple[str, str, list[str]]]:
    """Return the failures, those of one check for one reason together, in the order of checks."""
    alike: dict[tuple[str, str], list[str]] = {}
    for one in results:
        if one.verdict == "failed":
            alike.setdefault((one.check, one.why), []).append(one.case)
    order = [check for probe in PROBES for check in probe.checks]
    return [
        (check, why, cases)
        for (check, why), cases in sorted(alike.items(), key=lambda item: order.index(item[0][0]))
    ]
