"""Where Copilot CLI keeps its sessions, and what a session directory says of itself.

``<root>/session-state/<id>/`` holds ``events.jsonl`` (the transcript), ``workspace.yaml`` and
what the session keeps beside it. The root is ``COPILOT_HOME`` or ``~/.copilot``. A bare
``events.jsonl`` anywhere else is a session too, without the rest.
"""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from transcripts.errors import NotATranscript
from transcripts.model import SideStore

SESSIONS = "session-state"
EVENTS = "events.jsonl"
WORKSPACE = "workspace.yaml"

# What a session keeps beside its transcript. ``session.db.sql`` is a database as text, the form
# in which recordings keep it.
_SIDE_STORES = {
    "checkpoints": "checkpoints",
    "files": "files",
    "research": "research",
    "rewind-file-snapshots": "undo history",
    "session.db": "todos",
    "session.db.sql": "todos",
    "plan.md": "plan",
}

# What the CLI makes even where there is nothing to index yet.
_EMPTY_INDEXES = frozenset({"index.json", "index.md", "tracking.json"})


class Place(NamedTuple):
    """One session: its transcript, the directory it owns, and the root of all locations.

    ``directory`` is None for a transcript that lies alone.
    """

    events: Path
    directory: Path | None
    root: Path


class Workspace(NamedTuple):
    """What ``workspace.yaml`` says; every part may be missing."""

    cwd: str | None = None
    branch: str | None = None
    title: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


def locate(home: Path | None) -> Path:
    """Return the directory of Copilot CLI's data under a user's home, or the environment's."""
    if home is not None:
        return home / ".copilot"
    configured = os.environ.get("COPILOT_HOME")
    return Path(configured).expanduser() if configured else Path.home() / ".copilot"


def place(path: Path) -> Place:
    """Return what a path means: a session directory, or the transcript itself."""
    if path.is_dir():
        events = path / EVENTS
        if not events.is_file():
            raise NotATranscript(
                f"a directory without {EVENTS}",
                path=path,
                next_step=f"give the path of a directory under {SESSIONS} or of an {EVENTS}",
            )
    else:
        events = path
    directory = events.parent
    if directory.parent.name == SESSIONS:
        return Place(events, directory, directory.parent.parent)
    owns = events.name == EVENTS and (directory / WORKSPACE).is_file()
    return Place(events, directory if owns else None, directory)


def session_files(root: Path) -> list[Path]:
    """Return the transcripts of all sessions, by name of their directory."""
    return sorted((root / SESSIONS).glob(f"[!.]*/{EVENTS}"))


def find(root: Path, session_id: str) -> Path | None:
    """Return the transcript of the session whose directory has that name, or None."""
    if not session_id or session_id.startswith(".") or Path(session_id).name != session_id:
        return None
    events = root / SESSIONS / session_id / EVENTS
    return events if events.is_file() else None


def workspace(directory: Path | None) -> Workspace:
    """Read ``workspace.yaml``; what is missing, broken or of an odd type is left out.

    The file only repeats what the transcript says, so a broken one costs nothing else.
    """
    if directory is None:
        return Workspace()
    try:
        with (directory / WORKSPACE).open(encoding="utf-8", errors="replace") as file:
            found: Any = yaml.safe_load(file)
    except (OSError, yaml.YAMLError, ValueError):
        return Workspace()
    if not isinstance(found, dict):
        return Workspace()
    return Workspace(
        cwd=_text(found.get("cwd")),
        branch=_text(found.get("branch")),
        title=_text(found.get("name")) or _text(found.get("summary")),
        created_at=_moment(found.get("created_at")),
        updated_at=_moment(found.get("updated_at")),
    )


def side_stores(spot: Place) -> tuple[SideStore, ...]:
    """Return what the session keeps beside its transcript, empty directories left out."""
    if spot.directory is None:
        return ()
    found: list[SideStore] = []
    for entry, name in sorted(_SIDE_STORES.items()):
        path = spot.directory / entry
        held = path.is_dir() and any(
            item.is_file() and item.name not in _EMPTY_INDEXES for item in path.rglob("*")
        )
        if held or path.is_file():
            found.append(SideStore(name=name, path=path.relative_to(spot.root).as_posix()))
    return tuple(found)


def moment(value: Any) -> datetime | None:
    """Return a time as Copilot writes it (RFC 3339 text) as aware UTC, or None."""
    if not isinstance(value, str) or len(value) < len("2026-01-01T00:00:00"):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    try:
        if found.tzinfo is UTC:
            return found
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except OverflowError:
        return None


def _moment(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    return None if isinstance(value, date) else moment(value)


def _text(value: Any) -> str | None:
    if isinstance(value, bool | dict | list) or value is None:
        return None
    return str(value) or None
