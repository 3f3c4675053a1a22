"""Where Copilot CLI keeps a session's events, read by a few lines of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from live.witnesses.base import NoSession


def events_file(home: Path, session_id: str) -> Path:
    """Return a session's file of events; :class:`NoSession` if there is none."""
    path = home / ".copilot" / "session-state" / session_id / "events.jsonl"
    if not path.is_file():
        raise NoSession(f"{path} is not there; which sessions lie under {path.parent.parent}?")
    return path


def numbered(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the JSON of every line that holds some, with the number of its line."""
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        try:
            yield number, json.loads(line)
        except ValueError:
            # The CLI that loads the file has the say on such a line.
            continue
