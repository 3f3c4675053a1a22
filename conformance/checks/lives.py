"""A home in which sessions are written, read and listed in any order, and what must hold of it.

Whoever drives it chooses the steps: a seed (:mod:`conformance.checks.many_sessions`) or hypothesis
(:mod:`conformance.suite.stateful`). What a store gets wrong with one session alone is for other
checks: here it is held to read each session as it would read it alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from conformance.adapters import Adapter, Failed, Written
from conformance.fidelity import compare
from conformance.kinds import Variant, conversation
from transcripts.ids import derive
from transcripts.model import AgentMessage, AnyMessage, Text, Transcript, UserMessage

DIRECTORIES = ("/srv/project", "/srv/project/inner")
"""Where sessions are written: few, so that many share one."""


class Broken(Exception):
    """A check does not hold; ``why`` tells the steps that led there."""

    def __init__(self, check: str, why: str) -> None:
        self.check = check
        self.why = why
        super().__init__(f"{check}: {why}")


class _Session(NamedTuple):
    name: str
    sent: Transcript
    cwd: str
    answer: Written


def conversed(chosen: Sequence[Variant], *turns: tuple[str, str]) -> Transcript:
    """Return a conversation of made ones, with turns of plain words behind them."""
    return gone_on(conversation(chosen), *turns)


def gone_on(transcript: Transcript, *turns: tuple[str, str]) -> Transcript:
    """Return a conversation with more turns: what a person asks, and what is answered."""
    messages: list[AnyMessage] = list(transcript.messages)
    last = max((one.at for one in messages if one.at), default=None)
    for number, text in enumerate(text for turn in turns for text in turn):
        given: Mapping[str, Any] = {
            "id": derive("conformance-turn", transcript.session_id, len(messages)),
            "at": last and last + timedelta(seconds=1 + number),
            "at_source": "record",
            "follows": messages[-1].id if messages else None,
            "content": (Text(text=text),),
        }
        if number % 2 == 0:
            messages.append(UserMessage(author="human", **given))
        else:
            messages.append(AgentMessage(author="model", **given))
    return replace(transcript, messages=tuple(messages))


class Life:
    """A home and what was done in it.

    Every step raises :class:`Broken` where one of the ``held`` checks fails; others are let be.
    """

    def __init__(self, adapter: Adapter, agent: str, scratch: Path, held: Collection[str]) -> None:
        self._adapter, self._agent = adapter, agent
        self._held = held
        self._home, self._alone = scratch / "crowd", scratch / "alone"
        shutil.rmtree(self._home, ignore_errors=True)
        self._home.mkdir(parents=True)
        self._sessions: list[_Session] = []
        self._steps: list[str] = []

    @property
    def count(self) -> int:
        """How many sessions there are."""
        return len(self._sessions)

    def write(self, transcript: Transcript, cwd: str) -> None:
        """Write a session beside those that are there."""
        name = chr(ord("A") + self.count)
        self._did(f"wrote {name} in {cwd}")
        self._written(name, transcript, cwd)

    def go_on(self, which: int, *turns: tuple[str, str]) -> None:
        """Read a session and write it, with more turns, as another one."""
        before = self._sessions[which % self.count]
        name = chr(ord("A") + self.count)
        self._did(f"wrote {name} in {before.cwd}, which goes on from {before.name}")
        with self._answering():
            there = self._adapter.read(self._agent, self._home, before.answer.session_id)
        self._written(name, gone_on(there, *turns), before.cwd)

    def write_again(self, which: int, transcript: Transcript, cwd: str) -> None:
        """Write another conversation under an id that is taken: nothing may come of it."""
        taken = self._sessions[which % self.count]
        self._did(f"tried to write another one under the id of {taken.name} in {cwd}")
        with self._untouched():
            try:
                answer = self._adapter.write(
                    self._agent,
                    self._home,
                    transcript,
                    session_id=taken.answer.session_id,
                    cwd=cwd,
                )
            except Failed:
                return
        name = chr(ord("A") + self.count)
        if answer.session_id in self._ids():
            self._fails("stateful.ids", "a second session was written under an id that is taken")
        else:
            self._sessions.append(_Session(name, transcript, cwd, answer))

    def reopen(self) -> None:
        """Have the adapter forget everything."""
        self._did("opened it anew")
        self._adapter.reopen()

    def read(self, which: int) -> None:
        """Read a session and hold it against what was written."""
        one = self._sessions[which % self.count]
        self._did(f"read {one.name}")
        found = self._read(one, self._home)
        if found["ids"]:
            self._fails("stateful.ids", found["ids"][0])
        if not found["kept"] and not found["own"]:
            return
        by_itself = self._read_alone(one)
        for aspect in ("own", "kept"):
            news = [words for words in found[aspect] if words not in by_itself[aspect]]
            if news:
                self._fails(f"stateful.{aspect}", f"of {one.name} {news[0]}")

    def list(self, cwd: str | None = None) -> None:
        """List the home, or what belongs to one directory of it."""
        self._did(f"listed {cwd or 'everything'}")
        with self._answering():
            listing = self._adapter.list(self._agent, self._home, cwd=cwd)
        names = {one.answer.session_id: one.name for one in self._sessions}
        found = sorted(names.get(one.session_id, one.session_id) for one in listing)
        wanted = sorted(one.name for one in self._sessions if cwd in (None, one.cwd))
        if found != wanted:
            check = "stateful.listed" if cwd is None else "stateful.directories"
            told = ", ".join(found) or "nothing"
            self._fails(check, f"{told} is listed, not {', '.join(wanted) or 'nothing'}")

    def look_at_everything(self, *, reads: bool, lists: bool) -> None:
        """Ask for all that there is, from the disk alone: what a life ends with."""
        self.reopen()
        for cwd in (None, *DIRECTORIES) if lists else ():
            self.list(cwd)
        for which in range(self.count if reads else 0):
            self.read(which)

    # ------------------------------------------------------------------ within a step

    def _written(self, name: str, transcript: Transcript, cwd: str) -> None:
        wanted = derive("conformance-life", self._agent, name)
        with self._untouched(), self._answering():
            answer = self._adapter.write(
                self._agent, self._home, transcript, session_id=wanted, cwd=cwd
            )
        if answer.session_id in self._ids():
            self._fails("stateful.ids", f"{name} has the id of another session")
        self._sessions.append(_Session(name, transcript, cwd, answer))

    def _ids(self) -> set[str]:
        return {one.answer.session_id for one in self._sessions}

    def _read(self, one: _Session, home: Path) -> Mapping[str, Sequence[str]]:
        """Read a session; return what is wrong with its id, is lost of it, and is not its own."""
        asked = one.answer.session_id
        with self._answering():
            back = self._adapter.read(self._agent, home, asked)
        fidelity = compare(one.sent.messages, back.messages, one.answer.losses, back.cwd)
        judged = ((message, fidelity.judged[message.id]) for message in one.sent.messages)
        return {
            "ids": [f"{one.name} says that it is {back.session_id}"] * (back.session_id != asked),
            "kept": [f"the {m.kind} is lost: {j.why}" for m, j in judged if j.verdict == "lost"],
            "own": [
                f"a {stray.kind} came back that is not its own" for _, stray in fidelity.strays
            ],
        }

    def _read_alone(self, one: _Session) -> Mapping[str, Sequence[str]]:
        shutil.rmtree(self._alone, ignore_errors=True)
        self._alone.mkdir()
        with self._answering():
            answer = self._adapter.write(
                self._agent,
                self._alone,
                one.sent,
                session_id=one.answer.session_id,
                cwd=one.cwd,
            )
        self._adapter.reopen()
        return self._read(one._replace(answer=answer), self._alone)

    @contextmanager
    def _untouched(self) -> Generator[None, None, None]:
        before = dict(_digests(self._home))
        yield
        after = dict(_digests(self._home))
        for name, digest in before.items():
            if after.get(name) != digest:
                what = "was changed" if name in after else "is gone"
                self._fails("stateful.untouched", f"{name} {what}")

    @contextmanager
    def _answering(self) -> Generator[None, None, None]:
        try:
            yield
        except Failed as error:
            why = f"{error.message} (the steps: {self._told()})"
            raise Failed(error.adapter, error.stage, why) from error

    def _did(self, step: str) -> None:
        self._steps.append(step)

    def _told(self) -> str:
        return "; ".join(self._steps)

    def _fails(self, check: str, why: str) -> None:
        if check in self._held:
            raise Broken(check, f"{why} (the steps: {self._told()})")


def _digests(directory: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            yield path.relative_to(directory).as_posix(), sha256(path.read_bytes()).digest()
