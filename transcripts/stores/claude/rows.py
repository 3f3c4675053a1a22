"""One record of a Claude Code file, seen through the few fields that every reader needs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from transcripts.records import Record


class Row(NamedTuple):
    """A record with its links. ``position`` counts the rows of its thread in reading order.

    Each field is read on its own: one of an odd type costs that field, never the record.
    """

    record: Record
    value: dict[str, Any]
    type: str | None
    uuid: str | None
    parent: str | None
    session: str | None
    sidechain: bool


def row_of(record: Record) -> Row:
    """Read the links of a record."""
    value = record.value
    return Row(
        record=record,
        value=value,
        type=string(value.get("type")),
        uuid=string(value.get("uuid")),
        parent=string(value.get("parentUuid")),
        session=string(value.get("sessionId")),
        sidechain=value.get("isSidechain") is True,
    )


def string(value: Any) -> str | None:
    """Return a non-empty string, None for anything else."""
    return value if isinstance(value, str) and value else None


def integer(value: Any) -> int | None:
    """Return a whole number (true and false are none)."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(value: Any) -> float | None:
    """Return a number as a float."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return None


def mapping(value: Any) -> dict[str, Any]:
    """Return an object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """Return an array, an empty one for anything else."""
    return value if isinstance(value, list) else []


def message_of(row: Row) -> dict[str, Any]:
    """Return the API message of a user or assistant row."""
    return mapping(row.value.get("message"))


def blocks_of(row: Row) -> list[Any]:
    """Return the content blocks of a row's message; a string is one text block."""
    content = message_of(row).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return sequence(content)


def time_of(row: Row) -> datetime | None:
    """Return when a row says it was written, in UTC."""
    return instant(row.value.get("timestamp"))


def instant(value: Any) -> datetime | None:
    """Return an RFC 3339 time as an aware UTC one; None if it is none."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return None
