"""The snapshots of every recorded release: made from the corpus, kept beside the release.

``schemas/<agent>/<release>[.<dialect>]/<kind>.json``, from all cases of that release in that
dialect. Nothing of it is written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from conformance.corpus import Case, CorpusError, cases, version_key
from conformance.formats.naming import file_name
from conformance.formats.observing import observe
from conformance.formats.records import Gathering, Named
from conformance.formats.schema import Schema, schema_of, schema_text
from conformance.formats.tables import table

RESERVED = frozenset({"resume.json", "offered.json"})
"""Files that lie beside a release's snapshots and are none."""


class Release(NamedTuple):
    """One release of an agent in one dialect, as its directory is named."""

    agent: str
    version: str
    dialect: str | None

    @property
    def directory(self) -> str:
        """The release's place under ``schemas``."""
        return f"{self.agent}/{self.version}{f'.{self.dialect}' if self.dialect else ''}"


def release_of(case: Case) -> Release:
    """Return the release and the dialect of a case; a release's own dialect has no name."""
    named = case.directory.name.removeprefix(case.facts.scenario).removeprefix(".")
    return Release(case.facts.agent, case.facts.release, named or None)


def recorded_releases(corpus: Path) -> dict[Release, list[Case]]:
    """Return the cases of every release, releases from the oldest on."""
    found: dict[Release, list[Case]] = {}
    for case in cases(corpus):
        found.setdefault(release_of(case), []).append(case)
    return found


def records_of(case: Case) -> list[Named]:
    """Return every record of a case's home and streams; a file of no known kind is an error."""
    agent = case.facts.agent
    places = tuple(f".{agent}/{root}/" for root in table(agent).roots)
    if outside := [name for name in case.facts.files if not name.startswith(places)]:
        raise CorpusError(
            f"{case.name}: {', '.join(outside)}: outside of what conformance/formats/{agent}.toml "
            "calls the roots of sessions"
        )
    found, unknown = known_records(case)
    if unknown:
        raise CorpusError(
            f"{case.name}: {', '.join(unknown)}: no known kind of file; "
            f"say in conformance/formats/{agent}.toml what it holds"
        )
    return found


def known_records(case: Case) -> tuple[list[Named], list[str]]:
    """Return every record of a case's home and streams, and the files of no known kind."""
    streams = case.directory / "stream"
    found: list[Named] = []
    unknown: list[str] = []
    for place in (case.home, *([streams] if case.facts.streams else [])):
        gathering = Gathering(case.facts.agent, place)
        found += gathering
        unknown += gathering.unknown
    return found, unknown


def snapshots(agent: str, found: Sequence[tuple[Case, Sequence[Named]]]) -> dict[str, Schema]:
    """Return the snapshot of every kind that some cases of a release hold, given their records."""
    scenarios = sorted({case.facts.scenario for case, _ in found})
    bits = {name: 1 << at for at, name in enumerate(scenarios)}
    rules = table(agent)
    observers = observe(
        (
            (record.kind, record.value, bits[case.facts.scenario])
            for case, records in found
            for record in records
        ),
        rules,
    )
    return {kind: schema_of(observers[kind], scenarios, rules) for kind in sorted(observers)}


def texts(agent: str, found: Sequence[tuple[Case, Sequence[Named]]]) -> dict[str, str]:
    """Return the files of a release's snapshots by name, given its cases and their records."""
    made: dict[str, str] = {}
    for kind, schema in snapshots(agent, found).items():
        name = file_name(kind)
        if name.lower() in map(str.lower, (*made, *RESERVED)):
            raise CorpusError(f"{agent}: two kinds of record would be kept in {name}")
        made[name] = schema_text(schema)
    return made


# ------------------------------------------------------------------ kept


def kept_files(directory: Path) -> Iterator[Path]:
    """Yield the files of a release's directory that are snapshots."""
    yield from sorted(path for path in directory.glob("*.json") if path.name not in RESERVED)


@cache
def kept(directory: Path) -> dict[str, Schema]:
    """Return the snapshots that are kept for a release, by kind."""
    found: dict[str, Schema] = {}
    for path in kept_files(directory):
        schema: Any = orjson.loads(path.read_bytes())
        found[schema["title"]] = schema
    return found


def kept_releases(schemas: Path, agent: str) -> list[str]:
    """Return the releases of which there are snapshots, oldest first, dialects left out."""
    named = {path.name for path in (schemas / agent).glob("*") if any(kept_files(path))}
    return sorted({_version(name) for name in named}, key=version_key)


def directories(schemas: Path, agent: str, version: str) -> list[Path]:
    """Return the directories of a release: its own dialect's first."""
    return [
        path
        for path in sorted((schemas / agent).glob(f"{version}*"))
        if _version(path.name) == version and any(kept_files(path))
    ]


def _version(name: str) -> str:
    """Return the version in a directory's name, without the dialect behind it.

    A dialect begins with a letter, which the part of a version behind a dot never does here.
    """
    parts = name.split(".")
    end = next((at for at, part in enumerate(parts) if part and not part[0].isdigit()), len(parts))
    return ".".join(parts[:end])
