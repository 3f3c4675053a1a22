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


def shaped(adapter: str, answer: Any, shape: Any, wrong: str) -> Any:
    """Return plain JSON values as their shape.

    :class:`BrokenAnswer` says what is ``wrong`` where they are not of it, and in which place.
    """
    try:
        return msgspec.convert(answer, shape)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BrokenAnswer(adapter, f"{wrong}: {error}") from error


def checked(adapter: str, answer: Any, shape: type[_T]) -> _T:
    """Return an object of somebody's Python as the shape that it must have."""
    wrong = f"the answer is no {shape.__name__}"
    try:
        plain = msgspec.to_builtins(answer)
    except (TypeError, RecursionError) as error:
        raise BrokenAnswer(adapter, f"{wrong}: {error}") from error
    return zoned(adapter, shaped(adapter, plain, shape, wrong))


def zoned(adapter: str, answer: _T) -> _T:
    """Return an answer whose times all say their zone: without it each is any of many moments."""
    for place, time in _times(answer):
        if time is not None and time.tzinfo is None:
            raise BrokenAnswer(
                adapter,
                f"the time at {place} has no zone",
                next_step="give every time with its offset, such as 2026-11-30T10:00:00Z",
            )
    return answer


def _times(answer: Any) -> Iterator[tuple[str, datetime | None]]:
    if isinstance(answer, Transcript):
        yield "created_at", answer.created_at
        yield "updated_at", answer.updated_at
        for number, message in enumerate(answer.messages):
            yield f"messages[{number}].at", message.at
            yield f"messages[{number}].ended_at", getattr(message, "ended_at", None)
    elif isinstance(answer, Listed):
        for number, session in enumerate(answer.sessions):
            yield f"sessions[{number}].updated_at", session.updated_at
