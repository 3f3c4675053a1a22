"""Recordings: one scenario, one release, one directory that everybody can read again.

``python -m live.recorder AGENT@VERSION [SCENARIO…] [--verify] [--out DIR]``. A case appears
whole or not at all, and only if the run went as scripted, the CLI itself resumed the
sanitised copy with the history it had before, and every word in it has a known origin. Where
a release has no way to do what a scenario asks, its place holds ``cannot.json`` with the
reason instead.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from live.agents.base import CannotDo, Driver, find_driver
from live.model import log, script
from live.model.script import Scenario, Spawn, calls_of
from live.proof import PROMPT, Resumption, same_shape
from live.releases import Release, install, node_version
from live.running import Run, perform
from live.sanitise import (
    REVISION,
    Clock,
    Document,
    Provenance,
    Sanitiser,
    encode,
    load,
    markers,
    rules,
    script_patterns,
    script_strings,
    stored_name,
    without_chance,
)
from live.sanitise.documents import dumps
from live.truth import expected, truth
from live.unrecorded import one_sided, unrecorded

FORMAT = 1
STREAMS = "stream"
CORPUS = Path(__file__).resolve().parents[1] / "corpus"


class Unrepeatable(Exception):
    """A second recording differs from the first; the message names the first difference."""


def record(
    agent: str,
    version: str,
    scenario: str,
    dialect: str | None = None,
    *,
    out: Path = CORPUS,
    verify: bool = False,
) -> Path:
    """Record a scenario and return its case directory; with ``verify``, record it twice."""
    driver = find_driver(agent, version, dialect)
    release = install(agent, driver.package, version)
    if release.version != version:
        driver = find_driver(agent, release.version, dialect)
    target = out / agent / release.version / _case_name(scenario, driver)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".recording-", dir=target.parent) as scratch:
        try:
            first = _case(script.load(scenario), driver, release, Path(scratch) / "first")
        except CannotDo as reason:
            first = _refusal(script.load(scenario), driver, release, reason, Path(scratch))
            verify = False
        if verify:
            again = _case(script.load(scenario), driver, release, Path(scratch) / "again")
            _compare(first, again)
        if target.exists():
            shutil.rmtree(target)
        first.rename(target)
    return target


def _case_name(scenario: str, driver: Driver) -> str:
    default = driver.dialect == driver.dialects[0]
    return scenario if default else f"{scenario}.{driver.dialect}"


def _case(scenario: Scenario, driver: Driver, release: Release, target: Path) -> Path:
    """Run, sanitise, prove and write one case."""
    keep = target.with_name(f"{target.name}-raw")
    keep.mkdir(parents=True)
    run = perform(scenario, driver, release, keep)
    table = rules(driver.agent, driver.version)
    raw = [
        without_chance(load(path, str(path.relative_to(run.home))), table)
        for path in driver.session_files(run.home)
    ]
    sanitiser = _sanitiser(scenario, driver, run)
    clean = sanitiser.documents(raw)
    same_shape(raw, clean, table)
    document = truth(scenario, driver, run.steps, run.exchanges)
    missing = unrecorded(expected(run.steps, driver, scenario, run.exchanges), raw)
    gone = {entry["message"] for entry in missing if entry["fields"] is None}
    kept = [None if i in gone else one for i, one in enumerate(document["messages"])]
    home = target / "home"
    hashes = {name: _write(home / name, content) for name, content in _encoded(clean)}
    told = _streams(driver, run)
    streams = {
        name: _write(target / name, content) for name, content in _encoded(sanitiser.aside(told))
    }
    case = {
        "format": FORMAT,
        "agent": driver.agent,
        "release": release.version,
        "dialect": driver.dialect,
        "integrity": release.integrity,
        "platform": {
            "os": platform.system().lower(),
            "arch": platform.machine(),
            "node": node_version(run.node),
        },
        "scenario": scenario.name,
        "revision": scenario.revision,
        "sanitiser": REVISION * 1000 + rules(driver.agent).revision,
        "sealed": run.sealed,
        "session_id": sanitiser.text(run.session_id, ()),
        "session_path": _session_path(run, driver, clean, sanitiser),
        "cwd": run.workspace,
        "files": hashes,
        "unrecorded": missing,
        "streams": streams,
        "one_sided": one_sided(document["messages"], raw, told) if told else None,
        **Resumption(driver, release, run, sanitiser).facts(home, kept),
    }
    rows = [_asked(row, sanitiser) for row in log.committed(run.exchanges, run.play)]
    _write(target / "case.json", _pretty(case))
    _write(target / "truth.json", _pretty(document))
    _write(target / "model.jsonl", b"".join(_line(row) for row in rows))
    return target


def _streams(driver: Driver, run: Run) -> list[Document]:
    """Return what the CLI wrote for programs while it ran, a document for each process."""
    return [
        Document(path=f"{STREAMS}/{number}.jsonl", form="lines", records=tuple(records), style="\n")
        for number, records in enumerate(driver.streamed(run.said), 1)
        if records
    ]


def _asked(row: dict[str, Any], sanitiser: Sanitiser) -> dict[str, Any]:
    """Return what the model was asked, sanitised; how it was judged is in our own words."""
    judged = ("violations", "unjudged")
    said = {name: value for name, value in row.items() if name not in judged}
    cleaned: dict[str, Any] = sanitiser.value(said, ("model",))
    return {name: row[name] if name in judged else cleaned[name] for name in row}


def _refusal(
    scenario: Scenario, driver: Driver, release: Release, reason: CannotDo, scratch: Path
) -> Path:
    """Write what stands in the place of a case that there can't be."""
    document = {
        "format": FORMAT,
        "agent": driver.agent,
        "release": release.version,
        "dialect": driver.dialect,
        "integrity": release.integrity,
        "scenario": scenario.name,
        "revision": scenario.revision,
        "why": str(reason),
    }
    target = scratch / "refusal"
    _write(target / "cannot.json", _pretty(document))
    return target


def _sanitiser(scenario: Scenario, driver: Driver, run: Run) -> Sanitiser:
    words = script_strings(scenario, run.steps, run.play, driver, run.workspace)
    table = rules(driver.agent, driver.version)
    beside = tuple(
        f'"content":{dumps(call.prompt)}'
        for turn in scenario.turns
        for call in calls_of(turn.responses)
        if isinstance(call, Spawn) and call.background
    )
    return Sanitiser(
        # An agent in the background writes beside the conversation, in no fixed order.
        msgspec.structs.replace(table, apart=(*table.apart, *beside)),
        Provenance(
            {*words, PROMPT}, markers(driver.agent, retired=False), script_patterns(scenario)
        ),
        Clock(run.started, run.ended),
    )


def _session_path(run: Run, driver: Driver, clean: Sequence[Document], sanitiser: Sanitiser) -> str:
    """Return the main session's file, or the directory named after it."""
    session = sanitiser.text(run.session_id, ())
    for document in sorted(clean, key=lambda document: document.path.count("/")):
        if session in document.path.rpartition("/")[2]:
            return stored_name(document)
    for document in clean:
        head, found, _ = document.path.partition(session)
        if found:
            return head + session
    raise RuntimeError(f"no file of {driver.agent} is named after its session")


def _encoded(documents: Sequence[Document]) -> list[tuple[str, bytes]]:
    return sorted((stored_name(document), encode(document)) for document in documents)


def _write(path: Path, content: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def _pretty(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def _line(row: Any) -> bytes:
    return (json.dumps(row, ensure_ascii=True, separators=(",", ":")) + "\n").encode()


def _compare(first: Path, again: Path) -> None:
    """See that two recordings are the same bytes under the same names."""
    ours = {path.relative_to(first) for path in first.rglob("*") if path.is_file()}
    theirs = {path.relative_to(again) for path in again.rglob("*") if path.is_file()}
    if ours != theirs:
        raise Unrepeatable(f"files differ: {sorted(map(str, ours ^ theirs))}")
    for name in sorted(ours, key=lambda name: (name.name == "case.json", name)):
        one, two = (first / name).read_bytes(), (again / name).read_bytes()
        if one != two:
            raise Unrepeatable(f"{name}: {_difference(one, two)}")


def _difference(one: bytes, two: bytes) -> str:
    for number, (a, b) in enumerate(zip(one.split(b"\n"), two.split(b"\n"), strict=False), 1):
        if a != b:
            at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), 0)
            start = max(0, at - 60)
            return (
                f"line {number}, byte {at}: {a[start : at + 80]!r} and then {b[start : at + 80]!r}"
            )
    return "one is longer"


def main() -> None:
    """Record what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m live.recorder", description=__doc__)
    parser.add_argument("release", metavar="AGENT@VERSION")
    parser.add_argument("scenarios", metavar="SCENARIO", nargs="*")
    parser.add_argument("--dialect")
    parser.add_argument("--verify", action="store_true", help="record twice and compare bytes")
    parser.add_argument("--out", type=Path, default=CORPUS)
    options = parser.parse_intermixed_args()
    # Ended from outside, it still has a model and a CLI to end and directories to remove.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    agent, _, version = options.release.partition("@")
    failed = False
    for name in options.scenarios or script.names():
        try:
            path = record(
                agent,
                version,
                name,
                options.dialect,
                out=options.out,
                verify=options.verify,
            )
        except Exception as error:
            failed = True
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        else:
            print(f"{name}: {path}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
