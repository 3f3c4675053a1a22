"""Records left on the disk and read again when they are asked for: big files in little memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from transcripts.model import Location
from transcripts.records import Record, jsonlines

_MOST_AT_HAND = 16
_LARGEST_AT_HAND = 256 << 10


class Shelf:
    """One file whose records are read by place; the last ones read are at hand.

    A result is asked for with its call and again at its own place, a few records on.
    """

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._path = path
        self._file: int | None = None
        self._at_hand: dict[int, Any] = {}

    def __del__(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def put(self, record: Record) -> Shelved:
        """Return the record's place in its stead."""
        self.name = record.path
        return tuple.__new__(Shelved, (self, record.line, record.offset, len(record.raw)))

    def read(self, offset: int, length: int) -> Any:
        """Return the value of the record at a place."""
        at_hand = self._at_hand
        value = at_hand.get(offset)
        if value is None:
            if self._file is None:
                self._file = os.open(self._path, os.O_RDONLY)
            try:
                value = jsonlines.parse(os.pread(self._file, length, offset))
            except ValueError:
                value = None
            if type(value) is not dict:
                value = jsonlines.read_again(self._file, self._path, offset, length)
            if length > _LARGEST_AT_HAND:
                at_hand.clear()
            elif len(at_hand) >= _MOST_AT_HAND:
                del at_hand[next(iter(at_hand))]
            at_hand[offset] = value
        return value


class Shelved(NamedTuple):
    """A record's place, with what a :class:`transcripts.records.Record` offers."""

    shelf: Shelf
    line: int
    offset: int
    length: int

    @property
    def path(self) -> str:
        """The file, relative to the store's root."""
        return self.shelf.name

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
