"""Whose fault a failure is: told by what the CLI does with a session of its own, unmoved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from conformance.corpus import version_key
from conformance.livechecks.results import Measurement, Result

Blame = Literal["the release's", "the writer's", "not known"]

_BAD = ("failed", "impossible")


class Defect(NamedTuple):
    """A release fails a check with what it wrote itself.

    ``first`` and ``last`` are recorded releases next to each other that do; ``before`` and
    ``after`` are their neighbours among those checked, where these pass.
    """

    case: str
    agent: str
    first: str
    last: str
    before: str | None
    after: str | None
    why: str
    measured: Measurement | None


def blame(result: Result, results: Sequence[Result]) -> Blame:
    """Say whose fault it is that a moved conversation was not gone on with."""
    for one in results:
        same = (one.case, one.target, one.release) == (result.case, result.target, result.release)
        if same and not one.moved and one.verdict in (*_BAD, "passed"):
            return "the writer's" if one.verdict == "passed" else "the release's"
    return "not known"


def defects(results: Sequence[Result]) -> list[Defect]:
    """Return what releases fail with their own sessions, each with its range."""
    controls: dict[tuple[str, str], dict[str, Result]] = {}
    for one in results:
        if not one.moved and one.verdict in (*_BAD, "passed"):
            controls.setdefault((one.case, one.target), {})[one.release] = one
    return [
        defect
        for (case, agent), by_release in controls.items()
        for defect in _ranges(case, agent, by_release)
    ]


def _ranges(case: str, agent: str, by_release: Mapping[str, Result]) -> Iterator[Defect]:
    """Yield every run of neighbouring releases that fail, for one reason where that is known."""
    ordered = sorted(by_release, key=version_key)
    for reason, run in groupby(ordered, key=lambda release: _reason(by_release[release])):
        if reason is None:
            continue
        releases = list(run)
        start, end = ordered.index(releases[0]), ordered.index(releases[-1]) + 1
        last = by_release[releases[-1]]
        yield Defect(
            case=case,
            agent=agent,
            first=releases[0],
            last=releases[-1],
            before=_passing(ordered[start - 1 : start], by_release),
            after=_passing(ordered[end : end + 1], by_release),
            why=last.why,
            measured=last.measured,
        )


def _reason(result: Result) -> str | None:
    """Return why a release fails, as far as that was looked into; None for one that does not."""
    if result.verdict not in _BAD:
        return None
    return result.why if result.measured else ""


def _passing(releases: Sequence[str], by_release: Mapping[str, Result]) -> str | None:
    return next((one for one in releases if by_release[one].verdict == "passed"), None)
