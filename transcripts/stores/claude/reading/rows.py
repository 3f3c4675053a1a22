"""One record of a Claude Code file, seen through the few fields that every reader needs."""

from __future__ import annotations

from datetime import UTC, datetime
from sys import intern
from typing import Any, NamedTuple

from transcripts.records import Held, Record
from transcripts.stores.claude import wordings
from transcripts.stores.claude.foreign import integer, mapping, number, sequence, string
from transcripts.stores.claude.reading.glances import Glance, glance
from transcripts.stores.claude.reading.shelf import Shelved

__all__ = [
    "RETRY",
    "SUMMARY",
    "Row",
    "blocks_of",
    "instant",
    "integer",
    "mapping",
    "message_of",
    "number",
    "origin_of",
    "row_held",
    "row_of",
    "sequence",
    "string",
    "time_of",
]

BOUNDARY = "compact_boundary"
SUMMARY = "summary"
RETRY = "api_error"


class Row(NamedTuple):
    """A record with its links and what decides about them.

    Each field is read on its own: one of an odd type costs that field, never the record. Where
    the record lies on a shelf, ``value`` is read from the disk each time, so that whoever goes
    through all rows asks the fields first. ``subtype`` is a system row's or an attachment's own,
    and :data:`SUMMARY` for what a compaction left; ``prompt`` whether it is something that a person
    said, as far as the row alone tells; ``stamped`` whether it says where a prompt came from;
    ``link`` is the parent, or across a compaction the logical one; ``response`` the id of the API
    message that the row is part of: a row of the model's without one stands alone.
    """

    record: Held | Shelved
    type: str | None
    subtype: str | None
    uuid: str | None
    parent: str | None
    link: str | None
    session: str | None
    sidechain: bool
    prompt: bool
    stamped: bool
    response: str
    glance: Glance

    def at_hand(self) -> Row:
        """Return the row with its value read: for whoever asks for it more than once."""
        record = self[0]
        if type(record) is Held:
            return self
        held = Held(record.value, record.path, record.line, record.offset, record.length)
        return Row(held, *self[1:])

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
    value, raw, path, line, offset = record
    return row_held(Held(value, path, line, offset, len(raw)), value)


def row_held(record: Held | Shelved, value: dict[str, Any], before: Row | None = None) -> Row:
    """Return the row of a record that is kept in one form or another.

    What it has in common with the row before (``before``) is kept once: a session may have a
    million rows.
    """
    get = value.get
    kind = string(get("type"))
    if kind is not None:
        kind = intern(kind)
    uuid = string(get("uuid"))
    parent = string(get("parentUuid"))
    session = string(get("sessionId"))
    if before is not None:
        if before.session == session:
            session = before.session
        if before.uuid == parent:
            parent = before.uuid
    subtype = None
    prompt = stamped = False
    response = ""
    if kind == "assistant":
        message_id = string(mapping(get("message")).get("id"))
        response = message_id or string(get("requestId")) or uuid or f"{record.line}"
        if before is not None and before.response == response:
            response = before.response
    elif kind == "user":
        if get("isCompactSummary") is True:
            subtype = SUMMARY
        prompt = _is_prompt(value)
        stamped = bool(mapping(get("origin")).get("kind"))
    elif kind == "system":
        subtype = string(get("subtype"))
    elif kind == "attachment":
        subtype = string(mapping(get("attachment")).get("type"))
        subtype = intern(subtype) if subtype else None
    # Made as a named tuple makes itself, without the call in between: there is one for each record.
    fields = (
        record,
        kind,
        subtype,
        uuid,
        parent,
        parent or string(get("logicalParentUuid")),
        session,
        get("isSidechain") is True,
        prompt,
        stamped,
        response,
        glance(kind, value),
    )
    return tuple.__new__(Row, fields)


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
    if moment.tzinfo is UTC:
        return moment
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return None


def origin_of(row: Row) -> str | None:
    """Return where a row says that its prompt came from."""
    return string(mapping(row.value.get("origin")).get("kind"))
