"""Rows of a file in one quick look: only what decides about a record is decoded, by its type.

Every record of a session is looked at before the first message can be told, and most of what is
in it does not matter then. A record with a part of another type than here is read whole instead,
by :func:`transcripts.stores.claude.reading.rows.row_held`; both make the same rows.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import intern
from typing import Any

import msgspec

from transcripts.records import Record, jsonlines
from transcripts.stores.claude import wordings
from transcripts.stores.claude.foreign import integer, mapping
from transcripts.stores.claude.reading.bookkeeping import QUIET
from transcripts.stores.claude.reading.glances import NOTHING, NOTIFICATION, SPENDING, Glance
from transcripts.stores.claude.reading.rows import SUMMARY, Row, row_held
from transcripts.stores.claude.reading.shelf import Shelf


class _Block(msgspec.Struct, kw_only=True, gc=False):
    type: str | None = None
    id: str | None = None
    tool_use_id: str | None = None
    text: str | None = None


class _Counts(msgspec.Struct, kw_only=True, gc=False):
    input_tokens: Any = None
    output_tokens: Any = None
    cache_read_input_tokens: Any = None
    cache_creation_input_tokens: Any = None
    output_tokens_details: Any = None


class _Message(msgspec.Struct, kw_only=True, gc=False):
    id: str | None = None
    content: str | list[_Block] | None = None
    usage: _Counts | None = None


class _Origin(msgspec.Struct, kw_only=True, gc=False):
    kind: str | None = None


class Skimmed(msgspec.Struct, kw_only=True, gc=False, rename="camel"):
    """What a record says that decides about it, each part of the type that it mostly has."""

    type: str
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    request_id: str | None = None
    request_session_id: str | None = None
    origin: _Origin | None = None
    message: _Message | None = None


skim: Callable[[bytes], Skimmed] = msgspec.json.Decoder(Skimmed).decode
"""What :func:`transcripts.records.jsonlines.skim` is given."""

_READ_WHOLE = frozenset({"", "attachment", "system"})
_EMPTY = _Message()


class RowMaker:
    """Makes the rows of one file that lies on a shelf, one after the other.

    What a row has in common with the one before is kept once: a session may have a million rows.
    With ``sparing``, bookkeeping that is only counted is one row for all of its kind, the first.
    """

    def __init__(self, shelf: Shelf, *, sparing: bool) -> None:
        self._put = shelf.put
        self._sparing = sparing
        self._quiet: dict[tuple[str, str | None], Row] = {}
        self._before: Row | None = None

    def row(self, record: Record) -> Row:
        """Return the row of a record that was skimmed, or refused to be."""
        value = record[0]
        if type(value) is Skimmed and value.type not in _READ_WHOLE:
            row = self._skimmed(record, value)
        else:
            whole = value if type(value) is dict else jsonlines.parse(record.raw)
            row = row_held(self._put(record), whole, self._before)
        if row.uuid is not None:
            self._before = row
        return row

    def _skimmed(self, record: Record, value: Skimmed) -> Row:
        kind = value.type
        uuid = value.uuid or None
        parent = value.parent_uuid or None
        link = parent or value.logical_parent_uuid or None
        session = value.session_id or None
        quiet = self._sparing and kind in QUIET and not (uuid or link or value.is_sidechain)
        if quiet and (known := self._quiet.get((kind, session))) is not None:
            return known
        subtype = None
        prompt = stamped = False
        response = ""
        before = self._before
        if before is not None:
            if before.session == session:
                session = before.session
            if before.uuid == parent:
                parent = before.uuid
        seen = NOTHING
        if kind == "assistant":
            message = value.message or _EMPTY
            response = message.id or value.request_id or uuid or f"{record.line}"
            if before is not None and before.response == response:
                response = before.response
            seen = _answer(message, value.request_session_id or None)
        elif kind == "user":
            if value.is_compact_summary is True:
                subtype = SUMMARY
            stamped = value.origin is not None and bool(value.origin.kind)
            seen, said = _in_users_place(value.message or _EMPTY)
            prompt = said and not (uuid is None or value.is_meta or value.is_compact_summary)
        # Made as a named tuple makes itself, without the call in between.
        row = tuple.__new__(
            Row,
            (
                self._put(record),
                intern(kind),
                subtype,
                uuid,
                parent,
                parent or link,
                session,
                value.is_sidechain is True,
                prompt,
                stamped,
                response,
                seen,
            ),
        )
        if quiet:
            self._quiet[kind, session] = row
        return row


def _answer(message: _Message, asked_in: str | None) -> Glance:
    """Look at a row of the model's."""
    spends = message.usage is not None and _spends(message.usage)
    blocks = message.content
    if type(blocks) is list:
        uses = [block.id for block in blocks if block.type == "tool_use" and block.id]
        if uses:
            return Glance(uses=tuple(uses), spends=spends, asked_in=asked_in)
    if asked_in is None:
        return SPENDING if spends else NOTHING
    return Glance(spends=spends, asked_in=asked_in)


def _spends(counts: _Counts) -> bool:
    return bool(
        integer(counts.output_tokens)
        or integer(counts.input_tokens)
        or integer(counts.cache_read_input_tokens)
        or integer(counts.cache_creation_input_tokens)
        or integer(mapping(counts.output_tokens_details).get("thinking_tokens"))
    )


def _in_users_place(message: _Message) -> tuple[Glance, bool]:
    """Look at a row of the user's side, and say whether a person may have said it."""
    content = message.content
    if type(content) is str:
        notifies = NOTIFICATION in content
        said = wordings.typed(content).author != "harness"
        return (Glance(notifies=True) if notifies else NOTHING), said
    if type(content) is not list or not content:
        return NOTHING, False
    results = [
        (position, block.tool_use_id)
        for position, block in enumerate(content)
        if block.type == "tool_result" and block.tool_use_id
    ]
    if len(results) == len(content):
        return Glance(results=tuple(results), only_answers=True), False
    texts = [block.text for block in content]
    notifies = any(text is not None and NOTIFICATION in text for text in texts)
    said = not any(block.type == "tool_result" for block in content) and not all(
        text is not None and wordings.typed(text).author == "harness" for text in texts
    )
    if not (results or notifies):
        return NOTHING, said
    return Glance(results=tuple(results), notifies=notifies), said
