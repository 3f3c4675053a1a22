"""One live check in one direction: recorded, moved, gone on with, judged."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from conformance.adapters import NotOffered, Skipped
from conformance.livechecks.judging import (
    doubled,
    fingerprints,
    lines,
    retold,
    shown_as,
    touched,
    wrong,
)
from conformance.livechecks.moving import Moved, Mover
from conformance.livechecks.results import Result, Shown, Verdict
from conformance.livechecks.sources import NoSource, Source, Sources
from conformance.livechecks.starting import started
from conformance.modelfree import model_free
from live import asciicast
from live.agents.base import CannotDo, Untaught, find_driver
from live.checks import Check, load
from live.conversation import Silent
from live.model.script import Scenario
from live.releases import ReleaseError, install
from live.running import Run, perform
from live.talking import CliFailed, Earlier
from live.witnesses import NoSession
from transcripts.ids import derive

_BESIDE = "t0"
"""The check of whose source a session lies beside one that is looked for in a list."""


class Bench(msgspec.Struct, frozen=True, kw_only=True):
    """What checks are run with: who moves, by which releases, and where sources are kept.

    ``keep`` is where the recordings of failed runs at a terminal go, if anybody wants them.
    """

    mover: Mover
    releases: Mapping[str, str]
    sources: Sources
    keep: Path | None = None


class _Wrong(Exception):
    """The check failed; the message says in what."""


def run_check(check: Check, source: str, target: str, bench: Bench) -> Result:
    """Move a check's conversation from one agent to another and see it gone on with."""
    path = _path(check, source, target, tuple(bench.releases))
    evidence: dict[str, Any] = {}
    verdict, why = _verdict(check, path, bench, evidence)
    return Result(
        case=check.name,
        source=source,
        target=target,
        releases={agent: bench.releases[agent] for agent in sorted(set(path))},
        verdict=verdict,
        why=why,
        model_free=evidence.pop("model_free", ()),
        evidence=evidence,
    )


def run_control(check: Check, agent: str, bench: Bench) -> Result:
    """See the agent go on with what it wrote itself: what fails here is no writer's fault."""
    evidence: dict[str, Any] = {}
    verdict, why = _verdict(check, (agent,), bench, evidence)
    return Result(
        case=check.name,
        source=agent,
        target=agent,
        releases={agent: bench.releases[agent]},
        verdict=verdict,
        why=why,
        evidence=evidence,
        moved=False,
    )


def _path(check: Check, source: str, target: str, agents: Sequence[str]) -> tuple[str, ...]:
    """Return through whose stores a conversation goes: with hops, by way of the others and back."""
    if not check.hops:
        return (source, target)
    third = next(agent for agent in agents if agent not in (source, target))
    onwards = (target, third, source)
    return (source, *(onwards[number % 3] for number in range(check.hops)))


def _verdict(
    check: Check, path: Sequence[str], bench: Bench, evidence: dict[str, Any]
) -> tuple[Verdict, str]:
    try:
        source = bench.sources.get(check, path[0], bench.releases[path[0]])
        if source.unrecorded:
            evidence["unrecorded"] = source.unrecorded
        with tempfile.TemporaryDirectory(prefix="live-check-") as scratch:
            try:
                _go(check, source, path[1:], bench, Path(scratch), evidence)
            except _Wrong as error:
                _keep_terminals(Path(scratch), check, path, bench, evidence)
                raise _Wrong(str(error).replace(f"{scratch}/", "")) from error.__cause__
    except NoSource as error:
        return msgspec.convert(error.verdict, Verdict), str(error)
    except CannotDo as error:
        return "impossible", str(error)
    except (NotOffered, Skipped, Untaught, ReleaseError) as error:
        return "skipped", str(error)
    except (CliFailed, Silent, _Wrong) as error:
        _keep_recording(error, check, path, bench, evidence)
        return "failed", str(error)
    return "passed", ""


def _keep_recording(
    error: Exception, check: Check, path: Sequence[str], bench: Bench, evidence: dict[str, Any]
) -> None:
    """Keep how a terminal came to where it failed, where somebody asked for that."""
    silence = error if isinstance(error, Silent) else error.__cause__
    if bench.keep is None or not isinstance(silence, Silent):
        return
    if kept := asciicast.keep(silence, bench.keep, _named(check, path, bench)):
        evidence["recording"] = kept[0].name


def _keep_terminals(
    scratch: Path, check: Check, path: Sequence[str], bench: Bench, evidence: dict[str, Any]
) -> None:
    """Keep what went through the terminals of a run that came to its end and to the wrong one."""
    if bench.keep is None:
        return
    bench.keep.mkdir(parents=True, exist_ok=True)
    for file in sorted(scratch.glob("*/terminal-*")):
        name = f"{_named(check, path, bench)}-{file.parent.name}-{file.name}"
        shutil.copy2(file, bench.keep / name)
        if file.suffix == ".cast":
            evidence["recording"] = name


def _named(check: Check, path: Sequence[str], bench: Bench) -> str:
    return "-".join([check.name, *(f"{agent}-{bench.releases[agent]}" for agent in path)])


def _go(
    check: Check,
    source: Source,
    onwards: Sequence[str],
    bench: Bench,
    scratch: Path,
    evidence: dict[str, Any],
) -> None:
    """Take a conversation to its target, by way of others where it hops; _Wrong if it fails."""
    legs = list(_legs(check, len(onwards) or 1))
    told: dict[str, str] = {}
    for number, (turns, says) in enumerate(legs):
        place = scratch / str(number)
        place.mkdir()
        agent = onwards[number] if onwards else source.agent
        release = bench.releases[agent]
        home = place / "before"
        originals = _lay(source, home)
        if onwards:
            # Of two sessions that begin alike nobody could tell in a list which one was moved.
            lent = place / "lent" if check.way == "picker" else home
            moved = _move(check, source, agent, home, lent, bench, number)
            originals = originals if lent == home else {}
            home = lent
            if number == len(legs) - 1:
                evidence["model_free"] = _without_a_model(agent, release, home, moved)
        else:
            moved = Moved(source.session_id)
            originals = {}
        found = list(_unrecorded(check, agent, release, home, originals))
        if check.way == "picker":
            # A list of one is opened unseen by some.
            _lay(bench.sources.get(load(_BESIDE), agent, release), home)
        home = _started(check, {source.agent, agent}, bench, home, place)
        run = _continued(check, turns, agent, release, home, moved, source, place)
        evidence["answers"] = [one.answer.text for one in run.exchanges if one.answer.text]
        evidence["shown"] = _shown(run)
        evidence["losses"] = sorted({loss.loss for loss in moved.losses})
        if check.recorded:
            evidence["sent"] = shown_as(check.recorded, run.exchanges)
        found += [*wrong(check, run, says, source.done), *touched(originals, run.home)]
        found += doubled(check.once, run.exchanges, last=number == len(legs) - 1)
        found += retold(told, now := lines(check.once, run.exchanges))
        if check.starts and onwards:
            found += _outlived(check, source, bench, run, place)
        if found:
            raise _Wrong("; ".join(found))
        told = now
        source = Source(
            agent=agent,
            release=release,
            home=run.home,
            workspace=run.workspace_files,
            session_id=run.session_id,
            cwd=run.workspace,
        )


def _without_a_model(agent: str, release: str, home: Path, moved: Moved) -> tuple[Shown, ...]:
    """Ask what else the target's release says of a moved session; nothing if only others know
    what was written."""
    if moved.transcript is None:
        return ()
    try:
        said = model_free(agent, release, home, moved.session_id, moved.transcript, moved.losses)
    except NoSession as error:
        why = str(error).replace(f"{home}/", "")
        return (Shown(agent=agent, witness="files", verdict="refuses", why=why),)
    return tuple(
        Shown(agent=agent, witness=one.witness, verdict=one.verdict, why=one.why) for one in said
    )


def _shown(run: Run) -> Mapping[str, int]:
    """Count what the model was shown first, by kind; what has no words also by what it is."""
    first = next((one for one in run.exchanges if one.kind == "turn" and one.thread is None), None)
    kinds = Counter(
        f"opaque {entry.value['type']}"
        if entry.type == "opaque" and isinstance(entry.value, Mapping) and "type" in entry.value
        else entry.type
        for entry in (first.history if first else ())
    )
    return dict(sorted(kinds.items()))


def _started(check: Check, agents: Iterable[str], bench: Bench, home: Path, place: Path) -> Path:
    """Start the CLIs for something else; return the home as they left it."""
    for agent in sorted(agents) if check.starts else ():
        keep = place / f"elsewhere-{agent}"
        keep.mkdir()
        home = started(agent, bench.releases[agent], home, keep, check.starts)
    return home


def _outlived(check: Check, source: Source, bench: Bench, run: Run, place: Path) -> Iterator[str]:
    """Go on with the original too, by its own CLI; yield what is wrong with it."""
    keep = place / "original"
    keep.mkdir()
    original = Moved(source.session_id)
    turns = replace(check.then, name=f"{check.then.name}-original")
    again = _continued(check, turns, source.agent, source.release, run.home, original, source, keep)
    for finding in wrong(check, again, check.says, source.done):
        yield f"the original: {finding}"


def _legs(check: Check, count: int) -> Iterator[tuple[Scenario, Sequence[str]]]:
    """Yield what is said at each stop: a turn at each, and all that are left at the last."""
    for number in range(count):
        stop = slice(number, None if number == count - 1 else number + 1)
        # Answers have ids made of the script's name, and all of them come into one history.
        name = f"{check.then.name}-{number + 1}"
        yield replace(check.then, name=name, turns=check.then.turns[stop]), check.says[stop]


def _lay(source: Source, home: Path) -> dict[str, str]:
    """Put the source's own session files into a home; return what they are, byte for byte."""
    files = find_driver(source.agent, source.release).session_files(source.home)
    for path in files:
        place = home / path.relative_to(source.home)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, place)
    home.mkdir(exist_ok=True)
    return fingerprints(source.home, files)


def _move(
    check: Check,
    source: Source,
    target: str,
    home: Path,
    into: Path,
    bench: Bench,
    number: int,
) -> Moved:
    wanted = derive("live-check", check.name, source.agent, target, str(number))
    try:
        moved = bench.mover.move(
            source.agent,
            home,
            source.session_id,
            target,
            into,
            new_session_id=wanted,
            cwd=source.cwd,
        )
    except (NotOffered, Skipped):
        raise
    except (Exception, SystemExit) as error:  # whoever moves may fail in any way: the verdict
        said = str(error) if isinstance(error, Exception) else f"it ended with exit code {error}"
        raise _Wrong(f"{bench.mover.name} did not move it: {said}") from error
    for path in into.rglob("*.jsonl"):
        if not path.is_file():
            raise _Wrong(f"{bench.mover.name} left {path.relative_to(into)}, which is no file")
    if moved.session_id == source.session_id:
        raise _Wrong("the moved session has the original's id")
    return moved


def _continued(
    check: Check,
    turns: Scenario,
    agent: str,
    release: str,
    home: Path,
    moved: Moved,
    source: Source,
    place: Path,
) -> Run:
    driver = find_driver(agent, release)
    installed = install(agent, driver.package, release)
    words = check.source.turns[0].prompt if check.way == "picker" else None
    return perform(
        replace(turns, terminal=turns.terminal or check.way != "print"),
        driver,
        installed,
        place,
        earlier=Earlier(home=home, session_id=moved.session_id, words=words),
        workspace=_workspace(check, source),
        judging="enforce",
    )


def _workspace(check: Check, source: Source) -> dict[str, bytes]:
    """Return what of the source's workspace goes along: only files that were being edited."""
    if check.edits is None:
        return {}
    files = {path: (source.workspace / path).read_bytes() for path in check.edits.files}
    for path in source.done:
        files[path] += check.edits.marks.encode()
    return files


def _unrecorded(
    check: Check, agent: str, release: str, home: Path, originals: Mapping[str, str]
) -> Iterator[str]:
    """Yield what the files do not hold that the CLI is given, beside the original's own."""
    given = [
        path.read_bytes()
        for path in find_driver(agent, release).session_files(home)
        if path.relative_to(home).as_posix() not in originals
    ]
    for words in check.recorded:
        if not any(words.encode() in held for held in given):
            yield f"no session file holds {words!r}"
