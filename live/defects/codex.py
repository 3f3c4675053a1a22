"""Codex: a rollout of seven records, and what can be wrong with it."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from live import sandbox
from live.agents.base import Driver
from live.agents.codex.settings import PROVIDER
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
    doubled,
    drop,
    insert,
    moved,
    put,
    without,
    without_everywhere,
)

_DAY = ".codex/sessions/2026/01/05"
_NAME = "rollout-2026-01-05T09-00-00"
META, EVENT, PROMPT, TEXT, CALL, OUTPUT, ANSWER = range(7)
"""The places of the seven records."""


def sound(driver: Driver) -> Written:
    """Return the rollout as every release since 0.45 resumes it."""
    meta = {
        "id": SESSION_ID,
        "timestamp": "2026-01-05T09:00:00.000Z",
        "cwd": sandbox.WORKSPACE,
        "originator": "codex_exec",
        "cli_version": driver.version,
        "source": "exec",
        "model_provider": PROVIDER,
    }
    call = {
        "type": "function_call",
        "name": "exec_command",
        "arguments": json.dumps({"cmd": COMMAND}),
        "call_id": CALL_ID,
    }
    output = {"type": "function_call_output", "call_id": CALL_ID, "output": RESULT}
    records: list[tuple[str, Any]] = [
        ("session_meta", meta),
        ("event_msg", {"type": "user_message", "message": FIRST_PROMPT}),
        ("response_item", _message("user", "input_text", FIRST_PROMPT)),
        ("response_item", _message("assistant", "output_text", FIRST_TEXT)),
        ("response_item", call),
        ("response_item", output),
        ("response_item", _message("assistant", "output_text", SECOND_TEXT)),
    ]
    lines = [
        {"timestamp": f"2026-01-05T09:00:0{number}.000Z", "type": kind, "payload": payload}
        for number, (kind, payload) in enumerate(records)
    ]
    return Written(path=f"{_DAY}/{_NAME}-{SESSION_ID}.jsonl", lines=[*lines])


def _message(role: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _renamed(written: Written) -> Written:
    name = "not-a-uuid"
    changed = msgspec.structs.replace(
        written, session_id=name, path=written.path.replace(SESSION_ID, name)
    )
    return put(META, name, "payload", "id")(changed)


def _record(kind: str, payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-05T09:00:03.500Z", "type": kind, "payload": payload}


def _compacted(payload: dict[str, Any]) -> dict[str, Any]:
    return _record("compacted", {"message": "It is about a cistern.", **payload})


_REPLACEMENT = [_message("user", "input_text", "It is about a cistern.")]

DEFECTS: tuple[Defect, ...] = (
    *BYTES,
    Defect(name="no-meta", what="there is no session_meta", change=drop(META)),
    *(
        Defect(
            name=f"no-meta-{field.replace('_', '-')}",
            what=f"session_meta has no {field}",
            change=without(META, "payload", field),
        )
        for field in ("id", "timestamp", "cwd", "originator", "cli_version")
    ),
    Defect(
        name="other-meta-id",
        what="session_meta names another session than the file does",
        change=put(META, "5eed0a11-4c0d-4b1e-9a57-00000000beef", "payload", "id"),
    ),
    Defect(name="no-uuid-name", what="the id is no UUID, in file and record", change=_renamed),
    Defect(
        name="other-file-name",
        what="the file is not called a rollout",
        change=moved(f"{_DAY}/session-{SESSION_ID}.jsonl"),
    ),
    Defect(
        name="no-date-folders",
        what="the file lies in no folders of its day",
        change=moved(f".codex/sessions/{_NAME}-{SESSION_ID}.jsonl"),
    ),
    Defect(
        name="archived",
        what="the file lies with the archived ones",
        change=moved(f".codex/archived_sessions/{_NAME}-{SESSION_ID}.jsonl"),
    ),
    Defect(
        name="other-provider",
        what="session_meta names another provider",
        change=put(META, "somebody-else", "payload", "model_provider"),
    ),
    Defect(
        name="other-directory",
        what="session_meta names another working directory",
        change=put(META, "/srv/elsewhere", "payload", "cwd"),
    ),
    Defect(
        name="no-timestamps", what="no record has a time", change=without_everywhere("timestamp")
    ),
    Defect(
        name="paginated-without-ordinals",
        what="session_meta says paginated and no record has an ordinal",
        change=put(META, "paginated", "payload", "history_mode"),
    ),
    Defect(name="no-events", what="there is no user_message event", change=drop(EVENT)),
    Defect(
        name="events-only",
        what="there are events and no response items",
        change=lambda written: insert(
            2, _record("event_msg", {"type": "agent_message", "message": SECOND_TEXT})
        )(drop(PROMPT, TEXT, CALL, OUTPUT, ANSWER)(written)),
    ),
    Defect(
        name="unknown-record",
        what="a record is of an unknown type",
        change=insert(TEXT, _record("weather_report", {"rain": True})),
    ),
    Defect(
        name="unknown-item",
        what="a response item is of an unknown type",
        change=insert(TEXT, _record("response_item", {"type": "weather", "rain": True})),
    ),
    Defect(
        name="unknown-event",
        what="an event is of an unknown type",
        change=insert(TEXT, _record("event_msg", {"type": "weather", "rain": True})),
    ),
    Defect(
        name="call-at-end",
        what="the last record is a call without an output",
        change=drop(OUTPUT, ANSWER),
    ),
    Defect(
        name="call-without-output", what="a call in the middle has no output", change=drop(OUTPUT)
    ),
    Defect(name="output-without-call", what="an output's call is not there", change=drop(CALL)),
    Defect(
        name="duplicate-record",
        what="a record stands twice",
        change=doubled(TEXT),
    ),
    Defect(
        name="system-message",
        what="the answer has the role of the system",
        change=put(ANSWER, "system", "payload", "role"),
    ),
    Defect(
        name="rolled-back",
        what="the one turn was rolled back",
        change=insert(7, _record("event_msg", {"type": "thread_rolled_back", "num_turns": 1})),
    ),
    Defect(
        name="compacted-by-summary",
        what="a compaction at the end gives a summary only",
        change=insert(7, _compacted({})),
    ),
    Defect(
        name="compacted-by-replacement",
        what="a compaction at the end gives a history that replaces all",
        change=insert(7, _compacted({"replacement_history": _REPLACEMENT})),
    ),
)
