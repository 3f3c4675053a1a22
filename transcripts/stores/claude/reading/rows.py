"""One record of a Claude Code file, seen through the few fields that every reader needs."""

from __future__ import annotations

from datetime import UTC, datetime
from sys import intern
from typing import Any, NamedTuple

from transcripts.records import Record
from transcripts.stores.claude.reading import glances
from transcripts.stores.claude.reading.entries import Entry, entry_of
from transcripts.stores.claude.reading.glances import Glance
from transcripts.stores.claude.reading.shelf import Held, Shelved

BOUNDARY = "compact_boundary"
SUMMARY = "summary"
RETRY = "api_error"


class Row(NamedTuple):
    """A record with its links and what decides about them.

    Each field is read on its own: one of an odd type costs that field, never the record. Where
    the record lies on a shelf, ``entry`` and ``value`` are read from the disk each time, so that
    whoever goes through all rows asks the fields first. ``subtype`` is a system row's or an
    attachment's own, and :data:`SUMMARY` for what a compaction left; ``prompt`` whether it is
    something that a person said, as far as the row alone tells; ``stamp`` is its release where the
    row says where a prompt came from; ``link`` is the parent, or across a compaction the logical
    one; ``response`` the id of the API message that the row is part of: a row of the model's
    without one stands alone.
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
    stamp: str | None
    response: str
    glance: Glance

    @property
    def value(self) -> dict[str, Any]:
        """The whole record."""
        return self.record.value

    @property
    def entry(self) -> Entry:
        """What the record says, as far as it is asked."""
        return self.record.entry

    def whole_block(self, position: int) -> Any:
        """Return a block of the message with all that was recorded of it."""
        return self.value["message"]["content"][position]

    @property
    def is_boundary(self) -> bool:
        """Whether a compaction stands here."""
        return self.type == "system" and self.subtype == BOUNDARY


def row_of(record: Record) -> Row:
    """Read what decides about a record."""
    value, raw, path, line, offset = record
    entry = entry_of(value)
    return row_of_entry(Held(value, entry, path, line, offset, len(raw)), entry)


def row_of_entry(record: Held | Shelved, entry: Entry, before: Row | None = None) -> Row:
    """Return the row of a record that is kept in one form or another.

    What it has in common with the row before (``before``) is kept once: a session may have a
    million rows.
    """
    kind = entry.type or None
    uuid = entry.uuid or None
    parent = entry.parent_uuid or None
    session = entry.session_id or None
    if before is not None:
        if before.session == session:
            session = before.session
        if before.uuid == parent:
            parent = before.uuid
    subtype = stamp = None
    prompt = False
    response = ""
    seen = glances.NOTHING
    if kind == "assistant":
        message_id = entry.message.id if entry.message is not None else None
        response = message_id or entry.request_id or uuid or f"{record.line}"
        if before is not None and before.response == response:
            response = before.response
        seen = glances.of_the_model(entry)
    elif kind == "user":
        seen = glances.in_the_users_place(entry)
        if entry.is_compact_summary:
            subtype = SUMMARY
        elif seen.prompt:
            prompt = uuid is not None and not entry.is_meta
        if entry.origin_kind is not None:
            stamp = entry.version or ""
    elif kind == "system":
        subtype = entry.subtype or None
    elif kind == "attachment":
        attachment = entry.attachment
        subtype = None if attachment is None else attachment.type or None
        seen = glances.attached(attachment)
    # Made as a named tuple makes itself, without the call in between: there is one for each record.
    fields = (
        record,
        intern(kind) if kind else None,
        intern(subtype) if subtype else None,
        uuid,
        parent,
        parent or entry.logical_parent_uuid or None,
        session,
        entry.is_sidechain is True,
        prompt,
        stamp,
        response,
        seen,
    )
    return tuple.__new__(Row, fields)


def time_of(row: Row) -> datetime | None:
    """Return when a row says it was written, in UTC."""
    return instant(row.entry.timestamp)


def instant(text: str | None) -> datetime | None:
    """Return an RFC 3339 time as an aware UTC one; None if it is none."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
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
