"""Converters broken on purpose."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace

from conformance.adapters import Failed, Offer, Written
from conformance.fakes.adapters.fake import Failing, Fake
from conformance.fakes.adapters.miniature import AGENTS, CONVERTED
from transcripts.model import AgentMessage, CommandExecution, Text, Transcript


class Converts(Fake):
    """Converts as the reference would: by the one store's reader and the other's writer."""

    def offers(self, agent: str) -> Offer:
        others = tuple(one for one in AGENTS if one != agent)
        return replace(super().offers(agent), convert=others)

    def convert(
        self,
        agent: str,
        home: Path,
        session_id: str,
        target_agent: str,
        target_home: Path,
        *,
        new_session_id: str,
        cwd: str | None = None,
        recover: bool = False,
    ) -> Written:
        transcript = self.between(self.read(agent, home, session_id, recover=recover))
        answer = self.write(
            target_agent, target_home, transcript, session_id=new_session_id, cwd=cwd
        )
        for path in target_home.rglob("*.jsonl"):
            if new_session_id in str(path):
                rows = self.rows([json.loads(line) for line in path.read_bytes().splitlines()])
                path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        return answer

    def between(self, transcript: Transcript) -> Transcript:
        return transcript

    def rows(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return rows


class ConvertsNothing(Converts):
    fails: ClassVar[Failing] = {"convert.answers": CONVERTED}

    def between(self, transcript: Transcript) -> Transcript:
        raise Failed(self.name, "internal", "it never works")


class MovesTheSource(Converts):
    fails: ClassVar[Failing] = {"convert.untouched": CONVERTED}

    def convert(self, agent: str, home: Path, session_id: str, *into: Any, **given: Any) -> Written:
        answer = super().convert(agent, home, session_id, *into, **given)
        for path in home.rglob(f"*{session_id}*.jsonl"):
            path.unlink()
        return answer


class AnswersTheOldId(Converts):
    fails: ClassVar[Failing] = {"convert.new": CONVERTED, "convert.readable": CONVERTED}

    def convert(self, agent: str, home: Path, session_id: str, *into: Any, **given: Any) -> Written:
        answer = super().convert(agent, home, session_id, *into, **given)
        return replace(answer, session_id=session_id)


class ConvertsAllButTheEnd(Converts):
    fails: ClassVar[Failing] = {"convert.words": CONVERTED, "convert.readable": CONVERTED}

    def between(self, transcript: Transcript) -> Transcript:
        return replace(transcript, messages=transcript.messages[:-1])


class ConvertsTheEndFirst(Converts):
    fails: ClassVar[Failing] = {"convert.order": CONVERTED}

    def between(self, transcript: Transcript) -> Transcript:
        *rest, last = transcript.messages
        return replace(transcript, messages=(last, *rest))


class ConvertsToProse(Converts):
    fails: ClassVar[Failing] = {
        "convert.native": {one for one in CONVERTED if not one.startswith("plain-exchange")}
    }

    def between(self, transcript: Transcript) -> Transcript:
        return replace(transcript, messages=tuple(map(self._told, transcript.messages)))

    def _told(self, message: Any) -> Any:
        if not isinstance(message, CommandExecution):
            return message
        output = "".join(one.text for one in message.output or () if isinstance(one, Text))
        told = Text(text=f"I ran {message.command}\n{output}")
        return AgentMessage(id=message.id, author="model", content=(told,))


class ConvertsWithNotes(Converts):
    fails: ClassVar[Failing] = {"convert.records": CONVERTED}

    def rows(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        ids = {name: str(uuid.UUID(int=1)) for name in ("uuid", "id") if name in rows[-1]}
        return [*rows[:-1], {**rows[-1], **ids, "type": "note_of_mine"}, rows[-1]]


class ConvertsWithoutLinks(Converts):
    fails: ClassVar[Failing] = {"convert.resumes": CONVERTED}

    def rows(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        links = ("parentUuid", "parentId")
        return [{name: row[name] for name in row if name not in links} for row in rows]
