"""Claude Code: a session of five rows, and what can be wrong with it."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from live import sandbox
from live.agents.base import Driver
from live.defects.written import (
    BYTES,
    COMMAND,
    FIRST_PROMPT,
    FIRST_TEXT,
    RESULT,
    SECOND_TEXT,
    SESSION_ID,
    Defect,
    Written,
    doubled,
    drop,
    moved,
    put,
    put_everywhere,
    spoilt,
    without,
    without_everywhere,
)

_SLUG = re.sub(r"[^A-Za-z0-9]", "-", sandbox.WORKSPACE)
_CALL = "toolu_cistern"
PROMPT, TEXT, CALL, RESULT_ROW, ANSWER = range(5)
"""The places of the five rows."""


def sound(driver: Driver) -> Written:
    """Return the session as every release since 1.0.0 resumes it."""
    ids = [f"5eed0a11-4c0d-4b1e-9a57-00000000000{number}" for number in range(1, 6)]
    use = {"type": "tool_use", "id": _CALL, "name": "Bash", "input": {"command": COMMAND}}
    result = {"type": "tool_result", "tool_use_id": _CALL, "content": RESULT}
    said: list[tuple[str, Any]] = [
        ("user", {"role": "user", "content": FIRST_PROMPT}),
        ("assistant", _message(driver, "msg_1", {"type": "text", "text": FIRST_TEXT})),
        ("assistant", _message(driver, "msg_1", use)),
        ("user", {"role": "user", "content": [result]}),
        ("assistant", _message(driver, "msg_2", {"type": "text", "text": SECOND_TEXT})),
    ]
    lines = [
        {
            "parentUuid": None if number == 0 else ids[number - 1],
            "isSidechain": False,
            "userType": "external",
            "cwd": sandbox.WORKSPACE,
            "sessionId": SESSION_ID,
            "version": driver.version,
            "gitBranch": "main",
            "type": kind,
            "message": message,
            "uuid": ids[number],
            "timestamp": f"2026-01-05T09:00:0{number}.000Z",
        }
        for number, (kind, message) in enumerate(said)
    ]
    return Written(path=f".claude/projects/{_SLUG}/{SESSION_ID}.jsonl", lines=[*lines])


def _message(driver: Driver, message_id: str, block: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": driver.model,
        "content": [block],
        "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 10},
    }


def _reversed_times(written: Written) -> Written:
    for number, line in enumerate(written.lines):
        if isinstance(line, dict):
            line["timestamp"] = f"2026-01-05T09:00:0{9 - number}.000Z"
    return written


def _reversed_lines(written: Written) -> Written:
    return msgspec.structs.replace(written, lines=written.lines[::-1])


def _pretty(content: bytes) -> bytes:
    rows = [json.loads(line) for line in content.splitlines()]
    return "\n".join(json.dumps(row, indent=2) for row in rows).encode() + b"\n"


def _other_session(written: Written) -> Written:
    name = "not-a-uuid"
    return msgspec.structs.replace(
        written, session_id=name, path=written.path.replace(SESSION_ID, name)
    )


_BOUNDARY = {
    "parentUuid": None,
    "logicalParentUuid": "5eed0a11-4c0d-4b1e-9a57-000000000002",
    "isSidechain": False,
    "type": "system",
    "subtype": "compact_boundary",
    "content": "Conversation compacted",
    "level": "info",
    "compactMetadata": {"trigger": "manual", "preTokens": 1000},
    "uuid": "5eed0a11-4c0d-4b1e-9a57-000000000009",
    "timestamp": "2026-01-05T09:00:01.500Z",
    "sessionId": SESSION_ID,
    "cwd": sandbox.WORKSPACE,
}

_UNKNOWN = {
    "parentUuid": "5eed0a11-4c0d-4b1e-9a57-000000000002",
    "isSidechain": False,
    "type": "weather-report",
    "uuid": "5eed0a11-4c0d-4b1e-9a57-000000000008",
    "timestamp": "2026-01-05T09:00:01.500Z",
    "sessionId": SESSION_ID,
}


def _compacted(written: Written) -> Written:
    written.lines.insert(CALL, dict(_BOUNDARY))
    return put(CALL + 1, _BOUNDARY["uuid"], "parentUuid")(written)


def _unknown_in_chain(written: Written) -> Written:
    written.lines.insert(CALL, dict(_UNKNOWN))
    return put(CALL + 1, _UNKNOWN["uuid"], "parentUuid")(written)


def _forged_thought(written: Written) -> Written:
    thought = {"type": "thinking", "thinking": "a thought", "signature": "Zm9yZ2Vk"}
    line = written.lines[TEXT]
    if isinstance(line, dict):
        line["message"]["content"].insert(0, thought)
    return written


DEFECTS: tuple[Defect, ...] = (
    *BYTES,
    Defect(name="no-timestamps", what="no row has a time", change=without_everywhere("timestamp")),
    Defect(
        name="odd-timestamp",
        what="a row's time is no time",
        change=put(TEXT, "this morning", "timestamp"),
    ),
    Defect(
        name="equal-timestamps",
        what="all rows have the same time",
        change=put_everywhere("2026-01-05T09:00:00.000Z", "timestamp"),
    ),
    Defect(
        name="reversed-timestamps",
        what="every row is older than the one before",
        change=_reversed_times,
    ),
    Defect(name="reversed-lines", what="the last row stands first", change=_reversed_lines),
    Defect(name="no-uuids", what="no row has an id", change=without_everywhere("uuid")),
    Defect(
        name="no-parents",
        what="no row says what it follows",
        change=without_everywhere("parentUuid"),
    ),
    Defect(
        name="null-parent",
        what="the call's row follows nothing",
        change=put(CALL, None, "parentUuid"),
    ),
    Defect(
        name="dangling-parent",
        what="the call's row follows one that is not there",
        change=put(CALL, "5eed0a11-4c0d-4b1e-9a57-00000000dead", "parentUuid"),
    ),
    Defect(
        name="cyclic-parent",
        what="the first row follows the last",
        change=put(PROMPT, "5eed0a11-4c0d-4b1e-9a57-000000000005", "parentUuid"),
    ),
    Defect(
        name="unknown-type",
        what="a row of an unknown type stands in the chain",
        change=_unknown_in_chain,
    ),
    Defect(
        name="all-sidechain",
        what="every row says that it is a subagent's",
        change=put_everywhere(True, "isSidechain"),
    ),
    Defect(
        name="call-at-end",
        what="the last row is a call without a result",
        change=drop(RESULT_ROW, ANSWER),
    ),
    Defect(
        name="call-without-result",
        what="a call in the middle has no result",
        change=lambda written: put(
            RESULT_ROW, "5eed0a11-4c0d-4b1e-9a57-000000000003", "parentUuid"
        )(drop(RESULT_ROW)(written)),
    ),
    Defect(
        name="result-without-call",
        what="a result's call is not there",
        change=lambda written: put(CALL, "5eed0a11-4c0d-4b1e-9a57-000000000002", "parentUuid")(
            drop(CALL)(written)
        ),
    ),
    Defect(
        name="no-message-ids",
        what="no answer has the provider's id",
        change=without_everywhere("message", "id"),
    ),
    Defect(
        name="answer-as-string",
        what="the content of an answer is a string",
        change=put(ANSWER, SECOND_TEXT, "message", "content"),
    ),
    Defect(
        name="no-model",
        what="an answer names no model",
        change=without(ANSWER, "message", "model"),
    ),
    Defect(
        name="no-usage", what="an answer has no usage", change=without(ANSWER, "message", "usage")
    ),
    Defect(
        name="other-session-id",
        what="the rows name another session than the file does",
        change=put_everywhere("5eed0a11-4c0d-4b1e-9a57-00000000beef", "sessionId"),
    ),
    Defect(
        name="other-directory",
        what="the rows name another working directory",
        change=put_everywhere("/srv/elsewhere", "cwd"),
    ),
    Defect(
        name="wrong-folder",
        what="the file lies in another project's folder",
        change=moved(f".claude/projects/-srv-elsewhere/{SESSION_ID}.jsonl"),
    ),
    Defect(name="no-uuid-name", what="the file's name is no id", change=_other_session),
    Defect(name="pretty-printed", what="rows go over several lines", change=spoilt(_pretty)),
    Defect(
        name="compact-boundary",
        what="a compaction stands before the call, without a summary",
        change=_compacted,
    ),
    Defect(
        name="forged-thought",
        what="a thought has a signature that nobody gave",
        change=_forged_thought,
    ),
    Defect(
        name="empty-text",
        what="an answer's text is empty",
        change=put(TEXT, [{"type": "text", "text": ""}], "message", "content"),
    ),
    Defect(
        name="unknown-block",
        what="an answer holds a block of an unknown type",
        change=put(TEXT, [{"type": "weather", "text": FIRST_TEXT}], "message", "content"),
    ),
    Defect(
        name="duplicate-row",
        what="a row stands twice",
        change=doubled(TEXT),
    ),
)
