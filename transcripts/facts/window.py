"""From when to when a session went, by its own records and in UTC.

The file's name and its times on the disk say nothing: a name is in local time, and a copy is new.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from transcripts.facts.fact import Fact
from transcripts.model import Call, Message


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """The first and the last moment that a record names."""

    first: datetime
    last: datetime


class WindowFold:
    """The moments of one thread's messages, whatever their order in the file."""

    def __init__(self) -> None:
        self._first: tuple[datetime, str | None] | None = None
        self._last: tuple[datetime, str | None] | None = None

    def take(self, message: Message) -> None:
        """Take in when a message was recorded, and when its call ended."""
        at = message.at
        if at is not None and message.at_source == "record":
            # Nearly always it is just the next moment.
            if self._last is not None and at >= self._last[0]:
                self._last = (at, message.id)
            else:
                self.moment(at, message.id)
        if isinstance(message, Call) and message.ended_at is not None:
            self.moment(message.ended_at, message.id)

    def moment(self, at: datetime | None, message: str | None = None) -> None:
        """Take in a moment, of a message or of a record that is none."""
        if at is None:
            return
        if self._first is None or at < self._first[0]:
            self._first = (at, message)
        if self._last is None or at > self._last[0]:
            self._last = (at, message)

    def fact(self) -> Fact[Window]:
        """Return the window."""
        if self._first is None or self._last is None:
            return Fact(unavailable="its records do not say when they were written")
        ends = (self._first[1], self._last[1])
        return Fact(
            value=Window(first=self._first[0], last=self._last[0]),
            evidence=tuple(dict.fromkeys(one for one in ends if one is not None)),
        )
