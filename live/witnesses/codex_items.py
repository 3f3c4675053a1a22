"""Codex's own schema of a response item, made by the installed release itself.

``codex app-server generate-json-schema`` writes the schemas of its protocol, and
``ResponseItem`` among them is what the lines of a rollout hold that reach the model. What else a
rollout holds has no schema. Nothing is kept of it but in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from live.agents.base import Driver
from live.releases import Release
from live.sandbox import Sandbox
from live.witnesses.base import Disagreement, Witness, Witnessed
from live.witnesses.codex_files import items, rollout
from live.witnesses.schemas import Choice, each_place_once, in_words

NAME = "items-schema"

_ITEM = "ResponseItem"
_SECONDS = 120.0
_DIRECTORY = "schemas"
_schemas: dict[tuple[str, str], Choice] = {}


def _ask(driver: Driver, release: Release, home: Path, session_id: str) -> Witnessed:
    """Judge every response item of the session."""
    found = disagreements(driver, release, [rollout(home, session_id)])
    return Witnessed(
        name=NAME,
        verdict="refuses" if found else "agrees",
        why=in_words(found),
        disagreements=found,
    )


WITNESS = Witness(
    name=NAME,
    since="0.77.0",
    before="0.45.0 and those before it have no app-server generate-json-schema",
    ask=_ask,
)


def disagreements(
    driver: Driver, release: Release, files: Iterable[Path]
) -> tuple[Disagreement, ...]:
    """Return where the response items of some files break the release's schema, each place once."""
    schema = _schema(driver, release)
    return each_place_once(
        one
        for file in files
        for line, item in items(file)
        for one in schema.disagreements(item, line)
    )


def _schema(driver: Driver, release: Release) -> Choice:
    key = (release.version, str(release.prefix))
    if key not in _schemas:
        _schemas[key] = Choice(_generated(driver, release), _ITEM)
    return _schemas[key]


def _generated(driver: Driver, release: Release) -> Any:
    """Return the smallest of the written documents that holds the schema of an item."""
    with Sandbox(release.prefix, node_at_least=driver.node) as box:
        driver.prepare(box.home, box.workspace_inside, box.port, None)
        ended = box.run(
            [
                *driver.executable(release.prefix),
                *("app-server", "generate-json-schema", "--out", f"{box.home_inside}/{_DIRECTORY}"),
            ],
            driver.environment(box.home_inside, box.port),
            timeout=_SECONDS,
        )
        written = sorted(
            (box.home / _DIRECTORY).rglob("*.json"), key=lambda one: one.stat().st_size
        )
        for path in written:
            document = json.loads(path.read_bytes())
            if _ITEM in document.get("definitions", {}):
                return document
    raise RuntimeError(
        f"codex {release.version} wrote no schema of {_ITEM}: exit code {ended.returncode},"
        f" stderr: {ended.stderr.strip()[-600:] or 'empty'}"
    )
