"""Where Codex keeps a session's rollout, read by a few lines of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from live.witnesses.base import NoSession


def rollout(home: Path, session_id: str) -> Path:
    """Return a session's file; :class:`NoSession` if there is none."""
    root = home / ".codex" / "sessions"
    found = sorted(root.rglob(f"rollout-*{session_id}.jsonl"))
    if not found:
        raise NoSession(f"no rollout of {session_id} lies under {root}")
    return found[0]


def items(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the payload of every response item, with the number of its line."""
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and record.get("type") == "response_item":
            yield number, record.get("payload")
