"""A check's report as JUnit XML: a suite a check, a case each subject, by the common schema.

The schema is the one that CI servers agree on (Jenkins' ``junit-10.xsd``): properties come first
in a suite, a case has one of ``failure`` and ``skipped`` at most. No time and no host stand in it,
so that equal results are equal bytes. What is known to fail and what is flaky is ``skipped``, with
the word in front: it counts neither as passed nor as failed.
"""

from __future__ import annotations

from xml.etree import ElementTree as XML

from conformance.checks.check import CheckReport, Result
from conformance.report.checks.summary import WORDS, Row, rows, visible


def junit(report: CheckReport) -> str:
    """Return the report as a whole XML document."""
    summary = report.summary
    root = XML.Element(
        "testsuites",
        name=visible(report.adapter),
        tests=str(len(report.results)),
        failures=str(summary.failed),
        errors="0",
    )
    for row in rows(report):
        _suite(root, row, report)
    XML.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + XML.tostring(root, encoding="unicode")


def _suite(root: XML.Element, row: Row, report: CheckReport) -> None:
    counts = row.counts
    suite = XML.SubElement(
        root,
        "testsuite",
        name=visible(row.check),
        tests=str(len(row.results)),
        failures=str(counts["failed"]),
        errors="0",
        skipped=str(counts["known"] + counts["flaky"] + counts["skipped"]),
    )
    properties = XML.SubElement(suite, "properties")
    for name, value in _properties(row, report).items():
        XML.SubElement(properties, "property", name=name, value=visible(value))
    for result in row.results:
        case = XML.SubElement(
            suite, "testcase", name=visible(result.case), classname=visible(row.check)
        )
        _outcome(case, result)


def _properties(row: Row, report: CheckReport) -> dict[str, str]:
    who = report.about
    named = {} if who is None else {"adapter.name": who.name, "adapter.version": who.version}
    return {
        "adapter": report.adapter,
        **named,
        "offers": ", ".join(report.offers),
        **({"claim": row.claim} if row.claim else {}),
    }


def _outcome(case: XML.Element, result: Result) -> None:
    if result.verdict == "passed":
        return
    why = visible(result.why)
    if result.verdict == "failed":
        XML.SubElement(case, "failure", message=why, type=visible(result.check)).text = why
        return
    word = "" if result.verdict == "skipped" else f"{WORDS[result.verdict]}: "
    XML.SubElement(case, "skipped", message=f"{word}{why}")
