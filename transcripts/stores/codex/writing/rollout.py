"""The lines of a new rollout in the making: the time they have reached, and what was lost."""

from __future__ import annotations

from collections.abc import Container
from datetime import UTC, datetime
from typing import Any, NamedTuple

from transcripts.losses import Loss, LossId
from transcripts.model import Asset, Content, Message, Structured
from transcripts.narration import scrub_value
from transcripts.stores.codex.writing import items
from transcripts.stores.codex.writing.items import Payload


class Held(NamedTuple):
    """A response item that the next request would hold, and the message that it is of."""

    message: str | None
    item: Payload


class Rollout:
    """A session's records so far.

    ``history`` are the response items that the next request would hold; ``own`` says that the
    transcript comes from Codex's own store, so that what only Codex means is kept. Items are
    of the message whose id is ``speaking``.
    """

    def __init__(self, session_id: str, cwd: str, started_at: datetime, *, own: bool) -> None:
        self.session_id = session_id
        self.cwd = cwd
        self.own = own
        self.lines: list[dict[str, Any]] = []
        self.losses: list[Loss] = []
        self.history: list[Held] = []
        self.speaking: str | None = None
        self.last_answer: str | None = None
        self._time = started_at

    def line(self, kind: str, payload: Payload) -> None:
        """Write a record of any kind.

        Codex's readers drop an event of a turn that no record begins: turns of another CLI's
        are not begun here, and are not named in events either.
        """
        if kind == "event_msg" and not self.own and payload.get("turn_id"):
            payload = payload | {"turn_id": ""}
        clean = scrub_value(payload)
        self.lines.append({"timestamp": stamp(self._time), "type": kind, "payload": clean})

    def item(self, payload: Payload) -> None:
        """Write a response item, which the model will see."""
        self.history.append(Held(self.speaking, payload))
        self.line("response_item", payload)

    def forget(self, messages: Container[str]) -> None:
        """Let the next request no longer hold what is of some messages."""
        self.history = [
            one for one in self.history if one.message is None or one.message not in messages
        ]

    def event(self, payload: Payload) -> None:
        """Write an event, which only Codex itself sees."""
        self.line("event_msg", payload)

    def answer(
        self,
        content: list[Payload],
        turn: str | None,
        own_id: str | None = None,
        phase: str | None = None,
    ) -> None:
        """Write words of the model, with their echo."""
        words = "".join(part["text"] for part in content)
        self.last_answer = words
        self.event(items.agent_message(words, phase))
        passed = items.tagged(None, turn if self.own else None, len(content))
        self.item(items.message("assistant", content, own_id, phase=phase, **passed))

    def go_on(self, time: datetime | None, message: Message | None = None) -> None:
        """Go on to a time; times never fall."""
        if time is None:
            return
        if time >= self._time:
            self._time = time.astimezone(UTC)
        elif message is not None:
            self.lose("time-moved", message, "it was recorded after a later message")

    def lose(self, loss: LossId, message: Message | None, why: str) -> None:
        """Say what a message, or the whole session, loses."""
        self.losses.append(Loss(loss=loss, message=message.id if message else None, why=why))

    def lose_parts(self, message: Message, content: Content | None, *, images: bool = True) -> None:
        """Say what parts of content lose where the wire takes only text, or also images."""
        for part in content or ():
            if isinstance(part, Structured):
                self.lose("structured-as-text", message, "a JSON value became its text")
            elif isinstance(part, Asset) and not (images and items.takes_image(part)):
                self.lose("asset-dropped", message, "Codex takes only the bytes of an image")


def stamp(time: datetime) -> str:
    """Return a time as records have it: to the millisecond, or finer where it is known."""
    precise = time.microsecond % 1000 != 0
    return time.isoformat(timespec="microseconds" if precise else "milliseconds").replace(
        "+00:00", "Z"
    )
