"""What turns that are over come to, kept on the disk and not in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import groupby

import msgspec

from transcripts.hooks.accounts import Account
from transcripts.hooks.sessions import Session, Turn

_AT_ONCE = 500
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Account).decode

_TABLES = """
pragma journal_mode = off;
pragma cache_size = -4000;
create table session (id integer primary key, native text, workspace text);
create table turn (session integer, name text, place integer, is_turn integer, account blob);
create index turns on turn (session, place);
"""
_IN_ORDER = """
select name, is_turn, account from (
    select *, min(place) over (partition by name) as first from turn where session = ?
) order by first, place
"""


class KeptTurns:
    """Accounts of turns, put away as they close; a turn that comes again is added to.

    The database is a temporary one of SQLite's own: it is gone with this process.
    """

    def __init__(self) -> None:
        self._database = sqlite3.connect("")
        self._database.executescript(_TABLES)
        self._waiting: list[tuple[int, str, int, bool, bytes]] = []
        self._sessions: dict[str | None, int] = {}
        self._places = 0

    def keep(self, turn: Turn, account: Account) -> None:
        """Put a turn's account away."""
        self._places += 1
        is_turn = turn.number > 0
        name = (
            turn.native if is_turn and turn.native else f"\uffff{turn.session.life}:{turn.number}"
        )
        row = (self._session(turn.session), name, self._places, is_turn, _encode(account))
        self._waiting.append(row)
        if len(self._waiting) >= _AT_ONCE:
            self._write()

    def sessions(self) -> Iterator[tuple[str | None, str | None, Iterator[tuple[int, Account]]]]:
        """Yield each session's id and workspace, and its turns' numbers and accounts.

        Number 0 is what happened outside of turns.
        """
        self._write()
        sessions = self._database.execute("select id, native, workspace from session order by id")
        for row, native, workspace in sessions.fetchall():
            yield native, workspace, self._turns(row)

    def _turns(self, session: int) -> Iterator[tuple[int, Account]]:
        number = 0
        rows = self._database.execute(_IN_ORDER, (session,))
        for (_, is_turn), parts in groupby(rows, key=lambda row: (row[0], row[1])):
            account, *later = (_decode(part[2]) for part in parts)
            for one in later:
                account.add(one)
            number += is_turn
            yield (number if is_turn else 0), account

    def _session(self, session: Session) -> int:
        known = self._sessions.get(session.native)
        if known is None:
            known = self._sessions[session.native] = len(self._sessions) + 1
            self._database.execute(
                "insert into session values (?, ?, ?)", (known, session.native, session.workspace)
            )
        return known

    def _write(self) -> None:
        self._database.executemany("insert into turn values (?, ?, ?, ?, ?)", self._waiting)
        self._waiting.clear()
