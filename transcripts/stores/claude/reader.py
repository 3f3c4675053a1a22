"""A session of Claude Code as a transcript: rows gathered, threads read and woven together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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
from transcripts.stores.claude import bookkeeping, layout
from transcripts.stores.claude.gathering import Gathered, gather
from transcripts.stores.claude.messages import SYNTHETIC, Session, read_thread
from transcripts.stores.claude.rows import Row, mapping, message_of, string, time_of
from transcripts.stores.claude.subagents import inline_threads, own_threads, woven

AGENT = "claude"
_ID_SCOPE = "ClaudeCodeCli"
_TITLE_LENGTH = 200


def read(path: Path, *, recover: bool) -> Transcript:
    """Read the session whose main file is given, with what lies in other files of it.

    A folder is read where it is all that is left of a session: its subagents' threads.
    """
    path = path.absolute()
    root = layout.root_of(path)
    if path.is_dir():
        if not layout.is_orphan(path):
            raise NotATranscript(
                "a directory, and a Claude Code session is a file",
                path=path,
                next_step="give the .jsonl file",
            )
        gathered = Gathered(path.name, [], [], {})
    else:
        gathered = gather(path, root, recover=recover)
    session = Session(
        scope=session_scope(gathered.session_id),
        inherited=gathered.inherited,
        stamping=_stamping_releases(gathered.rows),
        damage=gathered.damage,
    )
    main = [row for row in gathered.rows if not row.sidechain]
    inline = [row for row in gathered.rows if row.sidechain]
    messages = read_thread(main, session, None)
    files = own_threads(path, root, gathered.session_id, session, recover=recover)
    messages = woven(messages, [*inline_threads(inline), *files], session)
    if not messages:
        raise NoMessages(
            _nothing_in(gathered), path=path, next_step="check that this is a session's own file"
        )
    rows = main or inline or [row for thread in files for row in thread.rows]
    return _transcript(path, root, gathered, rows, messages, session)


def session_scope(session_id: str) -> str:
    """Return the id under which the ids of a session's messages are derived."""
    return derive(_ID_SCOPE, session_id)


def _nothing_in(gathered: Gathered) -> str:
    kinds = sorted({bookkeeping.record_name(row) for row in gathered.rows})
    return f"no message in {len(gathered.rows)} records" + (
        f" ({', '.join(kinds[:5])})" if kinds else ""
    )


def _transcript(
    path: Path,
    root: Path,
    gathered: Gathered,
    rows: Sequence[Row],
    messages: list[AnyMessage],
    session: Session,
) -> Transcript:
    times = [time for row in rows if (time := time_of(row)) is not None]
    unread = [
        Unread(record=record, count=count, known=known)
        for (record, known), count in sorted(session.unread.items())
    ]
    return Transcript(
        agent=AGENT,
        session_id=gathered.session_id,
        cwd=first_field(rows, "cwd"),
        cli_version=last_field(rows, "version"),
        model=_last_model(rows),
        title=bookkeeping.title_of(gathered.rows) or _first_words(messages),
        git_branch=last_field(rows, "gitBranch"),
        created_at=times[0] if times else None,
        updated_at=times[-1] if times else None,
        source_path=path.relative_to(root).as_posix(),
        lineage=Lineage(forked_from=next(iter(gathered.inherited.values()), None)),
        messages=tuple(messages),
        damage=tuple(session.damage),
        unread=tuple(unread),
        side_stores=tuple(_side_stores(path, root, gathered.session_id)),
    )


def first_field(rows: Sequence[Row], name: str) -> str | None:
    """Return the first text that rows have under a name."""
    return next((value for row in rows if (value := string(row.value.get(name)))), None)


def last_field(rows: Sequence[Row], name: str) -> str | None:
    """Return the last text that rows have under a name."""
    return first_field(rows[::-1], name)


def _last_model(rows: Sequence[Row]) -> str | None:
    for row in reversed(rows):
        model = string(message_of(row).get("model"))
        if row.type == "assistant" and model and model != SYNTHETIC:
            return model
    return None


def _stamping_releases(rows: Sequence[Row]) -> frozenset[str]:
    """Return the releases whose rows say where a prompt came from."""
    return frozenset(
        string(row.value.get("version")) or ""
        for row in rows
        if row.type == "user" and mapping(row.value.get("origin")).get("kind")
    )


def _first_words(messages: Sequence[AnyMessage]) -> str | None:
    """Return the first line that a person typed, the title of a session that has none."""
    for message in messages:
        if isinstance(message, UserMessage) and message.author == "human":
            for part in message.content:
                if isinstance(part, Text) and part.text.strip():
                    return part.text.strip().split("\n", 1)[0][:_TITLE_LENGTH]
    return None


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
