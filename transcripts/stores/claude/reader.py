"""A session of Claude Code as a transcript: rows gathered, threads read and woven together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

from transcripts.errors import NoMessages, NotATranscript
from transcripts.ids import derive
from transcripts.model import (
    AnyMessage,
    Lineage,
    SideStore,
    Text,
    Transcript,
    Unread,
    UserMessage,
)
from transcripts.records.collecting import uncollected
from transcripts.stores.claude import layout
from transcripts.stores.claude.reading import bookkeeping
from transcripts.stores.claude.reading.context import SYNTHETIC, Session
from transcripts.stores.claude.reading.gathering import Gathered, gather
from transcripts.stores.claude.reading.noting import take_down
from transcripts.stores.claude.reading.rows import Row, time_of
from transcripts.stores.claude.reading.subagents import Thread, inline_threads, own_threads, woven
from transcripts.stores.claude.reading.threads import read_thread
from transcripts.stores.claude.reading.titles import first_line, summaries_beside, title_of
from transcripts.stores.notes import Notes

AGENT = "claude"
_ID_SCOPE = "ClaudeCodeCli"


def read(path: Path, *, recover: bool) -> Transcript:
    """Read the session whose main file is given, with what lies in other files of it.

    A folder is read where it is all that is left of a session: its subagents' threads.
    """
    opened = _open(path.absolute(), recover=recover, sparing=False)
    messages = list(opened.messages())
    if not messages:
        raise opened.nothing()
    return _transcript(opened, messages)


def iterate(path: Path, *, recover: bool, notes: Notes | None = None) -> Iterator[AnyMessage]:
    """Yield the messages of a session in little memory: only the links of its rows are held."""
    with uncollected():
        opened = _open(path.absolute(), recover=recover, sparing=True)
    if notes is not None:
        notes.agent = AGENT
        opened.session.unstamped = notes.unstamped
        opened.session.unended = notes.unended
        opened.session.shell_changes = notes.shell_changes
        take_down(notes, opened.gathered, opened.main)
    found = False
    for message in opened.messages():
        found = True
        yield message
    if not found:
        raise opened.nothing()
    if notes is not None:
        notes.unread = opened.unread()


class _Opened(NamedTuple):
    """A session's rows, of all its files, before any message is made of them."""

    path: Path
    root: Path
    gathered: Gathered
    threads: list[Thread]
    session: Session

    @property
    def main(self) -> list[Row]:
        """The rows of the main thread."""
        return [row for row in self.gathered.rows if not row.sidechain]

    def messages(self) -> Iterator[AnyMessage]:
        """Yield the messages of all threads."""
        return woven(read_thread(self.main, self.session, None), self.threads, self.session)

    def unread(self) -> tuple[Unread, ...]:
        """Return what became no message, once all messages have been made."""
        return tuple(
            Unread(record=record, count=count, known=known)
            for (record, known), count in sorted(self.session.unread.items())
        )

    def nothing(self) -> NoMessages:
        """Return the error for a session that has rows and no message."""
        kinds = sorted({bookkeeping.record_name(row) for row in self.gathered.rows})
        named = f" ({', '.join(kinds[:5])})" if kinds else ""
        return NoMessages(
            f"no message in {len(self.gathered.rows)} records{named}",
            path=self.path,
            next_step="check that this is a session's own file",
        )


def _open(path: Path, *, recover: bool, sparing: bool) -> _Opened:
    root = layout.root_of(path)
    if not path.is_dir():
        gathered = gather(path, root, recover=recover, sparing=sparing)
    elif layout.is_orphan(path):
        gathered = Gathered(path.name, [], [], {})
    else:
        raise NotATranscript(
            "a directory, and a Claude Code session is a file",
            path=path,
            next_step="give the .jsonl file",
        )
    session_id, rows, damage, inherited = gathered
    threads = [
        *inline_threads([row for row in rows if row.sidechain]),
        *own_threads(path, root, session_id, damage, recover=recover, sparing=sparing),
    ]
    session = Session(
        scope=session_scope(session_id),
        inherited=inherited,
        stamping=frozenset(row.setting.version or "" for row in rows if row.stamped),
        damage=damage,
    )
    return _Opened(path, root, gathered, threads, session)


def session_scope(session_id: str) -> str:
    """Return the id under which the ids of a session's messages are derived."""
    return derive(_ID_SCOPE, session_id)


def _transcript(opened: _Opened, messages: Sequence[AnyMessage]) -> Transcript:
    path, root, gathered, threads, _ = opened
    rows = opened.main or [row for thread in threads for row in thread.rows]
    return Transcript(
        agent=AGENT,
        session_id=gathered.session_id,
        cwd=first_field(rows, "cwd"),
        cli_version=last_field(rows, "version"),
        model=_last_model(rows),
        title=title_of(gathered.rows, summaries_beside(path.parent))
        or first_line(typed_words(messages)),
        git_branch=last_field(rows, "git_branch"),
        created_at=_first_time(rows),
        updated_at=_first_time(reversed(rows)),
        source_path=path.relative_to(root).as_posix(),
        lineage=Lineage(forked_from=next(iter(gathered.inherited.values()), None)),
        messages=tuple(messages),
        damage=tuple(opened.session.damage),
        unread=opened.unread(),
        side_stores=tuple(_side_stores(path, root, gathered.session_id)),
    )


_Field = Literal["cwd", "git_branch", "version"]


def first_field(rows: Sequence[Row], name: _Field) -> str | None:
    """Return the first text that rows have under a name."""
    return next((value for row in rows if (value := getattr(row.setting, name))), None)


def last_field(rows: Sequence[Row], name: _Field) -> str | None:
    """Return the last text that rows have under a name."""
    return first_field(rows[::-1], name)


def _first_time(rows: Iterable[Row]) -> datetime | None:
    return next((time for row in rows if (time := time_of(row)) is not None), None)


def _last_model(rows: Sequence[Row]) -> str | None:
    for row in reversed(rows):
        message = row.entry.message if row.type == "assistant" else None
        if message is not None and message.model and message.model != SYNTHETIC:
            return message.model
    return None


def typed_words(messages: Sequence[AnyMessage]) -> Iterator[str]:
    """Yield what a person said, text by text."""
    for message in messages:
        if isinstance(message, UserMessage) and message.author == "human":
            yield from (part.text for part in message.content if isinstance(part, Text))


def _side_stores(path: Path, root: Path, session_id: str) -> list[SideStore]:
    """Return what the session keeps elsewhere and no other store has a place for."""
    places = {
        "file-history": root / "file-history" / session_id,
        "tasks": root / "tasks" / session_id,
        "tool-results": path.parent / session_id / "tool-results",
    }
    return [
        SideStore(name=name, path=place.relative_to(root).as_posix())
        for name, place in places.items()
        if place.is_dir()
    ]
