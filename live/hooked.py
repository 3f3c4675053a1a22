"""The second run of a recorded scenario, in which every hook is registered that a release knows.

Hooks leave marks in transcripts, so the first run has none, and is never touched: a case gains
``hooked/``, with a home of its own, what the hooks were told (``hooks.jsonl``) and what the model
was asked, and ``case.json`` a key that lists them. The same script makes the same truth, so
``truth.json`` holds for both, and a run of which that is not so is no recording. Which call is
which needs no further document: ``model.jsonl`` beside the log holds the model's own calls with
their ids and what came of each (:mod:`live.calls`).

The second home is not resumed: that a CLI goes on with what this sanitiser makes of its files is
proved of the first.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from live.agents.base import CannotDo, Driver, find_driver
from live.arrivals import arranged, warm_ups
from live.casefiles import compare, encoded, line, pretty, write
from live.cleaning import asked, sanitiser_of, session_path
from live.hooklog import PLACE
from live.model import log, script
from live.model.script import Scenario
from live.proof import same_shape
from live.releases import Release, install
from live.running import Run, perform
from live.sanitise import REVISION, Document, encode, load, rules, without_chance
from live.sanitise.marks import without_marks
from live.sanitise.rules import Hooks
from live.truth import Known, expected, truth
from live.unrecorded import unrecorded


class Unhooked(Exception):
    """There is no first recording that this run could be put beside; the message says why."""


def record_hooked(
    agent: str,
    version: str,
    scenario: str,
    dialect: str | None = None,
    *,
    out: Path,
    verify: bool = False,
) -> Path:
    """Run a recorded scenario again with all hooks, and put that beside the recording.

    Returns the case's directory. Where the release has no hooks, ``case.json`` says so.
    """
    driver = find_driver(agent, version, dialect, hooked=True)
    release = install(agent, driver.package, version)
    if release.version != version:
        driver = find_driver(agent, release.version, dialect, hooked=True)
    default = driver.dialect == driver.dialects[0]
    name = scenario if default else f"{scenario}.{driver.dialect}"
    target = out / agent / release.version / name
    facts = _facts(target, script.load(scenario))
    with tempfile.TemporaryDirectory(prefix=".recording-", dir=target.parent) as scratch:
        first = Path(scratch) / "first"
        try:
            found = _run(script.load(scenario), driver, release, first, target)
        except CannotDo as reason:
            _put(target, None, {**facts, "hooked": None, "unhooked": str(reason)})
            return target
        if verify:
            again = Path(scratch) / "again"
            other = _run(script.load(scenario), driver, release, again, target)
            write(first / "case.json", pretty(found))
            write(again / "case.json", pretty(other))
            compare(first, again)
            (first / "case.json").unlink()
        facts.pop("unhooked", None)
        _put(target, first, {**facts, "hooked": found})
    return target


def carry(old: Path, new: Path) -> None:
    """Let a case that replaces another of the same script keep its run with hooks."""
    if not (old / "case.json").is_file() or not (new / "case.json").is_file():
        return
    before, after = _document(old / "case.json"), _document(new / "case.json")
    if before["revision"] != after["revision"]:
        return
    kept = {name: before[name] for name in ("hooked", "unhooked") if name in before}
    if (old / PLACE).is_dir():
        shutil.copytree(old / PLACE, new / PLACE)
    if kept:
        write(new / "case.json", pretty({**after, **kept}))


def _facts(target: Path, scenario: Scenario) -> dict[str, Any]:
    if not (target / "case.json").is_file():
        raise Unhooked(f"{target} is no recording: make the one without hooks first")
    facts = _document(target / "case.json")
    if facts["revision"] != scenario.revision:
        raise Unhooked(f"{target} is of revision {facts['revision']}: record it again first")
    return facts


def _document(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def _put(target: Path, made: Path | None, facts: dict[str, Any]) -> None:
    shutil.rmtree(target / PLACE, ignore_errors=True)
    if made is not None:
        made.rename(target / PLACE)
    write(target / "case.json", pretty(facts))


def _run(
    scenario: Scenario, driver: Driver, release: Release, target: Path, case: Path
) -> dict[str, Any]:
    """Run, sanitise and write; return what ``case.json`` says of it."""
    keep = target.with_name(f"{target.name}-raw")
    keep.mkdir(parents=True)
    run = perform(scenario, driver, release, keep)
    if not run.told:
        raise RuntimeError(f"of {len(run.registered)} registered hooks none was told anything")
    table = rules(driver.agent, driver.version)
    raw = [
        without_chance(load(path, str(path.relative_to(run.home))), table)
        for path in driver.session_files(run.home)
    ]
    truth(scenario, driver, run.steps, run.exchanges)
    known = _as_without(
        expected(run.steps, driver, scenario, run.exchanges),
        _document(case / "truth.json")["messages"],
    )
    # The files of agents that warm a CLI up are alike: which is whose the log alone tells.
    ranks = warm_ups(run.told, table.hooks)
    raw.sort(key=lambda one: max((ranks[id_] for id_ in ranks if id_ in one.path), default=-1))
    sanitiser = sanitiser_of(scenario, driver, run)
    clean = sanitiser.documents(raw)
    same_shape(raw, clean, table)
    logs = _logs(driver, run, table.hooks)
    logs_clean = [sanitiser.logged(one) for one in logs]
    same_shape(logs, logs_clean, table.of_hooks())
    model = [asked(row, sanitiser) for row in log.committed(run.exchanges, run.play)]
    contents = {
        **{f"home/{name}": content for name, content in encoded(clean)},
        **{one.path: encode(one) for one in logs_clean},
        "model.jsonl": b"".join(line(row) for row in model),
    }
    marks = table.hooks.marks
    said = raw if marks is None else [without_marks(one, marks) for one in raw]
    missing = unrecorded(known, said)
    if marks is not None:
        # What a hook was told is in the files, and is no record of what it was told of.
        missing = [{**one, "proof": f"{one['proof']}; marks of hooks aside"} for one in missing]
    return {
        "revision": scenario.revision,
        "sanitiser": REVISION * 1000 + table.revision,
        "session_id": sanitiser.text(run.session_id, ()),
        "session_path": session_path(run, driver, clean, sanitiser),
        "registered": list(run.registered),
        "seen": dict(sorted(Counter(row["event"] for row in run.told).items())),
        "files": {name: write(target / name, content) for name, content in contents.items()},
        "unrecorded": missing,
    }


def _logs(driver: Driver, run: Run, table: Hooks) -> list[Document]:
    """Return what the hooks were told, a document for each log."""
    kept: dict[str, list[dict[str, Any]]] = {}
    for row in run.told:
        kept.setdefault(driver.hook_log(row["event"]), []).append(row)
    return [
        Document(
            path=name,
            form="lines",
            records=tuple(arranged(rows, run.exchanges, table)),
            style="\n",
        )
        for name, rows in sorted(kept.items())
    ]


def _as_without(known: Sequence[Known], messages: Sequence[dict[str, Any]]) -> list[Known]:
    """Return the truth as the run without hooks has it, message by message.

    A driver may have learned to say more since; what was said then must still hold.
    """
    if len(known) != len(messages):
        raise RuntimeError(f"with hooks {len(known)} messages are true, without {len(messages)}")
    found: list[Known] = []
    for index, ((message, reasons), before) in enumerate(zip(known, messages, strict=True)):
        same = {name: message.get(name) for name in before}
        if msgspec.to_builtins(same) != before:
            raise RuntimeError(f"with hooks message {index} is {same}, without {before}")
        found.append((same, {name: why for name, why in reasons.items() if name in {None, *same}}))
    return found
