"""Copilot CLI's own schema of its events, from the installed release.

Every release ships ``schemas/session-events.schema.json``, the newest inside what they unpack
when they start. It is loaded where it lies and never copied: its licence lets it be passed on
only as a part of the CLI. No release keeps to it everywhere, so where the CLI's own recordings
break it in the same place, the disagreement is the vendor's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from semver import Version

from live.agents.base import Driver
from live.releases import Release
from live.sandbox import Sandbox
from live.witnesses.base import Disagreement, Witness, Witnessed
from live.witnesses.copilot_files import events_file, numbered
from live.witnesses.schemas import Choice, each_place_once, in_words

NAME = "events-schema"

_SCHEMA = "schemas/session-events.schema.json"
_EVENT = "SessionEvent"
_START_SECONDS = 300.0
_NEWS = ("additionalProperties", "unknown")
"""Rules that every later release breaks, since no schema knows what comes after it."""

_schemas: dict[tuple[str, str], Choice] = {}


def _ask(driver: Driver, release: Release, home: Path, session_id: str) -> Witnessed:
    """Judge every event of the session."""
    file = events_file(home, session_id)
    found = disagreements(driver, release, [file])
    later = _by_a_later_release(file, release)
    if later:
        found = tuple(one for one in found if one.rule not in _NEWS)
    passed_over = f"what releases after it added is not judged: {later} wrote the file"
    return Witnessed(
        name=NAME,
        verdict="refuses" if found else "agrees",
        why=in_words(found) or (passed_over if later else ""),
        disagreements=found,
    )


WITNESS = Witness(name=NAME, since="0.0.384", before="older releases were not looked at", ask=_ask)


def disagreements(
    driver: Driver, release: Release, files: Iterable[Path]
) -> tuple[Disagreement, ...]:
    """Return where the events of some files break the release's schema, each place once."""
    schema = _schema(driver, release)
    return each_place_once(
        one
        for file in files
        for line, event in numbered(file)
        for one in schema.disagreements(event, line)
    )


def _by_a_later_release(file: Path, release: Release) -> str | None:
    """Return the release by which a file says that it was written, if that is a later one."""
    for _, event in numbered(file):
        if isinstance(event, dict) and event.get("type") == "session.start":
            named = event.get("data", {}).get("copilotVersion")
            if isinstance(named, str) and Version.is_valid(named):
                newer = Version.parse(named) > Version.parse(release.version)
                return named if newer else None
    return None


def _schema(driver: Driver, release: Release) -> Choice:
    key = (release.version, str(release.prefix))
    if key not in _schemas:
        document: Any = json.loads(_place(driver, release).read_bytes())
        _schemas[key] = Choice(document, _EVENT)
    return _schemas[key]


def _place(driver: Driver, release: Release) -> Path:
    """Return where the schema lies, having the CLI unpacked if it has to be."""
    found = _found(driver, release)
    if found is None:
        with Sandbox(release.prefix, node_at_least=driver.node) as box:
            driver.prepare(box.home, box.workspace_inside, box.port, None)
            box.run(
                [*driver.executable(release.prefix), "--version"],
                driver.environment(box.home_inside, box.port),
                timeout=_START_SECONDS,
            )
        found = _found(driver, release)
    if found is None:
        raise FileNotFoundError(
            f"{driver.agent} {release.version} has no {_SCHEMA}, neither in {release.prefix}"
            " nor where it unpacks; does another name of the file stand there?"
        )
    return found


def _found(driver: Driver, release: Release) -> Path | None:
    packages = release.prefix / "node_modules" / "@github"
    unpacked = Path(driver.environment("", 0)["COPILOT_CACHE_HOME"])
    places = (
        *packages.glob(f"*/{_SCHEMA}"),
        *unpacked.glob(f"pkg/*/{release.version}/{_SCHEMA}"),
    )
    return next(iter(sorted(places)), None)
