"""The rows of one file, one after the other, with what they say kept or left on the disk."""

from __future__ import annotations

from pathlib import Path

from transcripts.model import Damage
from transcripts.records import Record, jsonlines
from transcripts.stores.claude.reading.bookkeeping import QUIET
from transcripts.stores.claude.reading.entries import Entry, decode, entry_of
from transcripts.stores.claude.reading.rows import Row, row_of, row_of_entry
from transcripts.stores.claude.reading.shelf import Shelf, Shelved


def rows_of_file(
    path: Path, root: Path, damage: list[Damage], *, recover: bool, sparing: bool
) -> list[Row]:
    """Return the rows of one file, adding what is wrong to ``damage``.

    With ``sparing``, what they say stays on the disk, and bookkeeping that is only counted is one
    row for all of its kind, the first.
    """
    make = _RowMaker(Shelf(path, path.relative_to(root).as_posix()), sparing=sparing).row
    rows: list[Row] = []
    faults = 0
    for record in jsonlines.skim(path, root, damage, decode, recover=recover):
        # What was mended on reading is not on the disk as it is here.
        mended = len(damage) != faults and type(record.value) is dict
        rows.append(row_of(record) if mended else make(record))
        faults = len(damage)
    return rows


class _RowMaker:
    """Makes the rows of one file."""

    def __init__(self, shelf: Shelf, *, sparing: bool) -> None:
        self._shelf = shelf
        self._sparing = sparing
        self._quiet: dict[tuple[str, str | None], Row] = {}
        self._before: Row | None = None

    def row(self, record: Record) -> Row:
        """Return the row of a record."""
        value, raw, _, line, offset = record
        entry: Entry = value if type(value) is Entry else entry_of(value)
        kind = entry.type
        quiet = kind in QUIET and self._sparing and not _is_linked(entry)
        if quiet and (known := self._quiet.get((kind or "", entry.session_id))) is not None:
            return known
        kept = None if self._sparing else entry
        # Made as a named tuple makes itself, without the call in between.
        shelved = tuple.__new__(Shelved, (self._shelf, line, offset, len(raw), kept))
        row = row_of_entry(shelved, entry, self._before)
        if quiet:
            self._quiet[kind or "", entry.session_id] = row
        if row.uuid is not None:
            self._before = row
        return row


def _is_linked(entry: Entry) -> bool:
    return bool(entry.uuid or entry.parent_uuid or entry.logical_parent_uuid or entry.is_sidechain)
