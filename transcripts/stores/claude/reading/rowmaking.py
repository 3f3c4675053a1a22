"""The rows of one file, one after the other; what they say stays on the disk."""

from __future__ import annotations

from pathlib import Path

from transcripts.model import Damage
from transcripts.records import Record, jsonlines
from transcripts.stores.claude.reading.bookkeeping import QUIET
from transcripts.stores.claude.reading.entries import Entry, Skimmed, entry_of, skim
from transcripts.stores.claude.reading.rows import Row, row_of, row_on
from transcripts.stores.claude.reading.shelf import Shelf


def rows_of_file(path: Path, root: Path, damage: list[Damage], *, recover: bool) -> list[Row]:
    """Return the rows of one file, adding what is wrong to ``damage``.

    Bookkeeping that is only counted and says neither when nor where is one row for all of its
    kind, the first: of a long session it is more than half.
    """
    make = _RowMaker(Shelf(path, path.relative_to(root).as_posix())).row
    rows: list[Row] = []
    faults = 0
    for record in jsonlines.skim(path, root, damage, skim, recover=recover):
        # What was mended on reading is not on the disk as it is here.
        mended = len(damage) != faults and type(record.value) is dict
        rows.append(row_of(record) if mended else make(record))
        faults = len(damage)
    return rows


class _RowMaker:
    """Makes the rows of one file."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._quiet: dict[tuple[str | None, str | None], Row] = {}
        self._before: Row | None = None

    def row(self, record: Record) -> Row:
        """Return the row of a record."""
        value, raw, _, line, offset = record
        entry: Entry | Skimmed = value if type(value) is Skimmed else entry_of(value)
        quiet = entry.type in QUIET and _says_nothing(entry)
        if quiet and (known := self._quiet.get((entry.type, entry.session_id))) is not None:
            return known
        row = row_on(self._shelf, line, offset, len(raw), entry, self._before)
        if quiet:
            self._quiet[entry.type, entry.session_id] = row
        if row.uuid is not None:
            self._before = row
        return row


def _says_nothing(entry: Entry | Skimmed) -> bool:
    linked = entry.uuid or entry.parent_uuid or entry.logical_parent_uuid or entry.is_sidechain
    return not (linked or entry.timestamp or entry.cwd or entry.version or entry.git_branch)
