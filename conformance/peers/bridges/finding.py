"""Where a session's file lies in a home, for tools that want to be handed the file.

Only names are looked at. Tools that find sessions by themselves are given the home instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from wire import Failure

_CWD = re.compile(rb'"cwd": ?("(?:[^"\\]|\\.)*")')


def session_file(home: str, agent: str, session_id: str) -> Path:
    """Return the file of a session; a failure of stage ``find`` if there is none."""
    found = sorted(_FINDERS[agent](Path(home), session_id))
    if not found:
        raise Failure("find", f"there is no file of a session {session_id} of {agent}")
    return found[0]


def project(path: Path) -> str:
    """Return the directory that a session was held in, for a tool that wants to be asked there.

    Whoever asks knows it; here it is what the file names first. Nothing else is taken from there.
    """
    with path.open("rb") as file:
        for line in file:
            if found := _CWD.search(line):
                return json.loads(found[1])
    return str(path.parent)


def _claude(home: Path, session_id: str) -> list[Path]:
    return list((home / ".claude" / "projects").glob(f"*/{session_id}.jsonl"))


def _codex(home: Path, session_id: str) -> list[Path]:
    name = f"rollout-*-{session_id}.jsonl"
    sessions = (home / ".codex" / "sessions").rglob(name)
    return [*sessions, *(home / ".codex" / "archived_sessions").rglob(name)]


def _copilot(home: Path, session_id: str) -> list[Path]:
    states = home / ".copilot" / "session-state"
    both = (states / session_id / "events.jsonl", states / f"{session_id}.jsonl")
    return [path for path in both if path.is_file()]


_FINDERS: Mapping[str, Callable[[Path, str], list[Path]]] = {
    "claude": _claude,
    "codex": _codex,
    "copilot": _copilot,
}
