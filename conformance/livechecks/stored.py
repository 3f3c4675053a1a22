"""The results that the repository keeps, so that their page can be made again without a CLI."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from conformance.livechecks.results import LiveReport, Result
from transcripts.serialise import to_json

_EVIDENCE = ("found", "losses", "sent", "shown")
"""What is kept of the evidence: neither what is long nor what lies on one machine only."""


class NotStored(Exception):
    """The file does not hold live results; the message names it and says what to do."""


def load(path: Path) -> LiveReport:
    """Read the results that are kept; none if there is no such file."""
    if not path.is_file():
        return LiveReport(results=())
    try:
        return msgspec.json.decode(path.read_bytes(), type=LiveReport)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise NotStored(f"{path}: {error}; remove it, and run conformance live --write") from error


def text(report: LiveReport) -> str:
    """Return what is kept of a report."""
    return to_json(report) + "\n"


def added(kept: LiveReport, new: LiveReport) -> LiveReport:
    """Return what is kept, with new results in the place of older ones of the same check."""
    results = {_place(one): one for one in kept.results}
    results.update({_place(one): _portable(one) for one in new.results})
    titles = {**kept.titles, **new.titles}
    ordered = sorted(results.values(), key=_place)
    return LiveReport(
        mover=new.mover,
        titles={case: titles.get(case, "") for case in sorted({one.case for one in ordered})},
        results=ordered,
    )


def only(report: LiveReport, cases: Iterable[str]) -> LiveReport:
    """Return a report without the cases that are no more."""
    there = set(cases)
    return replace(
        report,
        titles={case: title for case, title in report.titles.items() if case in there},
        results=[one for one in report.results if one.case in there],
    )


def _place(result: Result) -> tuple[Any, ...]:
    return (
        result.case,
        not result.moved,
        result.source,
        result.target,
        tuple(sorted(result.releases.items())),
    )


def _portable(result: Result) -> Result:
    evidence = {key: value for key, value in result.evidence.items() if key in _EVIDENCE}
    return replace(result, evidence=evidence)
