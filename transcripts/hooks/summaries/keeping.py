"""What turns that are over come to, kept on the disk and not in memory."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from itertools import groupby

import msgspec

from transcripts.hooks.correlation.sessions import Session, Turn
from transcripts.hooks.summaries.accounts import Account

_AT_ONCE = 500
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(Account).decode

_TABLES = """
pragma journal_mode = off;
pragma cache_size = -4000;
create table session (id integer primary key, native blob, workspace blob);
create table turn (session integer, name blob, place integer, is_turn integer, account);
"""
_IN_ORDER = """
select session, name, is_turn, account from (
    select *, min(place) over (partition by session, name) as first from turn
) order by session, first, place
"""


class KeptTurns:
    """Accounts of turns, put away as they close; a turn that comes again is added to.

    The database is a temporary one of SQLite's own: it is gone once this is closed.
    """

    def __init__(self) -> None:
        self._database = sqlite3.connect("")
        self._database.executescript(_TABLES)
        self._turns: list[tuple[int, bytes | None, int, bool, bytes | str]] = []
        self._sessions: list[tuple[int, bytes | None, bytes | None]] = []
        self._numbers: dict[str | None, int] = {}
        self._places = 0

    def keep(self, turn: Turn, account: Account) -> None:
        """Put a turn's account away."""
        self._places += 1
        is_turn = turn.number > 0
        unnamed = f"\uffff{turn.session.life}:{turn.number}"
        name = turn.native if is_turn and turn.native else unnamed
        row = (self._number(turn.session), _bytes(name), self._places, is_turn, _encode(account))
        self._turns.append(row)
        if len(self._turns) >= _AT_ONCE:
            self._write()

    def sessions(self) -> Iterator[tuple[str | None, str | None, Iterator[tuple[int, Account]]]]:
        """Yield each session's id and workspace, and its turns' numbers and accounts.

        Number 0 is what happened outside of turns. A session's turns are to be gone through
        before the next session is asked for.
        """
        self._write()
        sessions = self._database.execute("select native, workspace from session order by id")
        turns = self._database.execute(_IN_ORDER)
        for (native, workspace), (_, rows) in zip(
            sessions, groupby(turns, key=lambda row: row[0]), strict=True
        ):
            yield _text(native), _text(workspace), _added(rows)

    def close(self) -> None:
        """Let the database go."""
        self._database.close()

    def _number(self, session: Session) -> int:
        known = self._numbers.get(session.native)
        if known is None:
            known = self._numbers[session.native] = len(self._numbers) + 1
            self._sessions.append((known, _bytes(session.native), _bytes(session.workspace)))
        return known

    def _write(self) -> None:
        self._database.executemany("insert into session values (?, ?, ?)", self._sessions)
        self._database.executemany("insert into turn values (?, ?, ?, ?, ?)", self._turns)
        self._sessions.clear()
        self._turns.clear()


def _added(rows: Iterator[tuple[int, bytes, bool, bytes | str]]) -> Iterator[tuple[int, Account]]:
    """Yield a session's turns in their order, what came of one turn put together."""
    number = 0
    for (_, is_turn), parts in groupby(rows, key=lambda row: (row[1], row[2])):
        account, *later = (_decode(part[3]) for part in parts)
        for one in later:
            account.add(one)
        number += is_turn
        yield (number if is_turn else 0), account


def _bytes(text: str | None) -> bytes | None:
    """Return a text as it is put away: half a surrogate pair is text here like any other."""
    return None if text is None else text.encode("utf-8", "surrogatepass")


def _text(kept: bytes | None) -> str | None:
    return None if kept is None else kept.decode("utf-8", "surrogatepass")


def _encode(account: Account) -> bytes | str:
    try:
        return _pack(account)
    except (UnicodeEncodeError, OverflowError):
        # Half a surrogate pair, a number of more than 64 bits, a time that UTC has no year for.
        return json.dumps(msgspec.to_builtins(account))


def _decode(kept: bytes | str) -> Account:
    return _unpack(kept) if isinstance(kept, bytes) else msgspec.convert(json.loads(kept), Account)
