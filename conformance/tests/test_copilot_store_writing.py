"""What is written for Copilot CLI, and that it reads back as what it was."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.tests.copilot_events import SESSION, Events, bash, request, texts
from transcripts.errors import (
    MissingWorkingDirectory,
    NothingToWrite,
    SessionExists,
    UnwritableSession,
)
from transcripts.losses import LOSS_IDS
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Asset,
    CommandExecution,
    CompactBoundary,
    Error,
    FileChange,
    FileEdit,
    Inherited,
    Opaque,
    Other,
    PermissionRequest,
    Plan,
    PlanItem,
    Question,
    Reasoning,
    Structured,
    SubAgent,
    Superseded,
    Text,
    ToolCall,
    Transcript,
    Usage,
    UserMessage,
    UserQuestion,
    WebSearch,
)
from transcripts.stores.base import WrittenSession
from transcripts.stores.copilot import CopilotStore, writer_faults

NEW = "c0ffee00-1234-4abc-8def-0123456789ab"
START = datetime(2026, 5, 6, 7, 8, 9, 123000, UTC)
SHA = "cd" * 32


def said(text: str) -> tuple[Text, ...]:
    return (Text(text=text),)


def foreign(*messages: AnyMessage, **fields: Any) -> Transcript:
    about: dict[str, Any] = {"cwd": "/m"} | fields
    return Transcript(agent="claude", session_id="s", messages=messages, **about)


def common(number: int, **fields: Any) -> dict[str, Any]:
    at = START + timedelta(seconds=number)
    return {"id": f"m{number}", "at": at, "author": "model"} | fields


def write(transcript: Transcript, home: Path, **fields: Any) -> WrittenSession:
    written = CopilotStore(home).write(transcript, session_id=NEW, **fields)
    assert writer_faults(written.path.parent) == []
    assert {loss.loss for loss in written.losses} <= set(LOSS_IDS)
    return written


def events_of(written: WrittenSession) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.path.read_bytes().split(b"\n") if line]


def back(home: Path) -> Any:
    transcript = CopilotStore(home).read(NEW)
    assert transcript is not None
    return transcript


def answers(written: WrittenSession) -> list[str]:
    return [
        event["data"]["content"]
        for event in events_of(written)
        if event["type"] == "assistant.message"
    ]


def loss_ids(written: WrittenSession) -> list[str]:
    return [loss.loss for loss in written.losses]


def exchange() -> Transcript:
    return foreign(
        UserMessage(**common(1, author="human"), content=said("Grind?")),
        AgentMessage(**common(2), content=said("Ground.")),
    )


# ------------------------------------------------------------------ the frame


def test_a_plain_exchange_crosses_whole(tmp_path: Path) -> None:
    written = write(exchange(), tmp_path)
    assert written.losses == ()
    prompt, answer = back(tmp_path).messages
    assert (prompt.kind, texts(prompt.content)) == ("UserMessage", "Grind?")
    assert (answer.kind, texts(answer.content)) == ("AgentMessage", "Ground.")
    assert prompt.at == START + timedelta(seconds=1)


def test_every_event_has_a_uuid_the_one_before_as_parent_and_millisecond_time(
    tmp_path: Path,
) -> None:
    events = events_of(write(exchange(), tmp_path))
    uuid = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
    assert all(uuid.fullmatch(event["id"]) for event in events)
    assert [event["parentId"] for event in events] == [None, *(e["id"] for e in events[:-1])]
    times = [event["timestamp"] for event in events]
    assert all(re.fullmatch(r"2026-05-06T07:08:\d\d\.123Z", time) for time in times)
    assert times == sorted(times)
    assert [event["type"] for event in events] == [
        "session.start",
        "user.message",
        "assistant.turn_start",
        "assistant.message",
        "assistant.turn_end",
    ]


def test_the_workspace_file_has_no_offset_in_its_times(tmp_path: Path) -> None:
    title = 'Mill: "the # one"\nand more'
    berlin = datetime.fromisoformat("2026-05-06T09:08:09.5+02:00")
    messages = [UserMessage(id="a", at=berlin, author="human", content=said("go"))]
    written = write(foreign(*messages, title=title, git_branch="weir"), tmp_path)
    raw = (written.path.parent / "workspace.yaml").read_text()
    assert "created_at: 2026-05-06T07:08:09.500Z\n" in raw
    assert "updated_at: 2026-05-06T07:08:09.500Z\n" in raw
    found = yaml.load(raw, Loader=yaml.BaseLoader)
    assert (found["id"], found["cwd"], found["branch"]) == (NEW, "/m", "weir")
    assert found["name"] == title


def test_the_directory_is_whole_and_private(tmp_path: Path) -> None:
    session = write(exchange(), tmp_path).path.parent
    assert {path.name for path in session.iterdir()} == {
        "events.jsonl",
        "workspace.yaml",
        "checkpoints",
        "files",
        "research",
    }
    assert [path.name for path in session.parent.iterdir()] == [NEW]
    for path in [session, *session.iterdir()]:
        assert path.stat().st_mode & 0o077 == 0


def test_model_and_release_of_another_store_are_not_taken_over(tmp_path: Path) -> None:
    transcript = foreign(
        AgentMessage(**common(1, model="opus"), content=said("hi")), model="opus", cli_version="2"
    )
    written = write(transcript, tmp_path)
    assert "opus" not in written.path.read_text()
    assert loss_ids(written) == ["model-dropped"]
    start = events_of(written)[0]["data"]
    assert start["copilotVersion"] == "1.0.102"


def test_model_and_release_can_be_given(tmp_path: Path) -> None:
    written = write(exchange(), tmp_path, model="mill-2", cli_version="1.0.60")
    start = events_of(written)[0]["data"]
    assert (start["selectedModel"], start["copilotVersion"]) == ("mill-2", "1.0.60")


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize("session_id", ["mill", "", "../../etc", NEW + "0", f"{NEW}\n"])
def test_an_id_that_is_no_uuid_is_refused(session_id: str, tmp_path: Path) -> None:
    with pytest.raises(UnwritableSession):
        CopilotStore(tmp_path).write(exchange(), session_id=session_id)
    assert list(tmp_path.iterdir()) == []


def test_a_transcript_without_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingWorkingDirectory):
        CopilotStore(tmp_path).write(foreign(*exchange().messages, cwd=None), session_id=NEW)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (Error(**common(1, author="harness"), text="429"),),
        (Reasoning(**common(1), content=(Opaque(form="encrypted", data="x"),)),),
    ],
)
def test_nothing_to_write_is_an_error(messages: Sequence[AnyMessage], tmp_path: Path) -> None:
    with pytest.raises(NothingToWrite):
        CopilotStore(tmp_path).write(foreign(*messages), session_id=NEW)
    assert list(tmp_path.iterdir()) == []


def test_a_session_that_is_there_is_not_touched(tmp_path: Path) -> None:
    written = write(exchange(), tmp_path)
    before = written.path.read_bytes()
    with pytest.raises(SessionExists):
        CopilotStore(tmp_path).write(foreign(*exchange().messages[:1]), session_id=NEW)
    assert written.path.read_bytes() == before
    assert [path.name for path in written.path.parent.parent.iterdir()] == [NEW]


# ------------------------------------------------------------------ commands and calls


@pytest.mark.parametrize("code", [0, 3, -1, 255])
@pytest.mark.parametrize(
    "output", ["", "dust", "dust\n", "\n\ndust  ", "x\n<exited with exit code 9>", "exited with 3"]
)
def test_output_and_exit_status_come_back_as_they_were(
    code: int, output: str, tmp_path: Path
) -> None:
    command = CommandExecution(
        **common(1, external_id="toolu_1", status="failed" if code else "completed"),
        name="Bash",
        command="grind",
        arguments={"command": "grind", "timeout": 9},
        output=said(output) if output else (),
        exit_code=code,
        exit_code_source="text",
    )
    assert write(foreign(command), tmp_path).losses == ()
    (found,) = back(tmp_path).messages
    assert isinstance(found, CommandExecution)
    assert (found.command, found.name, found.external_id) == ("grind", "bash", "toolu_1")
    assert (texts(found.output), found.exit_code) == (output, code)
    assert (found.status, found.error) == (command.status, None)


def test_output_that_only_looks_like_an_ending_is_none(tmp_path: Path) -> None:
    output = "x\n<shellId: 0 completed with exit code 9>"
    command = CommandExecution(**common(1), name="Bash", command="cat", output=said(output))
    write(foreign(command), tmp_path)
    (found,) = back(tmp_path).messages
    assert isinstance(found, CommandExecution)
    assert (found.exit_code, found.status) == (None, "completed")
    assert texts(found.output).rstrip("\n") == output


def test_calls_of_one_response_are_one_answer_and_results_follow_in_order_of_ending(
    tmp_path: Path,
) -> None:
    def call(number: int, seconds: int) -> ToolCall:
        ended = START + timedelta(seconds=seconds)
        fields = common(number, external_id=f"c{number}", response="r", ended_at=ended)
        return ToolCall(**fields, name="Read", output=said(f"of {number}"))

    words = AgentMessage(**common(1, response="r"), content=said("Reading."))
    written = write(foreign(words, call(2, 9), call(3, 5)), tmp_path)
    events = events_of(written)
    (answer,) = [event for event in events if event["type"] == "assistant.message"]
    assert answer["data"]["content"] == "Reading."
    assert [wanted["toolCallId"] for wanted in answer["data"]["toolRequests"]] == ["c2", "c3"]
    ends = [e["data"]["toolCallId"] for e in events if e["type"] == "tool.execution_complete"]
    assert ends == ["c3", "c2"]
    assert [message.external_id for message in back(tmp_path).messages[1:]] == ["c2", "c3"]


def test_words_after_a_call_stay_after_its_result(tmp_path: Path) -> None:
    written = write(
        foreign(
            AgentMessage(**common(1, response="r"), content=said("one")),
            ToolCall(**common(2, response="r"), name="Read", output=said("out")),
            AgentMessage(**common(3, response="r"), content=said("two")),
        ),
        tmp_path,
    )
    assert answers(written) == ["one", "two"]
    assert [message.kind for message in back(tmp_path).messages] == [
        "AgentMessage",
        "ToolCall",
        "AgentMessage",
    ]


def test_calls_that_nothing_says_were_made_at_once_are_not(tmp_path: Path) -> None:
    calls = [ToolCall(**common(n), name="Read", output=said(str(n))) for n in (1, 2)]
    kinds = [event["type"] for event in events_of(write(foreign(*calls), tmp_path))]
    first = kinds.index("tool.execution_complete")
    assert kinds.index("assistant.message", kinds.index("assistant.message") + 1) > first


def test_a_tool_s_error_stays_an_error(tmp_path: Path) -> None:
    call = ToolCall(**common(1, status="failed"), name="Grep", error="bad pattern")
    written = write(foreign(call), tmp_path)
    (found,) = back(tmp_path).messages
    assert isinstance(found, ToolCall)
    assert (found.status, found.error, found.output) == ("failed", "bad pattern", None)
    complete = events_of(written)[-2]["data"]
    assert complete["success"] is False
    assert complete["error"] == {"message": "bad pattern", "code": "failure"}


def test_a_call_without_a_result_is_closed_and_says_so(tmp_path: Path) -> None:
    call = CommandExecution(**common(1, status="unresolved"), name="Bash", command="sleep")
    written = write(foreign(call), tmp_path)
    assert loss_ids(written) == ["call-closed"]
    (found,) = back(tmp_path).messages
    assert isinstance(found, CommandExecution)
    assert found.status == "failed"
    assert found.exit_code is None
    assert "interrupted" in (found.error or "")


def test_a_result_that_nobody_recorded_is_said_to_be_added(tmp_path: Path) -> None:
    written = write(foreign(ToolCall(**common(1), name="Count")), tmp_path)
    assert loss_ids(written) == ["call-closed"]
    (found,) = back(tmp_path).messages
    assert (found.status, texts(found.output)) == ("completed", "")


def test_a_call_that_was_broken_off_is_left_to_an_abort(tmp_path: Path) -> None:
    ran = CommandExecution(**common(1, response="r"), name="Bash", command="ls", output=said("a"))
    cut = CommandExecution(
        **common(1, id="m2", response="r", status="cancelled"), name="Bash", command="sleep"
    )
    then = UserMessage(**common(3, author="human"), content=said("enough"))
    written = write(foreign(ran, cut, then), tmp_path)
    assert loss_ids(written) == []
    kinds = [event["type"] for event in events_of(written)]
    assert kinds[-5:] == [
        "tool.execution_start",
        "tool.execution_complete",
        "assistant.turn_end",
        "abort",
        "user.message",
    ]
    first, second, mark, last = back(tmp_path).messages
    assert (first.status, second.status, second.error) == ("completed", "cancelled", None)
    assert (mark.kind, mark.in_context, last.kind) == ("Other", False, "UserMessage")


def test_what_another_cli_says_of_a_cancelled_call_is_kept(tmp_path: Path) -> None:
    call = CommandExecution(
        **common(1, status="cancelled"), name="Bash", command="sleep", error="stopped by user"
    )
    written = write(foreign(call), tmp_path)
    assert loss_ids(written) == []
    (found,) = back(tmp_path).messages
    assert (found.kind, found.status, found.error) == (
        "CommandExecution",
        "cancelled",
        "stopped by user",
    )


def test_a_declined_call_stays_declined(tmp_path: Path) -> None:
    call = ToolCall(**common(1, status="declined"), name="Edit", error="the person said no")
    write(foreign(call), tmp_path)
    (found,) = back(tmp_path).messages
    assert isinstance(found, ToolCall)
    assert (found.status, found.error) == ("declined", "the person said no")


def test_an_mcp_call_keeps_its_server_and_its_own_name(tmp_path: Path) -> None:
    call = ToolCall(
        **common(1),
        name="count sacks",
        server="grain.store",
        arguments={"n": 1},
        output=(Text(text="7"), Structured(value={"n": 7})),
    )
    written = write(foreign(call), tmp_path)
    assert loss_ids(written) == ["structured-as-text"]
    (found,) = back(tmp_path).messages
    assert isinstance(found, ToolCall)
    assert (found.server, found.name, found.arguments) == ("grain.store", "count sacks", {"n": 1})
    assert texts(found.output) == '7\n{"n":7}'
    requested = events_of(written)[2]["data"]["toolRequests"][0]
    assert requested["name"] == "grain_store-count_sacks"


@pytest.mark.parametrize("call_id", [None, "", "has space", "x" * 65, "tool:1"])
def test_a_call_id_that_providers_refuse_is_replaced(call_id: str | None, tmp_path: Path) -> None:
    call = ToolCall(**common(1, external_id=call_id), name="Read", output=said("x"))
    requested = events_of(write(foreign(call), tmp_path))[2]["data"]["toolRequests"][0]
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", requested["toolCallId"])


@pytest.mark.parametrize(
    ("arguments", "given", "call_id"),
    [
        ("free words", "call_1", "custom_call_1"),
        ("free words", "custom_call_1", "custom_call_1"),
        ({"input": "x"}, "custom_call_1", "call_1"),
    ],
)
def test_the_id_of_a_call_says_whether_it_takes_free_text(
    arguments: Any, given: str, call_id: str, tmp_path: Path
) -> None:
    fields = common(1, external_id=given)
    call = ToolCall(**fields, name="apply", arguments=arguments, output=said("x"))
    requested = events_of(write(foreign(call), tmp_path))[2]["data"]["toolRequests"][0]
    kind = "custom" if isinstance(arguments, str) else "function"
    assert (requested["toolCallId"], requested["type"]) == (call_id, kind)
    assert requested["arguments"] == arguments


def test_two_calls_of_one_id_are_two(tmp_path: Path) -> None:
    calls = [
        ToolCall(**common(n, external_id="same"), name="Read", output=said(str(n))) for n in (1, 2)
    ]
    write(foreign(*calls), tmp_path)
    assert [texts(message.output) for message in back(tmp_path).messages] == ["1", "2"]


# ------------------------------------------------------------------ files


def edited(**edit: Any) -> FileChange:
    given: dict[str, Any] = {"path": "/m/a", "operation": "update"} | edit
    change = FileEdit(**given)
    return FileChange(**common(1), name="Edit", changes=(change,), output=said("edited"))


def test_a_new_file_is_a_call_of_create(tmp_path: Path) -> None:
    written = write(foreign(edited(operation="add", after="oats\n", whole=True)), tmp_path)
    assert written.losses == ()
    (found,) = back(tmp_path).messages
    assert isinstance(found, FileChange)
    assert (found.name, found.arguments) == ("create", {"path": "/m/a", "file_text": "oats\n"})
    assert found.changes[0].after == "oats\n"


def test_an_edit_with_both_texts_is_a_call_of_edit(tmp_path: Path) -> None:
    written = write(foreign(edited(before="rye", after="")), tmp_path)
    assert written.losses == ()
    (found,) = back(tmp_path).messages
    assert isinstance(found, FileChange)
    assert found.arguments == {"path": "/m/a", "old_str": "rye", "new_str": ""}
    assert texts(found.output) == "edited"


def test_a_change_of_two_files_is_two_calls_made_at_once(tmp_path: Path) -> None:
    both = FileChange(
        **common(1),
        name="Patch",
        changes=(
            FileEdit(path="/m/a", operation="add", after="1", whole=True),
            FileEdit(path="/m/b", operation="update", before="2", after="3"),
        ),
        output=said("patched"),
    )
    write(foreign(both), tmp_path)
    one, two = back(tmp_path).messages
    assert isinstance(one, FileChange)
    assert isinstance(two, FileChange)
    assert (one.name, two.name, one.response == two.response) == ("create", "edit", True)


@pytest.mark.parametrize(
    "edit",
    [
        {"operation": "delete", "before": "token-oat"},
        {"operation": "move", "moved_to": "/m/b"},
        {"diff": "-token-rye\n+token-oat"},
        {"after": "token-oat"},
    ],
)
def test_a_change_without_both_texts_is_said(edit: dict[str, Any], tmp_path: Path) -> None:
    written = write(foreign(edited(**edit)), tmp_path)
    assert loss_ids(written) == ["narrated"]
    (words,) = answers(written)
    assert "/m/a" in words


def test_what_was_said_about_a_change_stands_before_it(tmp_path: Path) -> None:
    change = edited(before="rye", after="oat")
    with_words = FileChange(
        **common(1),
        name="Edit",
        changes=change.changes,
        content=said("Now oats."),
        output=said("ok"),
    )
    assert answers(write(foreign(with_words), tmp_path)) == ["Now oats."]
    assert [message.kind for message in back(tmp_path).messages] == ["AgentMessage", "FileChange"]


def test_a_failed_edit_keeps_its_error(tmp_path: Path) -> None:
    failed = FileChange(
        **common(1, status="failed"),
        name="Edit",
        changes=(FileEdit(path="/m/a", operation="update", before="x", after="y"),),
        error="no match",
    )
    write(foreign(failed), tmp_path)
    (found,) = back(tmp_path).messages
    assert isinstance(found, FileChange)
    assert (found.status, found.error) == ("failed", "no match")


# ------------------------------------------------------------------ prose


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (Reasoning(**common(1), content=said("oats first")), "(thinking) oats first"),
        (
            Plan(
                **common(1),
                name="TodoWrite",
                form="checklist",
                items=(PlanItem(text="sow", status="completed"),),
            ),
            "(plan) [x] sow",
        ),
        (WebSearch(**common(1), name="WebSearch", query="oats", output=said("hits")), "oats"),
        (SubAgent(**common(1), name="Task", prompt="count", output=said("nine")), "nine"),
        (
            UserQuestion(
                **common(1), name="Ask", questions=(Question(text="Which?", answer="oats"),)
            ),
            "Asked: Which?\nAnswered: oats",
        ),
        (
            PermissionRequest(**common(1, author="harness"), tool="Bash", decision="denied"),
            "denied",
        ),
    ],
)
def test_what_has_no_record_here_is_said_and_marked(
    message: AnyMessage, words: str, tmp_path: Path
) -> None:
    written = write(foreign(message), tmp_path)
    assert loss_ids(written) == ["narrated"]
    assert words in answers(written)[0]


def test_a_summary_that_opens_the_conversation_is_a_compaction(tmp_path: Path) -> None:
    gone = Superseded(id="m2", why="compaction")
    boundary = CompactBoundary(
        **common(2, author="harness"), trigger="auto", pre_tokens=9, summary=said("they ground")
    )
    old = UserMessage(**common(1, author="human", superseded_by=gone), content=said("old"))
    last = UserMessage(**common(3, author="human"), content=said("next"))
    written = write(foreign(old, boundary, last), tmp_path)
    assert loss_ids(written) == ["superseded-dropped"]
    found, prompt = back(tmp_path).messages
    assert (found.kind, prompt.kind) == ("CompactBoundary", "UserMessage")
    assert (found.trigger, found.pre_tokens, texts(found.summary)) == ("auto", 9, "they ground")


def test_what_a_summary_left_alone_stands_behind_its_beginning(tmp_path: Path) -> None:
    gone = Superseded(id="m4", why="compaction")
    old = AgentMessage(**common(1, superseded_by=gone), content=said("old"))
    asked = UserMessage(**common(2, author="human"), content=said("and now?"))
    kept = AgentMessage(**common(3), content=said("kept"))
    boundary = CompactBoundary(
        **common(4, author="harness"), summary=said("they ground"), preserved=("m3",)
    )
    written = write(foreign(old, asked, kept, boundary), tmp_path)
    assert loss_ids(written) == ["superseded-dropped"]
    found = back(tmp_path).messages
    kinds = [message.kind for message in found]
    assert kinds == ["UserMessage", "AgentMessage", "CompactBoundary"]
    assert [message.superseded_by for message in found] == [None, None, None]
    assert found[2].preserved == (found[0].id, found[1].id)


@pytest.mark.parametrize("summary", [said("they ground"), None])
def test_a_summary_that_would_hide_more_is_said_in_the_user_s_place(
    summary: tuple[Text, ...] | None, tmp_path: Path
) -> None:
    boundary = CompactBoundary(**common(3, author="harness"), summary=summary)
    messages = (*exchange().messages, boundary) if summary else (boundary,)
    written = write(foreign(*messages), tmp_path)
    assert loss_ids(written) == ["narrated"]
    last = back(tmp_path).messages[-1]
    assert (last.kind, last.author) == ("UserMessage", "harness")
    assert "compacted" in texts(last.content)
    assert texts(summary) in texts(last.content)


def test_a_foreign_signature_stays_behind(tmp_path: Path) -> None:
    sealed = Opaque(form="signature", data="c2VjcmV0", provider="anthropic")
    thought = Reasoning(**common(1), content=(*said("oats"), sealed))
    written = write(foreign(thought), tmp_path)
    assert loss_ids(written) == ["reasoning-opaque-dropped", "narrated"]
    assert "c2VjcmV0" not in written.path.read_text()


def test_an_error_is_withheld(tmp_path: Path) -> None:
    failure = Error(**common(3, author="harness"), text="token-overloaded")
    written = write(foreign(*exchange().messages, failure), tmp_path)
    assert [(loss.loss, loss.message) for loss in written.losses] == [("withheld-error", "m3")]
    assert "token-overloaded" not in written.path.read_text()


@pytest.mark.parametrize(
    ("fields", "loss"),
    [
        ({"superseded_by": Superseded(id="x", why="rewind")}, "superseded-dropped"),
        ({"agent": "child"}, "thread-flattened"),
        ({"author": "harness"}, "harness-dropped"),
        ({"author": "hook"}, "harness-dropped"),
    ],
)
def test_what_stays_behind_is_named(fields: dict[str, Any], loss: str, tmp_path: Path) -> None:
    left = UserMessage(**common(3, **({"author": "human"} | fields)), content=said("token-left"))
    written = write(foreign(*exchange().messages, left), tmp_path)
    assert [(one.loss, one.message) for one in written.losses] == [(loss, "m3")]
    assert "token-left" not in written.path.read_text()


def test_usage_of_another_store_is_not_this_one_s(tmp_path: Path) -> None:
    usage = Usage(scope="response", accounting="delta", input=1, output=2)
    message = AgentMessage(**common(1), content=said("hi"), usage=usage)
    assert loss_ids(write(foreign(message), tmp_path)) == ["usage-dropped"]


def test_half_an_emoji_becomes_the_replacement_character(tmp_path: Path) -> None:
    prompt = UserMessage(**common(1, author="human"), content=said("cut \ud83d here"))
    written = write(foreign(prompt), tmp_path)
    assert loss_ids(written) == ["replacement-character"]
    assert b"\\ud83d" not in written.path.read_bytes()
    assert texts(back(tmp_path).messages[0].content) == "cut \ufffd here"


def test_an_image_of_a_prompt_crosses_with_its_bytes(tmp_path: Path) -> None:
    data = "iVBORw0KGgo="
    image = Asset(sha256=SHA, media_type="image/png", data=data, name="p.png")
    prompt = UserMessage(**common(1, author="human"), content=(*said("look"), image))
    assert write(foreign(prompt), tmp_path).losses == ()
    found = back(tmp_path).messages[0].content[1]
    assert isinstance(found, Asset)
    assert (found.data, found.media_type, found.name) == (data, "image/png", "p.png")


def test_an_attachment_without_bytes_is_named(tmp_path: Path) -> None:
    image = Asset(sha256=None, path="/m/p.png")
    prompt = UserMessage(**common(1, author="human"), content=(*said("look"), image))
    written = write(foreign(prompt), tmp_path)
    assert loss_ids(written) == ["asset-dropped"]
    assert texts(back(tmp_path).messages[0].content) == "look\n(attached: /m/p.png)"


def test_times_never_go_back(tmp_path: Path) -> None:
    late, early = exchange().messages
    messages = (
        AgentMessage(**common(9), content=said("late")),
        UserMessage(**common(2, author="human"), content=said("early")),
        UserMessage(id="x", author="human", content=said("never")),
    )
    del late, early
    written = write(foreign(*messages), tmp_path)
    times = [event["timestamp"] for event in events_of(written)]
    assert times == sorted(times)
    assert set(loss_ids(written)) == {"time-moved"}


# ------------------------------------------------------------------ determinism


def test_equal_arguments_give_equal_bytes_in_two_processes_and_on_two_paths(
    tmp_path: Path,
) -> None:
    source = everything().write(tmp_path / "source")
    program = (
        "import sys; from pathlib import Path; from transcripts.stores.copilot import CopilotStore;"
        f"t = CopilotStore.read_path(Path(sys.argv[1]));"
        f"w = CopilotStore(Path(sys.argv[2])).write(t, session_id='{NEW}');"
        "d = w.path.parent;"
        "sys.stdout.buffer.write(b''.join(p.read_bytes() for p in sorted(d.iterdir())"
        " if p.is_file()))"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program, str(source), str(tmp_path / place)],
            check=True,
            capture_output=True,
            env=os.environ | {"PYTHONHASHSEED": seed, "TZ": zone},
        ).stdout
        for place, seed, zone in (("one", "1", "UTC"), ("two", "2", "Asia/Tokyo"))
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 4000


def test_without_any_time_the_clock_given_is_used(tmp_path: Path) -> None:
    prompt = UserMessage(id="a", author="human", content=said("go"))
    written = write(foreign(prompt), tmp_path, now=START)
    assert {event["timestamp"] for event in events_of(written)} == {"2026-05-06T07:08:09.123Z"}


# ------------------------------------------------------------------ the same store


def everything() -> Events:
    """A session with every record that the store has, as 1.0.102 writes them."""
    events = Events()
    events.add("system.message", role="system", content="You mill.")
    events.user("Hello", delivery="idle")
    usage = {"model": "mill-1", "apiCallId": "api-1", "inputTokens": 9, "outputTokens": 2}
    events.add("session.usage_record", usage=usage)
    events.answer(
        "Two things.",
        bash("c1", "grind"),
        request("c2", "view", {"path": "/m/a"}),
        apiCallId="api-1",
        reasoningText="first",
        reasoningOpaque="c2ln",
        reasoningBlocks={
            "provider": "anthropic-messages",
            "blocks": [{"type": "thinking", "thinking": "first", "signature": "c2ln"}],
        },
    )
    events.done("c2", "oats")
    events.done(
        "c1", "dust\n<shellId: 0 completed with exit code 3>", shellExecution={"exitCode": 3}
    )
    events.answer(
        "",
        request("m", "s-count", {"n": 1}, mcpServerName="s", mcpToolName="count"),
        request("e", "edit", {"path": "/m/a", "old_str": "x", "new_str": "y"}),
        request("custom_p", "apply_patch", "*** Begin Patch\n*** End Patch", type="custom"),
        request("q", "ask_user", {"message": "Which?", "requestedSchema": {}}),
        request("x", "exit_plan_mode", {"summary": "short"}),
        request("d", "grep"),
    )
    asked = {"kind": "shell", "toolCallId": "d", "intention": "Look"}
    events.add("permission.requested", requestId="pr", permissionRequest=asked)
    events.add(
        "permission.completed", requestId="pr", toolCallId="d", result={"kind": "denied-by-rules"}
    )
    events.done("m", result={"content": "1", "structuredContent": {"n": 1}})
    events.done("e", "edited", fileEdits=[{"path": "/m/a", "kind": "edit"}])
    events.done("custom_p", "patched")
    events.done("q", "User responded: rye")
    reviewed = {"responseKind": "exit_plan_mode", "planContent": "# long", "summary": "short"}
    events.add("human_response.recorded", requestId="r", toolCallId="x", response=reviewed)
    events.done("x", "approved")
    events.done("d", success=False, error={"message": "denied", "code": "denied"})
    task = {"description": "count", "prompt": "Count", "agent_type": "explore", "mode": "sync"}
    events.answer("", request("t", "task", task))
    events.add("subagent.started", agent="a-1", toolCallId="t", agentName="explore")
    events.add("user.message", agent="a-1", content="Count", source="agent-x")
    events.add(
        "assistant.message",
        agent="a-1",
        messageId="in",
        model="mill-1",
        turnId="0",
        content="Nine.",
        toolRequests=[],
        parentToolCallId="t",
    )
    events.done("t", "Nine.")
    events.add("session.compaction_start", compactionAttemptId="k")
    events.answer("meanwhile")
    events.add(
        "session.compaction_complete",
        success=True,
        compactionAttemptId="k",
        summaryContent="so far",
        trigger="manual",
        preCompactionTokens=5,
    )
    events.add("skill.invoked", name="greet", content="Say hello")
    events.add("system.notification", content="<n>done</n>", kind={"type": "agent_idle"})
    read = request("8f95cc45-8b39-4a8c-9948-1f5c869ad45c", "read_agent", {"agent_id": "a-1"})
    events.add("assistant.message", messageId="syn", content="", toolRequests=[read])
    events.done(read["toolCallId"], "idle")
    shell = {"command": "exit 5", "description": "run"}
    events.add("tool.user_requested", toolCallId="u", toolName="local_shell", arguments=shell)
    events.done("u", success=False, error={"message": "out"}, shellExecution={"exitCode": 5})
    events.add("abort", reason="user_abort")
    image = {"type": "blob", "data": "AAAA", "mimeType": "image/png", "displayName": "i"}
    events.user("last", delivery="queued", attachments=[image])
    return events


_DIFFERS = {"id", "sources", "follows", "turn", "caller", "superseded_by", "preserved"}


def comparable(message: AnyMessage) -> dict[str, Any]:
    fields = {
        name: getattr(message, name) for name in message.__struct_fields__ if name not in _DIFFERS
    }
    return fields | {
        "kind": message.kind,
        "replaced": message.superseded_by is not None,
        "called": message.caller is not None,
    }


def test_the_same_store_keeps_everything_it_has_a_record_for(tmp_path: Path) -> None:
    source = CopilotStore.read_path(everything().write(tmp_path / "source"))
    assert len({message.kind for message in source.messages}) == 12  # all but Error and WebSearch
    assert write(source, tmp_path).losses == ()
    copy = back(tmp_path)
    kept = [comparable(message) for message in source.messages]
    assert [comparable(message) for message in copy.messages] == kept
    for name in ("cwd", "model", "cli_version", "git_branch", "title"):
        assert getattr(copy, name) == getattr(source, name)


def test_a_copy_of_a_copy_is_the_copy(tmp_path: Path) -> None:
    source = CopilotStore.read_path(everything().write(tmp_path / "source"))
    write(source, tmp_path / "one")
    first = back(tmp_path / "one")
    assert write(first, tmp_path / "two").losses == ()
    kept = [comparable(message) for message in first.messages]
    assert [comparable(message) for message in back(tmp_path / "two").messages] == kept


def test_an_abort_stands_behind_what_it_cut_off_and_is_written_once(tmp_path: Path) -> None:
    events = Events()
    events.user("go")
    events.answer("", bash("c", "sleep 9"), bash("d", "ls"))
    events.done("d", "x\n<shellId: 0 completed with exit code 0>")
    events.add("abort", reason="user_abort")
    events.user("enough")
    source = CopilotStore.read_path(events.write(tmp_path / "source"))
    written = write(source, tmp_path)
    kinds = [event["type"] for event in events_of(written)]
    assert kinds.count("abort") == kinds.count("tool.execution_complete") == 1
    assert kinds.index("abort") > kinds.index("tool.execution_complete")
    assert written.losses == ()
    kept = [comparable(message) for message in source.messages]
    assert [comparable(message) for message in back(tmp_path).messages] == kept


def test_summaries_begin_behind_what_they_replaced(tmp_path: Path) -> None:
    """Prompts stay: the first message that a summary left alone may stand long before it."""
    events = Events()
    events.user("one")
    events.answer("old")
    events.user("two")
    events.add("session.compaction_start", compactionAttemptId="k")
    events.answer("meanwhile")
    events.add(
        "session.compaction_complete", success=True, compactionAttemptId="k", summaryContent="s1"
    )
    events.user("three")
    events.answer("late")
    events.add("session.compaction_start", compactionAttemptId="l")
    events.add(
        "session.compaction_complete", success=True, compactionAttemptId="l", summaryContent="s2"
    )
    source = CopilotStore.read_path(events.write(tmp_path / "source"))
    written = write(source, tmp_path)
    copy = back(tmp_path)
    place = {message.id: number for number, message in enumerate(source.messages)}
    again = {message.id: number for number, message in enumerate(copy.messages)}
    for mine, theirs in zip(source.messages, copy.messages, strict=True):
        assert comparable(mine) == comparable(theirs)
        replaced = [one.superseded_by and one.superseded_by.id for one in (mine, theirs)]
        assert place.get(replaced[0] or "") == again.get(replaced[1] or "")
        if isinstance(mine, CompactBoundary) and isinstance(theirs, CompactBoundary):
            assert [place[one] for one in mine.preserved] == [
                again[one] for one in theirs.preserved
            ]
    began, done = (
        [
            event["data"]["compactionAttemptId"]
            for event in events_of(written)
            if event["type"] == kind
        ]
        for kind in ("session.compaction_start", "session.compaction_complete")
    )
    assert began == done
    assert len(set(began)) == 2


def test_an_inherited_message_is_written_as_the_copy_s_own(tmp_path: Path) -> None:
    taken = UserMessage(
        **common(1, author="human", inherited_from=Inherited(session=SESSION)), content=said("go")
    )
    write(foreign(taken), tmp_path)
    assert back(tmp_path).messages[0].inherited_from is None


def test_another_record_of_this_store_is_kept_whole(tmp_path: Path) -> None:
    other = Other(**common(1, author="harness"), record="skill.invoked", value={"name": "greet"})
    transcript = Transcript(agent="copilot", session_id=SESSION, cwd="/m", messages=(other,))
    write(transcript, tmp_path)
    (found,) = back(tmp_path).messages
    assert isinstance(found, Other)
    assert (found.record, found.value) == ("skill.invoked", {"name": "greet"})


def test_a_cleared_context_is_written_as_one(tmp_path: Path) -> None:
    events = Events()
    events.user("first")
    events.add("session.context_cleared", messagesCleared=1)
    events.user("next")
    source = CopilotStore.read_path(events.write(tmp_path / "source"))
    kinds = [event["type"] for event in events_of(write(source, tmp_path))]
    assert kinds == ["session.start", "user.message", "session.context_cleared", "user.message"]


def test_the_resume_command_names_the_session(tmp_path: Path) -> None:
    assert CopilotStore(tmp_path).resume_command(NEW) == ("copilot", f"--resume={NEW}")
