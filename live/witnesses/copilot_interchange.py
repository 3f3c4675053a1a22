"""A session of Copilot CLI in the vendor's own records for exchanging sessions.

Made from the raw events and sharing nothing with the reader, so that what the vendor says of
these records it says of the file: that every result follows its call, before the next message;
that ids are unique; that what failed says of what. The records know no thoughts, no subagents
and no pictures but those in files: of these nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

_VERSION = 1

JsonObject = Mapping[str, Any]


class Record(NamedTuple):
    """One record, and the line of the event that it stands for."""

    value: dict[str, Any]
    line: int


def records(events: Iterable[tuple[int, Any]]) -> Iterator[Record]:
    """Yield what the events of a session's own thread are in the vendor's records."""
    for line, event in events:
        # What a subagent said stands among the events of the thread that it serves.
        if not isinstance(event, Mapping) or event.get("agentId"):
            continue
        data: Any = event.get("data")
        if isinstance(data, Mapping):
            yield from (Record(value, line) for value in _values(event, data))


def _values(event: JsonObject, data: JsonObject) -> Iterator[dict[str, Any]]:
    match event.get("type"):
        case "session.start":
            yield _session(data)
        case "user.message":
            yield _message(event, "user", data)
        case "assistant.message":
            yield _message(event, "assistant", data)
            for request in data.get("toolRequests") or []:
                yield _call(event, request)
        case "tool.execution_complete":
            yield _result(event, data)
        case _:
            return


def _session(data: JsonObject) -> dict[str, Any]:
    # Of the working directory nothing is said: the importer wants it to be there.
    return {
        "type": "session",
        "version": _VERSION,
        "externalId": data.get("sessionId"),
        "createdAt": data.get("startTime"),
        "source": {"application": data.get("producer"), "version": data.get("copilotVersion")},
    }


def _message(event: JsonObject, role: str, data: JsonObject) -> dict[str, Any]:
    text = {"type": "text", "text": data.get("content")}
    return {"type": "message", **_head(event), "role": role, "content": [text]}


def _call(event: JsonObject, request: JsonObject) -> dict[str, Any]:
    made = {"type": "tool-call", **_head(event), "id": request.get("toolCallId")}
    made["name"] = request.get("name")
    if "arguments" in request:
        made["arguments"] = request["arguments"]
    return made


def _result(event: JsonObject, data: JsonObject) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": "tool-result",
        **_head(event),
        "toolCallId": data.get("toolCallId"),
        "success": data.get("success"),
    }
    if isinstance(data.get("result"), Mapping):
        made["content"] = data["result"].get("content")
    if "error" in data:
        made["error"] = data["error"]
    return made


def _head(event: JsonObject) -> dict[str, Any]:
    return {"id": event.get("id"), "timestamp": event.get("timestamp")}
