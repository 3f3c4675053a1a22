"""What ``conformance check`` found, shown: on a terminal, for CI, as a page; all of one report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, get_args

from conformance.checks.check import CheckReport
from conformance.report.checks.junit import junit
from conformance.report.checks.markdown import markdown
from conformance.report.checks.page import page
from conformance.report.checks.terminal import show, text
from transcripts.serialise import to_json

Form = Literal["text", "json", "junit", "markdown", "html"]

FORMS: tuple[Form, ...] = get_args(Form)

_RENDER: Mapping[Form, Callable[[CheckReport], str]] = {
    "text": text,
    "json": to_json,
    "junit": junit,
    "markdown": markdown,
    "html": page,
}

_ENDINGS: Mapping[str, Form] = {
    ".json": "json",
    ".xml": "junit",
    ".md": "markdown",
    ".html": "html",
    ".htm": "html",
}

__all__ = ["FORMS", "Form", "form_of", "rendered", "show"]


def form_of(path: Path) -> Form:
    """Return the form that a file's name asks for: text unless its ending is of another one."""
    return _ENDINGS.get(path.suffix.lower(), "text")


def rendered(report: CheckReport, form: Form) -> str:
    """Return a report in one of its forms, without a line end behind it."""
    return _RENDER[form](report).rstrip("\n")
