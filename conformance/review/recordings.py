"""New recordings, which wait beside the corpus until somebody takes them in.

A recording is compared with the one that it would replace, else with the same scenario of the
newest release before it: what changed is told by the rules of drift.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from conformance.corpus import CANNOT, Case, case_directories, cases, load_case, version_key
from conformance.drift.comparing import changes
from conformance.drift.findings import findings, told
from conformance.drift.sides import Side
from conformance.formats.snapshots import release_of
from conformance.review.differences import shortened
from conformance.review.pending import Pending

WAITING = Path(".recordings") / "pending"
"""Where recordings wait, in the checkout; git does not see it."""


def pending_recordings(corpus: Path, waiting: Path) -> Iterator[Pending]:
    """Yield the recordings that wait, and why a release can't do a scenario."""
    for directory in case_directories(waiting):
        case = load_case(directory, waiting)
        yield _pending(directory, corpus / case.name, case.name, _compared(case, corpus))
    for path in sorted(waiting.glob(f"*/*/*/{CANNOT}")):
        name = path.parent.relative_to(waiting).as_posix()
        yield _pending(path.parent, corpus / name, name, ["this release can't do it"])


def _pending(directory: Path, target: Path, name: str, lines: list[str]) -> Pending:
    return Pending(
        name=f"recording {name}",
        state="recorded",
        told=lines,
        before="",
        after="",
        accept=partial(_take_in, directory, target),
        reject=partial(shutil.rmtree, directory),
    )


def _compared(case: Case, corpus: Path) -> list[str]:
    """Return how a recording differs from its like in the corpus."""
    alike = [
        one
        for one in cases(corpus, case.facts.agent)
        if one.facts.scenario == case.facts.scenario
        and release_of(one).dialect == release_of(case).dialect
        and version_key(one.facts.release) <= version_key(case.facts.release)
    ]
    if not alike:
        return ["the first of its scenario"]
    older = max(alike, key=lambda one: version_key(one.facts.release))
    if older.facts.release == case.facts.release and older.facts.files == case.facts.files:
        return [f"the same files as {older.name}"]
    found = findings(case.facts.agent, changes(_side(older), _side(case)))
    lines = [f"{one.rule} {one.place}: {told(one)}" for one in found]
    return [f"against {older.name}:", *(shortened(lines) or ["no difference of format"])]


def _side(case: Case) -> Side:
    facts = case.facts
    return Side(facts.agent, facts.release, {facts.scenario: case}, {}, None, None)


def _take_in(directory: Path, target: Path) -> None:
    """Put a recording in its place in the corpus; it keeps what the one before had with hooks."""
    from live.hooked import carry  # noqa: PLC0415 - nothing else here needs the CLIs' own extra

    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        carry(target, directory)
        shutil.rmtree(target)
    shutil.move(directory, target)
