"""One record of a Claude Code file, seen through the few fields that every reader needs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from transcripts.records import Record
from transcripts.stores.claude import wordings
from transcripts.stores.claude.reading.shelf import Shelved

BOUNDARY = "compact_boundary"
SUMMARY = "summary"


class Row(NamedTuple):
    """A record with its links and what decides about them.

    Each field is read on its own: one of an odd type costs that field, never the record. Where
    the record lies on a shelf, ``value`` is read from the disk each time, so that whoever goes
    through all rows asks the fields first. ``subtype`` is a system row's own, and
    :data:`SUMMARY` for what a compaction left; ``prompt`` whether it is something that a person
    said, as far as the row alone tells; ``stamped`` whether it says where a prompt came from;
    ``link`` is the parent, or across a compaction the logical one.
    """

    record: Record | Shelved
    type: str | None
    subtype: str | None
    uuid: str | None
    parent: str | None
    link: str | None
    session: str | None
    sidechain: bool
    prompt: bool
    stamped: bool

    @property
    def value(self) -> dict[str, Any]:
        """The whole record."""
        return self.record.value

    @property
    def is_boundary(self) -> bool:
        """Whether a compaction stands here."""
        return self.type == "system" and self.subtype == BOUNDARY


def row_of(record: Record) -> Row:
    """Read what decides about a record."""
    value = record.value
    kind = string(value.get("type"))
    subtype = string(value.get("subtype")) if kind == "system" else None
    if kind == "user" and value.get("isCompactSummary") is True:
        subtype = SUMMARY
    return Row(
        record=record,
        type=kind,
        subtype=subtype,
        uuid=string(value.get("uuid")),
        parent=string(value.get("parentUuid")),
        link=string(value.get("parentUuid")) or string(value.get("logicalParentUuid")),
        session=string(value.get("sessionId")),
        sidechain=value.get("isSidechain") is True,
        prompt=kind == "user" and _is_prompt(value),
        stamped=kind == "user" and bool(mapping(value.get("origin")).get("kind")),
    )


def _is_prompt(value: dict[str, Any]) -> bool:
    if not string(value.get("uuid")) or value.get("isMeta") is True:
        return False
    if value.get("isCompactSummary") is True:
        return False
    blocks = _blocks(mapping(value.get("message")).get("content"))
    if not blocks or any(mapping(block).get("type") == "tool_result" for block in blocks):
        return False
    texts = [mapping(block).get("text") for block in blocks]
    return not all(
        isinstance(text, str) and wordings.typed(text).author == "harness" for text in texts
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
    return _blocks(message_of(row).get("content"))


def _blocks(content: Any) -> list[Any]:
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


def origin_of(row: Row) -> str | None:
    """Return where a row says that its prompt came from."""
    return string(mapping(row.value.get("origin")).get("kind"))


def response_of(row: Row) -> str:
    """Return the id of the API message that a row is part of; a row without one stands alone."""
    message_id = string(message_of(row).get("id"))
    return message_id or string(row.value.get("requestId")) or row.uuid or f"{row.record.line}"
