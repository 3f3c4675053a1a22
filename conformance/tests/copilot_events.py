"""Sessions of Copilot CLI for tests, made event by event."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SESSION = "5e9f4c1a-7d20-4b6f-9a41-0c3b8e6d2f70"


class Events:
    """A session in the making: every call adds an event a second after the last."""

    def __init__(self, session_id: str = SESSION, cwd: str = "/srv/mill", **start: Any) -> None:
        self.lines: list[dict[str, Any]] = []
        self.add(
            "session.start",
            sessionId=session_id,
            version=1,
            producer="copilot-agent",
            copilotVersion="1.0.102",
            startTime="2026-03-04T09:00:00.000Z",
            selectedModel="mill-1",
            context={"cwd": cwd, "branch": "weir"},
            **start,
        )

    def add(self, kind: str, /, agent: str | None = None, **data: Any) -> str:
        """Add an event and return its id."""
        number = len(self.lines)
        event: dict[str, Any] = {
            "type": kind,
            "data": data,
            "id": event_id(number),
            "timestamp": f"2026-03-04T09:{number // 60:02d}:{number % 60:02d}.000Z",
            "parentId": event_id(number - 1) if number else None,
        }
        if agent is not None:
            event["agentId"] = agent
        self.lines.append(event)
        return event["id"]

    def user(self, content: str, **data: Any) -> str:
        """Add a prompt."""
        return self.add("user.message", content=content, **data)

    def answer(self, content: str = "", *requests: dict[str, Any], **data: Any) -> str:
        """Add an answer of the model."""
        message = f"m{len(self.lines)}"
        data = {"messageId": message, "model": "mill-1", "turnId": "0"} | data
        return self.add("assistant.message", content=content, toolRequests=list(requests), **data)

    def done(self, call: str, content: str | None = None, **data: Any) -> str:
        """Add what a call came to."""
        fields: dict[str, Any] = {"toolCallId": call, "success": True}
        if content is not None:
            fields["result"] = {"content": content}
        return self.add("tool.execution_complete", **(fields | data))

    def text(self) -> str:
        """Return the lines of the file."""
        return "".join(f"{json.dumps(line)}\n" for line in self.lines)

    def write(self, directory: Path, data: bytes | None = None) -> Path:
        """Write a session directory under a home and return its path."""
        session = directory / ".copilot" / "session-state" / self.lines[0]["data"]["sessionId"]
        session.mkdir(parents=True)
        (session / "events.jsonl").write_bytes(self.text().encode() if data is None else data)
        return session


def event_id(number: int) -> str:
    """Return the id of the n-th event."""
    return f"0badcafe-0000-4000-8000-{number:012d}"


def request(call: str, name: str, arguments: Any = None, **fields: Any) -> dict[str, Any]:
    """Return one request of a tool."""
    given = {} if arguments is None else arguments
    return {"toolCallId": call, "name": name, "arguments": given, "type": "function"} | fields


def bash(call: str, command: str) -> dict[str, Any]:
    """Return the request of a command."""
    return request(call, "bash", {"command": command, "description": "run it"})


def texts(content: Iterable[Any] | None) -> str:
    """Return the words of some parts."""
    return "".join(part.text for part in content or () if hasattr(part, "text"))
