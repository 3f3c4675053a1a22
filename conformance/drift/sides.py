"""One side of a comparison: what a release left of each scenario, and how it resumes.

A scenario is compared only if both sides have it in the same revision: a field that is missing
where the scenario that showed it was never run is not gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from conformance.corpus import Case, CorpusError, cases, impossible, releases
from conformance.formats.snapshots import release_of
from conformance.offered import load as load_offered
from conformance.resuming import NAME, load
from live.resume_rules import Effect


class Side(NamedTuple):
    """A release in one dialect.

    ``cases`` are its recordings by scenario, ``cannot`` says why it can't do others; ``resumes``
    is what it does with a file of each defect, ``offered`` the tools that its model is offered,
    both None where that was not measured.
    """

    agent: str
    release: str
    cases: Mapping[str, Case]
    cannot: Mapping[str, str]
    resumes: Mapping[str, Effect] | None
    offered: frozenset[str] | None


def side(corpus: Path, schemas: Path, agent: str, release: str, dialect: str | None = None) -> Side:
    """Return what is recorded of a release; :class:`CorpusError` if nothing is."""
    found = {
        case.facts.scenario: case
        for case in cases(corpus, agent, release)
        if release_of(case).dialect == dialect
    }
    if not found:
        recorded = ", ".join(releases(corpus, agent)) or "none"
        raise CorpusError(f"{corpus}: nothing is recorded of {agent} {release} (but {recorded})")
    measured = schemas / agent / release
    return Side(
        agent=agent,
        release=release,
        cases=found,
        cannot=_cannot(corpus, agent, release, dialect),
        resumes=_resumes(measured),
        offered=load_offered(measured),
    )


def _cannot(corpus: Path, agent: str, release: str, dialect: str | None) -> Mapping[str, str]:
    suffix = "" if dialect is None else f".{dialect}"
    return {
        one.scenario: one.why
        for name, one in impossible(corpus)
        if (one.agent, one.release) == (agent, release)
        and name.rpartition("/")[2] == one.scenario + suffix
    }


def _resumes(measured: Path) -> Mapping[str, Effect] | None:
    path = measured / NAME
    if not path.is_file():
        return None
    return {one.defect: one.effect for one in load(path).defects}


class Common(NamedTuple):
    """What two sides have in common: the scenarios that are compared, and why others are not."""

    scenarios: tuple[str, ...]
    others: Mapping[str, str]


def common(before: Side, after: Side) -> Common:
    """Return the scenarios that two sides have alike."""
    shared: list[str] = []
    others: dict[str, str] = {}
    for name in sorted({*before.cases, *after.cases}):
        one, other = before.cases.get(name), after.cases.get(name)
        if one is None or other is None:
            missing = before if one is None else after
            others[name] = f"not recorded of {missing.release}"
        elif one.facts.revision != other.facts.revision:
            others[name] = (
                f"recorded in revision {one.facts.revision} and {other.facts.revision} of it"
            )
        else:
            shared.append(name)
    return Common(tuple(shared), others)
