"""A drift report as JUnit's XML: a case for each finding, failed where the policy says so."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from conformance.drift.findings import DriftReport, fails, told

_ILLEGAL = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def document(report: DriftReport) -> str:
    """Return the report as text."""
    name = f"drift {report.agent} {report.from_} to {report.to}"
    cases: list[ElementTree.Element] = []
    failures = 0
    for finding in report.findings:
        case = _case(name, f"{finding.rule} {finding.place}", cases)
        words = f"{told(finding)} [{finding.fingerprint}]"
        if fails(finding, report.policy):
            failures += 1
            ElementTree.SubElement(case, "failure", message=_legal(words), type=finding.rule)
        else:
            ElementTree.SubElement(case, "system-out").text = _legal(words)
    for broken in (*report.broken, *report.unused):
        failures += 1
        case = _case(name, broken, cases)
        ElementTree.SubElement(case, "failure", message=_legal(broken), type="broken")
    suite = ElementTree.Element(
        "testsuite", name=name, tests=str(len(cases)), failures=str(failures), errors="0"
    )
    suite.extend(cases)
    root = ElementTree.Element("testsuites", tests=str(len(cases)), failures=str(failures))
    root.append(suite)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{text}\n"


def _case(suite: str, name: str, cases: list[ElementTree.Element]) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=_legal(suite), name=_legal(name))
    cases.append(case)
    return case


def _legal(text: str) -> str:
    """Return text without what XML can't hold."""
    return _ILLEGAL.sub("�", text)
