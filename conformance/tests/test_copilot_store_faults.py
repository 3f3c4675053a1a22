"""Everything that Copilot CLI refuses in a written session has a name of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.tests.copilot_events import Events, bash
from transcripts.stores.copilot import CopilotStore, writer_faults


def sound() -> Events:
    events = Events()
    events.user("go")
    events.answer("", bash("c", "ls"))
    events.add("tool.execution_start", toolCallId="c", toolName="bash", arguments={})
    events.done("c", "rye")
    return events


def named(events: Events, tmp_path: Path, raw: bytes | None = None) -> list[tuple[str, int | None]]:
    return [(fault.fault, fault.line) for fault in writer_faults(events.write(tmp_path, raw))]


def test_a_sound_session_has_no_fault(tmp_path: Path) -> None:
    assert named(sound(), tmp_path) == []


@pytest.mark.parametrize(
    ("line", "place", "value", "fault"),
    [
        (2, ("id",), "evt-2", "id-not-uuid"),
        (2, ("parentId",), "evt-1", "parent-id-not-uuid"),
        (2, ("timestamp",), "2026-03-04T09:00:01.0000000+00:00", "time-form"),
        (2, ("timestamp",), "2026-03-04T09:00:01Z", "time-form"),
        (1, ("data", "startTime"), "2026-03-04T09:00:00.0000000+00:00", "time-form"),
        (1, ("data", "producer"), None, "producer-not-text"),
        (2, ("data", "content"), ["go"], "content-not-text"),
        (3, ("data", "messageId"), None, "message-id-not-text"),
        (3, ("data", "content"), None, "content-not-text"),
        (3, ("data", "reasoningBlocks"), "x", "reasoning-blocks-not-object"),
        (5, ("data", "result"), "plain text", "result-not-object"),
        (5, ("data", "result"), {"contents": "x"}, "content-not-text"),
        (5, ("data", "error"), "boom", "error-not-object"),
        (5, ("data", "success"), "yes", "success-not-boolean"),
        (3, ("data",), "x", "data-not-object"),
    ],
)
def test_each_fault_is_named_with_its_line(
    line: int, place: tuple[str, ...], value: Any, fault: str, tmp_path: Path
) -> None:
    events = sound()
    target: Any = events.lines[line - 1]
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    assert (fault, line) in named(events, tmp_path)


def test_three_silent_refusals_are_three_faults(tmp_path: Path) -> None:
    events = sound()
    events.lines[1]["id"] = "not-a-uuid"
    events.lines[2]["timestamp"] = "2026-03-04T09:00:02.0000000+00:00"
    events.lines[4]["data"]["result"] = "plain"
    assert named(events, tmp_path) == [
        ("id-not-uuid", 2),
        ("time-form", 3),
        ("result-not-object", 5),
    ]


def test_a_reader_tolerates_what_a_writer_must_not_write(tmp_path: Path) -> None:
    events = sound()
    events.lines[1]["id"] = "not-a-uuid"
    events.lines[4]["data"]["result"] = "plain"
    messages = CopilotStore.read_path(events.write(tmp_path)).messages
    assert [message.kind for message in messages] == ["UserMessage", "CommandExecution"]


def test_a_missing_parent_id_is_a_fault_and_null_is_none(tmp_path: Path) -> None:
    events = sound()
    events.lines[3]["parentId"] = None
    del events.lines[1]["parentId"]
    assert named(events, tmp_path) == [("parent-id-missing", 2)]


def test_a_call_without_a_result_is_a_fault(tmp_path: Path) -> None:
    events = sound()
    del events.lines[4]
    assert named(events, tmp_path) == [("call-not-closed", 3)]


def test_an_abort_between_a_call_and_its_result_is_a_fault(tmp_path: Path) -> None:
    events = sound()
    last = events.lines.pop()
    events.add("abort", reason="user_abort")
    events.lines.append(last | {"id": "0badcafe-0000-4000-8000-0000000000ff"})
    assert named(events, tmp_path) == [("abort-before-result", 5)]


def test_a_call_that_an_abort_cut_off_has_no_result_and_no_fault(tmp_path: Path) -> None:
    events = sound()
    events.lines.pop()
    events.add("abort", reason="user_abort")
    assert named(events, tmp_path) == []


def test_a_session_that_does_not_start_is_a_fault(tmp_path: Path) -> None:
    events = sound()
    raw = events.text().encode().split(b"\n", 1)[1]
    assert named(events, tmp_path, raw) == [("session-start-not-first", 1)]


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (b"{oops\n", "not-json"),
        (b"[1]\n", "not-an-object"),
        (b'{"a":"\xff"}\n', "not-utf8"),
        (b"\0\0\0", "not-json"),
    ],
)
def test_a_line_that_is_no_event_is_a_fault(damage: bytes, fault: str, tmp_path: Path) -> None:
    events = sound()
    assert (fault, 6) in named(events, tmp_path, events.text().encode() + damage)


def test_a_cut_last_line_is_a_fault(tmp_path: Path) -> None:
    events = sound()
    assert ("no-final-newline", 5) in named(events, tmp_path, events.text().encode()[:-1])


def test_an_empty_file_is_a_fault(tmp_path: Path) -> None:
    assert named(sound(), tmp_path, b"") == [("empty", 1)]


def test_no_file_is_a_fault(tmp_path: Path) -> None:
    assert [fault.fault for fault in writer_faults(tmp_path)] == ["events-missing"]


@pytest.mark.parametrize(
    ("workspace", "faults"),
    [
        ("id: x\ncreated_at: 2026-03-04T09:00:00.000Z\n", []),
        ("id: x\ncreated_at: '2026-03-04T09:00:00Z'\n", []),
        ("id: x\ncreated_at: 2026-03-04T09:00:00.0000000+00:00\n", ["workspace-time-form"]),
        ("id: x\nupdated_at: 2026-03-04T09:00:00.000+00:00\n", ["workspace-time-form"]),
        ("id: x\nupdated_at: yesterday\n", ["workspace-time-form"]),
        ("cwd: /m\n", ["workspace-without-id"]),
        ("", ["workspace-not-mapping"]),
        ("id: [\n", ["workspace-unreadable"]),
    ],
)
def test_a_workspace_file_that_is_refused_is_a_fault(
    workspace: str, faults: list[str], tmp_path: Path
) -> None:
    session = sound().write(tmp_path)
    (session / "workspace.yaml").write_text(workspace)
    assert [fault.fault for fault in writer_faults(session)] == faults
