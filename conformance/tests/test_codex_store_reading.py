"""Codex's three vocabularies give one conversation: nothing doubled, nothing lost."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from transcripts.errors import DamagedRecord, NoMessages, NotATranscript
from transcripts.model import (
    AnyMessage,
    CommandExecution,
    CompactBoundary,
    Error,
    FileChange,
    Opaque,
    Other,
    Plan,
    Reasoning,
    SubAgent,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
    UserQuestion,
    WebSearch,
)
from transcripts.narration import content_text
from transcripts.stores.codex import CodexStore

SESSION = "7a1e0c52-3b7d-4f0e-9a64-5d1f2b8c9e01"
CWD = "/srv/mill"
DAY = ".codex/sessions/2026/05/02"


def line(second: int, kind: str, payload: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "timestamp": f"2026-05-02T08:00:{second:02d}.000Z",
        "type": kind,
        "payload": payload,
    } | more


def meta(**more: Any) -> dict[str, Any]:
    known = {
        "id": SESSION,
        "timestamp": "2026-05-02T08:00:00.000Z",
        "cwd": CWD,
        "originator": "codex_cli_rs",
        "cli_version": "0.171.0",
    }
    return line(0, "session_meta", known | more)


def item(second: int, **payload: Any) -> dict[str, Any]:
    return line(second, "response_item", payload)


def event(second: int, kind: str, **payload: Any) -> dict[str, Any]:
    return line(second, "event_msg", {"type": kind, **payload})


def completed(second: int, form: str, **fields: Any) -> dict[str, Any]:
    return event(second, "item_completed", thread_id=SESSION, item={"type": form, **fields})


def user(second: int, words: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "input_text", "text": words}]
    return item(second, type="message", role="user", content=content, **more)


def assistant(second: int, words: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": words}]
    return item(second, type="message", role="assistant", content=content, **more)


def call(
    second: int, name: str, arguments: Any, call_id: str = "c1", **more: Any
) -> dict[str, Any]:
    words = json.dumps(arguments)
    return item(second, type="function_call", name=name, arguments=words, call_id=call_id, **more)


def patch_call(second: int, patch: str, call_id: str = "c1") -> dict[str, Any]:
    return item(second, type="custom_tool_call", name="apply_patch", input=patch, call_id=call_id)


def output(second: int, result: Any, call_id: str = "c1", custom: bool = False) -> dict[str, Any]:
    kind = "custom_tool_call_output" if custom else "function_call_output"
    return item(second, type=kind, call_id=call_id, output=result)


def framed(words: str, code: int = 0) -> str:
    return (
        "Chunk ID: 0a1b2c\nWall time: 0.0100 seconds\n"
        f"Process exited with code {code}\nOriginal token count: 3\nOutput:\n{words}"
    )


def place(tmp_path: Path, *records: Any) -> Path:
    path = tmp_path / ".codex/sessions/2026/05/02" / f"rollout-2026-05-02T10-00-00-{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in records
    ]
    path.write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    return path


def read(tmp_path: Path, *records: Any, recover: bool = False) -> Transcript:
    return CodexStore.read_path(place(tmp_path, meta(), *records), recover=recover)


def only(transcript: Transcript) -> AnyMessage:
    assert len(transcript.messages) == 1, transcript.messages
    return transcript.messages[0]


def said(transcript: Transcript) -> list[tuple[str, str, str]]:
    return [
        (message.kind, message.author, content_text(getattr(message, "content", ())))
        for message in transcript.messages
    ]


# ------------------------------------------------------------------ one form of three vocabularies


def exchange(items: bool, echoes: bool, completions: bool) -> list[dict[str, Any]]:
    """Two turns with the same prompt and two answers with the same words, as told by some."""
    records: list[dict[str, Any]] = []
    for turn in range(2):
        at = 10 * turn
        records += [user(at + 1, "mill the rye")] * items
        records += [event(at + 1, "user_message", message="mill the rye")] * echoes
        typed = [{"type": "text", "text": "mill the rye"}]
        records += [completed(at + 1, "UserMessage", id=f"u{turn}", content=typed)] * completions
        records += [event(at + 2, "agent_reasoning", text="Rye is dry.")] * echoes
        records += [
            completed(at + 2, "Reasoning", id=f"r{turn}", summary_text=["Rye is dry."])
        ] * completions
        summary = [{"type": "summary_text", "text": "Rye is dry."}]
        records += [item(at + 2, type="reasoning", id=f"r{turn}", summary=summary)] * items
        for answer in range(2):
            own_id = f"m{turn}{answer}"
            records += [event(at + 3, "agent_message", message="Milled.")] * echoes
            records += [
                completed(
                    at + 3, "AgentMessage", id=own_id, content=[{"type": "Text", "text": "Milled."}]
                )
            ] * completions
            records += [assistant(at + 3, "Milled.", id=own_id)] * items
    return records


@pytest.mark.parametrize(
    ("items", "echoes", "completions"),
    [told for told in product([True, False], repeat=3) if any(told)],
)
def test_every_subset_of_the_vocabularies_tells_the_same_conversation(
    tmp_path: Path, items: bool, echoes: bool, completions: bool
):
    transcript = read(tmp_path, *exchange(items, echoes, completions))
    turn = [
        ("UserMessage", "human", "mill the rye"),
        ("Reasoning", "model", "Rye is dry."),
        ("AgentMessage", "model", "Milled."),
        ("AgentMessage", "model", "Milled."),
    ]
    assert said(transcript) == turn + turn
    assert len({message.id for message in transcript.messages}) == 8


def test_a_turn_told_by_echoes_only_stands_beside_one_told_by_items_only(tmp_path: Path):
    transcript = read(
        tmp_path,
        event(1, "task_started", turn_id="t1"),
        event(2, "user_message", message="sift"),
        event(3, "agent_message", message="sifted"),
        event(4, "task_started", turn_id="t2"),
        user(5, "sift"),
        assistant(6, "sifted"),
    )
    assert (
        said(transcript)
        == [
            ("UserMessage", "human", "sift"),
            ("AgentMessage", "model", "sifted"),
        ]
        * 2
    )


COMMAND_ITEM = {
    "id": "c1",
    "command": ["/bin/bash", "-lc", "grind"],
    "cwd": f"file://{CWD}",
    "status": "failed",
    "aggregated_output": "dust\n",
    "exit_code": 7,
    "duration": {"secs": 0, "nanos": 5_000_000},
}


@pytest.mark.parametrize(
    ("called", "answered", "evidence"),
    [(True, True, True), (True, True, False), (True, False, True), (False, False, True)],
)
def test_a_command_is_one_message_however_much_of_it_is_recorded(
    tmp_path: Path, called: bool, answered: bool, evidence: bool
):
    records = [call(1, "exec_command", {"cmd": "grind"})] * called
    records += [completed(2, "CommandExecution", **COMMAND_ITEM)] * evidence
    records += [output(3, framed("dust\n", 7))] * answered
    command = only(read(tmp_path, *records))
    assert isinstance(command, CommandExecution)
    assert (command.command, command.cwd, command.exit_code) == ("grind", CWD, 7)
    assert content_text(command.output) == "dust\n"
    assert (command.status, command.external_id) == ("failed", "c1")
    assert command.exit_code_source == ("field" if evidence else "text")
    assert command.duration_ms == (5.0 if evidence else None)
    assert len(command.sources) == called + answered + evidence


def test_a_command_that_left_the_stage_is_completed_by_its_late_item(tmp_path: Path):
    transcript = read(
        tmp_path,
        call(1, "exec_command", {"cmd": "grind"}),
        output(2, "Wall time: 0.3 seconds\nProcess running with session ID 41\nOutput:\n"),
        assistant(3, "It grinds."),
        completed(9, "CommandExecution", **COMMAND_ITEM),
    )
    command = transcript.messages[0]
    assert isinstance(command, CommandExecution)
    assert (command.background_id, command.exit_code, command.status) == ("41", 7, "failed")
    assert len(transcript.messages) == 2


def test_a_background_command_without_an_item_learns_its_end_from_polling(tmp_path: Path):
    transcript = read(
        tmp_path,
        call(1, "exec_command", {"cmd": "grind"}),
        output(2, "Process running with session ID 41\nOutput:\n"),
        call(3, "write_stdin", {"session_id": 41, "chars": ""}, "c2"),
        output(4, framed("done\n", 0), "c2"),
    )
    command = transcript.messages[0]
    assert isinstance(command, CommandExecution)
    assert (command.exit_code, command.status) == (0, "completed")


# ------------------------------------------------------------------ results and their frames


@pytest.mark.parametrize(
    ("name", "result", "words", "code"),
    [
        ("exec_command", framed("ok\n", 0), "ok\n", 0),
        ("exec_command", framed("a\nProcess exited with code 9\n", 2), None, 2),
        ("exec_command", "Output:\nProcess exited with code 9\n", None, None),
        ("shell_command", "Exit code: 3\nWall time: 0 seconds\nOutput:\nno\n", "no\n", 3),
        (
            "shell",
            '{"output":"no\\n","metadata":{"exit_code":-2,"duration_seconds":0.1}}',
            "no\n",
            -2,
        ),
    ],
)
def test_only_the_frame_of_a_result_is_an_exit_status(
    tmp_path: Path, name: str, result: str, words: str | None, code: int | None
):
    arguments = {"cmd": "x"} if name == "exec_command" else {"command": ["bash", "-lc", "x"]}
    command = only(read(tmp_path, call(1, name, arguments), output(2, result)))
    assert isinstance(command, CommandExecution)
    assert command.command == "x"
    assert command.exit_code == code
    expected = result.split("Output:\n", 1)[-1] if words is None else words
    assert content_text(command.output) == expected


@pytest.mark.parametrize(
    "words",
    [
        "unsupported call: rake",
        "failed to parse function arguments: missing field `cmd` at line 1 column 2",
    ],
)
def test_a_refused_call_has_an_error_and_no_output(tmp_path: Path, words: str):
    tool = only(read(tmp_path, call(1, "rake", {"n": 1}), output(2, words)))
    assert isinstance(tool, ToolCall)
    assert (tool.status, tool.error, tool.output) == ("failed", words, None)


def test_a_call_without_a_result_is_unresolved_and_after_an_abort_cancelled(tmp_path: Path):
    asked = call(1, "exec_command", {"cmd": "grind"})
    assert only(read(tmp_path, asked)).status == "unresolved"
    aborted = event(2, "turn_aborted", reason="interrupted")
    assert only(read(tmp_path, asked, aborted)).status == "cancelled"


def test_a_call_id_used_again_is_another_call(tmp_path: Path):
    transcript = read(
        tmp_path,
        call(1, "exec_command", {"cmd": "one"}),
        output(2, framed("1\n")),
        call(3, "exec_command", {"cmd": "two"}),
        output(4, framed("2\n")),
    )
    commands = [m for m in transcript.messages if isinstance(m, CommandExecution)]
    assert [(c.command, content_text(c.output)) for c in commands] == [
        ("one", "1\n"),
        ("two", "2\n"),
    ]
    assert len({c.id for c in commands}) == 2


def test_a_result_that_no_call_asked_for_is_kept(tmp_path: Path):
    transcript = read(
        tmp_path,
        user(1, "go"),
        item(
            2, type="function_call_output", name="goal_objective", namespace="agent", output="oats"
        ),
        output(3, "stray", "nobody"),
    )
    kept = [m for m in transcript.messages if isinstance(m, ToolCall)]
    assert [(one.name, content_text(one.output)) for one in kept] == [
        ("goal_objective", "oats"),
        ("", "stray"),
    ]


# ------------------------------------------------------------------ edits

UPDATE = "*** Begin Patch\n*** Update File: a.txt\n@@\n north\n-wall\n+gate\n south\n*** End Patch"
UPDATED = {"type": "update", "unified_diff": "@@ -1,3 +1,3 @@\n north\n-wall\n+gate\n south\n"}


@pytest.mark.parametrize("evidence", [None, "item", "event"])
def test_an_edit_quotes_what_changes_and_not_the_context(tmp_path: Path, evidence: str | None):
    records: list[Any] = [patch_call(1, UPDATE)]
    changes = {f"{CWD}/a.txt": UPDATED}
    if evidence == "item":
        records.append(completed(2, "FileChange", id="c1", changes=changes, status="completed"))
    if evidence == "event":
        records.append(
            event(2, "patch_apply_end", call_id="c1", changes=changes, success=True, stdout="")
        )
    records.append(
        output(3, "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n", custom=True)
    )
    change = only(read(tmp_path, *records))
    assert isinstance(change, FileChange)
    (edit,) = change.changes
    assert (edit.path, edit.operation) == (f"{CWD}/a.txt", "update")
    assert (edit.before, edit.after, edit.whole) == ("wall", "gate", False)
    assert (change.status, content_text(change.output)) == ("completed", "Success.\n")


def test_an_item_proves_an_edit_whose_result_was_never_recorded(tmp_path: Path):
    change = only(
        read(
            tmp_path,
            patch_call(1, UPDATE),
            completed(
                2,
                "FileChange",
                id="c1",
                changes={f"{CWD}/a.txt": UPDATED},
                status="completed",
                stdout="Success.\n",
            ),
        )
    )
    assert isinstance(change, FileChange)
    assert change.status == "completed"


def test_a_patch_adds_updates_moves_and_deletes_in_its_own_order(tmp_path: Path):
    patch = (
        "*** Begin Patch\n*** Delete File: old.txt\n*** Add File: new/n.txt\n+one\n+two\n"
        "*** Update File: m.txt\n*** Move to: moved.txt\n@@\n stays\n"
        "*** Update File: two.txt\n@@ def f\n-a\n+b\n@@\n-c\n+d\n+e\n*** End Patch"
    )
    recorded = {
        f"{CWD}/two.txt": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n"},
        f"{CWD}/old.txt": {"type": "delete", "content": "gone\n"},
    }
    change = only(
        read(
            tmp_path,
            patch_call(1, patch),
            completed(2, "FileChange", id="c1", changes=recorded, status="completed"),
        )
    )
    assert isinstance(change, FileChange)
    assert [
        (edit.operation, edit.path.removeprefix(f"{CWD}/"), edit.before, edit.after)
        for edit in change.changes
    ] == [
        ("delete", "old.txt", "gone\n", None),
        ("add", "new/n.txt", None, "one\ntwo\n"),
        ("move", "m.txt", None, None),
        ("update", "two.txt", "a", "b"),
        ("update", "two.txt", "c", "d\ne"),
    ]
    assert change.changes[2].moved_to == f"{CWD}/moved.txt"


def test_a_patch_fed_to_a_shell_is_an_edit_and_no_command(tmp_path: Path):
    heredoc = (
        "cd sub && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: h.txt\n+x\n"
        "*** End Patch\nEOF"
    )
    frame = "Wall time: 0.1 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\nDone\n"
    change = only(read(tmp_path, call(1, "exec_command", {"cmd": heredoc}), output(2, frame)))
    assert isinstance(change, FileChange)
    assert change.changes[0].path == f"{CWD}/sub/h.txt"
    assert content_text(change.output) == "Done\n"


def test_a_patch_that_does_not_fit_is_a_failed_edit(tmp_path: Path):
    words = "apply_patch verification failed: Failed to find expected lines in a.txt:\nwall"
    change = only(read(tmp_path, patch_call(1, UPDATE), output(2, words, custom=True)))
    assert isinstance(change, FileChange)
    assert (change.status, change.error, len(change.changes)) == ("failed", words, 1)


# ------------------------------------------------------------------ code mode


def test_what_a_script_did_has_the_script_as_caller_and_is_not_what_the_model_saw(tmp_path: Path):
    script = 'const r = await tools.exec_command({cmd: "grind"}); text(r.output);'
    inner = COMMAND_ITEM | {"id": "exec-5d7c"}
    transcript = read(
        tmp_path,
        item(1, type="custom_tool_call", name="exec", input=script, call_id="c1"),
        completed(2, "CommandExecution", **inner),
        completed(
            3,
            "FileChange",
            id="exec-6e8d",
            changes={f"{CWD}/a.txt": {"type": "add", "content": "x\n"}},
            status="completed",
        ),
        output(
            4,
            [
                {
                    "type": "input_text",
                    "text": "Script completed\nWall time 0.1 seconds\nOutput:\n",
                },
                {"type": "input_text", "text": "dust\n"},
            ],
            custom=True,
        ),
        assistant(5, "Ground."),
    )
    outer, command, change, answer = transcript.messages
    assert isinstance(outer, ToolCall)
    assert (outer.name, outer.arguments, content_text(outer.output)) == ("exec", script, "dust\n")
    assert isinstance(command, CommandExecution)
    assert isinstance(change, FileChange)
    assert command.caller == change.caller == outer.id
    assert [m.in_context for m in transcript.messages] == [True, False, False, True]
    assert transcript.effective() == (outer, answer)


def test_a_script_that_breaks_is_a_failed_call(tmp_path: Path):
    parts = [
        {"type": "input_text", "text": "Script failed\nWall time 0.0 seconds\nOutput:\n"},
        {"type": "input_text", "text": "Script error:\nError: no"},
    ]
    script = only(
        read(
            tmp_path,
            item(1, type="custom_tool_call", name="exec", input="throw 1", call_id="c1"),
            output(2, parts, custom=True),
        )
    )
    assert isinstance(script, ToolCall)
    assert (script.status, script.error) == ("failed", "Script error:\nError: no")


# ------------------------------------------------------------------ other tools


@pytest.mark.parametrize(
    ("name", "namespace"),
    [("stone", "mcp__mill"), ("stone", "mcp__mill__"), ("mcp__mill__stone", None)],
)
def test_an_mcp_tool_has_its_server_and_its_own_name(
    tmp_path: Path, name: str, namespace: str | None
):
    more = {} if namespace is None else {"namespace": namespace}
    tool = only(
        read(
            tmp_path,
            call(1, name, {"n": 1}, **more),
            output(2, 'Wall time: 0.1 seconds\nOutput:\n[{"type":"text","text":"round"}]'),
        )
    )
    assert isinstance(tool, ToolCall)
    assert (tool.name, tool.server, content_text(tool.output)) == ("stone", "mill", "round")


def test_an_mcp_failure_is_an_error_by_the_item_and_by_the_event(tmp_path: Path):
    result = {"content": [{"type": "text", "text": "cracked"}], "isError": True}
    asked = call(1, "stone", {}, namespace="mcp__mill")
    shown = output(3, "Wall time: 0.1 seconds\nOutput:\ncracked")
    by_item = completed(
        2, "McpToolCall", id="c1", server="mill", tool="stone", status="failed", result=result
    )
    by_event = event(
        2,
        "mcp_tool_call_end",
        call_id="c1",
        invocation={"server": "mill", "tool": "stone", "arguments": {}},
        result={"Ok": result},
    )
    for evidence in (by_item, by_event):
        tool = only(read(tmp_path, asked, evidence, shown))
        assert isinstance(tool, ToolCall)
        assert (tool.status, tool.error, tool.output) == ("failed", "cracked", None)


def test_a_checklist_a_question_and_a_search_have_their_own_kinds(tmp_path: Path):
    plan = {"plan": [{"step": "sow", "status": "completed"}, {"step": "reap", "status": "odd"}]}
    asked = {"questions": [{"id": "q", "question": "Which?", "options": [{"label": "rye"}]}]}
    transcript = read(
        tmp_path,
        call(1, "update_plan", plan),
        output(2, "Plan updated"),
        call(3, "request_user_input", asked, "c2"),
        output(4, '{"answers":{"q":{"answers":["rye"]}}}', "c2"),
        item(
            5, type="web_search_call", status="completed", action={"type": "search", "query": "q"}
        ),
        event(5, "web_search_end", call_id="w", query="q", action={"type": "search", "query": "q"}),
    )
    checklist, question, search = transcript.messages
    assert isinstance(checklist, Plan)
    assert [(one.text, one.status) for one in checklist.items] == [
        ("sow", "completed"),
        ("reap", "unknown"),
    ]
    assert isinstance(question, UserQuestion)
    assert question.questions[0].answer == "rye"
    assert isinstance(search, WebSearch)
    assert search.query == "q"


CHILD = "7a1e0c52-3b7d-4f0e-9a64-5d1f2b8c9e02"


def test_a_spawned_agent_reports_and_its_own_rollout_is_read_with_it(tmp_path: Path):
    spawned = meta(
        id=CHILD, source={"subagent": {"thread_spawn": {"parent_thread_id": SESSION, "depth": 1}}}
    )
    child = tmp_path / DAY / f"rollout-2026-05-02T10-00-01-{CHILD}.jsonl"
    child.parent.mkdir(parents=True)
    records = [
        spawned,
        user(1, "count"),
        event(1, "user_message", message="count"),
        assistant(2, "9"),
    ]
    child.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    notice = json.dumps({"agent_path": CHILD, "status": {"completed": "9"}})
    transcript = read(
        tmp_path,
        call(1, "spawn_agent", {"message": "count", "agent_type": "worker"}),
        output(2, json.dumps({"agent_id": CHILD, "nickname": "Ohm"})),
        user(4, f"<subagent_notification>\n{notice}\n</subagent_notification>"),
    )
    spawn, prompt, answer, notification = transcript.messages
    assert isinstance(spawn, SubAgent)
    assert (spawn.agent_id, spawn.agent_type, spawn.prompt) == (CHILD, "worker", "count")
    assert (spawn.status, content_text(spawn.output)) == ("completed", "9")
    assert prompt.author == "agent"
    assert (answer.agent, answer.caller) == (CHILD, spawn.id)
    assert notification.author == "harness"
    assert {m.id for m in CodexStore.read_path(child).messages} == {prompt.id, answer.id}


def test_a_spawned_agent_that_never_reported_is_unresolved(tmp_path: Path):
    spawn = only(
        read(
            tmp_path,
            call(1, "spawn_agent", {"message": "count"}),
            output(2, json.dumps({"agent_id": CHILD, "nickname": "Ohm"})),
        )
    )
    assert (spawn.kind, spawn.status) == ("SubAgent", "unresolved")


# ------------------------------------------------------------------ authors


@pytest.mark.parametrize(
    "words",
    [
        "<environment_context>\n  <cwd>/srv</cwd>\n</environment_context>",
        "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>",
        "<skill>\n<name>mow</name>\n</skill>",
        "<turn_aborted>\nThe user interrupted.\n</turn_aborted>",
    ],
)
def test_codex_speaking_in_the_users_place_is_known_by_the_exact_shape(tmp_path: Path, words: str):
    assert only(read(tmp_path, user(1, words))).author == "harness"
    typed = event(1, "user_message", message=words)
    assert only(read(tmp_path, user(1, words), typed)).author == "human"
    assert only(read(tmp_path, user(1, f"{words} and more"))).author == "human"


def test_a_prompt_that_starts_with_a_tag_is_the_persons(tmp_path: Path):
    assert only(read(tmp_path, user(1, "<div>why?</div>"))).author == "human"


def test_recorded_tags_outrank_shapes_and_split_a_message_of_two_authors(tmp_path: Path):
    tagged = item(
        1,
        type="message",
        role="user",
        content=[
            {"type": "input_text", "text": "open file: a.txt"},
            {"type": "input_text", "text": "<skill>is this yours?</skill>"},
        ],
        internal_chat_message_metadata_passthrough={
            "turn_id": "t1",
            "content_item_kinds": ["ide.context", "user.text"],
        },
    )
    transcript = read(tmp_path, tagged)
    assert said(transcript) == [
        ("UserMessage", "harness", "open file: a.txt"),
        ("UserMessage", "human", "<skill>is this yours?</skill>"),
    ]
    assert [m.provenance for m in transcript.messages if isinstance(m, UserMessage)] == [
        "ide.context",
        "user.text",
    ]
    assert len({m.id for m in transcript.messages}) == 2


def test_developer_messages_are_the_harness_and_in_context(tmp_path: Path):
    content = [{"type": "input_text", "text": "rules"}]
    message = only(read(tmp_path, item(1, type="message", role="developer", content=content)))
    assert (message.author, message.provenance) == ("harness", "developer/message")
    assert message.in_context


def test_an_attached_image_is_an_asset_and_its_wrapping_no_text(tmp_path: Path):
    url = "data:image/png;base64,aW1hZ2luZSBhbiBpbWFnZQ=="
    content = [
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": url},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "what is this"},
    ]
    typed = event(1, "user_message", message="what is this", images=[url])
    message = only(read(tmp_path, item(1, type="message", role="user", content=content), typed))
    assert isinstance(message, UserMessage)
    asset, text = message.content
    assert getattr(asset, "size", None) == 16
    assert text == Text(text="what is this")


# ------------------------------------------------------------------ failures, compaction, rewinding


def test_a_turns_recorded_error_is_an_error_with_the_raw_token(tmp_path: Path):
    info = {"http_connection_failed": {"http_status_code": 401}}
    transcript = read(
        tmp_path,
        user(1, "hello"),
        event(
            2,
            "task_complete",
            turn_id="t",
            last_agent_message=None,
            error={"message": "unexpected status 401", "codex_error_info": info},
        ),
    )
    error = transcript.messages[-1]
    assert isinstance(error, Error)
    assert (error.text, error.status_code, error.raw) == ("unexpected status 401", 401, info)
    assert error.failure == "http_connection_failed"
    assert error not in transcript.effective()


def test_a_turn_that_ended_in_silence_is_no_error(tmp_path: Path):
    transcript = read(
        tmp_path,
        user(1, "hello"),
        event(2, "task_complete", turn_id="t", last_agent_message=None),
    )
    assert [m.kind for m in transcript.messages] == ["UserMessage"]


def test_after_a_compaction_the_next_request_holds_the_prompts_and_the_summary(tmp_path: Path):
    summary = {"type": "input_text", "text": "In short: rye."}
    kept = {"type": "input_text", "text": "mill it"}
    transcript = read(
        tmp_path,
        user(1, "mill it"),
        event(1, "user_message", message="mill it"),
        assistant(2, "milled"),
        line(
            3,
            "compacted",
            {
                "message": "In short: rye.",
                "replacement_history": [
                    {"type": "message", "role": "user", "content": [kept]},
                    {"type": "message", "role": "user", "content": [summary]},
                ],
            },
        ),
        event(3, "context_compacted"),
        assistant(4, "on we go"),
    )
    prompt, answer, boundary, after = transcript.messages
    assert isinstance(boundary, CompactBoundary)
    assert content_text(boundary.summary) == "In short: rye."
    assert boundary.preserved == (prompt.id,)
    assert answer.superseded_by is not None
    assert answer.superseded_by.id == boundary.id
    assert transcript.effective() == (prompt, boundary, after)
    assert len(boundary.sources) == 2


def test_turns_taken_back_are_superseded_with_the_compaction_among_them(tmp_path: Path):
    compacted = line(5, "compacted", {"message": "short", "replacement_history": []})
    transcript = read(
        tmp_path,
        user(1, "first"),
        assistant(2, "one"),
        user(3, "second"),
        assistant(4, "two"),
        compacted,
        assistant(6, "after"),
        event(7, "thread_rolled_back", num_turns=1),
        user(8, "third"),
    )
    assert [content_text(getattr(m, "content", ())) for m in transcript.effective()] == [
        "first",
        "one",
        "third",
    ]
    assert len(transcript.messages) == 7


def test_a_sealed_thought_is_kept_opaque(tmp_path: Path):
    sealed = item(1, type="reasoning", id="r", summary=[], content=None, encrypted_content="Z0E=")
    thought = only(read(tmp_path, sealed))
    assert isinstance(thought, Reasoning)
    assert thought.content == (Opaque(form="encrypted", data="Z0E="),)


def test_a_review_is_kept_as_a_record_of_its_own(tmp_path: Path):
    review = {"review_output": {"findings": []}}
    kept = only(read(tmp_path, completed(1, "ExitedReviewMode", id="x", **review)))
    assert isinstance(kept, Other)
    assert kept.value["review_output"] == review["review_output"]


# ------------------------------------------------------------------ numbers


COUNTS = {"input_tokens": 100, "cached_input_tokens": 80, "output_tokens": 5, "total_tokens": 105}


def test_usage_is_counted_once_for_an_answer_and_a_repeated_total_is_none(tmp_path: Path):
    count = {"info": {"total_token_usage": COUNTS, "last_token_usage": COUNTS}}
    transcript = read(
        tmp_path,
        user(1, "go"),
        assistant(2, "calling"),
        call(2, "exec_command", {"cmd": "x"}),
        event(3, "token_count", **count),
        output(4, framed("")),
        event(5, "token_count", **count),
        assistant(6, "done"),
    )
    usages = [m.usage for m in transcript.messages]
    assert [usage is not None for usage in usages] == [False, True, False, False]
    assert transcript.messages[1].response == transcript.messages[2].response
    assert transcript.messages[1].response != transcript.messages[3].response


def test_an_answers_own_usage_record_names_the_response(tmp_path: Path):
    record = {"response_id": "resp_9", "usage": COUNTS}
    transcript = read(
        tmp_path,
        assistant(2, "calling"),
        call(2, "exec_command", {"cmd": "x"}),
        line(3, "token_usage_record", record),
        event(4, "token_count", info={"total_token_usage": COUNTS, "last_token_usage": COUNTS}),
    )
    assert [m.response for m in transcript.messages] == ["resp_9", "resp_9"]
    usage = transcript.messages[0].usage
    assert usage is not None
    assert (usage.input, usage.cache_read, usage.output, usage.reasoning) == (100, 80, 5, None)


def test_a_token_count_without_numbers_is_not_zero_tokens(tmp_path: Path):
    transcript = read(tmp_path, assistant(1, "hi"), event(2, "token_count", info=None))
    assert transcript.messages[0].usage is None


# ------------------------------------------------------------------ sessions, damage, the unknown


def test_the_session_is_what_its_records_say_and_not_its_name(tmp_path: Path):
    path = place(
        tmp_path,
        meta(id=CHILD, git={"branch": "harvest"}, forked_from_id=SESSION),
        line(1, "turn_context", {"turn_id": "t1", "cwd": CWD, "model": "gpt-5.5"}),
        user(2, "go"),
        assistant(3, "gone"),
    )
    transcript = CodexStore.read_path(path)
    assert (transcript.session_id, transcript.cwd) == (CHILD, CWD)
    assert (transcript.model, transcript.git_branch) == ("gpt-5.5", "harvest")
    assert transcript.lineage.forked_from == SESSION
    assert transcript.messages[1].model == "gpt-5.5"
    assert {m.turn for m in transcript.messages} == {"t1"}
    assert transcript.source_path == path.relative_to(tmp_path / ".codex").as_posix()


def test_a_session_is_found_by_its_name_or_else_by_its_first_record(tmp_path: Path):
    path = place(tmp_path, meta(id=CHILD), user(1, "go"))
    assert CodexStore(tmp_path).find(SESSION) == path
    assert CodexStore(tmp_path).find(CHILD) == path
    assert CodexStore(tmp_path).find("nobody") is None


def test_a_flat_file_of_the_oldest_releases_is_read(tmp_path: Path):
    content = [{"type": "input_text", "text": "hello"}]
    path = place(
        tmp_path,
        {"id": SESSION, "timestamp": "2025-08-01T00:00:00.000Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": content},
        {
            "type": "function_call",
            "name": "shell",
            "arguments": '{"command":["bash","-lc","ls"]}',
            "call_id": "c1",
        },
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": '{"output":"a\\n","metadata":{"exit_code":0}}',
        },
        {"record_type": "state"},
    )
    assert CodexStore.recognises(path)
    transcript = CodexStore.read_path(path)
    assert [m.kind for m in transcript.messages] == ["UserMessage", "CommandExecution"]
    assert [m.at for m in transcript.messages] == [None, None]
    assert [(u.record, u.count, u.known) for u in transcript.unread] == [
        ("session_meta", 1, True),
        ("state", 2, True),
    ]


def test_records_of_a_new_kind_are_counted_and_the_conversation_stays_whole(tmp_path: Path):
    transcript = read(
        tmp_path,
        user(1, "go"),
        line(2, "star_chart", {"type": "x"}),
        item(3, type="hologram"),
        completed(4, "Dance", id="d"),
        assistant(5, "gone"),
    )
    assert [m.kind for m in transcript.messages] == ["UserMessage", "AgentMessage"]
    assert [(u.record, u.count) for u in transcript.unread if not u.known] == [
        ("event_msg/item_completed/Dance", 1),
        ("response_item/hologram", 1),
        ("star_chart", 1),
    ]


def test_order_and_numbering_faults_are_noted_and_nothing_is_moved(tmp_path: Path):
    late = assistant(9, "nine") | {"ordinal": 2}
    transcript = read(
        tmp_path,
        user(1, "go") | {"ordinal": 1},
        late,
        assistant(5, "five") | {"ordinal": 2},
        assistant(6, "six"),
    )
    assert [(d.kind, d.line) for d in transcript.damage] == [
        ("time_reversal", 4),
        ("duplicate_ordinal", 4),
        ("missing_ordinal", 5),
    ]
    assert [content_text(getattr(m, "content", ())) for m in transcript.messages] == [
        "go",
        "nine",
        "five",
        "six",
    ]
    assert len({m.id for m in transcript.messages}) == 4


def test_a_torn_copy_of_a_record_is_refused_and_recovered_once(tmp_path: Path):
    whole = json.dumps(item(2, type="reasoning", summary=[], encrypted_content="Z0E="))
    records = [user(1, "go"), whole[:70], whole, assistant(3, "done")]
    with pytest.raises(DamagedRecord) as refused:
        read(tmp_path, *records)
    assert refused.value.line == 3
    transcript = read(tmp_path, *records, recover=True)
    assert [m.kind for m in transcript.messages] == ["UserMessage", "Reasoning", "AgentMessage"]
    assert transcript.damage[0].line == 3


def test_a_file_with_records_and_no_conversation_is_an_error(tmp_path: Path):
    with pytest.raises(NoMessages):
        read(tmp_path, event(1, "task_started", turn_id="t"))


def test_a_file_without_its_first_record_is_refused_and_recovered_by_name(tmp_path: Path):
    path = place(tmp_path, user(1, "go"))
    with pytest.raises(NotATranscript):
        CodexStore.read_path(path)
    assert CodexStore.read_path(path, recover=True).session_id == SESSION


def test_a_field_of_an_odd_type_costs_the_field_and_not_the_record(tmp_path: Path):
    transcript = read(
        tmp_path,
        line(1, "turn_context", {"turn_id": 7, "cwd": ["x"], "model": {"n": 1}}),
        item(2, type="message", role="user", content=[{"type": "input_text", "text": 5}, "x"]),
        item(3, type="message", role="assistant", content=None, phase=3),
        item(4, type="function_call", name=None, arguments=5, call_id=None),
        item(5, type="reasoning", summary="odd", encrypted_content=7),
        completed(6, "CommandExecution", id=4, command=9, duration="x", exit_code=True),
        event(7, "token_count", info=[1]),
        event(8, "user_message", message=None),
    )
    assert transcript.session_id == SESSION
    assert {m.kind for m in transcript.messages} >= {"UserMessage", "ToolCall", "CommandExecution"}


def test_ids_stay_what_they_are_when_the_file_grows(tmp_path: Path):
    records = exchange(True, True, True)
    whole = [m.id for m in read(tmp_path, *records).messages]
    for length in range(2, len(records)):
        part = [m.id for m in read(tmp_path, *records[:length]).messages]
        assert whole[: len(part)] == part


# ------------------------------------------------------------------ listing


def test_a_listing_is_newest_first_and_says_what_it_could_not_list(tmp_path: Path):
    def write(name: str, *records: Any) -> None:
        path = tmp_path / ".codex" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(one)}\n" for one in records))

    early, late = SESSION, CHILD
    write(
        f"sessions/2026/05/02/rollout-2026-05-02T10-00-00-{late}.jsonl",
        meta(id=late),
        user(9, "late"),
    )
    filler = [event(1, "token_count", info=None)] * 400
    write(
        f"archived_sessions/rollout-2026-06-02T10-00-00-{early}.jsonl",
        meta(id=early, cwd="/elsewhere"),
        user(1, "<environment_context>x</environment_context>"),
        *filler,
        user(2, "early"),
    )
    write("sessions/2026/05/02/rollout-2026-05-02T10-00-00-broken.jsonl", {"type": "x"})
    listing = CodexStore(tmp_path).list()
    assert [(one.session_id, one.first_user_message) for one in listing] == [
        (late, "late"),
        (early, "early"),
    ]
    assert (listing.seen, [one.path[-12:] for one in listing.failed]) == (3, ["broken.jsonl"])
    assert [one.session_id for one in CodexStore(tmp_path).list(cwd="/elsewhere")] == [early]
    assert CodexStore(tmp_path).read("00000000-0000-4000-8000-000000000000") is None
    found = CodexStore(tmp_path).read(early)
    assert found is not None
    assert found.session_id == early


# ------------------------------------------------------------------ agents that write letters


def letter(second: int, sender: str, kind: str, words: str, sealed: str | None = None) -> Any:
    heading = f"Message Type: {kind}\nTask name: /root\nSender: {sender}\nPayload:\n"
    content = [{"type": "input_text", "text": heading + words}]
    if sealed is not None:
        content.append({"type": "encrypted_content", "encrypted_content": sealed})
    return item(second, type="agent_message", author=sender, recipient="x", content=content)


@pytest.mark.parametrize("word", ["started", "a_word_of_a_later_release"])
def test_a_spawned_agents_letter_is_its_report_and_its_copied_history_is_not_repeated(
    tmp_path: Path, word: str
):
    asked = call(2, "spawn_agent", {"task_name": "bees", "message": "count"}, namespace="team")
    spawned = meta(
        id=CHILD,
        parent_thread_id=SESSION,
        thread_source="subagent",
        subagent_history_start_ordinal=4,
    )
    copied = [meta(), user(1, "go"), asked]
    own_part = [letter(3, "/root", "NEW_TASK", "", "count"), assistant(4, "nine")]
    child = tmp_path / DAY / f"rollout-2026-05-02T10-00-01-{CHILD}.jsonl"
    child.parent.mkdir(parents=True)
    records = [one | {"ordinal": at} for at, one in enumerate([spawned, *copied, *own_part])]
    child.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    started = {"id": "c1", "kind": word, "agent_thread_id": CHILD, "agent_path": "/root/bees"}
    parent = read(
        tmp_path,
        user(1, "go"),
        asked,
        completed(2, "SubAgentActivity", **started),
        output(3, '{"task_name":"/root/bees"}'),
        letter(5, "/root/bees", "FINAL_ANSWER", "nine"),
    )
    assert said(parent) == [
        ("UserMessage", "human", "go"),
        ("SubAgent", "model", ""),
        ("UserMessage", "agent", "count"),
        ("AgentMessage", "model", "nine"),
        ("UserMessage", "harness", "nine"),
    ]
    spawn = parent.messages[1]
    assert isinstance(spawn, SubAgent)
    assert (spawn.agent_id, spawn.description, spawn.status) == (CHILD, "bees", "completed")
    assert content_text(spawn.output) == "nine"
    alone = CodexStore.read_path(child)
    inherited = [m.inherited_from for m in alone.messages]
    assert [one is not None for one in inherited] == [True, True, False, False]
    assert inherited[1] is not None
    assert (inherited[1].session, inherited[1].id) == (SESSION, spawn.id)


def test_a_time_that_no_calendar_holds_costs_the_time_only(tmp_path: Path):
    odd = user(1, "plant a row") | {"timestamp": "9999-12-31T23:59:59-23:00"}
    transcript = read(tmp_path, odd, assistant(2, "planted"))
    assert [words for _, _, words in said(transcript)] == ["plant a row", "planted"]
    assert len(CodexStore(tmp_path).list()) == 1


@pytest.mark.parametrize("kind", [{}, [], 7])
def test_a_record_whose_type_is_no_string_costs_that_record_only(tmp_path: Path, kind: Any):
    bare = {"type": kind, "id": 1}
    path = place(tmp_path, bare, meta(), user(1, "plant a row"))
    CodexStore.recognises(path)
    assert len(CodexStore.read_path(path).messages) == 1
    assert len(CodexStore(tmp_path).list()) == 1


@pytest.mark.parametrize("words", ['{"n":NaN}', "[" * 100_000])
def test_arguments_that_are_no_json_stay_the_string_that_they_are(tmp_path: Path, words: str):
    asked = item(1, type="function_call", name="t", arguments=words, call_id="c1")
    told = only(read(tmp_path, asked))
    assert isinstance(told, ToolCall)
    assert told.arguments == words


def test_two_rollouts_that_call_each_other_the_parent_are_read_to_an_end(tmp_path: Path):
    other = "0198f000-0000-7000-8000-00000000000b"

    def rollout(own: str, parent: str) -> list[dict[str, Any]]:
        asked = {"type": "function_call", "name": "spawn_agent", "call_id": "c1"}
        answer = {"type": "function_call_output", "call_id": "c1"}
        return [
            meta(id=own, parent_thread_id=parent, thread_source="subagent"),
            item(1, **asked, arguments='{"message":"prune"}'),
            item(2, **answer, output=json.dumps({"agent_id": parent})),
        ]

    path = place(tmp_path, *rollout(SESSION, other))
    records = "".join(f"{json.dumps(one)}\n" for one in rollout(other, SESSION))
    path.with_name(f"rollout-2026-05-02T10-00-00-{other}.jsonl").write_text(records)
    transcript = CodexStore.read_path(path)
    assert sum(isinstance(one, SubAgent) for one in transcript.messages) == 2


def test_a_directory_is_refused_by_name(tmp_path: Path):
    for read_it in (CodexStore.read_path, lambda path: list(CodexStore.iter_path(path))):
        with pytest.raises(NotATranscript, match="cannot be read"):
            read_it(tmp_path)


def test_a_summary_that_no_event_tells_is_the_boundarys_own(tmp_path: Path) -> None:
    kept = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "oats?"}]}
    transcript = read(
        tmp_path,
        user(1, "oats?"),
        event(1, "user_message", message="oats?"),
        event(2, "agent_message", message="three"),
        assistant(2, "three"),
        assistant(4, "they have three oats"),
        line(
            5,
            "compacted",
            {"message": "Before:\nthey have three oats", "replacement_history": [kept]},
        ),
        event(5, "context_compacted"),
    )
    assert said(transcript) == [
        ("UserMessage", "human", "oats?"),
        ("AgentMessage", "model", "three"),
        ("CompactBoundary", "harness", ""),
    ]
    boundary = transcript.messages[-1]
    assert isinstance(boundary, CompactBoundary)
    assert content_text(boundary.summary or ()) == "they have three oats"
    assert boundary.preserved == (transcript.messages[0].id,)


def test_words_told_before_their_tokens_are_counted_are_of_one_answer_with_their_call(
    tmp_path: Path,
) -> None:
    tokens = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
    count = event(2, "token_count", info={"total_token_usage": tokens, "last_token_usage": tokens})
    transcript = read(
        tmp_path,
        user(1, "oats?"),
        event(2, "agent_message", message="looking"),
        count,
        assistant(2, "looking"),
        call(2, "shell", {"command": ["ls"]}),
        output(2, '{"output":"oats\\n","metadata":{"exit_code":0,"duration_seconds":0.0}}'),
        count,
    )
    _, words, command = transcript.messages
    assert words.response == command.response
    assert [one.usage and one.usage.total for one in (words, command)] == [9, None]


def test_a_failure_says_its_status_where_no_field_does(tmp_path: Path) -> None:
    error = {"message": "unexpected status 401 Unauthorized: no", "codex_error_info": "other"}
    failed = event(2, "task_complete", turn_id="t1", last_agent_message=None, error=error)
    *_, told = read(tmp_path, user(1, "go"), failed).messages
    assert isinstance(told, Error)
    assert (told.status_code, told.failure) == (401, "other")


@pytest.mark.parametrize("name", ["mcp__yard__find", "yard__find"])
def test_a_servers_tool_is_known_by_the_names_of_all_releases(tmp_path: Path, name: str) -> None:
    told = only(read(tmp_path, call(1, name, {}), output(2, '[{"text":"hay","type":"text"}]')))
    assert isinstance(told, ToolCall)
    assert (told.server, told.name, content_text(told.output)) == ("yard", "find", "hay")


def test_a_patch_that_0_20_refuses_has_failed(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch\n"
    told = only(
        read(
            tmp_path,
            call(1, "shell", {"command": ["apply_patch", patch]}),
            output(2, 'error: Failed to find expected lines ["x"] in /srv/mill/a'),
        )
    )
    assert isinstance(told, FileChange)
    assert told.status == "failed"
    assert told.error is not None


def test_a_report_is_heard_by_the_wait_of_every_release(tmp_path: Path) -> None:
    report = json.dumps({"status": {CHILD: {"completed": "nine"}}, "timed_out": False})
    told = read(
        tmp_path,
        call(1, "spawn_agent", {"message": "count"}),
        output(2, json.dumps({"agent_id": CHILD})),
        call(3, "wait", {"ids": [CHILD]}, "c2"),
        output(4, report, "c2"),
    ).messages[0]
    assert isinstance(told, SubAgent)
    assert (told.status, content_text(told.output)) == ("completed", "nine")


def test_a_compaction_that_names_no_replacement_keeps_the_prompts(tmp_path: Path) -> None:
    transcript = read(
        tmp_path,
        user(1, "<environment_context>here</environment_context>"),
        user(1, "oats?"),
        event(1, "user_message", message="oats?"),
        event(2, "agent_message", message="three"),
        assistant(2, "three"),
        line(3, "compacted", {"message": "Another language model began:\nthree oats"}),
        event(3, "agent_message", message="Compact task completed"),
        user(4, "barley?"),
    )
    assert said(transcript)[2:] == [
        ("AgentMessage", "model", "three"),
        ("CompactBoundary", "harness", ""),
        ("UserMessage", "human", "barley?"),
    ]
    boundary = transcript.messages[3]
    assert isinstance(boundary, CompactBoundary)
    assert content_text(boundary.summary or ()) == "three oats"
    held = [one.id for one in transcript.effective()]
    assert held == [transcript.messages[1].id, boundary.id, transcript.messages[4].id]
    assert len(boundary.sources) == 2


def test_answers_at_the_same_line_of_two_threads_are_two(tmp_path: Path) -> None:
    child = tmp_path / DAY / f"rollout-2026-05-02T10-00-01-{CHILD}.jsonl"
    child.parent.mkdir(parents=True)
    source = {"subagent": {"thread_spawn": {"parent_thread_id": SESSION, "depth": 1}}}
    rows = [meta(id=CHILD, source=source), user(1, "count"), assistant(2, "nine")]
    child.write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    told = read(
        tmp_path,
        user(1, "go"),
        call(2, "spawn_agent", {"message": "count"}),
        output(3, json.dumps({"agent_id": CHILD})),
    )
    spawn, nine = told.messages[1], told.messages[-1]
    assert nine.agent == CHILD
    assert spawn.response is not None
    assert nine.response not in (None, spawn.response)
