"""Whose fault a failure is: told by what the CLI does with a session of its own, unmoved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from conformance.corpus import version_key
from conformance.livechecks.results import Result

Blame = Literal["the release's", "the writer's", "not known"]

_BAD = ("failed", "impossible")


class Defect(NamedTuple):
    """A release fails a check with what it wrote itself.

    ``first`` and ``last`` are recorded releases next to each other that do; ``before`` and
    ``after`` the nearest ones checked that don't, None where none was.
    """

    case: str
    agent: str
    first: str
    last: str
    before: str | None
    after: str | None
    why: str


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
    """Yield every run of neighbouring releases that fail."""
    ordered = sorted(by_release, key=version_key)
    start = 0
    while start < len(ordered):
        end = start
        while end < len(ordered) and by_release[ordered[end]].verdict in _BAD:
            end += 1
        if end > start:
            yield Defect(
                case=case,
                agent=agent,
                first=ordered[start],
                last=ordered[end - 1],
                before=ordered[start - 1] if start else None,
                after=ordered[end] if end < len(ordered) else None,
                why=by_release[ordered[end - 1]].why,
            )
        start = max(end, start + 1)
