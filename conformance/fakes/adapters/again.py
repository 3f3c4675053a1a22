"""Readers whose ids depend on more than what is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace

from conformance.adapters import Failed
from conformance.fakes.adapters.fake import Failing, Fake
from conformance.fakes.adapters.miniature import SCENARIOS
from conformance.fakes.adapters.reading import Messages, ReadsWrongly
from transcripts.model import Transcript


class CountsFromTheEnd(ReadsWrongly):
    agent: ClassVar[str] = "claude"
    fails: ClassVar[Failing] = {"read.kept-ids": SCENARIOS}

    def messages(self, messages: Messages) -> Iterator[Any]:
        for number, one in enumerate(messages):
            yield replace(one, id=f"message-{len(messages) - number}-from-the-end")


class GivesIdsByPlace(Fake):
    agent: ClassVar[str] = "copilot"
    fails: ClassVar[Failing] = {"read.elsewhere": SCENARIOS}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        named = (replace(one, id=f"{home}-{one.id}") for one in transcript.messages)
        return replace(transcript, messages=tuple(named))


class GivesIdsByTheProcess(ReadsWrongly):
    """Python gives equal texts another hash in every process."""

    fails: ClassVar[Failing] = {"read.afresh": {"subagent/afresh"}}

    def message(self, message: Any) -> Any:
        return replace(message, id=f"{hash(message.id)}")


class WaitsForAnAnswer(Fake):
    """Takes a session in which nobody has answered yet for a broken one."""

    agent: ClassVar[str] = "claude"
    # Where there is a subagent, it has answered soon.
    fails: ClassVar[Failing] = {"read.growing": SCENARIOS - {"subagent"}}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        if not any(one.kind == "AgentMessage" for one in transcript.messages):
            raise Failed(self.name, "read", "nobody has answered")
        return transcript
