"""What adapters answer, held to its shape before anything believes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
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
        value = msgspec.convert(answer, shape)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BrokenAnswer(adapter, f"{wrong}: {error}") from error
    for unknown in _unknown(answer, value, "$"):
        raise BrokenAnswer(
            adapter,
            f"{wrong}: there is no field {unknown}",
            next_step="see how the schema spells it; what has no field there is left out",
        )
    return value


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


def _unknown(answer: Any, value: Any, place: str) -> Iterator[str]:
    """Yield the fields that no struct has: one that is misspelt would be lost in silence."""
    if isinstance(value, msgspec.Struct) and isinstance(answer, Mapping):
        fields = _fields(type(value))
        for name, inner in answer.items():
            if name in fields:
                yield from _unknown(inner, getattr(value, name, None), f"{place}.{name}")
            else:
                yield f"{place}.{name}"
    elif isinstance(value, Mapping) and isinstance(answer, Mapping):
        # Any other object is somebody's own JSON, as deep as it likes.
        for name, one in value.items():
            if isinstance(one, msgspec.Struct):
                yield from _unknown(answer[name], one, f"{place}.{name}")
    elif isinstance(value, tuple) and isinstance(answer, Sequence):
        for number, (inner, one) in enumerate(zip(answer, value, strict=True)):
            yield from _unknown(inner, one, f"{place}[{number}]")


@cache
def _fields(shape: type[msgspec.Struct]) -> frozenset[str]:
    tag = shape.__struct_config__.tag_field
    return frozenset((*shape.__struct_fields__, *((tag,) if tag else ())))


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
