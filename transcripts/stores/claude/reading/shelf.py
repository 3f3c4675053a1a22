"""Records left on the disk and read again when they are asked for: big files in little memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from transcripts.model import Location
from transcripts.records import Record, jsonlines


class Shelf:
    """One file whose records are read by place; the last one read is at hand."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at_hand: tuple[int, Any] = (-1, None)

    def put(self, record: Record) -> Shelved:
        """Return the record's place in its stead."""
        return Shelved(self, record.path, record.line, record.offset, len(record.raw))

    def read(self, offset: int, length: int) -> Any:
        """Return the value of the record at a place."""
        if self._at_hand[0] != offset:
            with self._path.open("rb") as file:
                file.seek(offset)
                self._at_hand = (offset, jsonlines.parse(file.read(length)))
        return self._at_hand[1]


class Shelved(NamedTuple):
    """A record's place, with what a :class:`transcripts.records.Record` offers."""

    shelf: Shelf
    path: str
    line: int
    offset: int
    length: int

    @property
    def value(self) -> Any:
        """The record's value, from the disk."""
        return self.shelf.read(self.offset, self.length)

    @property
    def location(self) -> Location:
        """The place of the whole record."""
        return Location(path=self.path, line=self.line, offset=self.offset, length=self.length)

    def at(self, pointer: str) -> Location:
        """The place of a value inside the record, by JSON pointer."""
        return Location(
            path=self.path,
            line=self.line,
            offset=self.offset,
            length=self.length,
            pointer=pointer,
        )
