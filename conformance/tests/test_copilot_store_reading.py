"""What Copilot CLI's sessions read as, each fault and quirk with an input of its own."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.tests.copilot_events import SESSION, Events, bash, event_id, request, texts
from transcripts import serialise
from transcripts.errors import DamagedRecord, NoMessages, NotATranscript
from transcripts.ids import derive
from transcripts.model import (
    AgentMessage,
    Asset,
    CommandExecution,
    CompactBoundary,
    Error,
    FileChange,
    Inherited,
    Opaque,
    Other,
    PermissionRequest,
    Plan,
    Reasoning,
    Structured,
    SubAgent,
    Text,
    ToolCall,
    UserMessage,
    UserQuestion,
)
from transcripts.stores.copilot import CopilotStore

PIXEL = base64.b64encode(b"\x89PNG a pixel of flour").decode()


def read(events: Events, tmp_path: Path, *, recover: bool = False) -> Any:
    return CopilotStore.read_path(events.write(tmp_path), recover=recover)


def only(events: Events, tmp_path: Path, kind: type) -> Any:
    found = [message for message in read(events, tmp_path).messages if type(message) is kind]
    assert len(found) == 1
    return found[0]


# ------------------------------------------------------------------ prompts and answers


def test_a_plain_exchange_is_read_with_its_frame(tmp_path: Path) -> None:
    events = Events()
    events.user("Is the weir open?", delivery="idle")
    events.answer("It is open.")
    session = events.write(tmp_path)
    (session / "workspace.yaml").write_text("id: x\ncwd: /srv/mill\nname: Weir talk\n")
    transcript = CopilotStore.read_path(session)
    assert transcript.session_id == SESSION
    assert (transcript.cwd, transcript.git_branch) == ("/srv/mill", "weir")
    assert (transcript.model, transcript.cli_version) == ("mill-1", "1.0.102")
    assert transcript.title == "Weir talk"
    assert transcript.source_path == f"session-state/{SESSION}/events.jsonl"
    prompt, answer = transcript.messages
    assert isinstance(prompt, UserMessage)
    assert isinstance(answer, AgentMessage)
    assert (prompt.author, prompt.delivery) == ("human", "typed")
    assert answer.follows == prompt.id
    scope = derive("GithubCopilotCli", SESSION)
    assert prompt.id == derive(scope, event_id(1))
    assert answer.id == derive(scope, "m2")


def test_what_the_person_wrote_is_read_and_not_what_the_cli_made_of_it(tmp_path: Path) -> None:
    events = Events()
    events.user("grind", transformedContent="<now>noon</now>\n\ngrind")
    assert texts(only(events, tmp_path, UserMessage).content) == "grind"


def test_equal_prompts_are_two_messages(tmp_path: Path) -> None:
    events = Events()
    events.user("again")
    events.user("again")
    first, second = read(events, tmp_path).messages
    assert first.id != second.id


def test_an_id_recorded_twice_gives_two_ids(tmp_path: Path) -> None:
    events = Events()
    events.user("one")
    events.user("two")
    events.lines[2]["id"] = events.lines[1]["id"]
    first, second = read(events, tmp_path).messages
    assert first.id != second.id


@pytest.mark.parametrize(
    ("source", "author"),
    [(None, "human"), ("autopilot", "harness"), ("skill-greet", "harness"), ("agent-x", "agent")],
)
def test_a_prompt_says_who_sent_it(source: str | None, author: str, tmp_path: Path) -> None:
    events = Events()
    events.user("go", **({} if source is None else {"source": source}))
    assert only(events, tmp_path, UserMessage).author == author


def test_what_autopilot_says_is_what_it_told_the_model(tmp_path: Path) -> None:
    events = Events()
    told = "<now>noon</now>\n\nGo on grinding."
    events.user("", source="autopilot", isAutopilotContinuation=True, transformedContent=told)
    assert texts(only(events, tmp_path, UserMessage).content) == told


def test_a_skill_is_in_context_by_what_was_delivered_of_it(tmp_path: Path) -> None:
    events = Events()
    events.add("skill.invoked", name="greet", content="Say hello", pluginName=None)
    events.add("skill.context_delivered_ref", source="skill-greet", contentId="sha256:ab")
    skill, delivered = read(events, tmp_path).messages
    assert (skill.in_context, delivered.in_context) == (False, True)
    # 1.0.60 refuses a skill without a plugin that says so with null.
    assert skill.value == {"name": "greet", "content": "Say hello"}


@pytest.mark.parametrize(
    ("recorded", "delivery"), [("idle", "typed"), ("queued", "queued"), ("steering", "steered")]
)
def test_how_a_prompt_was_delivered_is_kept(recorded: str, delivery: str, tmp_path: Path) -> None:
    events = Events()
    events.user("go", delivery=recorded)
    assert only(events, tmp_path, UserMessage).delivery == delivery


def test_an_attachment_finds_its_bytes_stored_before_it(tmp_path: Path) -> None:
    events = Events()
    digest = "ab" * 32
    events.add("session.binary_asset", assetId=f"sha256:{digest}", data=PIXEL, type="image")
    events.user(
        "look",
        attachments=[
            {
                "type": "file",
                "path": "/srv/mill/p.png",
                "displayName": "p.png",
                "assetId": f"sha256:{digest}",
                "mimeType": "image/png",
                "byteLength": 20,
            },
            {"type": "selection", "filePath": "/srv/mill/a.py", "text": "wheel"},
        ],
    )
    words, image, selection = only(events, tmp_path, UserMessage).content
    assert words == Text(text="look")
    assert image == Asset(
        sha256=digest,
        media_type="image/png",
        data=PIXEL,
        path="/srv/mill/p.png",
        name="p.png",
        size=20,
    )
    assert isinstance(selection, Structured)
    assert selection.value["text"] == "wheel"


def test_a_thought_keeps_its_words_and_what_only_the_provider_reads(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "mill first", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "c2VhbGVk"},
    ]
    events = Events()
    events.answer(
        "so",
        reasoningText="mill first",
        reasoningOpaque="c2ln",
        reasoningBlocks={"provider": "anthropic-messages", "blocks": blocks},
    )
    thought, answer = read(events, tmp_path).messages
    assert isinstance(thought, Reasoning)
    assert thought.content == (
        Text(text="mill first"),
        Opaque(form="signature", data="c2ln", provider="anthropic-messages"),
        Opaque(form="redacted", data="c2VhbGVk", provider="anthropic-messages"),
    )
    assert thought.response == answer.response


def test_a_thought_of_an_older_release_is_read_from_its_fields(tmp_path: Path) -> None:
    events = Events()
    events.answer("so", reasoningText="mill", reasoningOpaque="rs_1", encryptedContent="ZW5j")
    assert only(events, tmp_path, Reasoning).content == (
        Text(text="mill"),
        Opaque(form="signature", data="rs_1"),
        Opaque(form="encrypted", data="ZW5j"),
    )


def test_a_thought_that_is_an_event_of_its_own_stands_before_its_answer(tmp_path: Path) -> None:
    events = Events()
    events.user("Oats or rye?")
    events.answer("Oats.", bash("call_1", "weigh oats"), model=None)
    events.add("assistant.reasoning", reasoningId="r1", content="Rye is damp.")
    events.done("call_1", "9")
    events.answer("Nine sacks.")
    events.add("assistant.reasoning", reasoningId="r2", content="Nine it is.")
    transcript = read(events, tmp_path)
    assert [
        (message.kind, texts(getattr(message, "content", ()))) for message in transcript.messages
    ] == [
        ("UserMessage", "Oats or rye?"),
        ("Reasoning", "Rye is damp."),
        ("AgentMessage", "Oats."),
        ("CommandExecution", ""),
        ("Reasoning", "Nine it is."),
        ("AgentMessage", "Nine sacks."),
    ]
    _, thought, words, *_ = transcript.messages
    assert (thought.response, thought.external_id) == (words.response, words.external_id)
    assert [source.line for source in thought.sources] == [4]
    assert words.follows == thought.id
    assert [one.record for one in transcript.unread] == ["session.start"]


def test_a_thought_that_its_answer_holds_too_is_told_once(tmp_path: Path) -> None:
    events = Events()
    events.user("Oats or rye?")
    events.answer("Oats.", reasoningText="Rye is damp.")
    events.add("assistant.reasoning", reasoningId="r1", content="Rye is damp.")
    transcript = read(events, tmp_path)
    assert [one.kind for one in transcript.messages] == ["UserMessage", "Reasoning", "AgentMessage"]


def test_a_thought_of_a_subagent_s_is_on_its_thread_and_one_of_nobody_s_stands_alone(
    tmp_path: Path,
) -> None:
    events = Events()
    events.user("Have it looked at.")
    events.answer("", request("call_t", "task", {"prompt": "Look."}))
    events.add("subagent.started", toolCallId="call_t")
    events.answer("A crack.", parentToolCallId="call_t")
    events.add("assistant.reasoning", reasoningId="r1", content="Along the grain.")
    events.add("abort")
    events.add("assistant.reasoning", reasoningId="r2", content="Adrift.")
    found = [m for m in read(events, tmp_path).messages if isinstance(m, Reasoning)]
    assert [(texts(one.content), one.agent) for one in found] == [
        ("Along the grain.", "call_t"),
        ("Adrift.", None),
    ]


@pytest.mark.parametrize(
    ("release", "authors"),
    [("1.0.20", ["model", "harness", "model", "model"]), ("1.0.40", ["model"] * 4)],
)
def test_a_thought_left_over_from_the_answer_before_is_nobody_s_second_thought(
    release: str, authors: list[str], tmp_path: Path
) -> None:
    events = Events()
    events.lines[0]["data"]["copilotVersion"] = release
    events.user("Oats or rye?")
    events.answer("Weighing.", bash("call_1", "weigh oats"), reasoningText="Rye is damp.")
    events.done("call_1", "9")
    events.answer("Oats.", reasoningText="Rye is damp.", outputTokens=30)
    events.user("Sure?")
    events.answer("Sure.", reasoningText="Rye is damp.")
    events.answer("Quite.", reasoningText="Rye is damp.", reasoningOpaque="c2VhbA==")
    transcript = read(events, tmp_path)
    found = [one for one in transcript.messages if isinstance(one, Reasoning)]
    assert [one.author for one in found] == authors
    assert [one.in_context for one in found] == [author == "model" for author in authors]
    counted = [one for one in transcript.messages if one.usage is not None]
    assert [one.author for one in counted] == ["model"]


def test_usage_is_counted_once_for_a_response(tmp_path: Path) -> None:
    events = Events()
    usage = {"apiCallId": "api-7", "inputTokens": 90, "outputTokens": 4, "cacheReadTokens": 0}
    events.add("session.usage_record", usage=usage)
    events.answer("words", bash("c1", "true"), bash("c2", "true"), apiCallId="api-7")
    events.done("c1", "\n<shellId: 0 completed with exit code 0>")
    events.done("c2", "\n<shellId: 1 completed with exit code 0>")
    counted = [message.usage for message in read(events, tmp_path).messages]
    assert [usage is not None for usage in counted] == [True, False, False]
    assert counted[0] is not None
    assert (counted[0].input, counted[0].output, counted[0].cache_read) == (90, 4, 0)
    assert counted[0].cache_write is None


def test_an_answer_that_the_cli_wrote_itself_is_the_harness_s(tmp_path: Path) -> None:
    events = Events()
    events.add("system.notification", content="<n>idle</n>", kind={"type": "agent_idle"})
    fetch = request("11111111-2222-4333-8444-555555555555", "read_agent", {"agent_id": "a"})
    events.add("assistant.message", messageId="m", content="", toolRequests=[fetch])
    events.done(fetch["toolCallId"], "the report")
    notice, call = read(events, tmp_path).messages
    assert (notice.author, notice.provenance) == ("harness", "system.notification:agent_idle")
    assert notice.content == (Text(text="<n>idle</n>"), Structured(value={"type": "agent_idle"}))
    assert (type(call), call.author, texts(call.output)) == (ToolCall, "harness", "the report")


def test_what_is_only_counted_stands_between_all_the_same(tmp_path: Path) -> None:
    events = Events()
    events.add("system.notification", content="<n>idle</n>", kind={"type": "agent_idle"})
    events.add("assistant.turn_start", turnId="0")
    events.add("assistant.message", messageId="m", content="done")
    end = events.add("assistant.turn_end", turnId="0")
    events.lines.append(dict(events.lines[-1]))
    transcript = read(events, tmp_path)
    assert transcript.messages[1].author == "model"
    assert {one.record: one.count for one in transcript.unread} == {
        "assistant.turn_end": 1,
        "assistant.turn_start": 1,
        "session.start": 1,
    }
    assert [(one.kind, one.line) for one in transcript.damage] == [("duplicate_record", 6)]
    assert end in transcript.damage[0].why
    assert f"{transcript.updated_at:%M:%S}" == "00:04"


# ------------------------------------------------------------------ commands


@pytest.mark.parametrize(
    "trailer", ["<exited with exit code 3>", "<shellId: north-1 completed with exit code 3>"]
)
def test_an_exit_status_in_words_is_taken_off_the_output(trailer: str, tmp_path: Path) -> None:
    events = Events()
    events.answer("", bash("c", "grind"))
    events.done("c", f"dust\n\n{trailer}")
    command = only(events, tmp_path, CommandExecution)
    assert (command.command, texts(command.output)) == ("grind", "dust\n")
    assert (command.exit_code, command.exit_code_source) == (3, "text")
    assert (command.status, command.error) == ("failed", None)


def test_a_recorded_exit_status_wins_over_what_the_command_printed(tmp_path: Path) -> None:
    events = Events()
    events.answer("", bash("c", "cat log"))
    events.done("c", "<exited with exit code 9>", shellExecution={"exitCode": 0})
    command = only(events, tmp_path, CommandExecution)
    assert texts(command.output) == "<exited with exit code 9>"
    assert (command.exit_code, command.exit_code_source) == (0, "field")
    assert command.status == "completed"


def test_words_inside_the_output_are_no_exit_status(tmp_path: Path) -> None:
    events = Events()
    events.answer("", bash("c", "cat log"))
    events.done("c", "<exited with exit code 9>\nand more")
    command = only(events, tmp_path, CommandExecution)
    assert texts(command.output) == "<exited with exit code 9>\nand more"
    assert (command.exit_code, command.exit_code_source) == (None, "none")


def test_a_command_without_output_has_none(tmp_path: Path) -> None:
    events = Events()
    events.answer("", bash("c", "true"))
    events.done("c", "\n<shellId: 0 completed with exit code 0>", shellExecution={"exitCode": 0})
    command = only(events, tmp_path, CommandExecution)
    assert (command.output, command.exit_code) == ((), 0)


def test_a_command_in_the_background_is_no_finished_one(tmp_path: Path) -> None:
    events = Events()
    events.answer("", bash("c", "wheel"))
    events.done("c", "<command started in background with shellId: w2>")
    command = only(events, tmp_path, CommandExecution)
    assert (command.background_id, command.output, command.exit_code) == ("w2", (), None)


def test_what_was_too_large_to_show_says_where_it_lies(tmp_path: Path) -> None:
    shown = "Output too large to read at once (9 KB). Saved to: /tmp/flour.txt\n\nfirst lines"
    events = Events()
    events.answer("", bash("c", "seq"))
    events.done("c", shown, shellExecution={"exitCode": 0})
    command = only(events, tmp_path, CommandExecution)
    assert (command.output_extent, command.overflow_path) == ("elsewhere", "/tmp/flour.txt")


def test_a_command_of_the_person_s_own_is_theirs_and_keeps_its_output(tmp_path: Path) -> None:
    events = Events()
    asked = {"command": "ls; exit 5", "description": "run"}
    events.add("tool.user_requested", toolCallId="u", toolName="local_shell", arguments=asked)
    events.done(
        "u",
        success=False,
        error={"message": "sacks"},
        shellExecution={"exitCode": 5},
        isUserRequested=True,
    )
    command = only(events, tmp_path, CommandExecution)
    assert (command.author, command.command, command.exit_code) == ("human", "ls; exit 5", 5)
    assert (texts(command.output), command.error, command.status) == ("sacks", None, "failed")


# ------------------------------------------------------------------ calls and results


def test_calls_stand_where_they_were_requested_whatever_finished_first(tmp_path: Path) -> None:
    events = Events()
    events.answer("", bash("a", "slow"), request("b", "view", {"path": "/x"}), bash("c", "mid"))
    for call in ("b", "c", "a"):
        events.done(call, f"of {call}")
    events.answer("done")
    messages = read(events, tmp_path).messages
    assert [message.external_id for message in messages] == ["a", "b", "c", "m5"]
    assert [texts(message.output) for message in messages[:3]] == ["of a", "of b", "of c"]
    assert len({message.response for message in messages[:3]}) == 1


def test_a_failed_call_has_an_error_and_no_output(tmp_path: Path) -> None:
    events = Events()
    events.answer("", request("c", "grep"))
    events.done("c", success=False, error={"message": "no such field", "code": "failure"})
    call = only(events, tmp_path, ToolCall)
    assert (call.status, call.error, call.output) == ("failed", "no such field", None)


@pytest.mark.parametrize("code", ["denied", "rejected"])
def test_a_denied_call_is_declined(code: str, tmp_path: Path) -> None:
    events = Events()
    events.answer("", bash("c", "rm -rf dam"))
    events.done("c", success=False, error={"message": "not allowed", "code": code})
    command = only(events, tmp_path, CommandExecution)
    assert (command.status, command.error) == ("declined", "not allowed")


def test_a_call_without_a_result_is_unresolved(tmp_path: Path) -> None:
    events = Events()
    events.answer("", bash("c", "sleep 9"))
    events.add("tool.execution_start", toolCallId="c", toolName="bash")
    assert only(events, tmp_path, CommandExecution).status == "unresolved"


def test_a_call_that_the_person_cut_off_is_cancelled(tmp_path: Path) -> None:
    events = Events()
    events.answer("", bash("c", "sleep 9"))
    events.add("abort", reason="user_abort")
    command, abort = read(events, tmp_path).messages
    assert command.status == "cancelled"
    assert (type(abort), abort.record, abort.author) == (Other, "abort", "harness")


def test_a_call_of_an_mcp_server_is_named_apart_from_it(tmp_path: Path) -> None:
    events = Events()
    wire = request("c", "grain-store-count", {"sacks": 1})
    wire |= {"mcpServerName": "grain-store", "mcpToolName": "count"}
    events.answer("", wire)
    events.done("c", result={"content": "7", "structuredContent": {"n": 7}})
    call = only(events, tmp_path, ToolCall)
    assert (call.server, call.name, call.arguments) == ("grain-store", "count", {"sacks": 1})
    assert call.output == (Text(text="7"), Structured(value={"n": 7}))


def test_a_result_whose_request_is_gone_stands_where_it_was_recorded(tmp_path: Path) -> None:
    events = Events()
    events.user("go")
    events.done("lost", "flour")
    events.answer("ok")
    call = read(events, tmp_path).messages[1]
    assert (type(call), call.name, texts(call.output)) == (ToolCall, "unknown", "flour")


def test_a_result_without_a_call_s_id_is_its_parent_s(tmp_path: Path) -> None:
    events = Events()
    events.answer("", request("a", "view"), request("b", "grep"))
    events.add("tool.execution_start", toolCallId="b", toolName="grep")
    start = events.add("tool.execution_start", toolCallId="a", toolName="view")
    events.add("tool.execution_complete", success=True, result={"content": "wheat"})
    assert events.lines[-1]["parentId"] == start
    view, grep = read(events, tmp_path).messages
    assert (view.name, texts(view.output)) == ("view", "wheat")
    assert grep.status == "unresolved"


def test_a_start_without_a_request_is_the_call(tmp_path: Path) -> None:
    events = Events()
    events.user("go")
    events.add("tool.execution_start", toolCallId="s", toolName="view", arguments={"path": "/a"})
    events.done("s", "wheat")
    call = only(events, tmp_path, ToolCall)
    assert (call.name, call.arguments, texts(call.output)) == ("view", {"path": "/a"}, "wheat")


def test_arguments_in_text_are_parsed_and_free_text_is_not(tmp_path: Path) -> None:
    events = Events()
    patch = "*** Begin Patch\n*** Delete File: old.txt\n*** End Patch"
    events.answer(
        "",
        request("a", "view", '{"path": "/x"}'),
        request("custom_b", "apply_patch", patch, type="custom"),
    )
    view, change = read(events, tmp_path).messages
    assert view.arguments == {"path": "/x"}
    assert change.arguments == patch
    assert (change.changes[0].operation, change.changes[0].path) == ("delete", "/srv/mill/old.txt")


# ------------------------------------------------------------------ files


def test_the_editors_say_what_they_change(tmp_path: Path) -> None:
    events = Events()
    events.answer(
        "",
        request("a", "create", {"path": "/m/a", "file_text": "oats\n"}),
        request("b", "edit", {"path": "b", "old_str": "rye", "new_str": "oats"}),
    )
    events.done("a", "Created", fileEdits=[{"path": "/m/a", "kind": "create"}])
    events.done("b", success=False, error={"message": "No match found", "code": "failure"})
    made, failed = read(events, tmp_path).messages
    assert isinstance(made, FileChange)
    assert isinstance(failed, FileChange)
    assert (made.changes[0].operation, made.changes[0].after) == ("add", "oats\n")
    assert made.changes[0].whole
    edit = failed.changes[0]
    assert (edit.path, edit.before, edit.after) == ("/srv/mill/b", "rye", "oats")
    assert (failed.status, failed.error) == ("failed", "No match found")


def test_a_patch_is_read_file_by_file(tmp_path: Path) -> None:
    patch = "\n".join(
        [
            "*** Begin Patch",
            "*** Update File: stone.txt",
            "@@",
            " top",
            "-old",
            "+new",
            "*** Update File: belt.txt",
            "*** Move to: strap.txt",
            "@@",
            "-a",
            "+b",
            "@@ def two",
            "-c",
            "+d",
            "*** Add File: /abs/sack.txt",
            "+one",
            "+",
            "*** Delete File: gone.txt",
            "*** End Patch",
            "",
        ]
    )
    events = Events()
    events.answer("", request("custom_p", "apply_patch", patch, type="custom"))
    update, moved, added, gone = only(events, tmp_path, FileChange).changes
    assert (update.operation, update.path) == ("update", "/srv/mill/stone.txt")
    assert (update.before, update.after) == ("top\nold", "top\nnew")
    assert (moved.operation, moved.moved_to) == ("move", "/srv/mill/strap.txt")
    assert (moved.before, moved.diff) == (None, "@@\n-a\n+b\n@@ def two\n-c\n+d")
    assert (added.operation, added.path, added.after) == ("add", "/abs/sack.txt", "one\n\n")
    assert (gone.operation, gone.path) == ("delete", "/srv/mill/gone.txt")


# ------------------------------------------------------------------ plans and questions


def test_a_checklist_is_a_plan_with_items(tmp_path: Path) -> None:
    events = Events()
    events.answer("", request("c", "update_todo", {"todos": "# Work\n- [x] sow\n- [ ] reap"}))
    plan = only(events, tmp_path, Plan)
    assert plan.form == "checklist"
    assert [(item.text, item.status) for item in plan.items] == [
        ("sow", "completed"),
        ("reap", "pending"),
    ]


def test_a_query_is_the_query_that_it_is(tmp_path: Path) -> None:
    events = Events()
    query = "UPDATE todos SET status = 'done'"
    events.answer("", request("c", "sql", {"query": query}))
    assert only(events, tmp_path, ToolCall).arguments == {"query": query}


def test_a_proposed_plan_is_the_one_that_was_reviewed(tmp_path: Path) -> None:
    events = Events()
    events.answer("", request("c", "exit_plan_mode", {"summary": "short"}))
    reviewed = {"responseKind": "exit_plan_mode", "planContent": "# Mill\n1. sluice"}
    events.add("human_response.recorded", requestId="r", toolCallId="c", response=reviewed)
    events.done("c", "approved")
    plan = only(events, tmp_path, Plan)
    assert (plan.form, texts(plan.content), texts(plan.output)) == (
        "proposal",
        "# Mill\n1. sluice",
        "approved",
    )


def test_a_question_has_its_options_and_its_answer(tmp_path: Path) -> None:
    schema = {"properties": {"grain": {"enum": ["rye", "oat"]}}}
    events = Events()
    asked = {"message": "Which grain?", "requestedSchema": schema}
    events.answer("", request("c", "ask_user", asked))
    given = {"responseKind": "ask_user", "content": {"grain": "oat"}}
    events.add("human_response.recorded", requestId="r", toolCallId="c", response=given)
    events.done("c", "User responded: oat")
    (question,) = only(events, tmp_path, UserQuestion).questions
    assert (question.text, question.options, question.answer) == (
        "Which grain?",
        ("rye", "oat"),
        "oat",
    )


# ------------------------------------------------------------------ subagents


def subagent_events(agent: str | None) -> Events:
    """A subagent whose events stand between the call that made it and its report."""
    events = Events()
    task = {"description": "count", "prompt": "Count sacks", "agent_type": "explore"}
    events.answer("I'll ask.", request("t", "task", task), bash("own", "echo mine"))
    events.add("subagent.started", agent=agent, toolCallId="t", agentName="explore")
    child: dict[str, Any] = {"agent": agent, "parentToolCallId": "t"}
    events.add(
        "assistant.message",
        messageId="child",
        model="mill-1",
        turnId="0",
        content="Counting.",
        toolRequests=[bash("k", "ls")],
        **child,
    )
    events.done("own", "mine")
    events.add(
        "tool.execution_complete",
        toolCallId="k",
        success=True,
        result={"content": "9\n<shellId: 0 completed with exit code 0>"},
        **child,
    )
    events.done("t", "Nine sacks.")
    events.answer("Nine.")
    return events


@pytest.mark.parametrize("agent", ["a-77", None])
def test_a_subagent_s_messages_are_on_its_own_thread(agent: str | None, tmp_path: Path) -> None:
    messages = read(subagent_events(agent), tmp_path).messages
    name = agent or "t"
    task = next(message for message in messages if isinstance(message, SubAgent))
    assert (task.agent_id, texts(task.output), task.prompt) == (name, "Nine sacks.", "Count sacks")
    inside = [message for message in messages if message.agent == name]
    assert [message.kind for message in inside] == ["AgentMessage", "CommandExecution"]
    assert {(message.caller, message.caller_evidence) for message in inside} == {
        (task.id, "native")
    }
    outside = [message.external_id for message in messages if message.agent is None]
    assert outside == ["m1", "t", "own", "m7"]


def test_a_subagent_s_prompt_is_the_agent_s_and_not_the_person_s(tmp_path: Path) -> None:
    events = Events()
    events.user("go")
    events.add("subagent.started", agent="a", toolCallId="t", agentName="explore")
    events.add("user.message", agent="a", content="Count", source=f"agent-{SESSION}")
    prompt = read(events, tmp_path).messages[1]
    assert (prompt.author, prompt.agent) == ("agent", "a")
    assert prompt.caller == derive(derive("GithubCopilotCli", SESSION), "t")


# ------------------------------------------------------------------ the harness


def test_a_permission_request_knows_its_call_and_its_decision(tmp_path: Path) -> None:
    events = Events()
    events.answer("", bash("c", "rm dam"))
    asked = {"kind": "shell", "toolCallId": "c", "intention": "Remove", "fullCommandText": "rm dam"}
    events.add("permission.requested", requestId="r", permissionRequest=asked)
    result = {"kind": "denied-interactively-by-user", "feedback": "no"}
    events.add(
        "permission.completed", requestId="r", result=result, decisionSource="human_response"
    )
    events.done("c", success=False, error={"message": "rejected", "code": "denied"})
    command, permission = read(events, tmp_path).messages
    assert isinstance(permission, PermissionRequest)
    assert (permission.decision, permission.decided_by) == ("denied", "human_response")
    assert (permission.caller, permission.in_context) == (command.id, False)


def test_a_compaction_replaces_what_came_before_its_start(tmp_path: Path) -> None:
    events = Events()
    events.user("first")
    events.answer("one")
    events.add("session.compaction_start", compactionAttemptId="k", trigger="threshold")
    events.answer("while it ran")
    events.add(
        "session.compaction_complete",
        success=True,
        compactionAttemptId="k",
        summaryContent="they spoke",
        trigger="threshold",
        preCompactionTokens=90,
        postCompactionTokens=9,
    )
    events.user("next")
    transcript = read(events, tmp_path)
    boundary = transcript.messages[3]
    assert isinstance(boundary, CompactBoundary)
    assert (boundary.trigger, texts(boundary.summary)) == ("auto", "they spoke")
    assert (boundary.pre_tokens, boundary.post_tokens) == (90, 9)
    # The model is given the prompts again, word for word, before the summary.
    assert boundary.preserved == (transcript.messages[0].id, transcript.messages[2].id)
    assert [message.superseded_by is not None for message in transcript.messages] == [
        False,
        True,
        False,
        False,
        False,
    ]
    assert transcript.messages[1].superseded_by.id == boundary.id
    assert [message.kind for message in transcript.effective()] == [
        "UserMessage",
        "AgentMessage",
        "CompactBoundary",
        "UserMessage",
    ]


def test_a_cleared_context_is_a_boundary_without_a_summary(tmp_path: Path) -> None:
    events = Events()
    events.user("first")
    events.add("session.context_cleared", messagesCleared=1)
    events.user("next")
    transcript = read(events, tmp_path)
    boundary = transcript.messages[1]
    assert isinstance(boundary, CompactBoundary)
    assert (boundary.trigger, boundary.summary) == ("manual", None)
    assert [message.id for message in transcript.effective()] == [
        boundary.id,
        transcript.messages[2].id,
    ]


def test_a_compaction_that_failed_replaces_nothing(tmp_path: Path) -> None:
    events = Events()
    events.user("first")
    events.add("session.compaction_complete", success=False, error="no model")
    (prompt,) = read(events, tmp_path).messages
    assert prompt.superseded_by is None


def test_a_failure_of_the_provider_is_an_error_out_of_context(tmp_path: Path) -> None:
    events = Events()
    events.user("go")
    events.add("session.error", errorType="rate_limit", message="Slow down", statusCode=429)
    error = only(events, tmp_path, Error)
    assert (error.text, error.failure, error.status_code) == ("Slow down", "rate_limit", 429)
    assert (error.status, error.in_context) == ("failed", False)


def test_an_answer_that_speaks_of_an_error_is_an_answer(tmp_path: Path) -> None:
    events = Events()
    events.user("what does the log say?")
    events.answer("It says API Error: 429 rate limit.")
    assert [message.kind for message in read(events, tmp_path).messages] == [
        "UserMessage",
        "AgentMessage",
    ]


def test_a_fork_names_its_origin_and_what_it_took_over(tmp_path: Path) -> None:
    origin = "99999999-8888-4777-8666-555555555555"
    events = Events()
    events.user("first")
    last = events.answer("one")
    words = f'Forked from "Old (mill)" ({origin}) as "New" ({SESSION}).'
    events.add("session.info", infoType="fork", message=words)
    events.user("in the fork")
    transcript = read(events, tmp_path)
    assert (transcript.lineage.forked_from, transcript.lineage.fork_cut) == (origin, last)
    taken = [message.inherited_from for message in transcript.messages]
    assert [one is not None and one.session for one in taken] == [origin, origin, False]


def test_the_origin_of_a_fork_is_none_itself(tmp_path: Path) -> None:
    events = Events()
    events.user("first")
    words = 'Forked this session into "New" (99999999-8888-4777-8666-555555555555).'
    events.add("session.info", infoType="fork", message=words)
    assert read(events, tmp_path).lineage.forked_from is None


def test_a_session_whose_person_went_back_holds_what_is_left_of_it(tmp_path: Path) -> None:
    events = Events()
    events.user("Open the sluice.")
    events.answer("Opened.")
    gone = [events.user("And the weir."), events.answer("The weir, too.")]
    events.add("session.info", infoType="rewind", message="Rewound to before the weir.")
    events.user("Shut it again.")
    # The CLI writes the file anew, without what was taken back; what pointed there still does.
    events.lines = [line for line in events.lines if line["id"] not in gone]
    transcript = read(events, tmp_path)
    assert [texts(message.content) for message in transcript.messages] == [
        "Open the sluice.",
        "Opened.",
        "Shut it again.",
    ]
    assert [message.follows for message in transcript.messages] == [
        None,
        transcript.messages[0].id,
        transcript.messages[1].id,
    ]
    assert not transcript.damage
    assert transcript.effective() == transcript.messages


def test_two_sessions_that_share_events_share_no_ids(tmp_path: Path) -> None:
    origin = Events()
    origin.user("Which way does the wheel turn?")
    fork = Events(session_id="5e9f4c1a-7d20-4b6f-9a41-0c3b8e6d2f71")
    fork.lines[1:] = origin.lines[1:]
    fork.add(
        "session.info",
        infoType="fork",
        message=f"Forked from wheel ({SESSION}) as wheel 2",
    )
    ours, theirs = (read(events, tmp_path).messages[0] for events in (origin, fork))
    assert ours.external_id == theirs.external_id
    assert ours.id != theirs.id
    assert (ours.inherited_from, theirs.inherited_from) == (
        None,
        Inherited(session=SESSION, id=ours.external_id),
    )


def test_unknown_records_are_counted_and_cost_nothing(tmp_path: Path) -> None:
    events = Events()
    events.user("go")
    events.add("mill.turned", turns=3)
    events.add("mill.turned", turns=4)
    events.add("session.shutdown", shutdownType="routine")
    events.answer("ok")
    transcript = read(events, tmp_path)
    assert len(transcript.messages) == 2
    counted = {unread.record: (unread.count, unread.known) for unread in transcript.unread}
    assert counted["mill.turned"] == (2, False)
    assert counted["session.shutdown"] == (1, True)


@pytest.mark.parametrize("value", [False, None, "later", 1])
def test_an_odd_ephemeral_mark_costs_nothing(value: Any, tmp_path: Path) -> None:
    events = Events()
    events.user("old file")
    events.lines[1]["ephemeral"] = value
    events.answer("still fine")
    assert len(read(events, tmp_path).messages) == 2


def test_a_field_of_an_odd_type_costs_that_field_only(tmp_path: Path) -> None:
    events = Events()
    events.user("go", attachments="none", delivery=7, source=["x"])
    events.answer("", bash("c", "true"), model=5, toolTitle=None)
    events.done("c", result="plain", shellExecution="broken")
    events.answer("", request("d", "view"))
    events.done("d", success=False, error="plain words")
    prompt, command, view = read(events, tmp_path).messages
    assert (prompt.author, prompt.delivery) == ("human", None)
    assert (texts(command.output), command.exit_code, command.model) == ("plain", None, None)
    assert (view.status, view.error) == ("failed", "plain words")


# ------------------------------------------------------------------ damage


def test_line_separators_of_unicode_do_not_break_an_event(tmp_path: Path) -> None:
    events = Events()
    awkward = "one\u2028two\u0085three\u2029four\x0bfive"
    events.user(awkward)
    raw = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in events.lines)
    transcript: Any = CopilotStore.read_path(events.write(tmp_path, raw.encode()))
    assert texts(transcript.messages[0].content) == awkward


def damaged_session(tmp_path: Path) -> Path:
    """A raw newline inside a result, and NULs where the file ends."""
    events = Events()
    events.user("list the sacks")
    events.answer("", bash("c", "ls"))
    events.done("c", "rye\noats")
    events.answer("two")
    raw = events.text().replace("rye\\noats", "rye\noats").encode()
    return events.write(tmp_path, raw + b"\0" * 1700)


def test_strict_reading_names_the_line_that_a_raw_newline_broke(tmp_path: Path) -> None:
    session = damaged_session(tmp_path)
    lines = (session / "events.jsonl").read_bytes().split(b"\n")
    starts = sum(len(line) + 1 for line in lines[:3])
    with pytest.raises(DamagedRecord) as refused:
        CopilotStore.read_path(session)
    assert refused.value.line == 4
    assert refused.value.offset is not None
    assert starts < refused.value.offset <= starts + len(lines[3])


def test_recovery_joins_what_a_raw_newline_broke(tmp_path: Path) -> None:
    transcript: Any = CopilotStore.read_path(damaged_session(tmp_path), recover=True)
    assert [message.kind for message in transcript.messages] == [
        "UserMessage",
        "CommandExecution",
        "AgentMessage",
    ]
    assert texts(transcript.messages[1].output) == "rye\noats"
    assert [(damage.kind, damage.line) for damage in transcript.damage] == [
        ("repaired", 4),
        ("nul_tail", 7),
    ]


def test_a_torn_tail_costs_no_whole_event(tmp_path: Path) -> None:
    events = Events()
    events.user("go")
    events.answer("gone")
    raw = events.text().encode()
    session = events.write(tmp_path, raw[:-30])
    with pytest.raises(DamagedRecord):
        CopilotStore.read_path(session)
    transcript = CopilotStore.read_path(session, recover=True)
    assert [message.kind for message in transcript.messages] == ["UserMessage"]
    assert [damage.kind for damage in transcript.damage] == ["torn_tail"]


def test_half_an_emoji_is_kept_and_reported(tmp_path: Path) -> None:
    events = Events()
    events.user("flag \ud83c cut")
    transcript = read(events, tmp_path)
    assert texts(transcript.messages[0].content) == "flag \ud83c cut"
    assert [damage.kind for damage in transcript.damage] == ["lone_surrogate"]
    assert "\\ud83c" in serialise.to_json(transcript)


@pytest.mark.parametrize("raw", [b"", b"\n\n"])
def test_an_empty_file_is_no_empty_success(raw: bytes, tmp_path: Path) -> None:
    session = Events().write(tmp_path, raw)
    with pytest.raises((NoMessages, NotATranscript)):
        CopilotStore.read_path(session)


def test_records_that_give_no_message_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoMessages):
        read(Events(), tmp_path)


def test_a_directory_without_events_is_no_session(tmp_path: Path) -> None:
    with pytest.raises(NotATranscript):
        CopilotStore.read_path(tmp_path)


# ------------------------------------------------------------------ whole sessions


def test_streaming_gives_what_reading_whole_gives(tmp_path: Path) -> None:
    session = subagent_events("a-77").write(tmp_path)
    whole = CopilotStore.read_path(session).messages
    assert tuple(CopilotStore.iter_path(session)) == whole


def test_an_appended_event_changes_no_message_before_it(tmp_path: Path) -> None:
    events = subagent_events("a-77")
    before = read(events, tmp_path / "before").messages
    events.user("more")
    after = read(events, tmp_path / "after").messages
    assert after[:-1] == before


def test_two_processes_on_two_paths_read_the_same_bytes(tmp_path: Path) -> None:
    events = subagent_events("a-77")
    program = (
        "import sys; from pathlib import Path; from transcripts import serialise;"
        "from transcripts.stores.copilot import CopilotStore;"
        "print(serialise.to_json(CopilotStore.read_path(Path(sys.argv[1]))))"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program, str(events.write(tmp_path / place))],
            check=True,
            capture_output=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for place, seed in (("here", "1"), ("there", "2"))
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count(b'"kind"') == 6


def test_a_transcript_that_lies_alone_is_a_session(tmp_path: Path) -> None:
    events = Events()
    events.user("go")
    file = tmp_path / "moved.jsonl"
    file.write_text(events.text())
    transcript = CopilotStore.read_path(file)
    assert (transcript.session_id, transcript.source_path) == (SESSION, "moved.jsonl")


def test_what_a_session_keeps_beside_its_transcript_is_named(tmp_path: Path) -> None:
    events = Events()
    events.user("go")
    session = events.write(tmp_path)
    (session / "session.db").write_bytes(b"x")
    (session / "files").mkdir()
    (session / "checkpoints").mkdir()
    (session / "checkpoints" / "index.md").write_text("none")
    undo = session / "rewind-file-snapshots"
    (undo / "backups").mkdir(parents=True)
    (undo / "tracking.json").write_text("{}")
    stores = CopilotStore.read_path(session).side_stores
    assert [(store.name, store.path) for store in stores] == [
        ("todos", f"session-state/{SESSION}/session.db")
    ]
    (undo / "backups" / "a1").write_text("rye")
    names = [store.name for store in CopilotStore.read_path(session).side_stores]
    assert names == ["undo history", "todos"]


def test_reading_leaves_the_session_as_it_was(tmp_path: Path) -> None:
    session = subagent_events("a").write(tmp_path)
    file = session / "events.jsonl"
    before = (file.read_bytes(), file.stat().st_mtime_ns, sorted(session.iterdir()))
    CopilotStore.read_path(session)
    list(CopilotStore(tmp_path).list())
    assert (file.read_bytes(), file.stat().st_mtime_ns, sorted(session.iterdir())) == before


# ------------------------------------------------------------------ listing


def listed(home: Path, number: int, prompt: str, *, cwd: str = "/srv/mill", minute: int) -> str:
    session_id = f"00000000-0000-4000-8000-{number:012d}"
    events = Events(session_id, cwd)
    events.add("system.message", role="system", content="x" * 30_000)
    events.add("user.message", agent="a", content="a subagent's prompt")
    events.user("auto", source="autopilot")
    events.user(prompt)
    events.answer("y" * 90_000)
    events.lines[-1]["timestamp"] = f"2026-03-04T11:{minute:02d}:00.000Z"
    events.write(home)
    return session_id


def test_the_listing_is_newest_first_and_not_fooled_by_what_comes_first(tmp_path: Path) -> None:
    older = listed(tmp_path, 1, "grind rye", minute=5)
    newer = listed(tmp_path, 2, "grind oats", minute=50)
    listing = CopilotStore(tmp_path).list()
    assert [info.session_id for info in listing] == [newer, older]
    assert [info.first_user_message for info in listing] == ["grind oats", "grind rye"]
    assert str(listing[0].updated_at) == "2026-03-04 11:50:00+00:00"
    assert (listing.seen, listing.failed) == (2, ())


def test_the_listing_can_be_of_one_directory(tmp_path: Path) -> None:
    listed(tmp_path, 1, "here", minute=5)
    listed(tmp_path, 2, "there", cwd="/srv/barn", minute=6)
    found = CopilotStore(tmp_path).list("/srv/barn")
    assert [info.first_user_message for info in found] == ["there"]


def test_a_damaged_session_is_listed_and_an_empty_one_is_not(tmp_path: Path) -> None:
    damaged_session(tmp_path)
    Events("00000000-0000-4000-8000-000000000009").write(tmp_path, b"")
    listing = CopilotStore(tmp_path).list()
    assert [info.first_user_message for info in listing] == ["list the sacks"]
    assert listing.seen == 2
    assert [unlisted.why for unlisted in listing.failed] == ["the file is empty"]


@pytest.mark.parametrize(
    ("release", "title", "expected"),
    [
        ("0.0.406", "", None),
        ("0.0.423", "summary: Oil the wheel\n", "Oil the wheel"),
        (
            "0.0.423",
            "summary: |-\n  Oil the wheel\n  and the hinge\n",
            "Oil the wheel\nand the hinge",
        ),
        ("1.0.40", "user_named: true\nname: Wheel\nsummary: Oil the wheel\n", "Wheel"),
        ("1.0.60", "name: Oil the wheel\nclient_name: cli\n", "Oil the wheel"),
    ],
)
def test_a_session_s_title_is_its_name_or_in_older_releases_its_summary(
    release: str, title: str, expected: str | None, tmp_path: Path
) -> None:
    events = Events()
    events.lines[0]["data"]["copilotVersion"] = release
    events.user("go")
    session = events.write(tmp_path)
    (session / "workspace.yaml").write_text(f"id: x\ncwd: /srv/mill\nsummary_count: 0\n{title}")
    assert CopilotStore.read_path(session).title == expected
    assert CopilotStore(tmp_path).list()[0].title == expected


def test_a_broken_workspace_file_costs_only_itself(tmp_path: Path) -> None:
    events = Events()
    events.user("go")
    session = events.write(tmp_path)
    (session / "workspace.yaml").write_text("id: [\nname: {")
    assert CopilotStore(tmp_path).list()[0].first_user_message == "go"
    assert CopilotStore.read_path(session).title is None


def test_a_session_is_found_by_its_id_and_nothing_else(tmp_path: Path) -> None:
    listed(tmp_path, 1, "go", minute=5)
    store = CopilotStore(tmp_path)
    found = store.find("00000000-0000-4000-8000-000000000001")
    assert found is not None
    assert found.name == "events.jsonl"
    assert store.find("..") is None
    assert store.find("") is None
    assert store.read("00000000-0000-4000-8000-000000000002") is None


def test_only_its_own_sessions_are_recognised(tmp_path: Path) -> None:
    events = Events()
    events.user("go")
    assert CopilotStore.recognises(events.write(tmp_path))
    claude = tmp_path / "claude.jsonl"
    claude.write_text('{"type":"user","uuid":"x","message":{"role":"user","content":"hi"}}\n')
    codex = tmp_path / "codex.jsonl"
    codex.write_text('{"type":"session_meta","timestamp":"x","payload":{"id":"y"}}\n')
    assert not CopilotStore.recognises(claude)
    assert not CopilotStore.recognises(codex)
    assert not CopilotStore.recognises(tmp_path)


def test_the_home_decides_and_then_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path / "elsewhere"))
    assert CopilotStore().root == tmp_path / "elsewhere"
    assert CopilotStore(tmp_path).root == tmp_path / ".copilot"
    monkeypatch.delenv("COPILOT_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert CopilotStore().root == tmp_path / ".copilot"


@pytest.mark.parametrize("odd", [{}, [], 7])
def test_a_source_that_is_no_string_costs_no_listing(tmp_path: Path, odd: Any):
    events = Events()
    events.user("mend the sluice", source=odd)
    path = tmp_path / ".copilot/session-state" / SESSION / "events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{json.dumps(event)}\n" for event in events.lines))
    assert len(CopilotStore(tmp_path).list()) == 1


def test_events_that_a_file_holds_twice_are_told_once(tmp_path: Path) -> None:
    events = Events()
    events.user("sluice up")
    events.answer("it is up")
    events.lines += events.lines[1:]
    events.user("sluice down")
    transcript = read(events, tmp_path)
    said = [message.content[0].text for message in transcript.messages]
    assert said == ["sluice up", "it is up", "sluice down"]
    assert [(d.kind, d.line) for d in transcript.damage] == [
        ("duplicate_record", 4),
        ("duplicate_record", 5),
    ]
    (path,) = tmp_path.rglob("events.jsonl")
    assert [m.id for m in CopilotStore.iter_path(path)] == [m.id for m in transcript.messages]
