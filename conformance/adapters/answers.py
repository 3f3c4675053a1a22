"""What adapters answer, held to its shape before anything believes it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from conformance.adapters.errors import BrokenAnswer
from transcripts.model import SessionInfo, Transcript
from transcripts.stores.base import Listing, Unlisted

_T = TypeVar("_T", bound=msgspec.Struct)


class Listed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A listing as it travels: ``seen`` session files were looked at, all listed if not said."""

    sessions: tuple[SessionInfo, ...]
    seen: int | None = None
    failed: tuple[Unlisted, ...] = ()

    def listing(self) -> Listing:
        """Return it as stores give it."""
        seen = len(self.sessions) + len(self.failed) if self.seen is None else self.seen
        return Listing(self.sessions, seen, self.failed)


def checked(adapter: str, answer: Any, shape: type[_T]) -> _T:
    """Return an answer as its shape; :class:`BrokenAnswer` says in which place it is not."""
    try:
        value = msgspec.convert(msgspec.to_builtins(answer), shape)
    except (msgspec.ValidationError, TypeError, RecursionError) as error:
        raise BrokenAnswer(adapter, f"the answer is no {shape.__name__}: {error}") from error
    for place, time in _times(value):
        if time is not None and time.tzinfo is None:
            raise BrokenAnswer(
                adapter,
                f"the time at {place} has no zone",
                next_step="give every time with its offset, such as 2026-11-30T10:00:00Z",
            )
    return value


def _times(value: Any) -> Iterator[tuple[str, datetime | None]]:
    """Yield the times of an answer; a time without its zone is any of two dozen moments."""
    if isinstance(value, Transcript):
        yield "created_at", value.created_at
        yield "updated_at", value.updated_at
        for number, message in enumerate(value.messages):
            yield f"messages[{number}].at", message.at
            yield f"messages[{number}].ended_at", getattr(message, "ended_at", None)
    elif isinstance(value, Listed):
        for number, session in enumerate(value.sessions):
            yield f"sessions[{number}].updated_at", session.updated_at
