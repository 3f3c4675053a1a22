"""One live check in one direction by a person's own CLIs: asked, moved, asked again, judged.

Whoever moves a session is given a copy of it in a home of its own, and what is made there is put
into the person's home afterwards, never over anything. So a writer under test can do no harm.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from conformance.livechecks.judging import fingerprints, touched
from conformance.livechecks.moving import Mover
from conformance.livechecks.real.belongings import Belongings, had_in
from conformance.livechecks.real.spending import TRIES, Planned
from conformance.livechecks.results import Result, Verdict
from live.real import May, OwnCli, RealCase, Reply, ask
from transcripts.errors import TranscriptError
from transcripts.stores.base import open_store

_HERE = "Use no tool. Answer with one word: here."
_NOTHING = May()
_PROJECT = (".git", "AGENTS.md", "CLAUDE.md")
"""What would make a project of the directory that a workspace is made in."""
_HALF = 2
"""How many files are done when a CLI is killed part-way."""
_SHOWN = 500
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class InProject(Exception):
    """Workspaces would be made inside a project, whose instructions the CLIs would follow."""


class Real(msgspec.Struct, frozen=True, kw_only=True):
    """What checks are run with: who moves, the person's CLIs, and what is the person's own."""

    mover: Mover
    clis: Mapping[str, OwnCli]
    belongings: Belongings
    environment: Mapping[str, str]

    def root(self, agent: str) -> Path:
        """Return where an agent's CLI keeps its data."""
        return self.clis[agent].root(self.environment)


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation that a person's CLI had: the files of its session, and what they are.

    ``lies`` are the workspace's files as they were left, ``done`` those that were changed before
    the CLI was killed, where it was.
    """

    agent: str
    session_id: str
    workspace: Path
    files: tuple[Path, ...]
    originals: Mapping[str, str]
    lies: Mapping[str, bytes]
    done: tuple[str, ...] = ()


class _Skipped(Exception):
    """There is nothing to judge; the message says why."""


class _Wrong(Exception):
    """The check failed; the message says in what."""


class Sources:
    """Makes each source once, however many targets it has."""

    def __init__(self, real: Real) -> None:
        self._real = real
        self._made: dict[tuple[str, str], Source | _Skipped] = {}
        self.workspaces: list[Path] = []

    def get(self, case: RealCase, agent: str) -> Source:
        """Return the source of a case; _Skipped if the model did not do what it was asked."""
        key = (case.name, agent)
        if key not in self._made:
            try:
                self._made[key] = self._make(case, agent)
            except _Skipped as why:
                self._made[key] = why
        found = self._made[key]
        if isinstance(found, _Skipped):
            raise found
        return found

    def _make(self, case: RealCase, agent: str) -> Source:
        done: tuple[str, ...] = ()
        for _ in range(1 if case.edits is None else TRIES):
            workspace = self._workspace()
            source = _ask_source(case, agent, workspace, self._real)
            done = source.done
            if case.edits is None or 0 < len(done) < len(case.edits.files):
                _start_again(case, source, self._real)
                return source
        raise _Skipped(f"killed when {len(done)} of the files were done")

    def _workspace(self) -> Path:
        made = Path(tempfile.mkdtemp(prefix="live-check-")).resolve()
        self.workspaces.append(made)
        self._real.belongings.marked(made)
        return made


def outside_projects() -> None:
    """See that workspaces are made outside any project; :class:`InProject` if they are not."""
    place = Path(tempfile.gettempdir()).resolve()
    for parent in (place, *place.parents):
        for name in _PROJECT:
            if (parent / name).exists():
                raise InProject(
                    f"{place} lies in a project ({parent / name}): set TMPDIR to a directory that"
                    " lies in none"
                )


def run_check(planned: Planned, real: Real, sources: Sources) -> Result:
    """Have a conversation, move it, and ask whether it is known."""
    evidence: dict[str, Any] = {}
    verdict, why = _verdict(planned, real, sources, evidence)
    path = sorted({planned.source, planned.target})
    return Result(
        case=planned.case.name,
        source=planned.source,
        target=planned.target,
        releases={agent: real.clis[agent].version for agent in path if agent in real.clis},
        verdict=verdict,
        why=why,
        evidence=evidence,
    )


def _verdict(
    planned: Planned, real: Real, sources: Sources, evidence: dict[str, Any]
) -> tuple[Verdict, str]:
    if planned.why:
        return "skipped", planned.why
    case = planned.case
    try:
        source = sources.get(case, planned.source)
        session_id = _move(source, planned.target, real, evidence)
        reply = _ask_target(case, source, planned.target, session_id, real)
        evidence["answer"] = reply.text.strip()[:_SHOWN]
        found = [*_wrong(case, source, reply), *_harmed(source, real)]
    except _Skipped as why:
        return "skipped", str(why)
    except _Wrong as why:
        return "failed", str(why)
    return ("failed", "; ".join(found)) if found else ("passed", "")


# ------------------------------------------------------------------ the source


def _ask_source(case: RealCase, agent: str, workspace: Path, real: Real) -> Source:
    cli = real.clis[agent]
    _lay(workspace, {name: text.encode() for name, text in case.workspace.items()})
    for name, body in case.programs.items():
        (workspace / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (workspace / name).chmod(0o755)
    known = set(cli.files(real.root(agent)))
    may = May(edits=bool(case.workspace), programs=tuple(case.programs))
    half_way = None if case.edits is None else lambda: len(_done(case, workspace)) >= _HALF
    reply = ask(cli, cli.arguments(case.asks, may), workspace, stop_when=half_way)
    if not reply.stopped:
        _answered(cli, reply)
    session_id, files = _session(cli, real, known, workspace)
    source = Source(
        agent=agent,
        session_id=session_id,
        workspace=workspace,
        files=files,
        originals=fingerprints(real.root(agent), files),
        lies=_lying(workspace),
        done=_done(case, workspace),
    )
    _was_done(case, source, real)
    return source


def _answered(cli: OwnCli, reply: Reply) -> None:
    if reply.timed_out:
        raise _Skipped(f"{cli.command} gave no answer in time")
    if reply.exit_code:
        raise _Skipped(
            f"{cli.command} ended with exit code {reply.exit_code}: see whether it answers a"
            " prompt of yours"
        )


def _session(
    cli: OwnCli, real: Real, known: set[Path], workspace: Path
) -> tuple[str, tuple[Path, ...]]:
    """Return the session that a CLI has just made, and its files."""
    root = real.root(cli.agent)
    made = [path for path in real.belongings.made() if path.is_relative_to(root)]
    new = [path for path in made if path not in known]
    mains = {one: path for path in new if (one := cli.session_id(path)) and had_in(path, workspace)}
    if not mains:
        raise _Skipped(f"{cli.command} kept no session of it below {root}")
    session_id = min(mains, key=lambda one: mains[one].stat().st_mtime_ns)
    return session_id, tuple(new)


def _was_done(case: RealCase, source: Source, real: Real) -> None:
    """See that the model did what it was asked; _Skipped if not: it is no script."""
    for name, wanted in case.done.items():
        text = source.lies.get(name, b"").decode("utf-8", errors="replace")
        if not all(words in text for words in wanted):
            raise _Skipped(f"the model did not do what it was asked: see {name}")
    if not case.kinds:
        return
    with tempfile.TemporaryDirectory(prefix="live-check-") as scratch:
        _stage(source, real, Path(scratch))
        try:
            transcript = open_store(source.agent, Path(scratch)).read(source.session_id)
        except TranscriptError as error:
            raise _Skipped(f"what the model did could not be read: {error}") from error
    kinds = {type(one).__name__ for one in transcript.messages} if transcript else set[str]()
    lacking = [kind for kind in case.kinds if kind not in kinds]
    if lacking:
        raise _Skipped(f"the model did it in another way: without {', '.join(lacking)}")


def _start_again(case: RealCase, source: Source, real: Real) -> None:
    cli = real.clis[source.agent]
    for _ in range(case.starts):
        _answered(cli, ask(cli, cli.arguments(_HERE, _NOTHING), source.workspace))


# ------------------------------------------------------------------ moved


def _stage(source: Source, real: Real, home: Path) -> Path:
    """Copy a session into a home of its own; return what is the CLI's there."""
    root = real.root(source.agent)
    place = home / real.clis[source.agent].directory
    for path in source.files:
        copy = place / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
    return place


def _move(source: Source, target: str, real: Real, evidence: dict[str, Any]) -> str:
    """Move a session into a new one in the person's home; return its id."""
    harmed = list(_harmed(source, real))
    if harmed:
        raise _Wrong("before it was moved: " + "; ".join(harmed))
    with tempfile.TemporaryDirectory(prefix="live-check-") as scratch:
        home = Path(scratch)
        staged = _stage(source, real, home)
        there = set(_files(home))
        originals = fingerprints(staged, [path for path in there if path.is_relative_to(staged)])
        try:
            moved = real.mover.move(
                source.agent,
                home,
                source.session_id,
                target,
                home,
                new_session_id=str(uuid.uuid4()),
                cwd=str(source.workspace),
            )
        except Exception as error:  # whoever moves may fail in any way, and that is the verdict
            raise _Wrong(f"{real.mover.name} did not move it: {error}") from error
        evidence["losses"] = sorted({loss.loss for loss in moved.losses})
        if moved.session_id == source.session_id:
            raise _Wrong("the moved session has the original's id")
        if not _UUID.fullmatch(moved.session_id):
            raise _Wrong(f"the moved session's id is no UUID: {moved.session_id!r}")
        harmed = list(touched(originals, staged))
        if harmed:
            raise _Wrong("; ".join(harmed))
        new = [path for path in _files(home) if path not in there]
        real.belongings.placed(moved.session_id)
        _place(new, home / real.clis[target].directory, real.root(target))
    return moved.session_id


def _place(files: Sequence[Path], staged: Path, root: Path) -> None:
    """Put what was made into a person's home, never over anything."""
    inside = [path for path in files if path.is_relative_to(staged)]
    if not inside or len(inside) != len(files):
        raise _Wrong(f"a session was to be made below {staged.name}, and nothing beside it")
    for path in inside:
        place = root / path.relative_to(staged)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            with place.open("xb") as file:
                place.chmod(0o600)
                file.write(path.read_bytes())
        except FileExistsError:
            raise _Wrong(f"{path.relative_to(staged)} is there already, and was left") from None


def _files(home: Path) -> Iterator[Path]:
    return (path for path in home.rglob("*") if path.is_file())


def _harmed(source: Source, real: Real) -> Iterator[str]:
    return touched(source.originals, real.root(source.agent))


# ------------------------------------------------------------------ asked again


def _ask_target(case: RealCase, source: Source, target: str, session_id: str, real: Real) -> Reply:
    cli = real.clis[target]
    _empty(source.workspace)
    if case.edits is not None:
        marks = case.edits.marks.encode()
        lies = {name: text + marks * (name in source.done) for name, text in source.lies.items()}
        _lay(source.workspace, lies)
    may = May(edits=case.edits is not None)
    reply = ask(cli, cli.arguments(case.then, may, resume=session_id), source.workspace)
    if reply.exit_code or reply.timed_out:
        _answered(cli, ask(cli, cli.arguments(_HERE, _NOTHING), source.workspace))
        how = "no answer in time" if reply.timed_out else f"exit code {reply.exit_code}"
        raise _Wrong(f"{cli.command} goes on with a new session, not with the moved one: {how}")
    return reply


def _wrong(case: RealCase, source: Source, reply: Reply) -> Iterator[str]:
    """Yield what a continuation did not come to."""
    for value in case.knows:
        if not re.search(rf"(?<!\w){re.escape(value)}(?!\w)", reply.text, re.IGNORECASE):
            yield f"the answer does not tell {value!r}"
    if case.edits is None:
        return
    for name in case.edits.files:
        path = source.workspace / name
        text = path.read_text("utf-8", errors="replace") if path.is_file() else ""
        if case.edits.holds not in text:
            yield f"{name} was left undone"
        if name in source.done and case.edits.marks not in text:
            yield f"{name} was done before and was done again: what was added to it is gone"


# ------------------------------------------------------------------ the workspace


def _done(case: RealCase, workspace: Path) -> tuple[str, ...]:
    if case.edits is None:
        return ()
    texts = {name: (workspace / name) for name in case.edits.files}
    return tuple(
        name
        for name, path in texts.items()
        if path.is_file() and case.edits.holds in path.read_text("utf-8", errors="replace")
    )


def _lay(workspace: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _lying(workspace: Path) -> dict[str, bytes]:
    return {path.relative_to(workspace).as_posix(): path.read_bytes() for path in _files(workspace)}


def _empty(workspace: Path) -> None:
    for path in workspace.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
