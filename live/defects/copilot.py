"""Copilot CLI: a session of seven events and a workspace.yaml, and what can be wrong with it."""

from __future__ import annotations

from typing import Any

import msgspec

from live import sandbox
from live.agents.base import Driver
from live.defects.written import (
    BYTES,
    CALL_ID,
    COMMAND,
    FIRST_PROMPT,
    FIRST_TEXT,
    RESULT,
    SECOND_TEXT,
    SESSION_ID,
    Defect,
    Written,
    drop,
    insert,
    put,
    put_everywhere,
    without,
    without_everywhere,
)

_ROOT = f".copilot/session-state/{SESSION_ID}"
_YAML = f"{_ROOT}/workspace.yaml"
START, PROMPT, TEXT, RUNS, RESULT_EVENT, ANSWER = range(6)
"""The places of the six events."""


def sound(driver: Driver) -> Written:
    """Return the session as every release since 1.0.10 resumes it."""
    start = {
        "sessionId": SESSION_ID,
        "version": 1,
        "producer": "copilot-agent",
        "copilotVersion": driver.version,
        "startTime": "2026-01-05T09:00:00.000Z",
        "context": {"cwd": sandbox.WORKSPACE},
    }
    request = {
        "toolCallId": CALL_ID,
        "name": "bash",
        "arguments": {"command": COMMAND, "description": "Measure"},
        "type": "function",
    }
    runs = {key: request[key] for key in ("toolCallId", "arguments")} | {"toolName": "bash"}
    result = {"toolCallId": CALL_ID, "success": True, "result": {"content": RESULT}}
    events: list[tuple[str, Any]] = [
        ("session.start", start),
        ("user.message", {"content": FIRST_PROMPT, "attachments": []}),
        (
            "assistant.message",
            {"messageId": _id(21), "content": FIRST_TEXT, "toolRequests": [request]},
        ),
        ("tool.execution_start", runs),
        ("tool.execution_complete", result),
        (
            "assistant.message",
            {"messageId": _id(22), "content": SECOND_TEXT, "toolRequests": []},
        ),
    ]
    lines = [
        {
            "type": kind,
            "data": data,
            "id": _id(number + 1),
            "timestamp": f"2026-01-05T09:00:0{number}.000Z",
            "parentId": None if number == 0 else _id(number),
        }
        for number, (kind, data) in enumerate(events)
    ]
    return Written(
        path=f"{_ROOT}/events.jsonl",
        lines=[*lines],
        beside={_YAML: _yaml("2026-01-05T09:00:00.000Z")},
    )


def _id(number: int) -> str:
    return f"5eed0a11-4c0d-4b1e-9a57-0000000000{number:02d}"


def _yaml(created: str) -> bytes:
    lines = (f"id: {SESSION_ID}", f"cwd: {sandbox.WORKSPACE}", f"created_at: {created}")
    return ("\n".join((*lines, f"updated_at: {created}")) + "\n").encode()


def _beside(content: bytes | None) -> Any:
    def change(written: Written) -> Written:
        beside = {} if content is None else {_YAML: content}
        return msgspec.structs.replace(written, beside=beside)

    return change


def _event(kind: str, data: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "data": data,
        "id": _id(31),
        "timestamp": "2026-01-05T09:00:02.500Z",
        "parentId": _id(3),
    }


def _aborted(written: Written) -> Written:
    return insert(RESULT_EVENT, _event("abort", {"reason": "user_abort"}))(written)


def _arguments(written: Written) -> Written:
    line = written.lines[TEXT]
    if isinstance(line, dict):
        line["data"]["toolRequests"][0]["arguments"] = f'{{"command":"{COMMAND}"}}'
    return written


DEFECTS: tuple[Defect, ...] = (
    *BYTES,
    Defect(name="no-start", what="there is no session.start", change=drop(START)),
    *(
        Defect(
            name=f"no-start-{field.lower()}",
            what=f"session.start has no {field}",
            change=without(START, "data", field),
        )
        for field in ("sessionId", "version", "producer", "copilotVersion", "startTime")
    ),
    Defect(
        name="other-session-id",
        what="session.start names another session than the directory does",
        change=put(START, _id(40), "data", "sessionId"),
    ),
    Defect(
        name="version-2",
        what="session.start says version 2",
        change=put(START, 2, "data", "version"),
    ),
    Defect(name="no-ids", what="no event has an id", change=without_everywhere("id")),
    Defect(name="no-uuid", what="an event's id is no UUID", change=put(TEXT, "event-3", "id")),
    Defect(
        name="equal-ids", what="all events have the same id", change=put_everywhere(_id(1), "id")
    ),
    Defect(
        name="no-parents", what="no event names its parent", change=without_everywhere("parentId")
    ),
    Defect(
        name="null-parents", what="every parent is null", change=put_everywhere(None, "parentId")
    ),
    Defect(
        name="dangling-parent",
        what="an event's parent is not there",
        change=put(TEXT, _id(41), "parentId"),
    ),
    Defect(
        name="no-timestamps", what="no event has a time", change=without_everywhere("timestamp")
    ),
    Defect(
        name="odd-timestamp",
        what="an event's time is no time",
        change=put(TEXT, "noon", "timestamp"),
    ),
    Defect(
        name="prompt-as-list",
        what="the prompt's content is a list",
        change=put(PROMPT, [{"type": "text", "text": FIRST_PROMPT}], "data", "content"),
    ),
    Defect(
        name="no-message-id",
        what="an answer has no messageId",
        change=without(ANSWER, "data", "messageId"),
    ),
    Defect(
        name="null-content",
        what="an answer's content is null",
        change=put(TEXT, None, "data", "content"),
    ),
    Defect(
        name="no-success",
        what="a result does not say whether it went well",
        change=without(RESULT_EVENT, "data", "success"),
    ),
    Defect(
        name="result-as-string",
        what="a result is a string",
        change=put(RESULT_EVENT, RESULT, "data", "result"),
    ),
    Defect(
        name="result-content-as-list",
        what="a result's content is a list",
        change=put(RESULT_EVENT, [{"type": "text", "text": RESULT}], "data", "result", "content"),
    ),
    Defect(
        name="arguments-as-string",
        what="a call's arguments are a JSON string",
        change=_arguments,
    ),
    Defect(
        name="no-execution-start",
        what="a call has no tool.execution_start",
        change=drop(RUNS),
    ),
    Defect(
        name="call-at-end",
        what="the last event is a call without a result",
        change=drop(RUNS, RESULT_EVENT, ANSWER),
    ),
    Defect(
        name="call-without-result",
        what="a call in the middle has no result",
        change=drop(RESULT_EVENT),
    ),
    Defect(
        name="abort-before-result",
        what="the turn was aborted before the call's result",
        change=_aborted,
    ),
    Defect(
        name="unknown-event",
        what="an event is of an unknown type",
        change=insert(RUNS, _event("weather.report", {"rain": True})),
    ),
    Defect(
        name="unknown-field",
        what="an event has a field that nobody knows",
        change=put(TEXT, True, "data", "rain"),
    ),
    Defect(
        name="compacted",
        what="a compaction at the end gives a summary",
        change=insert(
            6,
            _event(
                "session.compaction_complete",
                {"success": True, "summaryContent": "It is about a cistern."},
            ),
        ),
    ),
    Defect(name="no-workspace", what="there is no workspace.yaml", change=_beside(None)),
    Defect(name="empty-workspace", what="workspace.yaml is empty", change=_beside(b"")),
    Defect(
        name="workspace-without-id",
        what="workspace.yaml names no session",
        change=_beside(f"cwd: {sandbox.WORKSPACE}\n".encode()),
    ),
    Defect(
        name="workspace-offset",
        what="workspace.yaml gives its times with an offset",
        change=_beside(_yaml("2026-01-05T09:00:00.0000000+00:00")),
    ),
    Defect(
        name="workspace-seven-digits",
        what="workspace.yaml gives its times with seven digits",
        change=_beside(_yaml("2026-01-05T09:00:00.0000000Z")),
    ),
)
