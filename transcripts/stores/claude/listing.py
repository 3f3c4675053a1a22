"""What a listing says of a session, from the head and the tail of its file.

Sessions open with bookkeeping, a caveat, a pull request link, a prompt of 100 KB
(anthropics/claude-code#23072, #62851): the head is read on until a person has spoken, within a
bound, and the rest of a big file is never looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from transcripts.model import SessionInfo
from transcripts.records import Record, jsonlines
from transcripts.stores.base import LEADS_OUT, Listing, Unlisted, leads_out
from transcripts.stores.claude import layout, wordings
from transcripts.stores.claude.content import parts
from transcripts.stores.claude.reader import AGENT, first_field, last_field
from transcripts.stores.claude.reading import bookkeeping
from transcripts.stores.claude.reading.results import text_of
from transcripts.stores.claude.reading.rows import Row, row_of, time_of
from transcripts.stores.claude.reading.titles import first_line, summaries_beside, title_of

_HEAD = 8 << 20
_TAIL = 16 << 10
_LONGEST_TAIL = 1 << 20


def list_sessions(root: Path, cwd: str | None) -> Listing:
    """List the sessions of a store, newest first; ``cwd`` is held against rows, not the slug."""
    sessions: list[SessionInfo] = []
    failed: list[Unlisted] = []
    seen = 0
    beside: dict[Path, dict[str, str]] = {}
    for path in layout.session_files(root):
        seen += 1
        if leads_out(path, root):
            failed.append(Unlisted(path=_name(path, root), why=LEADS_OUT))
            continue
        if path.parent not in beside:
            beside[path.parent] = summaries_beside(path.parent)
        try:
            info = describe(path, root, beside[path.parent])
        except OSError as error:
            failed.append(Unlisted(path=_name(path, root), why=error.strerror or str(error)))
            continue
        if info is None:
            why = "no record of a conversation in it"
            failed.append(Unlisted(path=_name(path, root), why=why))
        elif cwd is None or info.cwd == cwd:
            sessions.append(info)
    for folder in layout.orphan_folders(root):
        seen += 1
        if leads_out(folder, root):
            failed.append(Unlisted(path=_name(folder, root), why=LEADS_OUT))
            continue
        info = _describe_orphan(folder, root)
        if cwd is None or info.cwd == cwd:
            sessions.append(info)
    sessions.sort(key=lambda info: (-(info.updated_at or _NEVER).timestamp(), info.path))
    return Listing(sessions, seen, failed)


_NEVER = datetime.fromtimestamp(0, UTC)


def describe(path: Path, root: Path, beside: Mapping[str, str]) -> SessionInfo | None:
    """Return what a listing says of one file, None if no message is in what it looks at.

    ``beside`` are the summaries in files of their own, by the row that they name.
    """
    head = list(_head(path, root))
    tail = _tail(path, root)
    rows = [*head, *tail]
    if not any(row.type in bookkeeping.CONVERSATION for row in rows):
        return None
    first = next((text for row in head if (text := _typed_by_a_person(row))), None)
    times = [time for row in rows if (time := time_of(row)) is not None]
    title = title_of(rows, beside) or first_line([first or ""])
    return SessionInfo(
        agent=AGENT,
        session_id=path.stem,
        path=_name(path, root),
        cwd=first_field(rows, "cwd"),
        updated_at=max(times) if times else _modified(path),
        title=title,
        first_user_message=first,
        cli_version=last_field(rows, "version"),
    )


def _describe_orphan(folder: Path, root: Path) -> SessionInfo:
    """Return what a listing says of a session of which only subagents are left."""
    file = sorted((folder / "subagents").rglob("agent-*.jsonl"))[0]
    rows = [*_head(file, root), *_tail(file, root)]
    times = [time for row in rows if (time := time_of(row)) is not None]
    return SessionInfo(
        agent=AGENT,
        session_id=folder.name,
        path=_name(folder, root),
        cwd=first_field(rows, "cwd"),
        updated_at=max(times) if times else _modified(file),
        cli_version=last_field(rows, "version"),
    )


def _head(path: Path, root: Path) -> Iterator[Row]:
    """Yield rows up to and with the first that a person typed, and a cwd; bounded in bytes."""
    spoken = placed = False
    for record in jsonlines.iterate(path, root, [], recover=True, at_once=jsonlines.FEW):
        row = row_of(record)
        yield row
        spoken = spoken or _typed_by_a_person(row) is not None
        placed = placed or first_field([row], "cwd") is not None
        if (spoken and placed) or record.offset > _HEAD:
            return


def _typed_by_a_person(row: Row) -> str | None:
    if not row.glance.prompt or row.sidechain:
        return None
    text = text_of(parts(row.entry.in_a_prompts_place))
    return wordings.typed(text).text if text.strip() else None


def _tail(path: Path, root: Path) -> list[Row]:
    """Return the whole rows in the last bytes of a file: so many that one of them has a time.

    The CLI repeats what names a session at its end.
    """
    size = path.stat().st_size
    reach = _TAIL
    while True:
        rows = list(_last_rows(path, root, max(0, size - reach)))
        if reach >= min(size, _LONGEST_TAIL) or any(time_of(row) is not None for row in rows):
            return rows
        reach *= 4


def _last_rows(path: Path, root: Path, start: int) -> Iterator[Row]:
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        lines = file.read().split(b"\n")
    for raw in lines[1:] if start else lines:
        try:
            value = jsonlines.parse(raw) if raw.strip() else None
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield row_of(Record(value, raw, _name(path, root), 0, 0))


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _modified(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)
