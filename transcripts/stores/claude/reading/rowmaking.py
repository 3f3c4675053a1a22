"""The rows of one file, one after the other; what they say stays on the disk."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from pathlib import Path

from transcripts.model import Damage
from transcripts.records import Record, jsonlines
from transcripts.stores.claude.reading.bookkeeping import NOTED, QUIET
from transcripts.stores.claude.reading.entries import Entry, Skimmed, decode, entry_of, skim
from transcripts.stores.claude.reading.rows import Row, instant, row_of, row_on
from transcripts.stores.claude.reading.shelf import Shelf

_ALIKE = QUIET - NOTED


def rows_of_file(
    path: Path, root: Path, damage: list[Damage], *, recover: bool, sparing: bool
) -> list[Row]:
    """Return the rows of one file, adding what is wrong to ``damage``.

    With ``sparing``, what they say is left on the disk, else it is kept until it is asked for.
    """
    shelf = Shelf(path, path.relative_to(root).as_posix())
    bookkeeping = _Bookkeeping(shelf)
    rows: list[Row] = []
    before: Row | None = None
    faults = 0
    look = skim if sparing else decode
    for record in jsonlines.skim(path, root, damage, look, recover=recover):
        value, raw, _, line, offset = record
        entry: Entry | Skimmed = entry_of(value) if type(value) is dict else value
        if type(value) is dict and len(damage) != faults:
            # What was mended on reading is not on the disk as it is here.
            row = row_of(record)
        elif entry.type in _ALIKE and not _is_linked(entry):
            row = bookkeeping.row(record, entry, len(rows))
        else:
            row = row_on(shelf, line, offset, len(raw), entry, before)
            if row.uuid is not None:
                before = row
            if type(entry) is Entry:
                shelf.keep(offset, entry)
        rows.append(row)
        faults = len(damage)
    for place, row in bookkeeping.last():
        rows[place] = row
    return rows


class _Bookkeeping:
    """Makes one row of all records of a kind that are only counted, but for the first and the last.

    Of a long session they are more than half. The first and the last may say when the session
    began or ended, and where; so records of one kind are those that say the same of this.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._first: dict[Hashable, Row] = {}
        self._last: dict[Hashable, tuple[int, Record, Entry | Skimmed]] = {}

    def row(self, record: Record, entry: Entry | Skimmed, place: int) -> Row:
        """Return the row of a record for a place; whether it is the last is known in the end."""
        kind: Hashable = (entry.type, entry.session_id)
        if entry.timestamp or entry.cwd or entry.version or entry.git_branch:
            dated = instant(entry.timestamp) is not None
            kind = (kind, dated, bool(entry.cwd), bool(entry.version), bool(entry.git_branch))
            self._last[kind] = (place, record, entry)
        found = self._first.get(kind)
        if found is None:
            found = self._first[kind] = self._made(record, entry)
        return found

    def last(self) -> Iterator[tuple[int, Row]]:
        """Yield the last rows, and their places."""
        for place, record, entry in self._last.values():
            yield place, self._made(record, entry)

    def _made(self, record: Record, entry: Entry | Skimmed) -> Row:
        _, raw, _, line, offset = record
        return row_on(self._shelf, line, offset, len(raw), entry, None)


def _is_linked(entry: Entry | Skimmed) -> bool:
    return bool(entry.uuid or entry.parent_uuid or entry.logical_parent_uuid or entry.is_sidechain)
