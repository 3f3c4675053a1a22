"""What turns that are over come to: a few in memory, and what is more than that on the disk."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

import msgspec

from transcripts.hooks.correlation.sessions import Turn
from transcripts.hooks.summaries.accounts import Account

_MOST_HELD = 10_000
"""So many accounts, and names in them, are held in memory at most."""

_Entry = tuple[int, Account]
"""What a turn comes to, or a part of it, behind its place: sessions and turns as first seen."""
_OUTSIDE = 0xFFFFFFFF
"""What is outside of a session's turns has its place behind them."""

_place = itemgetter(0)
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(list[_Entry]).decode

_TABLES = """
pragma journal_mode = off;
pragma cache_size = -4000;
create table part (id integer primary key, native blob, place integer, workspace blob, entries);
create table entry (key, place integer, entry);
"""
_PARTS_IN_ORDER = """
select min(place) over (partition by native) as first, id from part order by first, id
"""
_PART = "select native, workspace, entries from part where id = ?"
_ENTRIES_IN_ORDER = """
select entry from (select *, rowid as id, min(place) over (partition by key) as first from entry)
order by first, place, id
"""


class _Part:
    """What is held of one session."""

    __slots__ = ("entries", "workspace")

    def __init__(self, workspace: str | None) -> None:
        self.workspace = workspace
        self.entries: list[_Entry] = []


class KeptTurns:
    """Accounts of turns, put away as they close; a turn that comes again is added to.

    The database is a temporary one of SQLite's own: it is gone once this is closed.
    """

    def __init__(self) -> None:
        self._database = sqlite3.connect("")
        self._database.executescript(_TABLES)
        self._parts: dict[str | None, _Part] = {}
        self._held = 0

    def keep(self, turn: Turn, account: Account) -> None:
        """Put a turn's account away."""
        session = turn.session
        part = self._parts.get(session.native)
        if part is None:
            part = self._parts[session.native] = _Part(session.workspace)
        part.entries.append((session.life << 32 | (turn.number or _OUTSIDE), account))
        self._held += 1 + account.names()
        if self._held > _MOST_HELD:
            self._write()

    def sessions(self) -> Iterator[tuple[str | None, str | None, Iterator[tuple[int, Account]]]]:
        """Yield each session's id and workspace, and its turns' numbers and accounts.

        Number 0 is what happened outside of turns. A session's turns are to be gone through
        before the next session is asked for.
        """
        self._write()
        for _, rows in groupby(self._database.execute(_PARTS_IN_ORDER), key=_place):
            ids = [row[1] for row in rows]
            native, workspace, kept = self._database.execute(_PART, ids[:1]).fetchone()
            entries = _in_order(_decode(kept)) if len(ids) == 1 else self._across(ids)
            yield _text(native), _text(workspace), _added(entries)

    def close(self) -> None:
        """Let the database go."""
        self._database.close()

    def _write(self) -> None:
        """Put away on the disk what is held."""
        self._database.executemany(
            "insert into part (native, place, workspace, entries) values (?, ?, ?, ?)",
            (
                (
                    _bytes(native),
                    min(place for place, _ in part.entries),
                    _bytes(part.workspace),
                    _encode(part.entries),
                )
                for native, part in self._parts.items()
            ),
        )
        self._parts.clear()
        self._held = 0

    def _across(self, ids: Iterable[int]) -> Iterator[_Entry]:
        """Yield the entries of a session of several parts, without holding all of them."""
        database = self._database
        database.execute("delete from entry")
        for number in ids:
            _, _, kept = database.execute(_PART, (number,)).fetchone()
            database.executemany(
                "insert into entry values (?, ?, ?)",
                (
                    (_bytes(entry[1].native) or entry[0], entry[0], _encode([entry]))
                    for entry in _decode(kept)
                ),
            )
        for (kept,) in database.execute(_ENTRIES_IN_ORDER):
            yield from _decode(kept)


def _key(entry: _Entry) -> str | int:
    """Return what entries of one turn have in common: its id, or else its place."""
    return entry[1].native or entry[0]


def _in_order(entries: list[_Entry]) -> list[_Entry]:
    """Return a session's entries turn by turn, in the order in which the turns were first seen."""
    entries.sort(key=_place)
    first: dict[str | int, int] = {}
    for entry in entries:
        first.setdefault(_key(entry), entry[0])
    if len(first) < len(entries):
        entries.sort(key=lambda entry: first[_key(entry)])
    return entries


def _added(entries: Iterable[_Entry]) -> Iterator[tuple[int, Account]]:
    """Yield a session's turns by their numbers, what came of one turn put together."""
    number = 0
    for _, parts in groupby(entries, key=_key):
        (place, account), *later = parts
        for _, one in later:
            account.add(one)
        is_turn = place & _OUTSIDE != _OUTSIDE
        number += is_turn
        yield (number if is_turn else 0), account


def _bytes(text: str | None) -> bytes | None:
    """Return a text as it is put away: half a surrogate pair is text here like any other."""
    return None if text is None else text.encode("utf-8", "surrogatepass")


def _text(kept: bytes | None) -> str | None:
    return None if kept is None else kept.decode("utf-8", "surrogatepass")


def _encode(entries: list[_Entry]) -> bytes | str:
    try:
        return _pack(entries)
    except (UnicodeEncodeError, OverflowError):
        # Half a surrogate pair, a number of more than 64 bits, a time that UTC has no year for.
        return json.dumps(msgspec.to_builtins(entries))


def _decode(kept: bytes | str) -> list[_Entry]:
    if isinstance(kept, bytes):
        return _unpack(kept)
    return msgspec.convert(json.loads(kept), list[_Entry])
