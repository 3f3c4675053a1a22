"""What is recorded, what a release can't do, and what is missing: no gap is silent.

``coverage.toml`` says what must be there; a recording or a ``cannot.json`` fills its place.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from conformance.corpus import Case, cases, impossible, version_key


class Releases(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An agent's releases by the set of scenarios that they must have."""

    full: tuple[str, ...]
    core: tuple[str, ...]


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """``coverage.toml``: the sets of scenarios, and each agent's releases.

    ``hooked`` are the agents of which every recording has a run with hooks, or the reason why
    not.
    """

    complete: bool
    hooked: tuple[str, ...] = ()
    core: tuple[str, ...]
    full: tuple[str, ...]
    releases: Mapping[str, Releases]

    @property
    def scenarios(self) -> tuple[str, ...]:
        """All scenarios, the core set first."""
        return (*self.core, *self.full)


class Place(NamedTuple):
    """Where one recording belongs: ``column`` is a release, with a dialect behind a dot."""

    agent: str
    column: str
    scenario: str


class Unkept(NamedTuple):
    """What releases did not keep of a kind of message, and of how many in each.

    ``what`` is the kind and, unless the whole message is gone, the fields.
    """

    what: str
    why: str
    counts: Mapping[str, int]


class Coverage(NamedTuple):
    """Everything that fills a place, and what does not."""

    demand: Demand
    columns: Mapping[str, tuple[str, ...]]
    recorded: Mapping[Place, Case]
    cannot: Mapping[Place, str]

    def state(self, place: Place) -> str:
        """Return ``recorded``, ``cannot``, ``hole``, or nothing where nothing is demanded."""
        if place in self.recorded:
            return "recorded"
        if place in self.cannot:
            return "cannot"
        return "hole" if is_demanded(self.demand, place) else ""

    def scenarios(self, agent: str) -> tuple[str, ...]:
        """Return the scenarios that an agent is asked for or has, listed ones first."""
        found = {place.scenario for place in (*self.recorded, *self.cannot) if place.agent == agent}
        return (*self.demand.scenarios, *sorted(found - set(self.demand.scenarios)))


def demand() -> Demand:
    """Return what must be recorded."""
    document: dict[str, Any] = tomllib.loads(
        (files("conformance") / "coverage.toml").read_text(encoding="utf-8")
    )
    agents = {key: value for key, value in document.items() if isinstance(value, dict)}
    plain = {key: value for key, value in document.items() if key not in agents}
    return msgspec.convert({**plain, "releases": agents}, Demand)


def is_demanded(wanted: Demand, place: Place) -> bool:
    """Whether a recording must be there."""
    releases = wanted.releases.get(place.agent)
    if releases is None:
        return False
    if place.column in releases.full:
        return place.scenario in wanted.scenarios
    return place.column in releases.core and place.scenario in wanted.core


def coverage(corpus: Path, wanted: Demand | None = None) -> Coverage:
    """Return what of the demand is there."""
    wanted = demand() if wanted is None else wanted
    recorded = {_place(case.name, case.facts.scenario): case for case in cases(corpus)}
    cannot = {_place(name, file.scenario): file.why for name, file in impossible(corpus)}
    names = {(place.agent, place.column) for place in (*recorded, *cannot)}
    for agent, releases in wanted.releases.items():
        names |= {(agent, column) for column in (*releases.full, *releases.core)}
    columns: dict[str, list[str]] = {}
    for agent, column in sorted(names, key=lambda name: (name[0], column_key(name[1]))):
        columns.setdefault(agent, []).append(column)
    return Coverage(
        demand=wanted,
        columns={agent: tuple(found) for agent, found in columns.items()},
        recorded=recorded,
        cannot=cannot,
    )


def faults(found: Coverage) -> Iterator[tuple[str, str]]:
    """Yield every hole, also of runs with hooks, and recordings of a scenario that no set lists."""
    for agent, columns in found.columns.items():
        for column in columns:
            for scenario in found.demand.scenarios:
                if found.state(Place(agent, column, scenario)) == "hole":
                    yield f"{agent}/{column}/{scenario}", "is neither recorded nor said impossible"
    for place, case in found.recorded.items():
        run = (case.facts.hooked, case.facts.unhooked)
        if place.agent in found.demand.hooked and run == (None, None):
            yield case.name, "has no run with hooks, and no reason why not"
    listed = set(found.demand.scenarios)
    for place in (*found.recorded, *found.cannot):
        if place.scenario not in listed:
            yield "/".join(place), "is of a scenario that conformance/coverage.toml does not list"


def unkept(found: Coverage, agent: str) -> list[Unkept]:
    """Return what an agent's releases did not keep, by kind, fields and reason."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for place, case in found.recorded.items():
        if place.agent == agent:
            for one in case.facts.unrecorded:
                what = " ".join((case.truth.messages[one.message]["kind"], *(one.fields or ())))
                counts.setdefault((what, one.why), Counter())[place.column] += 1
    return [Unkept(what, why, counts[what, why]) for what, why in sorted(counts)]


def kinds(found: Coverage, agent: str) -> dict[str, Counter[str]]:
    """Return how many messages of each kind the scripts of an agent's recordings hold."""
    counts: dict[str, Counter[str]] = {}
    for place, case in found.recorded.items():
        if place.agent == agent:
            for message in case.truth.messages:
                counts.setdefault(message["kind"], Counter())[place.column] += 1
    return counts


def column_key(column: str) -> tuple[Any, ...]:
    """Order columns by release, a release's own dialect first."""
    parts = column.split(".")
    end = next((at for at, part in enumerate(parts) if part[:1].isalpha()), len(parts))
    return (version_key(".".join(parts[:end])), ".".join(parts[end:]))


def _place(name: str, scenario: str) -> Place:
    agent, release, directory = name.split("/")
    return Place(agent, release + directory.removeprefix(scenario), scenario)
