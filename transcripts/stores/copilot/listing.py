"""What sessions there are, told without reading them whole.

A listing reads the head of a transcript up to the first thing the person said, the last
record with a time, and ``workspace.yaml``. Damage in between is the reader's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from transcripts.model import SessionInfo
from transcripts.records.jsonlines import parse
from transcripts.stores.base import LEADS_OUT, Listing, Unlisted, leads_out
from transcripts.stores.copilot.layout import (
    EVENTS,
    Workspace,
    moment,
    place,
    session_files,
    workspace,
)

_TAIL = 8 * 1024
_LONGEST_TAIL = 16 * 1024 * 1024


def list_sessions(root: Path, cwd: str | None) -> Listing:
    """List the sessions under a root, newest first; with ``cwd`` only those of it."""
    sessions: list[SessionInfo] = []
    failed: list[Unlisted] = []
    files = session_files(root)
    for file in files:
        name = file.relative_to(root).as_posix()
        if leads_out(file, root):
            failed.append(Unlisted(path=name, why=LEADS_OUT))
            continue
        try:
            found = _describe(file, root)
        except OSError as error:
            failed.append(Unlisted(path=name, why=error.strerror or str(error)))
            continue
        if isinstance(found, str):
            failed.append(Unlisted(path=name, why=found))
        elif cwd is None or found.cwd == cwd:
            sessions.append(found)
    oldest = datetime.min.replace(tzinfo=UTC)
    sessions.sort(key=lambda session: session.session_id)
    sessions.sort(key=lambda session: session.updated_at or oldest, reverse=True)
    return Listing(sessions, len(files), failed)


def is_session(path: Path) -> bool:
    """Whether a file or directory is a session of Copilot CLI, judged by its first records."""
    events = path / EVENTS if path.is_dir() else path
    if not events.is_file():
        return False
    return any(_is_event(record) for record in _head(events, 8))


def _is_event(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    if not isinstance(kind, str) or not isinstance(record.get("data"), dict):
        return False
    # Codex's rollouts have a type and a payload; Claude's records have no data beside a type.
    return "parentId" in record or kind.startswith("session.")


def _describe(file: Path, root: Path) -> SessionInfo | str:
    spot = place(file)
    about = workspace(spot.directory)
    if file.stat().st_size == 0:
        return "the file is empty"
    session_id = prompt = version = cwd = None
    started: datetime | None = None
    seen = False
    for record in _head(file, None):
        seen = seen or isinstance(record.get("type"), str)
        data: Any = record.get("data")
        if not isinstance(data, dict):
            continue
        match record.get("type"):
            case "session.start":
                session_id = session_id or _text(data, "sessionId")
                version = _text(data, "copilotVersion") or version
                context: Any = data.get("context")
                if isinstance(context, dict):
                    cwd = _text(context, "cwd") or cwd
                started = started or moment(record.get("timestamp"))
            case "user.message" if _said_by_person(record, data):
                prompt = _text(data, "content")
                if prompt is not None:
                    break
            case _:
                pass
    if not seen:
        return "no record of a session in it"
    return SessionInfo(
        agent="copilot",
        session_id=session_id or file.parent.name,
        path=file.relative_to(root).as_posix(),
        cwd=about.cwd or cwd,
        updated_at=_updated_at(file, about, started),
        title=about.title,
        first_user_message=prompt,
        cli_version=version,
    )


def _said_by_person(record: dict[str, Any], data: dict[str, Any]) -> bool:
    return (
        record.get("agentId") is None
        and data.get("parentToolCallId") is None
        and data.get("source") in (None, "user")
    )


def _head(file: Path, most: int | None) -> Iterator[dict[str, Any]]:
    """Yield the whole records of a file from its start; what is damaged is passed over."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines):
            if most is not None and number >= most:
                return
            record = _whole(line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line)
            if record is not None:
                yield record


def _whole(line: bytes) -> dict[str, Any] | None:
    try:
        value: Any = parse(line.strip(b" \t\r\n\0"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _updated_at(file: Path, about: Workspace, started: datetime | None) -> datetime | None:
    """Return when a session was last at work: its last record's time or its workspace's."""
    times = [time for time in (_last_time(file), about.updated_at, started) if time is not None]
    return max(times, default=None)


def _last_time(file: Path) -> datetime | None:
    size = file.stat().st_size
    length = _TAIL
    with file.open("rb") as source:
        while True:
            start = max(0, size - length)
            source.seek(start)
            lines = source.read(size - start).split(b"\n")
            # The first line may be the rest of a longer one.
            for line in reversed(lines[1:] if start else lines):
                record = _whole(line)
                time = None if record is None else moment(record.get("timestamp"))
                if time is not None:
                    return time
            if start == 0 or length >= _LONGEST_TAIL:
                return None
            length *= 4


def _text(fields: dict[str, Any], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) and value else None
