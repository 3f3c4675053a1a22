"""The events of a session in the making: envelopes, ids, times, stored bytes."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from transcripts.ids import derive
from transcripts.model import Asset, Message
from transcripts.narration import has_lone_surrogate, scrub_value
from transcripts.records.jsonlines import encode
from transcripts.stores.copilot.assets import reference, stored
from transcripts.stores.copilot.reading.context import SCOPE
from transcripts.stores.copilot.writing.ledger import Ledger

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class EventLog:
    """One events file, every line as the CLI validates it before it loads any.

    ``native`` says that the messages come from this same store: their records' ids stay.
    """

    def __init__(self, session_id: str, start: datetime, ledger: Ledger, *, native: bool) -> None:
        self.session_id = session_id
        self.clock = start
        self.native = native
        self._ledger = ledger
        self._events: list[dict[str, Any]] = []
        self._used: set[str] = set()
        self._stored: set[str] = set()
        self._callers: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._events)

    def data(self) -> bytes:
        """Return the bytes of the file."""
        return encode(self._events)

    def uuid(self, *parts: str | int) -> str:
        """Derive an id under the session."""
        return derive(SCOPE, self.session_id, *parts)

    def serve(self, agent: str, call: str | None) -> None:
        """Say which call an agent's thread serves."""
        if call is not None:
            self._callers[agent] = call

    def emit(
        self,
        kind: str,
        data: dict[str, Any],
        message: Message | None = None,
        *,
        own: bool = True,
        timed: bool = True,
        agent: str | None = None,
    ) -> None:
        """Add an event.

        ``own``: its id may be that of the message's own record. ``timed``: it happened when
        the message did, else when the event before it did. ``agent``: on whose thread, if
        not on the message's.
        """
        if message is not None and timed:
            self.tick(message.at)
            if message.at is None:
                self._ledger.lose("time-moved", None, "some messages have no time of their own")
        agent = agent or (message.agent if message is not None else None)
        event: dict[str, Any] = {"type": kind, "data": data}
        if agent is not None:
            event["agentId"] = agent
            caller = self._callers.get(agent)
            if caller is not None and kind.startswith(("assistant.", "tool.")):
                data["parentToolCallId"] = caller
        event |= {
            "id": self._id(message if own else None),
            "timestamp": stamp(self.clock),
            "parentId": self._events[-1]["id"] if self._events else None,
        }
        if has_lone_surrogate(event):
            self._ledger.lose("replacement-character", message)
            event = scrub_value(event)
        self._events.append(event)

    def tick(self, at: datetime | None) -> None:
        """Move the clock to a time; it never goes back."""
        if at is None:
            return
        if at >= self.clock:
            self.clock = at
        elif stamp(at) != stamp(self.clock):
            self._ledger.lose("time-moved", None, "some messages were recorded out of order")

    def store(self, asset: Asset) -> dict[str, Any]:
        """Store an asset's bytes once and return how an event refers to them."""
        if asset.sha256 is None or (asset.data is None and not self.native):
            return {}
        if asset.data is not None and asset.sha256 not in self._stored:
            self._stored.add(asset.sha256)
            self.emit("session.binary_asset", stored(asset))
        return reference(asset)

    def _id(self, message: Message | None) -> str:
        own = message.external_id if message is not None and self.native else None
        if own is None or not UUID.fullmatch(own) or own in self._used:
            own = self.uuid("event", len(self._events))
        self._used.add(own)
        return own


def stamp(at: datetime) -> str:
    """Return a time in the only form that every release takes: milliseconds and Z."""
    utc = at.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"
