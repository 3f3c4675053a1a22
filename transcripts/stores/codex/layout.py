"""Where Codex keeps its sessions: dated rollout files, and the archived ones flat beside them.

Names and folders use the local time of the machine that wrote them, records use UTC; so a
name finds a file and says nothing about the conversation.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from transcripts.errors import AmbiguousSession
from transcripts.stores.base import leads_out

SESSIONS = "sessions"
ARCHIVED = "archived_sessions"

_NAME = re.compile(r"rollout-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-(.+)\.jsonl")


def locate(home: Path | None) -> Path:
    """Return Codex's own directory under a user's home, or where the environment says it is."""
    if home is not None:
        return home / ".codex"
    configured = os.environ.get("CODEX_HOME")
    return Path(configured) if configured else Path.home() / ".codex"


def rollouts(root: Path) -> Iterator[Path]:
    """Yield every rollout file under Codex's directory, in no promised order."""
    for folder in (SESSIONS, ARCHIVED):
        if (root / folder).is_dir():
            yield from (root / folder).rglob("rollout-*.jsonl")


def find(root: Path, session_id: str) -> Path | None:
    """Return the file of a session by its name; more than one of that name is an error."""
    named = (path for path in rollouts(root) if id_in_name(path) == session_id)
    found = sorted(path for path in named if not leads_out(path, root))
    if len(found) > 1:
        names = ", ".join(path.relative_to(root).as_posix() for path in found)
        raise AmbiguousSession(
            f"session {session_id!r} has {len(found)} files: {names}",
            path=root,
            next_step="name the file itself",
        )
    return found[0] if found else None


def goes_on(path: Path) -> str | None:
    """Return the session that a file goes on with after the person went back in it, or None.

    Releases since 0.171 begin a file of its own then, named after the session and itself.
    """
    session_id, parted, _ = (id_in_name(path) or "").rpartition("_")
    return session_id if parted else None


def parts(root: Path, session_id: str) -> list[Path]:
    """Return the files that go on with a session, in the order in which they were begun."""
    lying_about = root.glob("rollout-*.jsonl")
    every = (path for path in (*rollouts(root), *lying_about) if goes_on(path) == session_id)
    return sorted((path for path in every if not leads_out(path, root)), key=lambda path: path.name)


def id_in_name(path: Path) -> str | None:
    """Return the session id that a file's name carries, or None."""
    found = _NAME.fullmatch(path.name)
    return found[1] if found else None


def root_of(path: Path) -> Path:
    """Return the root that a rollout's locations are relative to.

    That is the directory holding ``sessions`` or ``archived_sessions``, else (a file lying
    about by itself) the file's own directory.
    """
    for parent in path.parents:
        if parent.name in (SESSIONS, ARCHIVED):
            return parent.parent
    return path.parent


def target(root: Path, session_id: str, created_at: datetime) -> Path:
    """Return the path at which a new session of that id belongs."""
    day = f"{created_at:%Y/%m/%d}"
    return root / SESSIONS / day / f"rollout-{created_at:%Y-%m-%dT%H-%M-%S}-{session_id}.jsonl"
