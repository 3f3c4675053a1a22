"""What a session took over from another, by pointing at its records or by copying them.

A fork since 0.150 holds only what is its own, and says where in the other session's file its
history ends. Before, and for an agent that is given its parent's conversation, the records
are copied, all or some of them, with the times of the copying. Where the copies end is said
since 0.150 only; before, they are told by comparing them with the records that they are
copies of: a copy has the same content, stands in the same order, and was there before the
session began. How much later a record was written says nothing.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from transcripts.errors import AmbiguousSession
from transcripts.records import Record, jsonlines
from transcripts.stores.codex import layout
from transcripts.stores.codex.foreign import integer, mapping, moment, text


class First(NamedTuple):
    """Where a record was written first: in which session, and as which of its records.

    ``record`` is None where that record is not at hand.
    """

    session: str
    record: Record | None


class Base(NamedTuple):
    """The part of another session that a fork goes on from: all before an ordinal or a byte."""

    session: str
    ordinal: int | None
    offset: int | None

    def holds(self, record: Record) -> bool:
        """Whether a record of that session is part of the fork's history."""
        ordinal = ordinal_of(record)
        if ordinal is not None and self.ordinal is not None:
            return ordinal < self.ordinal
        return self.offset is not None and record.offset < self.offset


def base_of(meta: dict[str, Any]) -> Base | None:
    """Return what a session points at as its history, or None."""
    base = mapping(meta.get("history_base"))
    session = text(base.get("thread_id"))
    if session is None:
        return None
    ordinal = integer(base.get("end_ordinal_exclusive"))
    return Base(session, ordinal, integer(base.get("end_byte_offset")))


def meta_of(records: Sequence[Record]) -> dict[str, Any]:
    """Return what the first record of a file says of its session."""
    return next((_payload(one) for one in records if one.value.get("type") == "session_meta"), {})


def ordinal_of(record: Record) -> int | None:
    """Return the number of a record in its session, where its release numbers them."""
    return integer(record.value.get("ordinal"))


def find(session_id: str, path: Path, root: Path) -> Path | None:
    """Return the file of a session that another one names: in its store, or lying beside it."""
    try:
        found = layout.find(root, session_id)
    except AmbiguousSession:
        return None
    if found is not None or path.parent != root:
        return found
    for one in sorted(root.glob("*.jsonl")):
        if one != path and _first_id(one) == session_id:
            return one
    return None


def is_copied(records: Sequence[Record]) -> bool:
    """Whether a session begins with records of another one.

    The other's own first record is among them, or they are older than the session.
    """
    own = meta_of(records)
    began = moment(own.get("timestamp"))
    for record in records[1:3]:
        if record.value.get("type") == "session_meta" and _payload(record).get("id") != own.get(
            "id"
        ):
            return True
        at = moment(record.value.get("timestamp"))
        if at is not None and began is not None and at < began:
            return True
    return False


def originals(records: Sequence[Record], parent: Sequence[Record]) -> list[Record]:
    """Return the parent's records of which those behind a session's first one are copies."""
    began = moment(records[0].value.get("timestamp"))
    places: dict[bytes, list[int]] = {}
    for at, record in enumerate(parent):
        written = moment(record.value.get("timestamp"))
        if began is None or written is None or written <= began:
            places.setdefault(_content(record), []).append(at)
    found: list[Record] = []
    reached = 0
    for record in records[1:]:
        same = places.get(_content(record), [])
        at = bisect_left(same, reached)
        if at == len(same):
            break
        found.append(parent[same[at]])
        reached = same[at] + 1
    return found


def _content(record: Record) -> bytes:
    value = [record.value.get("type"), record.value.get("payload")]
    return hashlib.blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=16).digest()


def _payload(record: Record) -> dict[str, Any]:
    return mapping(record.value.get("payload"))


def _first_id(path: Path) -> str | None:
    with path.open("rb") as file:
        try:
            value = mapping(jsonlines.parse(file.readline().strip()))
        except ValueError:
            return None
    return text(mapping(value.get("payload")).get("id"))
