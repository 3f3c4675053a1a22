"""Records left on the disk and read again when they are asked for: big files in little memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from transcripts.records import jsonlines
from transcripts.stores.claude.reading.entries import Entry, decode, entry_of

_WINDOW = 128 << 10
_MOST_AT_HAND = 32
_LARGEST_AT_HAND = 256 << 10


class Shelf:
    """One file whose records are read by place; the last ones read are at hand.

    Records are mostly asked for in the order of the file, so a stretch of it is read at once.
    A result is asked for with its call and maybe again at its own place, a few records on.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self._path = path
        self._file: int | None = None
        self._window = b""
        self._start = 0
        self._at_hand: dict[int, Entry] = {}
        self._kept: dict[int, Entry] = {}

    def __del__(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def keep(self, offset: int, entry: Entry) -> None:
        """Keep what a record says until it is asked for."""
        self._kept[offset] = entry

    def entry(self, offset: int, length: int) -> Entry:
        """Return what the record at a place says."""
        at_hand = self._at_hand
        found = at_hand.get(offset)
        if found is None:
            found = self._kept.pop(offset, None) or self._decoded(offset, length)
            if len(at_hand) >= _MOST_AT_HAND or length > _LARGEST_AT_HAND:
                at_hand.clear()
            at_hand[offset] = found
        return found

    def _decoded(self, offset: int, length: int) -> Entry:
        try:
            return decode(self._bytes(offset, length))
        except (msgspec.DecodeError, RecursionError):
            return entry_of(self.value(offset, length))

    def value(self, offset: int, length: int) -> Any:
        """Return the whole record at a place."""
        try:
            value = jsonlines.parse(self._bytes(offset, length))
        except ValueError:
            value = None
        if type(value) is not dict:
            value = jsonlines.read_again(self._opened(), self._path, offset, length)
        return value

    def _bytes(self, offset: int, length: int) -> bytes:
        start = offset - self._start
        if start >= 0 and start + length <= len(self._window):
            return self._window[start : start + length]
        if start < 0 or length >= _WINDOW:
            return os.pread(self._opened(), length, offset)
        self._window = os.pread(self._opened(), _WINDOW, offset)
        self._start = offset
        return self._window[:length]

    def _opened(self) -> int:
        if self._file is None:
            self._file = os.open(self._path, os.O_RDONLY)
        return self._file


class Held:
    """A record that is kept whole: like a shelf with nothing else on it."""

    def __init__(self, value: dict[str, Any], entry: Entry, name: str) -> None:
        self.name = name
        self._value = value
        self._entry = entry

    def entry(self, offset: int, length: int) -> Entry:
        """Return what the record says."""
        return self._entry

    def value(self, offset: int, length: int) -> Any:
        """Return the whole record."""
        return self._value
