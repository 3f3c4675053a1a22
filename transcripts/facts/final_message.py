"""What the agent said last."""

from __future__ import annotations

from datetime import datetime

import msgspec

from transcripts.facts.fact import Fact
from transcripts.facts.words import words_of
from transcripts.model import AgentMessage, Message


class FinalMessage(msgspec.Struct, frozen=True, kw_only=True):
    """The last words of an agent."""

    id: str
    at: datetime | None
    text: str


class FinalMessageFold:
    """The last message of one thread: its own agent's, never a failure and never a child's."""

    def __init__(self) -> None:
        self._last: AgentMessage | None = None

    def take(self, message: Message) -> None:
        """Take in a message."""
        if isinstance(message, AgentMessage) and message.author == "model":
            self._last = message

    def fact(self) -> Fact[FinalMessage]:
        """Return the last words."""
        last = self._last
        if last is None:
            return Fact(unavailable="the agent said nothing")
        value = FinalMessage(id=last.id, at=last.at, text=words_of(last.content))
        return Fact(value=value, evidence=(last.id,))
