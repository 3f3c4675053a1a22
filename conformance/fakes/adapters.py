"""Adapters broken on purpose: the reference, each with one sin.

A check that none of them fails is dead. Each sin is what somebody's adapter was seen to do, or what
follows from the easiest way to write one.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from conformance.adapters import Failed, Written
from conformance.adapters.stores import StoresAdapter
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Asset,
    CommandExecution,
    Text,
    Transcript,
    UserMessage,
)
from transcripts.stores.base import Listing, Unlisted, agents, store_class

Messages = Sequence[AnyMessage]

_EMPTY_LIST = re.compile(r"\[\]")
_TIME = re.compile(r'"timestamp": ?"[^"]+"')


class Fake(StoresAdapter):
    """The reference stores; a sin overrides what it needs to."""

    def __init__(self) -> None:
        name = type(self).__name__
        super().__init__(name, {agent: store_class(agent) for agent in agents()})


class _ReadsWrongly(Fake):
    """Reads, and does something to what it read."""

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        return self.spoilt(super().read(agent, home, session_id, recover=recover))

    def spoilt(self, transcript: Transcript) -> Transcript:
        return replace(transcript, messages=tuple(self.messages(transcript.messages)))

    def messages(self, messages: Messages) -> Iterator[Any]:
        yield from map(self.message, messages)

    def message(self, message: Any) -> Any:
        return message


class DropsExitCodes(_ReadsWrongly):
    def message(self, message: Any) -> Any:
        gone = isinstance(message, CommandExecution)
        return replace(message, exit_code=None, exit_code_source=None) if gone else message


class DropsAnswers(_ReadsWrongly):
    def messages(self, messages: Messages) -> Iterator[Any]:
        last = max(n for n, one in enumerate(messages) if isinstance(one, AgentMessage))
        yield from (one for n, one in enumerate(messages) if n != last)


class TellsTwice(_ReadsWrongly):
    def messages(self, messages: Messages) -> Iterator[Any]:
        for one in messages:
            yield one
            if isinstance(one, UserMessage):
                yield replace(one, id=f"{one.id}-again")


class AnswersByItself(_ReadsWrongly):
    def messages(self, messages: Messages) -> Iterator[Any]:
        yield from messages
        answer = next(one for one in messages if isinstance(one, AgentMessage))
        yield replace(answer, id=f"{answer.id}-made-up", content=(Text(text="Noted."),))


class PutsTheEndFirst(_ReadsWrongly):
    def messages(self, messages: Messages) -> Iterator[Any]:
        main = [n for n, one in enumerate(messages) if one.agent is None]
        first, last = main[0], main[-1]
        order = [*range(len(messages))]
        order[first], order[last] = last, first
        yield from (messages[n] for n in order)


class TakesThePersonForTheModel(_ReadsWrongly):
    def message(self, message: Any) -> Any:
        return replace(message, author="model") if isinstance(message, UserMessage) else message


class TrimsWords(_ReadsWrongly):
    def message(self, message: Any) -> Any:
        if not isinstance(message, AgentMessage):
            return message
        cut = (
            replace(one, text=one.text[:-1]) if isinstance(one, Text) else one
            for one in message.content
        )
        return replace(message, content=tuple(cut))


class ChangesCommands(_ReadsWrongly):
    def message(self, message: Any) -> Any:
        changed = isinstance(message, CommandExecution)
        return replace(message, command=f"{message.command} ") if changed else message


class EmptiesResults(_ReadsWrongly):
    def message(self, message: Any) -> Any:
        empty = isinstance(message, CommandExecution) and message.output
        return replace(message, output=()) if empty else message


class CallsEverythingCompleted(_ReadsWrongly):
    def message(self, message: Any) -> Any:
        return replace(message, status="completed") if message.status == "failed" else message


class ForgetsWhatWasTakenBack(_ReadsWrongly):
    def message(self, message: Any) -> Any:
        return replace(message, superseded_by=None)


class DropsPictures(_ReadsWrongly):
    def message(self, message: Any) -> Any:
        if not isinstance(message, UserMessage):
            return message
        kept = tuple(part for part in message.content if not isinstance(part, Asset))
        return replace(message, content=kept)


class TakesTheHarnessForThePerson(_ReadsWrongly):
    def message(self, message: Any) -> Any:
        told = message.author == "harness" and message.provenance
        return replace(message, provenance="of-no-record") if told else message


class NamesAnotherDirectory(_ReadsWrongly):
    def spoilt(self, transcript: Transcript) -> Transcript:
        return replace(transcript, cwd="/somewhere/else")


class GivesRandomIds(_ReadsWrongly):
    def message(self, message: Any) -> Any:
        return replace(message, id=str(uuid.uuid4()))


class ReadsNothing(Fake):
    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        raise Failed(self.name, "internal", "it never works")


class TouchesWhatItReads(Fake):
    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        for path in home.rglob("*.jsonl"):
            os.utime(path)
        return super().read(agent, home, session_id, recover=recover)


class ReadsAnySession(Fake):
    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        try:
            return super().read(agent, home, session_id, recover=recover)
        except Failed as error:
            if error.stage != "find":
                raise
            there = super().list(agent, home)
            return super().read(agent, home, there[0].session_id, recover=recover)


class LeaksAnotherSession(Fake):
    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        for other in super().list(agent, home):
            if other.session_id != session_id:
                more = super().read(agent, home, other.session_id, recover=True)
                return replace(transcript, messages=(*transcript.messages, *more.messages))
        return transcript


class ReadsOverDamage(Fake):
    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        return super().read(agent, home, session_id, recover=True)


class NeverRecovers(Fake):
    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        return super().read(agent, home, session_id)


class HidesDamage(Fake):
    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        return replace(transcript, damage=())


class ReturnsHalfAFile(Fake):
    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        half = len(transcript.messages) // 2
        return replace(transcript, messages=transcript.messages[:half]) if recover else transcript


class StumblesOverWhatIsNew(Fake):
    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        for path in home.rglob(f"*{session_id}*.jsonl"):
            text = path.read_text("utf-8", errors="replace")
            if "notYetKnown" in text or "not_yet_known" in text:
                raise Failed(self.name, "read", "there is something that it does not know")
        return super().read(agent, home, session_id, recover=recover)


class _LosesByWhatIsNew(Fake):
    mark: str

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        for path in home.rglob(f"*{session_id}*.jsonl"):
            if self.mark in path.read_text("utf-8", errors="replace"):
                return replace(transcript, messages=transcript.messages[:1])
        return transcript


class StopsAtAnUnknownRecord(_LosesByWhatIsNew):
    mark = "not_yet_known"


class DropsRecordsWithUnknownFields(_LosesByWhatIsNew):
    mark = "notYetKnown"


class ListsNothing(Fake):
    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        raise Failed(self.name, "internal", "it never works")


class ListsTwice(Fake):
    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home, cwd=cwd)
        return Listing([*listing, *listing], 2 * len(listing) + len(listing.failed), listing.failed)


class ListsNoDirectory(Fake):
    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home, cwd=cwd)
        return Listing([replace(one, cwd=None) for one in listing], listing.seen, listing.failed)


class ListsEveryDirectory(Fake):
    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        return super().list(agent, home)


class CountsTooMuch(Fake):
    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home, cwd=cwd)
        return Listing(listing.sessions, listing.seen + 1, listing.failed)


class HidesWhatFailed(Fake):
    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home, cwd=cwd)
        return Listing(listing.sessions, len(listing))


class StopsListingAtDamage(Fake):
    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home, cwd=cwd)
        if not listing.failed:
            return listing
        failed = [*listing.failed, *(Unlisted(path=one.path, why="-") for one in listing)]
        return Listing((), listing.seen, failed)


class TouchesWhatItLists(Fake):
    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        (home / "index.of.mine").write_text(datetime.now(UTC).isoformat())
        return super().list(agent, home, cwd=cwd)


class _WritesWrongly(Fake):
    """Writes, and does something before or after."""

    def write(self, agent: str, home: Path, transcript: Transcript, **given: Any) -> Written:
        before = set(home.rglob("*"))
        answer = super().write(agent, home, self.before(transcript), **given)
        self.after(home, sorted({*home.rglob("*.jsonl")} - before), sorted(before))
        return answer

    def before(self, transcript: Transcript) -> Transcript:
        return transcript

    def after(self, home: Path, made: Sequence[Path], there: Sequence[Path]) -> None:
        pass


class WritesNothing(Fake):
    def write(self, agent: str, home: Path, transcript: Transcript, **given: Any) -> Written:
        raise Failed(self.name, "internal", "it never works")


class SwallowsResults(_WritesWrongly):
    def before(self, transcript: Transcript) -> Transcript:
        kept = tuple(
            replace(one, output=()) if isinstance(one, CommandExecution) else one
            for one in transcript.messages
        )
        return replace(transcript, messages=kept)


class WritesTheEndFirst(_WritesWrongly):
    def before(self, transcript: Transcript) -> Transcript:
        first, *middle, last = transcript.messages
        return replace(transcript, messages=(last, *middle, first))


class WritesListsAsObjects(_WritesWrongly):
    def after(self, home: Path, made: Sequence[Path], there: Sequence[Path]) -> None:
        for path in made:
            text = path.read_text("utf-8")
            path.write_text(_EMPTY_LIST.sub("{}", text), "utf-8")


class TouchesAnotherSession(_WritesWrongly):
    def after(self, home: Path, made: Sequence[Path], there: Sequence[Path]) -> None:
        for path in there:
            if path.suffix == ".jsonl":
                path.write_bytes(path.read_bytes() + b"\n")


class StampsTheClock(_WritesWrongly):
    def after(self, home: Path, made: Sequence[Path], there: Sequence[Path]) -> None:
        now = f'"timestamp":"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"'
        for path in made:
            path.write_text(_TIME.sub(now, path.read_text("utf-8"), count=1), "utf-8")


class OverwritesWhatIsThere(Fake):
    def write(self, agent: str, home: Path, transcript: Transcript, **given: Any) -> Written:
        for path in home.rglob(f"*{given['session_id']}*.jsonl"):
            path.unlink()
        return super().write(agent, home, transcript, **given)


class ReadsNothingItWrote(Fake):
    def __init__(self) -> None:
        super().__init__()
        self._written: set[str] = set()

    def write(self, agent: str, home: Path, transcript: Transcript, **given: Any) -> Written:
        answer = super().write(agent, home, transcript, **given)
        self._written.add(answer.session_id)
        return answer

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        if session_id in self._written:
            raise Failed(self.name, "find", "that was in memory only")
        return super().read(agent, home, session_id, recover=recover)
