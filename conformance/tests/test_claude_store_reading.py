"""Claude Code's files, as they really are left, come back as the conversation that they hold."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from conformance.tests.claude_rows import (
    OTHER_SESSION,
    SESSION,
    Rows,
    calls,
    save,
    says,
)
from transcripts.errors import DamagedRecord, NoMessages
from transcripts.model import (
    AgentMessage,
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
from transcripts.stores.claude import ClaudeStore


def read(home: Path, rows: Rows, name: str = SESSION) -> Transcript:
    return ClaudeStore.read_path(save(home, rows, name))


def words(message: AnyMessage) -> str:
    parts = getattr(message, "content", ()) or ()
    return "".join(part.text for part in parts if isinstance(part, Text))


def said(transcript: Transcript) -> list[str]:
    return [words(message) for message in transcript.messages]


def shown(output: object) -> str:
    assert isinstance(output, tuple)
    return "".join(part.text for part in output if isinstance(part, Text))


# ------------------------------------------------------------------ order and links


def test_rows_after_a_lost_parent_are_kept_and_bridged(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("how many plum trees?")
    rows.assistant(says("thirty-one"))
    rows.assistant(says("and one stump"), parent="deadbeef-0000-4000-8000-000000000000")
    rows.user("take the stump out")
    transcript = read(tmp_path, rows)
    assert said(transcript) == [
        "how many plum trees?",
        "thirty-one",
        "and one stump",
        "take the stump out",
    ]
    [damage] = transcript.damage
    assert (damage.kind, damage.line) == ("dangling_parent", 3)
    assert "deadbeef" in damage.why
    follows = [message.follows for message in transcript.messages]
    assert follows == [None, *(message.id for message in transcript.messages[:-1])]


def test_parallel_results_in_another_order_are_merged_with_their_own_calls(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("weigh the three crates")
    uses = [
        rows.assistant(calls(f"toolu_w{n}", "Bash", command=f"weigh {n}"), message_id="msg_w")
        for n in (1, 2, 3)
    ]
    for n in (3, 1, 2):
        rows.result(f"toolu_w{n}", f"{n} kg", parent=uses[n - 1], is_error=False)
    rows.assistant(says("six kilos"))
    transcript = read(tmp_path, rows)
    weighed = [m for m in transcript.messages if isinstance(m, CommandExecution)]
    assert [(m.command, shown(m.output)) for m in weighed] == [
        ("weigh 1", "1 kg"),
        ("weigh 2", "2 kg"),
        ("weigh 3", "3 kg"),
    ]
    assert {m.response for m in weighed} == {"msg_w"}
    assert words(transcript.messages[-1]) == "six kilos"
    assert not transcript.damage


def test_a_reply_whose_sibling_is_a_hook_summary_is_not_superseded(tmp_path: Path) -> None:
    rows = Rows()
    asked = rows.user("prune it")
    rows.assistant(says("pruned"), parent=asked)
    rows.row("system", subtype="stop_hook_summary", parent=asked)
    rows.user("and the next one")
    transcript = read(tmp_path, rows)
    assert said(transcript) == ["prune it", "pruned", "and the next one"]
    assert all(message.superseded_by is None for message in transcript.messages)


def test_progress_rows_never_take_the_branch(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("dig")
    use = rows.assistant(calls("toolu_d", "Bash", command="dig"))
    progress = rows.row("progress", data={"type": "hook_progress"}, parent=use)
    rows.result("toolu_d", "dug", parent=use)
    rows.assistant(says("it is dug"))
    rows.user("fill it in", parent=progress)
    transcript = read(tmp_path, rows)
    assert [m.kind for m in transcript.effective()] == [
        "UserMessage",
        "CommandExecution",
        "AgentMessage",
        "UserMessage",
    ]


def test_a_rewound_turn_is_kept_and_marked(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("plan a hedge")
    answer = rows.assistant(says("hornbeam"))
    rows.user("make it beech")
    rows.assistant(says("beech then"))
    rows.user("make it yew", parent=answer)
    rows.assistant(says("yew then"))
    transcript = read(tmp_path, rows)
    old = transcript.messages[2:4]
    new = transcript.messages[4]
    assert [words(m) for m in old] == ["make it beech", "beech then"]
    assert [m.superseded_by and m.superseded_by.why for m in old] == ["rewind", "rewind"]
    assert all(m.superseded_by and m.superseded_by.id == new.id for m in old)
    assert new.follows == transcript.messages[1].id
    assert [words(m) for m in transcript.effective()] == [
        "plan a hedge",
        "hornbeam",
        "make it yew",
        "yew then",
    ]


def test_a_cycle_of_parents_ends(tmp_path: Path) -> None:
    rows = Rows()
    first = rows.user("round")
    second = rows.assistant(says("and round"))
    rows.rows[0]["parentUuid"] = second
    assert first
    assert said(read(tmp_path, rows)) == ["round", "and round"]


# ------------------------------------------------------------------ whose rows


def test_replayed_rows_are_folded_and_counted(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("first list")
    rows.assistant(says("one, two"))
    replay = [dict(row) for row in rows.rows]
    rows.user("second list")
    rows.rows += replay
    rows.user("third list", parent=replay[-1]["uuid"])
    transcript = read(tmp_path, rows)
    assert said(transcript) == ["first list", "one, two", "second list", "third list"]
    assert [d.kind for d in transcript.damage] == ["duplicate_record", "duplicate_record"]


def test_another_sessions_rows_are_parted_and_found_by_their_owner(tmp_path: Path) -> None:
    ours = Rows()
    ours.user("mend the fence")
    theirs = Rows(OTHER_SESSION, numbered_from=500)
    theirs.user("boil the jam")
    theirs.assistant(calls("toolu_jam", "Bash", command="stir"))
    ours.assistant(says("mended"))
    theirs.result("toolu_jam", "thick")
    mixed = [ours.rows[0], *theirs.rows, ours.rows[1]]
    theirs.rows = []
    theirs.assistant(says("jam is done"))
    save(tmp_path, mixed)
    other = save(tmp_path, theirs, OTHER_SESSION)
    store = ClaudeStore(tmp_path)

    mine = store.read(SESSION)
    assert mine is not None
    assert said(mine) == ["mend the fence", "mended"]
    [foreign] = mine.damage
    assert foreign.kind == "foreign_rows"
    assert "3 records" in foreign.why
    assert OTHER_SESSION in foreign.why

    jam = ClaudeStore.read_path(other)
    assert [m.kind for m in jam.messages] == ["UserMessage", "CommandExecution", "AgentMessage"]
    assert jam.messages[1].status == "completed"
    [found] = jam.damage
    assert found.kind == "rows_found_in_other_file"
    assert found.source.endswith(f"{SESSION}.jsonl")


def test_rows_of_another_id_that_ours_descend_from_are_inherited(tmp_path: Path) -> None:
    old = Rows(OTHER_SESSION)
    old.user("start the cider")
    old.assistant(says("pressed"))
    new = Rows(SESSION, numbered_from=50)
    new.last = old.last
    new.user("bottle it")
    transcript = ClaudeStore.read_path(save(tmp_path, [*old.rows, *new.rows]))
    assert said(transcript) == ["start the cider", "pressed", "bottle it"]
    inherited = [m.inherited_from and m.inherited_from.session for m in transcript.messages]
    assert inherited == [OTHER_SESSION, OTHER_SESSION, None]
    assert not transcript.damage


# ------------------------------------------------------------------ calls and results


def test_a_call_without_result_is_unresolved_and_a_result_without_call_is_kept(
    tmp_path: Path,
) -> None:
    rows = Rows()
    rows.result("toolu_gone", "nobody asked")
    rows.user("open both valves")
    rows.assistant(
        calls("toolu_v1", "Bash", command="valve 1"), calls("toolu_v2", "Bash", command="valve 2")
    )
    rows.result("toolu_v1", "open")
    rows.user("[Request interrupted by user for tool use]")
    transcript = read(tmp_path, rows)
    orphan, _, first, second, interruption = transcript.messages
    assert isinstance(orphan, Other)
    assert orphan.external_id == "toolu_gone"
    assert not orphan.in_context
    assert [d.kind for d in transcript.damage] == ["orphan_result"]
    assert (first.status, second.status) == ("completed", "unresolved")
    assert interruption.author == "harness"


@pytest.mark.parametrize(
    ("content", "is_error", "side", "expected"),
    [
        ("Exit code 5\nno plums\n", True, "Error: Exit code 5\nno plums\n", (5, "text", "failed")),
        ("Exit code 6", True, None, (6, "text", "failed")),
        ("plums", False, {"stdout": "plums", "stderr": ""}, (0, "field", "completed")),
        ("plums", False, None, (0, "field", "completed")),
        ("plums", None, None, (None, "none", "completed")),
        (
            "",
            False,
            {"stdout": "", "stderr": "", "returnCodeInterpretation": "No matches found"},
            (None, "none", "completed"),
        ),
        (
            "started",
            False,
            {"stdout": "", "backgroundTaskId": "b12"},
            (None, "none", "unknown"),
        ),
        ("it ended, exited with code 9", False, None, (0, "field", "completed")),
    ],
)
def test_exit_codes_come_from_where_they_are_recorded(
    tmp_path: Path,
    content: str,
    is_error: bool | None,
    side: object,
    expected: tuple[int | None, str, str],
) -> None:
    rows = Rows()
    rows.user("look for plums")
    rows.assistant(calls("toolu_p", "Bash", command="look"))
    flags = {} if is_error is None else {"is_error": is_error}
    rows.result("toolu_p", content, **flags, **({"toolUseResult": side} if side else {}))
    command = read(tmp_path, rows).messages[1]
    assert isinstance(command, CommandExecution)
    assert (command.exit_code, command.exit_code_source, command.status) == expected
    assert command.error is None
    if is_error:
        assert shown(command.output) == content.partition("\n")[2]


def test_the_harness_frame_around_errors_and_silence_is_no_content(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("go")
    rows.assistant(calls("toolu_1", "Read", file_path="/srv/orchard/none"))
    rows.result(
        "toolu_1",
        "<tool_use_error>there is no such file</tool_use_error>",
        is_error=True,
        toolUseResult="Error: there is no such file",
    )
    rows.assistant(calls("toolu_2", "mcp__yard__weigh__all", crate=4))
    rows.result(
        "toolu_2",
        "the scale is off\n\nA hint of the harness about the schema.",
        is_error=True,
        toolUseResult="Error: the scale is off",
    )
    rows.assistant(calls("toolu_3", "Bash", command="true"))
    rows.result("toolu_3", "(Bash completed with no output)", is_error=False)
    _, read_file, weigh, silent = read(tmp_path, rows).messages
    assert isinstance(read_file, ToolCall)
    assert (read_file.status, read_file.error) == ("failed", "there is no such file")
    assert isinstance(weigh, ToolCall)
    assert (weigh.server, weigh.name, weigh.error) == ("yard", "weigh__all", "the scale is off")
    assert isinstance(silent, CommandExecution)
    assert silent.output == ()


def test_a_refused_call_is_declined_and_a_cancelled_one_cancelled(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("go")
    texts = {
        "toolu_1": "The user doesn't want to proceed with this tool use.",
        "toolu_2": "Claude requested permissions to use Bash, but you haven't granted it yet.",
    }
    for call, text in texts.items():
        rows.assistant(calls(call, "Bash", command="rm"))
        rows.result(call, text, is_error=True)
    rows.assistant(calls("toolu_3", "Bash", command="rm"))
    rows.result("toolu_3", "not now", is_error=True, toolDenialKind="interrupted")
    messages = read(tmp_path, rows).messages[1:]
    assert [m.status for m in messages] == ["declined", "declined", "cancelled"]


def test_each_editor_gives_the_edit_with_its_contents(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("edit")
    path = "/srv/orchard/list.txt"
    rows.assistant(calls("toolu_1", "Write", file_path=path, content="a\n"))
    rows.result(
        "toolu_1",
        "written",
        toolUseResult={"type": "update", "filePath": path, "content": "a\n", "originalFile": "z\n"},
    )
    rows.assistant(calls("toolu_2", "Write", file_path=path, content="b\n"))
    rows.assistant(calls("toolu_3", "Edit", file_path=path, old_string="a", new_string="b"))
    rows.result("toolu_3", "edited")
    edits = [{"old_string": "b", "new_string": "c"}, {"old_string": "", "new_string": "d"}]
    rows.assistant(calls("toolu_4", "MultiEdit", file_path=path, edits=edits))
    rows.assistant(
        calls("toolu_5", "NotebookEdit", notebook_path="/srv/n.ipynb", new_source="print(2)")
    )
    rows.result("toolu_5", "updated", toolUseResult={"old_source": "print(1)"})
    changes = [m.changes for m in read(tmp_path, rows).messages if isinstance(m, FileChange)]
    assert [[(c.operation, c.before, c.after) for c in some] for some in changes] == [
        [("update", "z\n", "a\n")],
        [("add", None, "b\n")],
        [("update", "a", "b")],
        [("update", "b", "c"), ("add", None, "d")],
        [("update", "print(1)", "print(2)")],
    ]


def test_tools_with_a_kind_of_their_own_become_it(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("go")
    todo = [{"content": "graft", "status": "in_progress", "activeForm": "grafting"}]
    rows.assistant(calls("toolu_1", "TodoWrite", todos=todo))
    rows.result("toolu_1", "ok")
    rows.assistant(calls("toolu_2", "TaskCreate", subject="water"))
    rows.result("toolu_2", "created", toolUseResult={"task": {"id": "7", "subject": "water"}})
    rows.assistant(calls("toolu_8", "TaskCreate", subject="mulch"))
    rows.result("toolu_8", "created", toolUseResult={"task": {"id": "8", "subject": "mulch"}})
    rows.assistant(calls("toolu_9", "TaskCreate", subject="never"))
    rows.result("toolu_9", "not now", is_error=True)
    rows.assistant(calls("toolu_3", "TaskUpdate", taskId="7", status="completed"))
    rows.result("toolu_3", "updated", toolUseResult={"success": True})
    rows.assistant(calls("toolu_4", "ExitPlanMode", plan="1. graft"))
    rows.result("toolu_4", "approved")
    rows.assistant(calls("toolu_5", "WebSearch", query="pear scab"))
    hits = [{"tool_use_id": "srv", "content": [{"title": "Scab", "url": "https://a.test"}]}, "text"]
    rows.result("toolu_5", "Links", toolUseResult={"results": hits, "durationSeconds": 1.5})
    question = {"question": "Which tree?", "options": [{"label": "old"}, {"label": "young"}]}
    rows.assistant(calls("toolu_6", "AskUserQuestion", questions=[question]))
    rows.result("toolu_6", "answered", toolUseResult={"answers": {"Which tree?": "old"}})
    _, todos, *tasks, plan, search, asked = read(tmp_path, rows).messages
    assert isinstance(todos, Plan)
    assert [(i.text, i.status) for i in todos.items] == [("graft", "in_progress")]
    assert [[(i.text, i.status) for i in t.items] for t in tasks if isinstance(t, Plan)] == [
        [("water", "pending")],
        [("water", "pending"), ("mulch", "pending")],
        [("water", "pending"), ("mulch", "pending"), ("never", "pending")],
        [("water", "completed"), ("mulch", "pending")],
    ]
    assert isinstance(plan, Plan)
    assert (plan.form, words(plan)) == ("proposal", "1. graft")
    assert isinstance(search, WebSearch)
    assert (search.query, search.results[0].url, search.duration_ms) == (
        "pear scab",
        "https://a.test",
        1500,
    )
    assert isinstance(asked, UserQuestion)
    assert (asked.questions[0].options, asked.questions[0].answer) == (("old", "young"), "old")


# ------------------------------------------------------------------ subagents


def _task(rows: Rows, prompt: str, report: str, agent: str | None, **side: object) -> None:
    rows.user("hand it over")
    rows.assistant(calls("toolu_a", "Task", description="count", prompt=prompt))
    result = {"content": [says(report)], "status": "completed", **side}
    if agent:
        result["agentId"] = agent
    rows.result("toolu_a", [says(report), says("agentId: x (frame)")], toolUseResult=result)
    rows.assistant(says("counted"))


def _child(prompt: str, agent: str | None = None) -> Rows:
    child = Rows(numbered_from=900)
    marks: dict[str, Any] = {"isSidechain": True, **({"agentId": agent} if agent else {})}
    child.user(prompt, **marks)
    child.assistant(calls("toolu_c", "Bash", command="count"), **marks)
    child.result("toolu_c", "12", is_error=False, **marks)
    child.assistant(says("twelve"), **marks)
    return child


def _assert_woven(transcript: Transcript, evidence: str) -> None:
    call = transcript.messages[1]
    assert isinstance(call, SubAgent)
    assert shown(call.output) == "twelve"
    thread = [m.kind for m in transcript.messages[2:5]]
    assert thread == ["UserMessage", "CommandExecution", "AgentMessage"]
    own = [m for m in transcript.messages if m.agent is not None]
    assert [m.author for m in own] == ["agent", "model", "model"]
    assert {m.caller for m in own} == {call.id}
    assert {m.caller_evidence for m in own} == {evidence}
    assert words(transcript.messages[-1]) == "counted"
    assert transcript.messages[-1].agent is None


def test_a_subagent_in_the_sessions_own_file_is_linked_by_its_prompt(tmp_path: Path) -> None:
    rows = Rows()
    _task(rows, "count the hives", "twelve", None)
    child = _child("count the hives")
    woven = [*rows.rows[:2], *child.rows, *rows.rows[2:]]
    transcript = ClaudeStore.read_path(save(tmp_path, woven))
    _assert_woven(transcript, "derived")
    assert not transcript.damage


def test_a_subagent_beside_the_session_is_linked_by_the_id_in_the_result(tmp_path: Path) -> None:
    rows = Rows()
    _task(rows, "count the hives", "twelve", "ab12cd3")
    path = save(tmp_path, rows)
    save(tmp_path, _child("count the hives", "ab12cd3"), "agent-ab12cd3")
    stranger = _child("count the hives", "ff00ff0")
    for row in stranger.rows:
        row["sessionId"] = OTHER_SESSION
    save(tmp_path, stranger, "agent-ff00ff0")
    _assert_woven(ClaudeStore.read_path(path), "native")


def test_a_subagent_in_the_sessions_folder_is_linked_by_its_note(tmp_path: Path) -> None:
    rows = Rows()
    _task(rows, "count the hives", "twelve", None, harnessNoteCount=0)
    path = save(tmp_path, rows)
    child = save(tmp_path, _child("another wording", "a1"), f"{SESSION}/subagents/agent-a1")
    child.with_suffix(".meta.json").write_text('{"toolUseId": "toolu_a"}')
    _assert_woven(ClaudeStore.read_path(path), "native")
    assert ClaudeStore(tmp_path).list().seen == 1


def test_the_end_of_work_in_the_background_is_joined_to_its_call(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("both at once")
    task = calls("toolu_a", "Agent", description="d", prompt="count", run_in_background=True)
    rows.assistant(task, message_id="m")
    side = {"isAsync": True, "status": "async_launched", "agentId": "a5"}
    rows.result("toolu_a", "launched", toolUseResult=side)
    rows.assistant(calls("toolu_b", "Bash", command="dig", run_in_background=True))
    side = {"stdout": "", "stderr": "", "backgroundTaskId": "b5"}
    rows.result("toolu_b", "running", is_error=False, toolUseResult=side)
    rows.assistant(calls("toolu_c", "Agent", description="d", prompt="x", run_in_background=True))
    rows.result("toolu_c", "launched", toolUseResult={"isAsync": True, "status": "async_launched"})
    for call, status, rest in (
        ("toolu_a", "completed", "<result>twelve <status>failed</status></result>"),
        ("toolu_b", "failed", '<summary>Background command "dig" failed (exit code 4)</summary>'),
    ):
        about = f"<tool-use-id>{call}</tool-use-id>\n<status>{status}</status>\n{rest}"
        prompt = f"<task-notification>\n{about}\n</task-notification>"
        rows.row("attachment", attachment={"type": "queued_command", "prompt": prompt})
    _, agent, command, endless, *notices = read(tmp_path, rows).messages
    assert isinstance(agent, SubAgent)
    assert (agent.background, agent.status, shown(agent.output)) == (
        True,
        "completed",
        "twelve <status>failed</status>",
    )
    assert isinstance(command, CommandExecution)
    assert (command.status, command.exit_code, command.exit_code_source) == ("failed", 4, "text")
    assert endless.status == "unknown"
    assert [m.author for m in notices] == ["harness", "harness"]


def test_the_warm_up_of_a_subagent_is_the_harness_own(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("hello")
    rows.assistant(says("hello"))
    path = save(tmp_path, rows)
    child = Rows(numbered_from=700)
    child.user("Warmup", isSidechain=True, agentId="a77")
    child.assistant(says("ready"), isSidechain=True, agentId="a77")
    save(tmp_path, child, "agent-a77")
    warm = ClaudeStore.read_path(path).messages[2:]
    assert [(m.author, m.provenance, m.caller) for m in warm] == [
        ("harness", "warm-up", None),
        ("harness", "warm-up", None),
    ]


# ------------------------------------------------------------------ who speaks


def test_the_harness_is_told_from_the_person(tmp_path: Path) -> None:
    rows = Rows()
    person = {"origin": {"kind": "human"}}
    rows.user("<command-message>caveat</command-message>", isMeta=True)
    rows.user("<command-name>/compact</command-name>\n<command-args></command-args>")
    name = "<command-name>/survey</command-name>"
    rows.user(f"<command-message>survey</command-message>\n{name}", **person)
    rows.user(f"{name}\n<command-args>the west field</command-args>", **person)
    rows.user("<p>this is what I typed</p>", **person)
    rows.user("<task-notification>done</task-notification>", origin={"kind": "task-notification"})
    rows.user("<task-notification>I typed this</task-notification>", **person)
    rows.user("<local-command-stdout>Bye</local-command-stdout>")
    rows.user("one more", promptSource="sdk")
    rows.row("attachment", attachment={"type": "queued_command", "prompt": "while you work"})
    note = {"type": "queued_command", "prompt": "<x/>", "commandMode": "task-notification"}
    rows.row("attachment", attachment=note)
    context = {"type": "hook_additional_context", "content": ["frost"], "hookEvent": "PreToolUse"}
    rows.row("attachment", attachment=context)
    transcript = read(tmp_path, rows)
    assert [(m.author, m.delivery, words(m)) for m in transcript.messages] == [
        ("harness", None, "<command-message>caveat</command-message>"),
        ("harness", None, "/compact"),
        ("human", "typed", "/survey"),
        ("human", "typed", "/survey the west field"),
        ("human", "typed", "<p>this is what I typed</p>"),
        ("harness", None, "<task-notification>done</task-notification>"),
        ("human", "typed", "<task-notification>I typed this</task-notification>"),
        ("harness", None, "<local-command-stdout>Bye</local-command-stdout>"),
        ("human", "programmatic", "one more"),
        ("human", "queued", "while you work"),
        ("harness", "queued", "<x/>"),
        ("hook", "programmatic", "frost"),
    ]
    assert transcript.title == "/survey"


def test_each_queued_prompt_is_one_and_a_retracted_one_reached_nobody(tmp_path: Path) -> None:
    rows = Rows()
    queued = ("to be a row", "to be attached", "to be taken back", "/survey  ", "<tick>1</tick>")
    for text in queued:
        rows.bare("queue-operation", operation="enqueue", content=text)
    rows.user("to be a row", promptSource="queued")
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
    }
    prompt = [says("to be attached"), image]
    rows.row("attachment", attachment={"type": "queued_command", "prompt": prompt})
    rows.bare("queue-operation", operation="remove")
    rows.user("<command-name>/survey</command-name>\n<command-args></command-args>")
    transcript = read(tmp_path, rows)
    assert [(m.delivery, m.status, m.in_context, words(m)) for m in transcript.messages] == [
        ("queued", "cancelled", False, "to be taken back"),
        ("queued", "completed", True, "to be a row"),
        ("queued", "completed", True, "to be attached"),
        (None, "completed", True, "/survey"),
    ]
    attached = transcript.messages[2]
    assert isinstance(attached, UserMessage)
    assert [type(part).__name__ for part in attached.content] == ["Text", "Asset"]
    assert words(transcript.effective()[0]) == "to be a row"


def test_a_typed_command_counts_as_the_persons_where_releases_mark_nobody(tmp_path: Path) -> None:
    rows = Rows(version="2.0.30")
    rows.user("<command-name>/clear</command-name>\n<command-args></command-args>")
    assert [m.author for m in read(tmp_path, rows).messages] == ["human"]


# ------------------------------------------------------------------ thoughts, errors, compaction


def test_a_hollow_thought_holds_only_its_signature(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("is it ripe?")
    rows.assistant({"type": "thinking", "thinking": "", "signature": "c2lnbmVk"})
    rows.assistant({"type": "thinking", "thinking": "soft, so yes", "signature": "c2lnMg=="})
    transcript = read(tmp_path, rows)
    _, hollow, full = transcript.messages
    assert isinstance(hollow, Reasoning)
    assert isinstance(full, Reasoning)
    assert hollow.content == (Opaque(form="signature", data="c2lnbmVk", provider="anthropic"),)
    assert words(full) == "soft, so yes"
    assert [d.kind for d in transcript.damage] == ["hollow_thinking"]


def test_a_providers_failure_is_an_error_of_no_model(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("why 429?")
    rows.assistant(
        says("Wait a little"),
        model="<synthetic>",
        isApiErrorMessage=True,
        error="rate_limit",
        apiErrorStatus=429,
    )
    rows.assistant(says("API Error: 429 is what the log says"))
    transcript = read(tmp_path, rows)
    _, failure, answer = transcript.messages
    assert isinstance(failure, Error)
    assert (failure.failure, failure.status_code, failure.model) == ("rate_limit", 429, None)
    assert not failure.in_context
    assert isinstance(answer, AgentMessage)
    assert transcript.model == "model-of-record"


def test_a_compaction_hides_what_it_did_not_preserve(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("old plan")
    rows.assistant(says("old answer"))
    kept = [rows.user("kept question"), rows.assistant(says("kept answer"))]
    boundary = rows.row(
        "system",
        subtype="compact_boundary",
        parent=None,
        logicalParentUuid=kept[-1],
        compactMetadata={
            "trigger": "auto",
            "preTokens": 180000,
            "preservedSegment": {"headUuid": kept[0], "tailUuid": kept[1]},
        },
    )
    assert boundary
    rows.user("what was said", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    rows.user("new question")
    transcript = read(tmp_path, rows)
    marker = transcript.messages[4]
    assert isinstance(marker, CompactBoundary)
    assert (marker.trigger, marker.pre_tokens) == ("auto", 180000)
    assert marker.summary == (Text(text="what was said"),)
    assert marker.preserved == tuple(m.id for m in transcript.messages[2:4])
    assert [m.superseded_by and m.superseded_by.why for m in transcript.messages] == [
        "compaction",
        "compaction",
        *[None] * 5,
    ]
    summary = transcript.messages[5]
    assert isinstance(summary, UserMessage)
    assert (summary.author, summary.provenance) == ("harness", "compact-summary")
    assert [words(m) for m in transcript.effective()][-1] == "new question"


# ------------------------------------------------------------------ bookkeeping, odd and bad input


def test_unknown_records_are_counted_and_known_ones_told_apart(tmp_path: Path) -> None:
    rows = Rows()
    rows.bare("pr-link", prNumber=3)
    rows.rows.append({"when": "2026-03-01T08:30:00Z"})
    rows.user("hello")
    rows.row("pollen-note")
    rows.assistant(says("hi"))
    rows.row("attachment", attachment={"type": "pollen_count"})
    rows.row("system", subtype="turn_duration")
    transcript = read(tmp_path, rows)
    assert said(transcript) == ["hello", "hi"]
    assert {(u.record, u.count, u.known) for u in transcript.unread} == {
        ("(no type)", 1, False),
        ("attachment/pollen_count", 1, False),
        ("pollen-note", 1, False),
        ("pr-link", 1, True),
        ("system/turn_duration", 1, True),
    }
    assert [d.kind for d in transcript.damage] == ["malformed_record"]


def test_a_field_of_an_odd_type_costs_that_field_only(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("hello", timestamp=17, cwd=["x"], version=None, origin="human", isMeta="yes")
    rows.assistant(
        {"type": "tool_use", "id": "toolu_1", "name": "Bash"},
        None,
        "a bare string",
        message={"usage": "none", "model": 3, "id": None},
    )
    rows.result("toolu_1", [says("ok"), 12], toolUseResult=[1, 2], timestamp="yesterday")
    rows.assistant(calls("toolu_2", "TodoWrite", todos={"a": 1}))
    transcript = read(tmp_path, rows)
    assert [m.kind for m in transcript.messages] == [
        "UserMessage",
        "CommandExecution",
        "Other",
        "Other",
        "Plan",
    ]
    assert transcript.messages[0].at is None
    assert transcript.messages[1].status == "completed"


def test_a_key_that_is_half_a_surrogate_pair_costs_nothing_else(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("hello")
    rows.assistant(calls("toolu_1", "Bash", command="ls"))
    rows.result("toolu_1", "ok", toolUseResult={"\ud800": None, "interrupted": False})
    rows.assistant(says("done"))
    assert [m.kind for m in read(tmp_path, rows).messages] == [
        "UserMessage",
        "CommandExecution",
        "AgentMessage",
    ]


def test_usage_is_counted_once_a_response_with_its_last_counts(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("hello")
    early = {"usage": {"input_tokens": 9, "output_tokens": 1}}
    late = {"usage": {"input_tokens": 9, "output_tokens": 44, "cache_read_input_tokens": 5}}
    rows.assistant(says("a"), message_id="msg_r", message=early)
    rows.assistant(says("b"), message_id="msg_r", message=late)
    rows.assistant(
        says("c"), message_id="msg_s", message={"usage": {"input_tokens": 0, "output_tokens": 0}}
    )
    usages = [m.usage for m in read(tmp_path, rows).messages]
    assert usages[1] is not None
    assert (usages[1].input, usages[1].output, usages[1].cache_read) == (9, 44, 5)
    assert usages[2:] == [None, None]


def test_a_damaged_file_is_refused_or_read_for_what_is_whole(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("stack the crates")
    rows.assistant(says("stacked"))
    rows.user("lock the shed")
    path = save(tmp_path, rows)
    first, second, third = path.read_bytes().splitlines(keepends=True)
    cut = second[:150]
    path.write_bytes(first + cut + second + b"\0" * 32 + third + b'{"type":"user","uui')
    with pytest.raises(DamagedRecord) as caught:
        ClaudeStore.read_path(path)
    assert (caught.value.path, caught.value.line) == (str(path), 2)
    assert caught.value.offset is not None
    assert len(first) < caught.value.offset < len(first) + len(cut) + len(second)
    transcript = ClaudeStore.read_path(path, recover=True)
    assert said(transcript) == ["stack the crates", "stacked", "lock the shed"]
    assert [(d.kind, d.line) for d in transcript.damage] == [
        ("truncated_splice", 2),
        ("nul_run", 3),
        ("torn_tail", 4),
    ]
    assert tuple(ClaudeStore.iter_path(path, recover=True)) == transcript.messages


def test_a_subagents_damaged_file_is_named(tmp_path: Path) -> None:
    rows = Rows()
    _task(rows, "count the hives", "twelve", "a1")
    path = save(tmp_path, rows)
    child = save(tmp_path, _child("count the hives", "a1"), f"{SESSION}/subagents/agent-a1")
    child.write_bytes(child.read_bytes() + b'{"half":')
    with pytest.raises(DamagedRecord) as caught:
        ClaudeStore.read_path(path)
    assert caught.value.path == str(child)
    damage = ClaudeStore.read_path(path, recover=True).damage
    assert [(d.kind, d.source.rpartition("/")[2]) for d in damage] == [
        ("torn_tail", "agent-a1.jsonl")
    ]


def test_content_without_a_message_is_an_error(tmp_path: Path) -> None:
    rows = Rows()
    rows.bare("summary", summary="only a title")
    path = save(tmp_path, rows)
    with pytest.raises(NoMessages, match=r"no message in 1 records \(summary\)") as caught:
        ClaudeStore.read_path(path)
    assert caught.value.path == str(path)


def test_titles_rank_the_persons_before_the_models(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("first words\nsecond line")
    assert read(tmp_path, rows).title == "first words"
    rows.bare("summary", summary="a summary")
    rows.bare("agent-name", agentName="a name")
    assert read(tmp_path, rows).title == "a name"
    rows.bare("ai-title", aiTitle="by the model")
    assert read(tmp_path, rows).title == "by the model"
    rows.bare("custom-title", customTitle="by the person")
    rows.bare("ai-title", aiTitle="by the model again")
    assert read(tmp_path, rows).title == "by the person"


def test_a_summary_in_a_file_of_its_own_names_the_session_of_its_row(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("first words")
    leaf = rows.assistant(says("an answer"))
    path = save(tmp_path, rows)
    for name, title, row in ((OTHER_SESSION, "about pears", leaf), ("x", "another", "no-row")):
        save(tmp_path, [{"type": "summary", "summary": title, "leafUuid": row}], name)
    assert ClaudeStore.read_path(path).title == "about pears"
    assert [info.title for info in ClaudeStore(tmp_path).list()] == ["about pears"]


def test_reading_is_the_same_in_another_process_and_on_another_path(tmp_path: Path) -> None:
    rows = Rows()
    _task(rows, "count the hives", "twelve", "ab12cd3")
    program = (
        "import sys; from transcripts import read_path; "
        "from transcripts.serialise import to_json; "
        "print(to_json(read_path(sys.argv[1])))"
    )
    printed: set[str] = set()
    for place in ("one", "two"):
        path = save(tmp_path / place, rows)
        save(tmp_path / place, _child("count the hives", "ab12cd3"), "agent-ab12cd3")
        before = path.stat()
        for seed in ("1", "2"):
            done = subprocess.run(
                [sys.executable, "-c", program, str(path)],
                env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
                check=True,
                capture_output=True,
                text=True,
            )
            printed.add(done.stdout)
        after = path.stat()
        assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
    assert len(printed) == 1


# ------------------------------------------------------------------ in little memory


def test_iterating_yields_what_reading_returns(tmp_path: Path) -> None:
    rows = Rows()
    _task(rows, "count the hives", "twelve", "ab12cd3")
    rows.user("old", parent=rows.rows[0]["uuid"])
    rows.user("new", parent=rows.rows[0]["uuid"])
    rows.row("system", subtype="compact_boundary", parent=None, compactMetadata={"trigger": "auto"})
    rows.user("what was said", isCompactSummary=True)
    rows.assistant(says("half of one: \ud83d"))
    path = save(tmp_path, rows)
    save(tmp_path, _child("count the hives", "ab12cd3"), "agent-ab12cd3")
    assert tuple(ClaudeStore.iter_path(path)) == ClaudeStore.read_path(path).messages


def test_iterating_holds_one_record_at_a_time(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("fetch the sacks")
    for number in range(60):
        rows.assistant(calls(f"toolu_{number}", "Bash", command="fetch"))
        rows.result(f"toolu_{number}", "grain " * 80_000, is_error=False)
    path = save(tmp_path, rows)
    assert path.stat().st_size > 28_000_000
    tracemalloc.start()
    count = sum(1 for _ in ClaudeStore.iter_path(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 61
    assert peak < 9_000_000


def test_nothing_to_iterate_is_an_error_too(tmp_path: Path) -> None:
    rows = Rows()
    rows.bare("mode", mode="plan")
    with pytest.raises(NoMessages):
        list(ClaudeStore.iter_path(save(tmp_path, rows)))
