"""One record of a Claude Code file, seen through the few fields that every reader needs."""

from __future__ import annotations

from datetime import UTC, datetime
from sys import intern
from typing import Any, NamedTuple

import msgspec

from transcripts.model import Location
from transcripts.records import Record
from transcripts.stores.claude.reading import glances
from transcripts.stores.claude.reading.entries import Entry, Skimmed, entry_of
from transcripts.stores.claude.reading.glances import Glance
from transcripts.stores.claude.reading.shelf import Held, Shelf

BOUNDARY = "compact_boundary"
SUMMARY = "summary"
RETRY = "api_error"


class Setting(NamedTuple):
    """Where and by which release a record was written."""

    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None


NOWHERE = Setting()


class Row(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A record's place, its links, and what decides about them.

    Each field is read on its own: one of an odd type costs that field, never the record. What the
    record says beyond that lies on a shelf: ``entry`` and ``value`` are read from the disk each
    time, so that whoever goes through all rows asks the fields first. ``subtype`` is a system
    row's or an attachment's own, and :data:`SUMMARY` for what a compaction left; ``stamped``
    whether it says where a prompt came from; ``link`` is the parent, or across a compaction the
    logical one; ``response`` the id of the API message that the row is part of: a row of the
    model's without one stands alone.
    """

    shelf: Shelf | Held
    line: int
    offset: int
    length: int
    type: str | None
    subtype: str | None
    uuid: str | None
    parent: str | None
    link: str | None
    session: str | None
    sidechain: bool
    stamped: bool
    response: str
    setting: Setting
    glance: Glance

    @property
    def path(self) -> str:
        """The file, relative to the store's root."""
        return self.shelf.name

    @property
    def value(self) -> dict[str, Any]:
        """The whole record."""
        return self.shelf.value(self.offset, self.length)

    @property
    def entry(self) -> Entry:
        """What the record says, as far as it is asked."""
        return self.shelf.entry(self.offset, self.length)

    @property
    def is_boundary(self) -> bool:
        """Whether a compaction stands here."""
        return self.type == "system" and self.subtype == BOUNDARY

    def whole_block(self, position: int) -> Any:
        """Return a block of the message with all that was recorded of it."""
        return self.value["message"]["content"][position]

    def at(self, pointer: str | None) -> Location:
        """Return the place of a value inside the record, by JSON pointer, or of the record."""
        return Location(
            path=self.shelf.name,
            line=self.line,
            offset=self.offset,
            length=self.length,
            pointer=pointer,
        )


def row_of(record: Record) -> Row:
    """Return the row of a record that is kept whole."""
    value, raw, path, line, offset = record
    entry = entry_of(value)
    return row_on(Held(value, entry, path), line, offset, len(raw), entry, None)


def row_on(
    shelf: Shelf | Held,
    line: int,
    offset: int,
    length: int,
    entry: Entry | Skimmed,
    before: Row | None,
) -> Row:
    """Return the row of a record on a shelf.

    What it has in common with the row before (``before``) is kept once: a session may have a
    million rows.
    """
    kind = entry.type or None
    uuid = entry.uuid or None
    parent = entry.parent_uuid or None
    session = entry.session_id or None
    setting = NOWHERE if before is None else before.setting
    if (entry.cwd, entry.version, entry.git_branch) != setting:
        setting = Setting(entry.cwd, entry.version, entry.git_branch)
    subtype = None
    stamped = False
    response = ""
    glance = glances.NOTHING
    if kind == "assistant":
        message_id = None if entry.message is None else entry.message.id
        response = message_id or entry.request_id or uuid or f"{line}"
        glance = glances.of_the_model(entry)
    elif kind == "user":
        glance = glances.in_the_users_place(entry)
        if entry.is_compact_summary:
            subtype = SUMMARY
        stamped = entry.origin_kind is not None
    elif kind == "system":
        subtype = entry.subtype or None
    elif kind == "attachment":
        attachment = entry.attachment
        subtype = None if attachment is None else attachment.type or None
        glance = glances.attached(attachment)
    if before is not None:
        if before.session == session:
            session = before.session
        if before.uuid == parent:
            parent = before.uuid
        if before.response == response:
            response = before.response
    # No more than 15 arguments: those of a longer call Python puts into a dictionary first.
    return Row(
        shelf=shelf,
        line=line,
        offset=offset,
        length=length,
        type=None if kind is None else intern(kind),
        subtype=None if subtype is None else intern(subtype),
        uuid=uuid,
        parent=parent,
        link=parent or entry.logical_parent_uuid or None,
        session=session,
        sidechain=entry.is_sidechain is True,
        stamped=stamped,
        response=response,
        setting=setting,
        glance=glance,
    )


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
