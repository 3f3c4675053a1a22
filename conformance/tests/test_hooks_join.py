"""Hooks and transcript of one run: what one of them lost the other one tells, by a named rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance.shapes import schema_of
from conformance.tests.hook_trees import log_lines
from transcripts.errors import SessionNotFound
from transcripts.hooks import CaptureLog, find_dialect
from transcripts.hooks.joining import Join, join
from transcripts.reading import read_path
from transcripts.serialise import to_json

SESSION = "11111111-1111-4111-8111-111111111111"


def _record(kind: str, number: int, content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": f"00000000-0000-4000-8000-{number:012}",
        "parentUuid": f"00000000-0000-4000-8000-{number - 1:012}" if number > 1 else None,
        "sessionId": SESSION,
        "cwd": "/w",
        "version": "2.1.50",
        "isSidechain": False,
        "timestamp": f"2026-01-10T10:00:{number:02}.000Z",
        "message": {"role": kind, "content": content},
        **fields,
    }


def _call(number: int, name: str, **given: Any) -> dict[str, Any]:
    use = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
    return _record("assistant", number, [use])


def _result(number: int, call: int, text: str, *, failed: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"t{call}", "content": text, "is_error": failed}
    return _record("user", number, [block])


RECORDS = [
    _record("user", 1, "Edit it"),
    _call(2, "Edit", file_path="/w/a", old_string="x", new_string="y"),
    _result(3, 2, "String not found", failed=True),
    _call(4, "Bash", command="slow"),
    _call(5, "Read", file_path="/w/b"),
    _result(6, 5, "b"),
]


def _event(name: str, second: int, **fields: Any) -> dict[str, Any]:
    at = f"2026-01-10T10:00:{second:02}.500Z"
    return {"hook_event_name": name, "session_id": SESSION, "observed_at": at, **fields}


EVENTS = [
    _event("UserPromptSubmit", 1, prompt="Edit it"),
    _event("PreToolUse", 2, tool_name="Edit", tool_use_id="t2", tool_input={"file_path": "/w/a"}),
    _event("PreToolUse", 4, tool_name="Bash", tool_use_id="t4", tool_input={"command": "slow"}),
    _event("PreToolUse", 7, tool_name="Bash", tool_use_id="t9", tool_input={"command": "more"}),
    _event("PostToolUse", 8, tool_name="Bash", tool_use_id="t9"),
    _event("Stop", 9),
]


@pytest.fixture
def joined(tmp_path: Path) -> Join:
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in RECORDS))
    dialect = find_dialect("claude")
    events = CaptureLog(tmp_path, dialect).read(log_lines(EVENTS))
    return join(events, dialect, read_path(path, "claude"))


def test_a_failure_without_an_event_is_told_by_the_transcript(joined: Join) -> None:
    (edit,) = (call for call in joined.calls if call.name == "Edit")
    assert (edit.status, edit.source, edit.rule) == (
        "failed",
        "transcript",
        "only-one-saw-the-end",
    )
    assert [(one.event, one.hooks, one.transcript) for one in joined.disagreements] == [
        (2, "unresolved", "failed")
    ]


def test_what_neither_saw_end_stays_open(joined: Join) -> None:
    slow = next(call for call in joined.calls if call.event == 3)
    assert (slow.status, slow.source, slow.duration_ms) == ("unresolved", "both", None)


def test_what_only_one_of_them_tells_of_is_listed_and_not_denied(joined: Join) -> None:
    assert [(one.event, one.name) for one in joined.only_in_hooks] == [(4, "Bash")]
    assert [one.name for one in joined.only_in_transcript] == ["Read"]
    assert joined.prompts == 1


def test_a_join_is_of_its_shape(joined: Join) -> None:
    Draft202012Validator(schema_of("hooks-join")).validate(json.loads(to_json(joined)))


def test_a_log_of_another_session_is_refused(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in RECORDS))
    dialect = find_dialect("claude")
    other = [{**event, "session_id": "another"} for event in EVENTS]
    with pytest.raises(SessionNotFound, match="another"):
        join(CaptureLog(path, dialect).read(log_lines(other)), dialect, read_path(path, "claude"))
