"""What is written into Codex's store comes back, is whole, and says what did not cross."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from transcripts.errors import (
    MissingWorkingDirectory,
    NothingToWrite,
    SessionExists,
    UnwritableSession,
)
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Asset,
    CommandExecution,
    CompactBoundary,
    Error,
    FileChange,
    FileEdit,
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
from transcripts.narration import content_text
from transcripts.serialise import to_json
from transcripts.stores import WrittenSession
from transcripts.stores.codex import CodexStore

SESSION = "0199f3a0-5b1c-7e4d-8a2f-6c3d9e0b1a25"
STARTED = datetime(2026, 4, 11, 6, 30, tzinfo=UTC)
CWD = "/srv/orchard"


def text(words: str) -> tuple[Text, ...]:
    return (Text(text=words),)


def prompt(words: str = "prune") -> UserMessage:
    return UserMessage(id="u", author="human", content=text(words))


def timed(messages: Sequence[AnyMessage]) -> tuple[AnyMessage, ...]:
    return tuple(
        replace(message, id=f"m{index}", at=STARTED + timedelta(seconds=index))
        for index, message in enumerate(messages)
    )


def transcript(*messages: AnyMessage, agent: str = "elsewhere", **more: Any) -> Transcript:
    more.setdefault("cwd", CWD)
    return Transcript(agent=agent, session_id="s", messages=timed(messages), **more)


def write(home: Path, source: Transcript, **more: Any) -> WrittenSession:
    return CodexStore(home).write(source, session_id=SESSION, **more)


def across(
    tmp_path: Path, *messages: AnyMessage, agent: str = "elsewhere"
) -> tuple[tuple[AnyMessage, ...], list[str]]:
    """Write, read back, and return the messages and the losses that were said."""
    written = write(tmp_path, transcript(*messages, agent=agent))
    back = CodexStore(tmp_path).read(SESSION)
    assert back is not None
    assert back.damage == ()
    assert [one for one in back.unread if not one.known] == []
    return back.messages, [loss.loss for loss in written.losses]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(one) for one in path.read_text(encoding="utf-8").splitlines()]


def alone(found: tuple[tuple[AnyMessage, ...], list[str]]) -> AnyMessage:
    assert found[1] == []
    (message,) = found[0]
    return message


# ------------------------------------------------------------------ native calls


@pytest.mark.parametrize("exit_code", [0, 3, -1])
@pytest.mark.parametrize("source", ["field", "text"])
def test_a_command_crosses_with_its_output_and_exit_status(
    tmp_path: Path, exit_code: int, source: Any
):
    sent = CommandExecution(
        id="",
        author="model",
        name="Bash",
        external_id="toolu_1",
        command="make 'all'",
        cwd="/srv/elsewhere",
        output=text("rule\nProcess exited with code 9\n"),
        exit_code=exit_code,
        exit_code_source=source,
        status="failed" if exit_code else "completed",
    )
    back = alone(across(tmp_path, sent))
    assert isinstance(back, CommandExecution)
    assert (back.command, back.cwd, back.external_id) == (sent.command, sent.cwd, "toolu_1")
    assert (back.output, back.exit_code, back.status) == (sent.output, exit_code, sent.status)
    assert back.exit_code_source == source


def test_a_command_whose_status_nobody_knows_keeps_it_unknown(tmp_path: Path):
    sent = CommandExecution(
        id="", author="model", name="Bash", command="ls", output=text("exited with code 3\n")
    )
    back = alone(across(tmp_path, sent))
    assert isinstance(back, CommandExecution)
    assert (back.exit_code, back.exit_code_source, back.status) == (None, "none", "completed")
    assert back.output == sent.output


def test_a_command_that_was_broken_off_stays_so_with_what_was_said_of_it(tmp_path: Path):
    for words in ("The user stopped it.", "aborted by user after 1.0s"):
        stopped = CommandExecution(
            id="", author="model", name="Bash", command="saw", status="cancelled", error=words
        )
        found = alone(across(tmp_path / words[:3], stopped))
        assert isinstance(found, CommandExecution)
        assert (found.status, found.error, found.output) == ("cancelled", words, None)


def test_a_command_that_never_ran_has_its_error(tmp_path: Path):
    sent = CommandExecution(
        id="", author="model", name="Bash", command="ls", status="declined", error="not today"
    )
    back = alone(across(tmp_path, sent))
    assert isinstance(back, CommandExecution)
    assert (back.status, back.error, back.output) == ("declined", "not today", None)


@pytest.mark.parametrize(
    "edit",
    [
        FileEdit(path="/srv/a", operation="add", after="one\ntwo\n", whole=True),
        FileEdit(path="/srv/a", operation="add", after="no end", whole=True),
        FileEdit(path="/srv/a", operation="add", after="", whole=True),
        FileEdit(path="/srv/a", operation="update", before="x = 1", after="x = 2"),
        FileEdit(path="/srv/a", operation="update", before="a\nb", after=""),
        FileEdit(path="/srv/a", operation="update", before="a", after="a\nb"),
        FileEdit(path="/srv/a", operation="delete", before="gone\n", whole=True),
        FileEdit(path="/srv/a", operation="delete"),
        FileEdit(path="/srv/a", operation="move", moved_to="/srv/b"),
        FileEdit(path="/srv/a", operation="move", moved_to="/srv/b", before="x", after="y"),
        FileEdit(path="/srv/*** End Patch", operation="update", before="+", after="-- @@"),
    ],
)
def test_an_edit_with_both_contents_is_a_patch_that_says_the_same(tmp_path: Path, edit: FileEdit):
    sent = FileChange(id="", author="model", name="Edit", changes=(edit,), output=text("ok"))
    back = alone(across(tmp_path, sent))
    assert isinstance(back, FileChange)
    assert back.changes == (edit,)
    assert (back.output, back.status, back.name) == (sent.output, "completed", "apply_patch")


def test_edits_of_one_file_stay_apart_and_in_order(tmp_path: Path):
    edits = (
        FileEdit(path="/srv/a", operation="update", before="1", after="one"),
        FileEdit(path="/srv/a", operation="update", before="2", after="two"),
        FileEdit(path="/srv/b", operation="update", before="3", after="three"),
    )
    sent = FileChange(id="", author="model", name="MultiEdit", changes=edits, output=text("ok"))
    back = alone(across(tmp_path, sent))
    assert isinstance(back, FileChange)
    assert back.changes == edits


def test_a_diff_crosses_as_the_hunks_that_it_is(tmp_path: Path):
    diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n"
    edit = FileEdit(path="/srv/x", operation="update", diff=diff)
    sent = FileChange(id="", author="model", name="Edit", changes=(edit,), output=text("ok"))
    back = alone(across(tmp_path, sent))
    assert isinstance(back, FileChange)
    assert [(one.before, one.after) for one in back.changes] == [("old", "new")]


def test_an_edit_that_failed_comes_back_failed(tmp_path: Path):
    edit = FileEdit(path="/srv/a", operation="update", before="x", after="y")
    sent = FileChange(
        id="", author="model", name="Edit", changes=(edit,), status="failed", error="no such text"
    )
    back = alone(across(tmp_path, sent))
    assert isinstance(back, FileChange)
    assert (back.status, back.error, back.changes) == ("failed", "no such text", (edit,))


def test_an_edit_without_its_old_text_is_told_in_words(tmp_path: Path):
    edit = FileEdit(path="/srv/pear.txt", operation="update", after="ripe")
    messages, losses = across(
        tmp_path, FileChange(id="", author="model", name="Edit", changes=(edit,), output=text("ok"))
    )
    assert losses == ["narrated"]
    assert isinstance(messages[0], AgentMessage)
    assert content_text(messages[0].content) == "Edited /srv/pear.txt\n\nripe"


@pytest.mark.parametrize("server", [None, "shed"])
@pytest.mark.parametrize("error", [None, "the shed is locked"])
def test_a_tool_crosses_with_server_arguments_result_and_error(
    tmp_path: Path, server: str | None, error: str | None
):
    sent = ToolCall(
        id="",
        author="model",
        name="lookup",
        server=server,
        arguments={"tool": "saw", "n": 1.5, "deep": [None, {"é": True}]},
        output=None if error else text("on the wall"),
        error=error,
        status="failed" if error else "completed",
    )
    back = alone(across(tmp_path, sent))
    assert isinstance(back, ToolCall)
    for name in ("name", "server", "arguments", "output", "error", "status"):
        assert getattr(back, name) == getattr(sent, name), name


def test_an_mcp_tools_structured_value_and_duration_are_kept(tmp_path: Path):
    sent = ToolCall(
        id="",
        author="model",
        name="lookup",
        server="shed",
        arguments={},
        output=(Text(text="saw"), Structured(value={"n": 1})),
        duration_ms=12.5,
    )
    back = alone(across(tmp_path, sent))
    assert isinstance(back, ToolCall)
    assert (back.output, back.duration_ms) == (sent.output, 12.5)


def test_calls_of_one_answer_come_first_and_then_their_results_as_they_ended(tmp_path: Path):
    calls = [
        CommandExecution(
            id="",
            author="model",
            name="Bash",
            external_id=name,
            command=f"measure {name}",
            output=text(name),
            exit_code=0,
            exit_code_source="text",
            response="r",
            ended_at=STARTED + timedelta(minutes=minutes),
        )
        for name, minutes in (("north", 3), ("south", 1))
    ]
    written = write(tmp_path, transcript(prompt(), *calls))
    order = [
        (record["payload"]["type"], record["payload"].get("call_id"))
        for record in records(written.path)
        if "call_id" in record["payload"]
    ]
    assert order == [
        ("function_call", "north"),
        ("function_call", "south"),
        ("function_call_output", "south"),
        ("function_call_output", "north"),
    ]
    back = CodexStore.read_path(written.path)
    commands = [m for m in back.messages if isinstance(m, CommandExecution)]
    assert [content_text(one.output) for one in commands] == ["north", "south"]
    assert len({one.response for one in commands}) == 1


@pytest.mark.parametrize("status", ["unresolved", "cancelled", "declined", "unknown", "failed"])
def test_every_call_is_closed_and_a_missing_result_stays_missing(tmp_path: Path, status: Any):
    sent = ToolCall(id="", author="model", name="lookup", arguments={}, status=status)
    messages, losses = across(tmp_path, sent)
    (back,) = messages
    assert losses == ["call-closed"]
    assert isinstance(back, ToolCall)
    assert (back.status, back.output, back.error) == (status, None, None)


def test_call_ids_stay_unique_and_short(tmp_path: Path):
    long = "x" * 80
    calls = [
        ToolCall(id="", author="model", name="t", arguments={}, output=text(str(n)), external_id=i)
        for n, i in enumerate(("same", "same", long, None))
    ]
    messages, _ = across(tmp_path, *calls)
    ids = [message.external_id or "" for message in messages]
    assert len(set(ids)) == 4
    assert all(0 < len(one) <= 64 for one in ids)
    assert [content_text(getattr(m, "output", ())) for m in messages] == ["0", "1", "2", "3"]


# ------------------------------------------------------------------ other kinds


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (Reasoning(id="", author="model", content=text("old wood")), "(thinking) old wood"),
        (
            Plan(
                id="",
                author="model",
                name="todo",
                form="checklist",
                items=(PlanItem(text="saw", status="completed"),),
            ),
            "(plan) [x] saw",
        ),
        (
            PermissionRequest(id="", author="harness", tool="rm", decision="denied"),
            "(permission was asked for rm; it was denied)",
        ),
        (Other(id="", author="agent", record="note", value="dry"), "(recorded as note) dry"),
        (
            WebSearch(id="", author="model", name="web", query="pear", output=text("green")),
            "(the web was searched: pear)\n\ngreen",
        ),
    ],
)
def test_what_has_no_record_of_its_own_is_told_in_marked_words(
    tmp_path: Path, message: AnyMessage, words: str
):
    messages, losses = across(tmp_path, prompt(), message)
    assert losses == ["narrated"]
    assert isinstance(messages[1], AgentMessage)
    assert content_text(messages[1].content) == words


def test_another_clis_compaction_is_told_to_the_model_and_is_no_prompt(tmp_path: Path):
    boundary = CompactBoundary(id="", author="harness", summary=text("Pruned so far."))
    messages, losses = across(tmp_path, prompt(), boundary)
    assert losses == ["narrated"]
    assert isinstance(messages[1], UserMessage)
    assert messages[1].author == "harness"
    assert "Pruned so far." in content_text(messages[1].content)


def test_a_question_and_a_task_cross_as_the_tools_of_the_same_meaning(tmp_path: Path):
    asked = UserQuestion(
        id="",
        author="model",
        name="Ask",
        questions=(Question(text="Which?", options=("pear", "plum"), answer="plum"),),
    )
    task = SubAgent(
        id="",
        author="model",
        name="Task",
        description="count",
        prompt="Count the trees",
        agent_id="a7",
        output=text("nine"),
    )
    (question, agent), losses = across(tmp_path, asked, task)
    assert losses == []
    assert isinstance(question, UserQuestion)
    assert question.questions == asked.questions
    assert isinstance(agent, SubAgent)
    for name in ("description", "prompt", "agent_id", "output", "status"):
        assert getattr(agent, name) == getattr(task, name), name


def test_what_stays_behind_is_said(tmp_path: Path):
    gone = Superseded(id=None, why="rewind")
    messages, losses = across(
        tmp_path,
        prompt(),
        replace(prompt("taken back"), superseded_by=gone),
        UserMessage(id="", author="harness", content=text("reminder")),
        AgentMessage(id="", author="model", agent="a1", content=text("inner")),
        AgentMessage(id="", author="model", agent="a1", content=text("inner too")),
        Error(id="", author="harness", text="401", in_context=False),
        Reasoning(id="", author="model", content=(Opaque(form="signature", data="x"),)),
        AgentMessage(id="", author="model", content=text("done")),
    )
    assert [content_text(getattr(m, "content", ())) for m in messages] == ["prune", "done"]
    assert sorted(losses) == [
        "harness-dropped",
        "reasoning-opaque-dropped",
        "superseded-dropped",
        "thread-flattened",
        "thread-flattened",
        "withheld-error",
    ]


def test_an_image_crosses_and_another_file_is_named(tmp_path: Path):
    image = Asset(
        sha256="6b7fa434f92a8b80aab02d9bf1a12e49ffcae424e4013a1c4f68b67e3d2bbcd0",
        media_type="image/png",
        data="aW1hZ2U=",
    )
    letter = Asset(sha256=None, media_type="application/pdf", data="cGRm", name="a.pdf")
    sent = UserMessage(id="", author="human", content=(Text(text="look"), image, letter))
    messages, losses = across(tmp_path, sent)
    assert losses == ["asset-dropped"]
    (back,) = messages
    assert isinstance(back, UserMessage)
    assert [getattr(part, "data", None) for part in back.content] == [None, "aW1hZ2U=", None]
    assert back.content[2] == Text(text="(attached: a.pdf)")


def test_half_a_surrogate_pair_becomes_a_replacement_character(tmp_path: Path):
    messages, losses = across(tmp_path, prompt("cut \ud83d here"))
    assert losses == ["replacement-character"]
    assert isinstance(messages[0], UserMessage)
    assert content_text(messages[0].content) == "cut \ufffd here"
    assert "\\ud83d" not in CodexStore(tmp_path).find(SESSION).read_text()  # pyright: ignore[reportOptionalMemberAccess]


# ------------------------------------------------------------------ its own sessions


def own() -> Transcript:
    usage = Usage(scope="response", accounting="delta", input=9, output=2, total=11)
    return transcript(
        UserMessage(
            id="",
            author="harness",
            provenance="developer/permissions.instructions",
            content=text("rules"),
        ),
        UserMessage(
            id="", author="human", provenance="user.text", turn="t1", content=text("prune")
        ),
        Reasoning(
            id="",
            author="model",
            turn="t1",
            response="resp_1",
            model="gpt-5.5",
            usage=usage,
            content=(Text(text="old"), Opaque(form="encrypted", data="Z0E=", provider="lab")),
        ),
        ToolCall(
            id="",
            author="model",
            turn="t1",
            response="resp_1",
            model="gpt-5.5",
            name="exec",
            arguments="text(1)",
            external_id="c1",
            output=text("1"),
        ),
        AgentMessage(
            id="",
            author="model",
            turn="t2",
            model="gpt-6.2-sol",
            provenance="final_answer",
            content=text("done"),
        ),
        Other(
            id="",
            author="harness",
            in_context=False,
            record="event_msg/item_completed/ExitedReviewMode",
            value={"type": "ExitedReviewMode", "id": "x"},
        ),
        agent="codex",
        title="Pruning",
        git_branch="spring",
        cli_version="0.160.0",
    )


NOT_CARRIED = ("id", "follows", "sources", "at_source", "external_id", "ended_at")
"""What a new session has of its own."""


def test_a_session_of_its_own_comes_back_in_every_field(tmp_path: Path):
    source = own()
    written = write(tmp_path, source)
    assert written.losses == ()
    back = CodexStore.read_path(written.path)
    assert (back.title, back.git_branch, back.cli_version) == ("Pruning", "spring", "0.160.0")
    assert back.model == "gpt-6.2-sol"
    for sent, found in zip(source.messages, back.messages, strict=True):
        for name in sent.__struct_fields__:
            if name not in NOT_CARRIED and (name != "response" or sent.usage is not None):
                assert getattr(found, name) == getattr(sent, name), (sent.kind, name)


def test_sealed_thoughts_bind_a_session_to_their_provider_and_nothing_else_does(tmp_path: Path):
    meta = records(write(tmp_path / "own", own()).path)[0]["payload"]
    assert meta["model_provider"] == "lab"
    foreign = Opaque(form="encrypted", data="Z0E=", provider="lab")
    thought = Reasoning(id="", author="model", content=(Text(text="t"), foreign))
    meta = records(write(tmp_path / "other", transcript(prompt(), thought)).path)[0]["payload"]
    assert "model_provider" not in meta


# ------------------------------------------------------------------ superseded, proposed, viewed


def by(why: Any, boundary: str | None = None) -> dict[str, Any]:
    return {"superseded_by": Superseded(id=boundary, why=why)}


def says(words: str, **more: Any) -> AgentMessage:
    return AgentMessage(id="", author="model", content=text(words), **more)


def standing(messages: Sequence[AnyMessage]) -> list[tuple[str, str | None]]:
    return [
        (
            content_text(
                m.summary if isinstance(m, CompactBoundary) else getattr(m, "content", ())
            ),
            m.superseded_by.why if m.superseded_by else None,
        )
        for m in messages
    ]


def replaced(path: Path) -> list[list[str]]:
    """What each compaction of a file puts in the place of the history before it."""
    return [
        [item["content"][0]["text"] for item in one["payload"]["replacement_history"]]
        for one in records(path)
        if one["type"] == "compacted"
    ]


def rewinds(path: Path) -> list[int]:
    payloads = [one["payload"] for one in records(path)]
    return [one["num_turns"] for one in payloads if one.get("type") == "thread_rolled_back"]


def test_a_compaction_keeps_before_it_what_it_replaced(tmp_path: Path):
    boundary = CompactBoundary(
        id="", author="harness", turn="t2", trigger="manual", summary=text("pruned, swept")
    )
    messages, losses = across(
        tmp_path,
        UserMessage(
            id="",
            author="harness",
            provenance="developer/rules",
            content=text("rules"),
            **by("compaction", "m6"),
        ),
        replace(prompt("prune"), turn="t1"),
        says("pruned", turn="t1", **by("compaction", "m6")),
        CommandExecution(
            id="",
            author="model",
            turn="t1",
            name="exec_command",
            command="sweep",
            arguments={"cmd": "sweep"},
            output=text("swept"),
            external_id="c1",
            **by("compaction", "m6"),
        ),
        replace(prompt("burn"), turn="t1", **by("rewind")),
        says("burnt", turn="t1", **by("rewind")),
        boundary,
        replace(prompt("and now?"), turn="t3"),
        agent="codex",
    )
    assert losses == []
    (path,) = tmp_path.rglob("*.jsonl")
    assert replaced(path) == [["prune", "pruned, swept"]]
    assert standing(messages) == [
        ("rules", "compaction"),
        ("prune", None),
        ("pruned", "compaction"),
        ("", "compaction"),
        ("burn", "rewind"),
        ("burnt", "rewind"),
        ("pruned, swept", None),
        ("and now?", None),
    ]
    found = messages[6]
    assert isinstance(found, CompactBoundary)
    assert (found.trigger, found.preserved) == ("manual", (messages[1].id,))
    gone = {
        m.superseded_by.id for m in messages if m.superseded_by if m.superseded_by.id is not None
    }
    assert gone == {found.id}


def test_a_second_compaction_replaces_the_first_with_its_summary(tmp_path: Path):
    first = CompactBoundary(id="", author="harness", summary=text("once"), **by("compaction", "m4"))
    messages, losses = across(
        tmp_path,
        prompt("prune"),
        says("pruned", **by("compaction", "m2")),
        first,
        says("more", **by("compaction", "m4")),
        CompactBoundary(id="", author="harness", summary=text("twice")),
        agent="codex",
    )
    assert losses == []
    (path,) = tmp_path.rglob("*.jsonl")
    assert replaced(path) == [["prune", "once"], ["prune", "twice"]]
    of = [m.superseded_by.id if m.superseded_by else None for m in messages]
    assert of == [None, messages[2].id, messages[4].id, messages[4].id, None]


@pytest.mark.parametrize("sealed", [False, True])
def test_a_compaction_that_replaced_nothing_known_replaces_nothing(tmp_path: Path, sealed: bool):
    summary = (Opaque(form="encrypted", data="Z0E="),) if sealed else None
    boundary = CompactBoundary(id="", author="harness", summary=summary)
    messages, losses = across(tmp_path, prompt(), says("pruned"), boundary, agent="codex")
    assert losses == []
    assert [(m.kind, m.superseded_by) for m in messages] == [
        ("UserMessage", None),
        ("AgentMessage", None),
        ("CompactBoundary", None),
    ]
    assert getattr(messages[2], "summary", None) == summary


def test_turns_taken_back_stay_with_the_number_of_their_prompts(tmp_path: Path):
    gone = by("rewind")
    messages, losses = across(
        tmp_path,
        prompt("prune"),
        says("pruned"),
        replace(prompt("burn"), **gone),
        UserMessage(id="", author="harness", provenance="a.note", content=text("note"), **gone),
        says("burnt", **gone),
        replace(prompt("dig"), **gone),
        prompt("rake"),
        says("raked"),
        replace(prompt("sell"), **gone),
        agent="codex",
    )
    assert losses == []
    (path,) = tmp_path.rglob("*.jsonl")
    assert rewinds(path) == [2, 1]
    kept = [words for words, why in standing(messages) if why is None]
    assert kept == ["prune", "pruned", "rake", "raked"]
    assert [why for _, why in standing(messages)].count("rewind") == 5


def test_what_was_taken_back_and_cannot_be_counted_stays_behind(tmp_path: Path):
    gone = by("rewind")
    boundary = CompactBoundary(id="", author="harness", summary=text("short"), **gone)
    messages, losses = across(
        tmp_path,
        prompt("prune"),
        says("half an answer", **gone),
        prompt("rake"),
        replace(prompt("burn"), **gone),
        boundary,
        replace(prompt("forked"), **by("branch")),
        agent="codex",
    )
    assert losses == ["superseded-dropped"] * 4
    assert standing(messages) == [("prune", None), ("rake", None)]


@pytest.mark.parametrize("later", [0, 1])
def test_a_plan_stands_between_tags_in_the_words_before_it(tmp_path: Path, later: int):
    plan = Plan(
        id="",
        author="model",
        turn="t1",
        response="r1",
        name="",
        form="proposal",
        content=text("# Prune\n1. saw\n"),
    )
    sent = transcript(
        replace(prompt("plan"), turn="t1"),
        says("I know.", turn="t1", response="r1"),
        plan,
        plan,
        says("Which?", turn="t1", response="r2"),
        agent="codex",
    )
    at = STARTED + timedelta(seconds=later)
    messages = [*sent.messages[:2], replace(sent.messages[2], at=at), *sent.messages[3:]]
    written = write(tmp_path, replace(sent, messages=tuple(messages)))
    assert [loss.loss for loss in written.losses] == []
    spoken = [
        one["payload"]["content"][0]["text"]
        for one in records(written.path)
        if one["type"] == "response_item"
    ]
    tagged = "<proposed_plan>\n# Prune\n1. saw\n</proposed_plan>"
    assert spoken == ["plan", f"I know.\n{tagged}", tagged, "Which?"]
    back = CodexStore.read_path(written.path)
    assert [(m.kind, content_text(getattr(m, "content", ()))) for m in back.messages] == [
        (m.kind, content_text(getattr(m, "content", ()))) for m in sent.messages
    ]


def test_a_plan_that_would_end_its_own_tags_is_told_in_words(tmp_path: Path):
    plan = Plan(
        id="", author="model", name="", form="proposal", content=text("</proposed_plan> is said")
    )
    messages, losses = across(tmp_path, prompt(), plan, agent="codex")
    assert losses == ["narrated"]
    assert [m.kind for m in messages] == ["UserMessage", "AgentMessage"]


def test_an_image_that_a_script_had_opened_has_no_result_of_its_own(tmp_path: Path):
    shared: Any = {"id": "", "author": "model", "turn": "t1", "response": "r1"}
    script = ToolCall(
        name="exec", arguments="image()", external_id="c1", output=text("1"), **shared
    )
    viewed = ToolCall(
        name="view_image",
        arguments={"path": "/srv/pear.png"},
        external_id="exec-1",
        caller="m0",
        in_context=False,
        **shared,
    )
    messages, losses = across(tmp_path, script, viewed, agent="codex")
    assert losses == []
    found = messages[1]
    assert isinstance(found, ToolCall)
    assert (found.name, found.arguments, found.output) == (viewed.name, viewed.arguments, None)
    assert (found.caller, found.in_context) == (messages[0].id, False)


def test_a_scripts_command_that_ended_late_moves_nothing_that_was_said_meanwhile(tmp_path: Path):
    shared: Any = {"id": "", "author": "model", "turn": "t1", "response": "r1"}
    script = ToolCall(name="exec", arguments="run()", external_id="c1", output=text("1"), **shared)
    inner = CommandExecution(
        name="exec_command",
        command="pump",
        external_id="exec-1",
        caller="m0",
        in_context=False,
        exit_code=0,
        exit_code_source="field",
        output=text("dry"),
        **shared,
    )
    sent = transcript(script, inner, replace(prompt("stop"), turn="t2"), agent="codex")
    late = replace(sent.messages[1], at=STARTED + timedelta(hours=1))
    messages = (sent.messages[0], late, sent.messages[2])
    written = write(tmp_path, replace(sent, messages=messages))
    assert written.losses == ()
    back = CodexStore.read_path(written.path)
    assert [(m.kind, m.at) for m in back.messages] == [(m.kind, m.at) for m in messages]


# ------------------------------------------------------------------ the file


def test_a_file_is_named_dated_private_and_listed(tmp_path: Path):
    written = write(tmp_path, transcript(prompt("prune the pear"), title="Pears"))
    relative = written.path.relative_to(tmp_path / ".codex").as_posix()
    assert relative == f"sessions/2026/04/11/rollout-2026-04-11T06-30-00-{SESSION}.jsonl"
    assert written.path.stat().st_mode & 0o777 == 0o600
    (info,) = CodexStore(tmp_path).list()
    assert (info.session_id, info.cwd, info.title) == (SESSION, CWD, "Pears")
    assert info.first_user_message == "prune the pear"
    assert [path.name for path in written.path.parent.iterdir()] == [written.path.name]


def test_times_never_fall_and_one_that_must_move_is_said(tmp_path: Path):
    late, early = STARTED + timedelta(hours=1), STARTED
    source = Transcript(
        agent="elsewhere",
        session_id="s",
        cwd=CWD,
        messages=(
            replace(prompt("first"), at=late),
            replace(prompt("second"), id="moved", at=early),
            replace(prompt("third"), at=None),
        ),
    )
    written = write(tmp_path, source)
    stamps = [record["timestamp"] for record in records(written.path)]
    assert stamps == sorted(stamps)
    assert [(loss.loss, loss.message) for loss in written.losses] == [("time-moved", "moved")]


def test_now_is_used_only_where_the_transcript_has_no_times(tmp_path: Path):
    source = Transcript(agent="x", session_id="s", cwd=CWD, messages=(prompt(),))
    now = datetime(2026, 7, 1, tzinfo=UTC)
    written = write(tmp_path / "a", source, now=now)
    assert records(written.path)[0]["timestamp"] == "2026-07-01T00:00:00.000Z"
    written = write(tmp_path / "b", transcript(prompt()), now=now)
    assert records(written.path)[0]["timestamp"] == "2026-04-11T06:30:00.000Z"


def test_a_session_that_exists_is_never_touched(tmp_path: Path):
    first = write(tmp_path, transcript(prompt()))
    before = first.path.read_bytes()
    with pytest.raises(SessionExists):
        write(tmp_path, transcript(prompt("other")))
    assert first.path.read_bytes() == before


def test_an_id_is_taken_whatever_time_its_file_is_named_by(tmp_path: Path):
    source = Transcript(agent="x", session_id="s", cwd=CWD, messages=(prompt(),))
    write(tmp_path, source, now=datetime(2026, 7, 1, tzinfo=UTC))
    with pytest.raises(SessionExists):
        write(tmp_path, source, now=datetime(2026, 7, 2, tzinfo=UTC))
    assert len(list(tmp_path.rglob("*.jsonl"))) == 1


@pytest.mark.parametrize("session_id", ["mine", "", str(UUID(SESSION)).upper(), SESSION[:-1]])
def test_a_session_id_that_codex_would_refuse_is_refused(tmp_path: Path, session_id: str):
    with pytest.raises(UnwritableSession):
        CodexStore(tmp_path).write(transcript(prompt()), session_id=session_id)
    assert list(tmp_path.rglob("*.jsonl")) == []


def test_nothing_is_written_for_nothing_and_nowhere(tmp_path: Path):
    with pytest.raises(NothingToWrite):
        write(tmp_path, transcript())
    with pytest.raises(NothingToWrite):
        write(tmp_path, transcript(Error(id="", author="harness", text="401")))
    with pytest.raises(MissingWorkingDirectory):
        write(tmp_path, transcript(prompt(), cwd=None))
    assert list(tmp_path.rglob("*")) == []


_READ = """
import sys
from pathlib import Path
from transcripts.serialise import to_json
from transcripts.stores.codex import CodexStore
sys.stdout.write(to_json(CodexStore.read_path(Path(sys.argv[1]))))
"""


def test_writing_and_reading_are_the_same_in_two_processes_and_under_two_paths(tmp_path: Path):
    source = transcript(
        prompt(),
        ToolCall(id="", author="model", name="t", arguments={"b": 1, "a": 2}),
        agent="codex",
    )
    paths = [write(tmp_path / name, source).path for name in ("one", "two/deeper")]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    printed = [
        subprocess.run(
            [sys.executable, "-c", _READ, str(path)], capture_output=True, check=True, text=True
        ).stdout
        for path in paths
    ]
    assert printed[0] == printed[1] == to_json(CodexStore.read_path(paths[0]))


# ------------------------------------------------------------------ made-up conversations

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(
    lambda made: bool(made.strip())
)
lines = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=12),
    min_size=1,
    max_size=4,
).map("\n".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


def contents(made: Any) -> Any:
    return made.map(text)


messages = st.one_of(
    st.builds(UserMessage, id=st.just(""), author=st.just("human"), content=contents(words)),
    st.builds(AgentMessage, id=st.just(""), author=st.just("model"), content=contents(words)),
    st.builds(
        lambda command, output, code: CommandExecution(
            id="",
            author="model",
            name="Bash",
            command=command,
            output=output,
            exit_code=code,
            exit_code_source="none" if code is None else "field",
            status="failed" if code else "completed",
        ),
        words,
        contents(words),
        st.none() | st.integers(-128, 255),
    ),
    st.builds(
        ToolCall,
        id=st.just(""),
        author=st.just("model"),
        name=st.sampled_from(["lookup", "measure"]),
        server=st.sampled_from([None, "shed"]),
        arguments=st.dictionaries(words, values, max_size=3),
        output=contents(words),
    ),
    st.builds(
        lambda before, after: FileChange(
            id="",
            author="model",
            name="Edit",
            changes=(FileEdit(path="/srv/a", operation="update", before=before, after=after),),
            output=text("ok"),
        ),
        lines,
        lines,
    ).filter(lambda made: made.changes[0].before != made.changes[0].after),
)


def core(message: AnyMessage) -> dict[str, Any]:
    names = ("content", "command", "output", "exit_code", "status", "server", "error")
    kept = {name: getattr(message, name, None) for name in names}
    if isinstance(message, ToolCall):
        kept |= {"name": message.name, "arguments": message.arguments}
    if isinstance(message, FileChange):
        kept["changes"] = [
            (edit.path, *_fragments(edit)) if _reduced(edit) else edit.path
            for edit in message.changes
        ]
    return {"kind": message.kind, "author": message.author, **kept}


def _fragments(edit: FileEdit) -> tuple[str, str]:
    """Return the fragments by lines, which have no line end after the last."""
    return (edit.before or "").rstrip("\n"), (edit.after or "").rstrip("\n")


def _reduced(edit: FileEdit) -> bool:
    """Whether the fragments share no line at either end, which a hunk would drop as context."""
    before, after = _fragments(edit)
    old, new = before.split("\n"), after.split("\n")
    return old[0] != new[0] and old[-1] != new[-1] and "" not in (before, after)


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sent=st.lists(messages, min_size=1, max_size=8))
def test_any_conversation_comes_back_in_kind_order_and_content(
    tmp_path_factory: pytest.TempPathFactory, sent: list[AnyMessage]
):
    back, _ = across(tmp_path_factory.mktemp("home"), *sent)
    assert [core(one) for one in back] == [core(one) for one in sent]


@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sent=st.lists(messages, min_size=1, max_size=8))
def test_what_was_read_is_written_and_read_again_without_a_change(
    tmp_path_factory: pytest.TempPathFactory, sent: list[AnyMessage]
):
    first = CodexStore.read_path(write(tmp_path_factory.mktemp("home"), transcript(*sent)).path)
    again = CodexStore.read_path(write(tmp_path_factory.mktemp("home"), first).path)
    assert [core(one) for one in again.messages] == [core(one) for one in first.messages]
    assert [one.at for one in again.messages] == [one.at for one in first.messages]


# ------------------------------------------------------------------ agents

AGENT = "0199f3a0-5b1c-7e4d-8a2f-6c3d9e0b1a99"


def with_agent() -> Transcript:
    sealed = Opaque(form="encrypted", data="Z0E=")
    shared: Any = {"id": "", "agent": AGENT, "caller": "m1"}
    return transcript(
        prompt(),
        SubAgent(
            id="",
            author="model",
            name="spawn_agent",
            arguments={"message": "count"},
            external_id="c1",
            agent_id=AGENT,
            prompt="count",
            background=True,
            status="unresolved",
        ),
        UserMessage(author="agent", content=text("count"), **shared),
        UserMessage(author="agent", provenance="agent_message//root", content=(sealed,), **shared),
        AgentMessage(author="model", content=text("nine"), **shared),
        AgentMessage(id="", author="model", content=text("done")),
        agent="codex",
    )


def test_an_agents_own_session_is_written_beside_its_parents(tmp_path: Path):
    source = with_agent()
    written = write(tmp_path, source)
    assert written.losses == ()
    back = CodexStore.read_path(written.path)
    assert [(m.kind, m.author, m.agent) for m in back.messages] == [
        (m.kind, m.author, m.agent) for m in source.messages
    ]
    assert [getattr(m, "content", None) for m in back.messages] == [
        getattr(m, "content", None) for m in source.messages
    ]
    child = CodexStore(tmp_path).read(AGENT)
    assert child is not None
    assert child.lineage.parent == SESSION
    assert back.messages[2].caller == back.messages[1].id


def test_an_agent_whose_session_is_there_already_is_left_alone(tmp_path: Path):
    first = write(tmp_path, with_agent())
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl")}
    other = CodexStore(tmp_path).write(with_agent(), session_id=SESSION[:-2] + "00")
    assert [loss.loss for loss in other.losses] == ["thread-flattened"] * 3
    assert {path: path.read_bytes() for path in before} == before
    assert first.path != other.path


def test_a_write_that_is_refused_leaves_no_part_of_itself(tmp_path: Path):
    write(tmp_path, transcript(prompt()))
    before = sorted(tmp_path.rglob("*.jsonl"))
    with pytest.raises(SessionExists):
        write(tmp_path, with_agent())
    assert sorted(tmp_path.rglob("*.jsonl")) == before


def test_a_system_prompt_of_another_cli_does_not_become_the_models_own_words(tmp_path: Path):
    told = Other(
        id="11111111-2222-5333-8444-000000000001",
        author="harness",
        record="system.message",
        value={"content": "the other CLI's rules"},
    )
    asked = UserMessage(
        id="11111111-2222-5333-8444-000000000002", author="human", content=(Text(text="go on"),)
    )
    transcript = Transcript(
        agent="copilot", session_id="s", cwd="/srv/mill", messages=(told, asked)
    )
    written = CodexStore(tmp_path).write(
        transcript, session_id="0190f5c6-1d2e-7abc-8def-0123456789ab"
    )
    assert b"other CLI's rules" not in written.path.read_bytes()
    assert ("harness-dropped", told.id) in {(loss.loss, loss.message) for loss in written.losses}


@pytest.mark.parametrize("agent", ["elsewhere", "codex"])
def test_an_event_names_no_turn_that_no_record_begins(tmp_path: Path, agent: str) -> None:
    turn = "0199f3a0-0000-7000-8000-00000000c0de"
    change = FileChange(
        id="f",
        author="model",
        turn=turn,
        name="Edit",
        changes=(FileEdit(path="/srv/orchard/a", operation="update", before="elm", after="oak"),),
        output=text("ok"),
    )
    command = CommandExecution(
        id="c", author="model", turn=turn, name="Bash", command="dig", output=text("deep")
    )
    source = transcript(replace(prompt(), turn=turn), change, command, agent=agent)
    events = [
        one["payload"]
        for one in records(write(tmp_path, source).path)
        if one["type"] == "event_msg"
    ]
    begun = {one["turn_id"] for one in events if one["type"] == "task_started"}
    named = {one["turn_id"] for one in events if one.get("turn_id")}
    assert named == begun
    assert {one["type"] for one in events} >= {"patch_apply_end", "user_message"}
