"""A check's report as one self-contained page: a table of checks, what fails, and every result."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from conformance.checks.check import CheckReport
from conformance.report.checks.summary import (
    WORDS,
    about,
    alike,
    rows,
    verdict_line,
    verdicts_of,
    visible,
)


def page(report: CheckReport) -> str:
    """Return the page's HTML; everything in it is escaped, it needs no script and no network."""
    environment = Environment(
        loader=PackageLoader("conformance.report", "checks"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["visible"] = visible
    found = rows(report)
    verdicts = verdicts_of(found)
    return environment.get_template("page.html.j2").render(
        about=about(report),
        offers=report.offers,
        line=verdict_line(report),
        summary=report.summary,
        rows=found,
        verdicts=verdicts,
        words=WORDS,
        failing=alike(found, "failed"),
        others=[(verdict, alike(found, verdict)) for verdict in ("known", "flaky", "skipped")],
        groups={row.check: [(v, alike([row], v)) for v in verdicts] for row in found},
    )
