"""What the record layer hands to readers."""

from __future__ import annotations

from typing import Any, NamedTuple

from transcripts.model import Damage, Location


class Record(NamedTuple):
    """One record of a file: its JSON value, its exact bytes and where it lies.

    ``raw`` has no line end. ``path`` is relative to the store's root. A named tuple and not
    a struct: there is one for each line of a 200 MB file.
    """

    value: Any
    raw: bytes
    path: str
    line: int
    offset: int

    @property
    def location(self) -> Location:
        """The place of the whole record."""
        return Location(path=self.path, line=self.line, offset=self.offset, length=len(self.raw))

    def at(self, pointer: str) -> Location:
        """The place of a value inside the record, by JSON pointer."""
        return Location(
            path=self.path,
            line=self.line,
            offset=self.offset,
            length=len(self.raw),
            pointer=pointer,
        )


class Held(NamedTuple):
    """A record that is kept while a whole session is read: its bytes are let go."""

    value: Any
    path: str
    line: int
    offset: int
    length: int

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


class RecordFile(NamedTuple):
    """All records of one file, with what was wrong in it."""

    path: str
    records: list[Record]
    damage: list[Damage]
