"""The conversations that are moved: each recorded once by its own CLI and lent to every target."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from live.agents.base import CannotDo, Untaught, find_driver
from live.checks import Check
from live.composing import Step
from live.conversation import Silent
from live.model.script import Update
from live.releases import install
from live.running import perform
from live.talking import CliFailed

_TRIES = 3
"""How often a source is killed part-way until some of its files are done, and not all."""


class NoSource(Exception):
    """There is nothing to move; ``verdict`` says what that makes of the check."""

    def __init__(self, why: str, verdict: str) -> None:
        super().__init__(why)
        self.verdict = verdict


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded conversation: its agent and release, the home it is in, and the workspace.

    ``done`` are the files that were changed before the CLI was killed, where it was, and of whose
    change it recorded something. ``unrecorded`` are those that were changed and of which it kept
    nothing, so that nobody can know of them, with the proof of that.
    """

    agent: str
    release: str
    home: Path
    workspace: Path
    session_id: str
    cwd: str
    done: tuple[str, ...] = ()
    unrecorded: dict[str, str] = {}


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str = ""
    cwd: str = ""
    done: tuple[str, ...] = ()
    unrecorded: dict[str, str] = {}
    why: str = ""
    verdict: str = ""


class Sources:
    """Records sources below a directory, which several processes may share."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def get(self, check: Check, agent: str, release: str) -> Source:
        """Return the source of a check, recorded now unless it was; :class:`NoSource` if none."""
        place = self._directory / f"{agent}@{release}" / check.name
        place.mkdir(parents=True, exist_ok=True)
        with _locked(place / "lock"):
            fact = place / "source.json"
            if not fact.exists():
                kept = _record(check, agent, release, place)
                fact.write_bytes(msgspec.json.encode(kept))
            kept = msgspec.convert(json.loads(fact.read_bytes()), _Kept)
        if kept.verdict:
            raise NoSource(kept.why, kept.verdict)
        return Source(
            agent=agent,
            release=release,
            home=place / "run" / "home",
            workspace=place / "run" / "workspace",
            session_id=kept.session_id,
            cwd=kept.cwd,
            done=kept.done,
            unrecorded=kept.unrecorded,
        )


def _record(check: Check, agent: str, release: str, place: Path) -> _Kept:
    try:
        driver = find_driver(agent, release)
        installed = install(agent, driver.package, release)
        done: tuple[str, ...] = ()
        for _ in range(_TRIES):
            keep = place / "run"
            shutil.rmtree(keep, ignore_errors=True)
            keep.mkdir()
            run = perform(check.source, driver, installed, keep)
            changed = _changed(check, run.workspace_files)
            unrecorded = without_trace(run.steps, changed, run.home)
            done = tuple(path for path in changed if path not in unrecorded)
            lacking = forgotten(check, run.home)
            if lacking is not None:
                why = f"{agent} {release} keeps nothing of it: {lacking}"
                return _Kept(verdict="impossible", why=why)
            if check.edits is None or 0 < len(done) < len(check.edits.files):
                return _Kept(
                    session_id=run.session_id,
                    cwd=run.workspace,
                    done=done,
                    unrecorded=unrecorded,
                )
    except CannotDo as error:
        return _Kept(verdict="impossible", why=f"{agent} {release}: {error}")
    except Untaught as error:
        return _Kept(verdict="skipped", why=str(error))
    except (CliFailed, Silent) as error:
        return _Kept(verdict="failed", why=f"the source was not recorded: {error}")
    return _Kept(verdict="skipped", why=f"killed when {len(done)} of the files were done")


def without_trace(played: Sequence[Step], changed: Sequence[str], home: Path) -> dict[str, str]:
    """Return which changed files a home says nothing of, each with the proof.

    A CLI may run a call while the answer that makes it still arrives, and write down none of that
    answer until it has ended. Searched for is all that the model gave this answer and no other:
    its id, its words, the ids of its calls. Where no byte of the home holds any of it, no reader
    can find the change.
    """
    files = _files(home)
    found: dict[str, str] = {}
    for step in played:
        paths = [call.path for call in step.response.calls if isinstance(call, Update)]
        given = [step.id, *(f'"{one.call.id}"' for one in step.translations if one.call)]
        if step.response.text:
            given.append(step.response.text)
        if not any(words.encode() in held for words in given for held in files):
            proof = f"no byte of {len(files)} files of the home holds any of {', '.join(given)}"
            found |= {path: proof for path in paths if path in changed}
    return found


def forgotten(check: Check, home: Path) -> str | None:
    """Return the proof that a home does not hold what there is to move; None if it does."""
    files = _files(home)
    for words in check.kept:
        if not any(words.encode() in held for held in files):
            return f"no byte of {len(files)} files of its home holds {words!r}"
    return None


def _files(home: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()]


def _changed(check: Check, workspace: Path) -> tuple[str, ...]:
    if check.edits is None:
        return ()
    texts = {path: (workspace / path).read_text("utf-8") for path in check.edits.files}
    return tuple(path for path, text in texts.items() if check.edits.holds in text)


@contextmanager
def _locked(path: Path) -> Generator[None, None, None]:
    """Let one process or thread at a time in."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
