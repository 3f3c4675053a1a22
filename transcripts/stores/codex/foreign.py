"""Values of a foreign record, taken only where they have the type that is needed.

A field of an odd type costs that field and never the record.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from transcripts.records import jsonlines


def text(value: Any) -> str | None:
    """Return the value if it is a string."""
    return value if isinstance(value, str) else None


def mapping(value: Any) -> dict[str, Any]:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """Return the value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def integer(value: Any) -> int | None:
    """Return the value if it is a whole number (true and false are none)."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def flag(value: Any) -> bool | None:
    """Return the value if it is true or false."""
    return value if isinstance(value, bool) else None


def moment(value: Any) -> datetime | None:
    """Return an RFC 3339 time as an aware UTC datetime; None if it is none or has no zone."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
        if time.tzinfo is UTC:
            return time
        return None if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def milliseconds(value: Any) -> float | None:
    """Return a duration, ``{"secs", "nanos"}``, in milliseconds.

    Exactly zero is how a duration is written that nobody measured.
    """
    duration = mapping(value)
    seconds, nanos = integer(duration.get("secs")), integer(duration.get("nanos"))
    if seconds is None or nanos is None or (seconds == 0 and nanos == 0):
        return None
    return seconds * 1000 + nanos / 1_000_000


def json_object(words: str) -> dict[str, Any]:
    """Return the object that a string is the JSON of, else an empty one."""
    try:
        return mapping(jsonlines.parse_text(words))
    except ValueError:
        return {}
