"""Readers broken on purpose: what they read is not what was said, or they have no manners."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace

from conformance.adapters import Failed
from conformance.fakes.adapters.fake import Failing, Fake
from conformance.fakes.adapters.miniature import (
    COMMANDS,
    DAMAGED,
    FAILING,
    FIELD,
    MADE,
    MANY,
    PLANTED,
    RECORD,
    SAID,
    SCENARIOS,
    VALUE,
)
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Asset,
    CommandExecution,
    Text,
    Transcript,
    UserMessage,
)

Messages = Sequence[AnyMessage]


class ReadsWrongly(Fake):
    """Reads, and does something to what it read."""

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        return self.spoilt(super().read(agent, home, session_id, recover=recover))

    def spoilt(self, transcript: Transcript) -> Transcript:
        return replace(transcript, messages=tuple(self.messages(transcript.messages)))

    def messages(self, messages: Messages) -> Iterator[Any]:
        yield from map(self.message, messages)

    def message(self, message: Any) -> Any:
        return message


class DropsExitCodes(ReadsWrongly):
    fails: ClassVar[Failing] = {"read.exit-codes": COMMANDS, "round-trip.kept": {FAILING}}

    def message(self, message: Any) -> Any:
        gone = isinstance(message, CommandExecution)
        return replace(message, exit_code=None, exit_code_source=None) if gone else message


class TakesTimesForLocal(ReadsWrongly):
    fails: ClassVar[Failing] = {"read.times": SCENARIOS, "round-trip.kept": MADE}

    def message(self, message: Any) -> Any:
        return replace(message, at=message.at and message.at - timedelta(hours=2))


class DropsAnswers(ReadsWrongly):
    fails: ClassVar[Failing] = {"read.messages": SCENARIOS, "round-trip.kept": MADE, **SAID}

    def messages(self, messages: Messages) -> Iterator[Any]:
        answers = [n for n, one in enumerate(messages) if isinstance(one, AgentMessage)]
        last = answers[-1] if answers else None
        yield from (one for n, one in enumerate(messages) if n != last)


class TellsTwice(ReadsWrongly):
    fails: ClassVar[Failing] = {"read.messages": SCENARIOS, "round-trip.kept": MADE}

    def messages(self, messages: Messages) -> Iterator[Any]:
        for one in messages:
            yield one
            if isinstance(one, UserMessage):
                yield replace(one, id=f"{one.id}-again")


class AnswersByItself(ReadsWrongly):
    fails: ClassVar[Failing] = {"read.messages": SCENARIOS, "round-trip.nothing-added": MADE}

    def messages(self, messages: Messages) -> Iterator[Any]:
        yield from messages
        for answer in [one for one in messages if isinstance(one, AgentMessage)][:1]:
            yield replace(answer, id="made-up", content=(Text(text="Noted."),))


class PutsTheEndFirst(ReadsWrongly):
    fails: ClassVar[Failing] = {"read.order": SCENARIOS, "round-trip.kept": MADE}

    def messages(self, messages: Messages) -> Iterator[Any]:
        main = [n for n, one in enumerate(messages) if one.agent is None]
        first, last = main[0], main[-1]
        order = [*range(len(messages))]
        order[first], order[last] = last, first
        yield from (messages[n] for n in order)


class TakesThePersonForTheModel(ReadsWrongly):
    # What a harness put into the person's place is then said by nobody in the script.
    fails: ClassVar[Failing] = {
        "read.authors": SCENARIOS,
        "read.messages": SCENARIOS,
        "round-trip.kept": MADE,
    }

    def message(self, message: Any) -> Any:
        return replace(message, author="model") if isinstance(message, UserMessage) else message


class TrimsWords(ReadsWrongly):
    # Words that are cut are others: the ones are gone, the others were not sent.
    fails: ClassVar[Failing] = {
        "read.texts": SCENARIOS,
        **SAID,
        "round-trip.kept": MADE,
        "round-trip.nothing-added": MADE,
    }

    def message(self, message: Any) -> Any:
        if not isinstance(message, AgentMessage):
            return message
        cut = (
            replace(one, text=one.text[:-1]) if isinstance(one, Text) else one
            for one in message.content
        )
        return replace(message, content=tuple(cut))


class ChangesCommands(ReadsWrongly):
    fails: ClassVar[Failing] = {"read.calls": COMMANDS, "round-trip.kept": {FAILING}}

    def message(self, message: Any) -> Any:
        changed = isinstance(message, CommandExecution)
        return replace(message, command=f"{message.command} ") if changed else message


class EmptiesResults(ReadsWrongly):
    fails: ClassVar[Failing] = {"read.results": COMMANDS, "round-trip.kept": {FAILING}}

    def message(self, message: Any) -> Any:
        empty = isinstance(message, CommandExecution) and message.output
        return replace(message, output=()) if empty else message


class CallsEverythingCompleted(ReadsWrongly):
    fails: ClassVar[Failing] = {
        "read.statuses": {"command-fails", "mcp-call"},
        "round-trip.kept": {FAILING},
    }

    def message(self, message: Any) -> Any:
        return replace(message, status="completed") if message.status == "failed" else message


class ForgetsWhatWasTakenBack(ReadsWrongly):
    fails: ClassVar[Failing] = {"read.circumstances": {"rewind"}}

    def message(self, message: Any) -> Any:
        return replace(message, superseded_by=None)


class CountsEchoesTwice(ReadsWrongly):
    """Takes what Codex says of a message in an event for another message."""

    fails: ClassVar[Failing] = {"read.messages": SCENARIOS, "round-trip.kept": MADE}

    def messages(self, messages: Messages) -> Iterator[Any]:
        for one in messages:
            yield one
            if isinstance(one, UserMessage | AgentMessage) and len(one.sources) > 1:
                yield replace(one, id=f"{one.id}-echo", sources=one.sources[1:])


class FollowsOneParent(Fake):
    """Goes from the last row of Claude Code's to its parent and so on: one path of a tree."""

    # What was said before the person went back is on another path.
    agent: ClassVar[str] = "claude"
    fails: ClassVar[Failing] = {"read.messages": {"parallel-calls", "rewind"}}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        [path] = home.rglob(f"{session_id}.jsonl")
        rows: dict[str, tuple[int, str | None]] = {}
        at = None
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            row = json.loads(line) if line[:1] == b"{" and line[-1:] == b"}" else {}
            if isinstance(row.get("uuid"), str) and "parentUuid" in row:
                at = row["uuid"]
                rows[at] = (number, row["parentUuid"])
        followed: set[int] = set()
        while at in rows:
            number, at = rows[at]
            followed.add(number)
        kept = (
            one
            for one in transcript.messages
            if one.agent is not None or one.sources[0].line in followed
        )
        return replace(transcript, messages=tuple(kept))


class DropsPictures(ReadsWrongly):
    fails: ClassVar[Failing] = {"read.attachments": {"image-in"}}

    def message(self, message: Any) -> Any:
        if not isinstance(message, UserMessage):
            return message
        kept = tuple(part for part in message.content if not isinstance(part, Asset))
        return replace(message, content=kept)


class TakesTheHarnessForThePerson(ReadsWrongly):
    fails: ClassVar[Failing] = {"read.harness": SCENARIOS}

    def message(self, message: Any) -> Any:
        told = message.author == "harness" and message.provenance
        return replace(message, provenance="of-no-record") if told else message


class NamesAnotherDirectory(ReadsWrongly):
    # A command's own directory is told against the session's.
    fails: ClassVar[Failing] = {
        "read.session": SCENARIOS,
        "round-trip.session": MADE,
        "round-trip.kept": {FAILING},
    }

    def spoilt(self, transcript: Transcript) -> Transcript:
        return replace(transcript, cwd="/somewhere/else")


class GivesRandomIds(ReadsWrongly):
    fails: ClassVar[Failing] = {
        "read.repeatable": SCENARIOS,
        "read.kept-ids": SCENARIOS,
        "read.elsewhere": SCENARIOS,
    }

    def message(self, message: Any) -> Any:
        return replace(message, id=str(uuid.uuid4()))


class ReadsNothing(Fake):
    fails: ClassVar[Failing] = {
        "read.answers": SCENARIOS,
        "read.planted": PLANTED,
        "read.again": SCENARIOS,
        "read.growing": SCENARIOS,
        "damage.recovered": DAMAGED,
        "forward.answers": RECORD | FIELD | VALUE,
        "round-trip.answers": MADE,
        "stateful.answers": MANY,
    }

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        raise Failed(self.name, "internal", "it never works")


class TouchesWhatItReads(Fake):
    fails: ClassVar[Failing] = {"read.untouched": SCENARIOS}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        for path in home.rglob("*.jsonl"):
            os.utime(path)
        return super().read(agent, home, session_id, recover=recover)


class ReadsAnySession(Fake):
    fails: ClassVar[Failing] = {
        "read.stranger": SCENARIOS,
        "read.paths": {"command-ok/path"},
    }

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        try:
            return super().read(agent, home, session_id, recover=recover)
        except Failed as error:
            if error.stage != "find":
                raise
            for there in super().list(agent, home):
                return super().read(agent, home, there.session_id, recover=recover)
            raise


class LeaksAnotherSession(Fake):
    # A subagent has a session of its own beside its parent's, in one recording.
    fails: ClassVar[Failing] = {
        "read.own": SCENARIOS,
        "read.messages": {"subagent"},
        "stateful.own": MANY,
        "stateful.kept": MANY,
    }

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        for other in super().list(agent, home):
            if other.session_id != session_id:
                more = super().read(agent, home, other.session_id, recover=True)
                return replace(transcript, messages=(*transcript.messages, *more.messages))
        return transcript
