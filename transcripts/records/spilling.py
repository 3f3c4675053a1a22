"""Many small values by their keys, in little memory: the newest at hand, the others on the disk.

What links the records of a session must be known while its messages are made, and there is more
of it the longer a session is. It is asked for near the place where it was learnt, nearly always.
"""

from __future__ import annotations

import sqlite3
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import msgspec

_Value = TypeVar("_Value")
_ABSENT: Any = object()

_TABLE = "CREATE TABLE older (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID"
_PUT = "INSERT OR REPLACE INTO older VALUES (?, ?)"
_GET = "SELECT value FROM older WHERE key = ?"

_SKETCHED = 1 << 21


class Keyed(Protocol[_Value]):
    """What a :class:`dict` and a :class:`Spilling` have in common here."""

    def __contains__(self, key: object, /) -> bool:
        """Whether there is a value."""
        ...

    def get(self, key: str, /) -> _Value | None:
        """Return a value, None if there is none."""
        ...

    def __setitem__(self, key: str, value: _Value, /) -> None: ...


class Spilling(Generic[_Value]):
    """Values of one type by text, a type that msgspec can write and read.

    A value that is changed after it was put in has to be put in again. The file has no name by
    which anybody could find it, and is gone when this is.
    """

    most_at_hand: ClassVar[int] = 1 << 15

    def __init__(self, kind: type[_Value]) -> None:
        self._decode = msgspec.json.Decoder(kind).decode
        self._newest: dict[str, _Value] = {}
        self._older: sqlite3.Connection | None = None
        # Marks where a key on the disk may be: most that are asked for are new, and on it nowhere.
        self._sketch = bytearray()

    def __del__(self) -> None:
        if self._older is not None:
            self._older.close()

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._found(key) is not _ABSENT

    def __setitem__(self, key: str, value: _Value) -> None:
        newest = self._newest
        newest[key] = value
        if len(newest) >= self.most_at_hand:
            self._spill()

    def get(self, key: str) -> _Value | None:
        """Return a value, None if there is none."""
        found = self._found(key)
        return None if found is _ABSENT else found

    def _found(self, key: str) -> Any:
        found: Any = self._newest.get(key, _ABSENT)
        if found is _ABSENT and self._older and self._sketch[hash(key) % _SKETCHED]:
            row = self._older.execute(_GET, (_bytes(key),)).fetchone()
            if row is not None:
                return self._decode(row[0])
        return found

    def _spill(self) -> None:
        if self._older is None:
            # Whoever reads a session may hand it on to another thread.
            self._older = sqlite3.connect("", check_same_thread=False)
            self._older.execute("PRAGMA journal_mode = OFF")
            self._older.execute(_TABLE)
            self._sketch = bytearray(_SKETCHED)
        newest, sketch, encode = self._newest, self._sketch, msgspec.json.encode
        for key in newest:
            sketch[hash(key) % _SKETCHED] = 1
        # In their order, so that what lies on one page of the file is written at once.
        rows = ((_bytes(key), encode(newest[key])) for key in sorted(newest))
        self._older.executemany(_PUT, rows)
        newest.clear()


def _bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")
