"""Hand-made Claude Code rows for tests: a line of linked records with times that rise."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

SESSION = "5e551011-4c1a-4d0e-9a4b-0c1a0de0c0de"
OTHER_SESSION = "07e55101-4c1a-4d0e-9a4b-00000000beef"
CWD = "/srv/orchard"


class Rows:
    """Collects the rows of one file; each hangs off the last unless told otherwise."""

    def __init__(
        self, session: str = SESSION, *, version: str = "2.1.300", numbered_from: int = 0
    ) -> None:
        self.rows: list[dict[str, Any]] = []
        self.last: str | None = None
        self._session = session
        self._version = version
        self._number = numbered_from
        self._clock = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)

    def row(self, kind: str, *, parent: str | None = "last", **fields: Any) -> str:
        self._number += 1
        self._clock += timedelta(seconds=3)
        uuid = f"c0ffee00-0000-4000-8000-{self._number:012d}"
        row = {
            "parentUuid": self.last if parent == "last" else parent,
            "isSidechain": False,
            "type": kind,
            "uuid": uuid,
            "timestamp": self._clock.isoformat().replace("+00:00", "Z"),
            "sessionId": self._session,
            "cwd": CWD,
            "version": self._version,
            **fields,
        }
        self.rows.append(row)
        self.last = uuid
        return uuid

    def bare(self, kind: str, **fields: Any) -> None:
        self.rows.append({"type": kind, "sessionId": self._session, **fields})

    def user(self, content: Any, **fields: Any) -> str:
        return self.row("user", message={"role": "user", "content": content}, **fields)

    def assistant(self, *blocks: Any, message_id: str = "", **fields: Any) -> str:
        message = {
            "id": message_id or f"msg_{self._number + 1}",
            "type": "message",
            "role": "assistant",
            "model": fields.pop("model", "model-of-record"),
            "content": list(blocks),
            **fields.pop("message", {}),
        }
        return self.row("assistant", message=message, **fields)

    def result(self, call: str, content: Any, **fields: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        if "is_error" in fields:
            block["is_error"] = fields.pop("is_error")
        return self.user([block], **fields)


def says(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def calls(identity: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": name, "input": arguments}


def save(home: Path, rows: Rows | list[dict[str, Any]], name: str = SESSION) -> Path:
    """Save rows as a session file of a home; return its path."""
    path = home / ".claude" / "projects" / "-srv-orchard" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row) + "\n" for row in (rows.rows if isinstance(rows, Rows) else rows)]
    path.write_text("".join(lines), encoding="utf-8")
    return path
