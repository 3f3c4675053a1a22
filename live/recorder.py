"""Recordings: one scenario, one release, one directory that everybody can read again.

``python -m live.recorder AGENT@VERSION [SCENARIO…] [--verify] [--hooked] [--out DIR]``. A case
appears whole or not at all, and only if the run went as scripted, the CLI itself resumed the
sanitised copy with the history it had before, and every word in it has a known origin. Where
a release has no way to do what a scenario asks, its place holds ``cannot.json`` with the
reason instead.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from live.agents.base import CannotDo, Driver, find_driver
from live.casefiles import compare, encoded, line, pretty, write
from live.cleaning import asked, sanitiser_of, session_path
from live.hooked import carry, record_hooked
from live.model import log, script
from live.model.script import Scenario
from live.proof import Resumption, same_shape
from live.releases import Release, install, node_version
from live.running import Run, perform
from live.sanitise import REVISION, Document, load, rules, without_chance
from live.truth import expected, truth
from live.unrecorded import one_sided, unrecorded

FORMAT = 1
STREAMS = "stream"
CORPUS = Path(__file__).resolve().parents[1] / "corpus"


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
            compare(first, again)
        if target.exists():
            carry(target, first)
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
    sanitiser = sanitiser_of(scenario, driver, run)
    clean = sanitiser.documents(raw)
    same_shape(raw, clean, table)
    document = truth(scenario, driver, run.steps, run.exchanges)
    missing = unrecorded(expected(run.steps, driver, scenario, run.exchanges), raw)
    gone = {entry["message"] for entry in missing if entry["fields"] is None}
    kept = [None if i in gone else one for i, one in enumerate(document["messages"])]
    home = target / "home"
    hashes = {name: write(home / name, content) for name, content in encoded(clean)}
    told = _streams(driver, run)
    streams = {
        name: write(target / name, content) for name, content in encoded(sanitiser.aside(told))
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
        "session_path": session_path(run, driver, clean, sanitiser),
        "cwd": run.workspace,
        "files": hashes,
        "unrecorded": missing,
        "streams": streams,
        "one_sided": one_sided(document["messages"], raw, told) if told else None,
        **Resumption(driver, release, run, sanitiser).facts(home, kept),
    }
    rows = [asked(row, sanitiser) for row in log.committed(run.exchanges, run.play)]
    write(target / "case.json", pretty(case))
    write(target / "truth.json", pretty(document))
    write(target / "model.jsonl", b"".join(line(row) for row in rows))
    return target


def _streams(driver: Driver, run: Run) -> list[Document]:
    """Return what the CLI wrote for programs while it ran, a document for each process."""
    return [
        Document(path=f"{STREAMS}/{number}.jsonl", form="lines", records=tuple(records), style="\n")
        for number, records in enumerate(driver.streamed(run.said), 1)
        if records
    ]


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
    write(target / "cannot.json", pretty(document))
    return target


def main() -> None:
    """Record what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m live.recorder", description=__doc__)
    parser.add_argument("release", metavar="AGENT@VERSION")
    parser.add_argument("scenarios", metavar="SCENARIO", nargs="*")
    parser.add_argument("--dialect")
    parser.add_argument("--verify", action="store_true", help="record twice and compare bytes")
    parser.add_argument(
        "--hooked",
        action="store_true",
        help="run recorded scenarios again with every hook, and put that beside the recordings",
    )
    parser.add_argument("--out", type=Path, default=CORPUS)
    options = parser.parse_intermixed_args()
    # Ended from outside, it still has a model and a CLI to end and directories to remove.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    agent, _, version = options.release.partition("@")
    failed = False
    for name in options.scenarios or script.names():
        try:
            path = (record_hooked if options.hooked else record)(
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
