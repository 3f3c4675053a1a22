"""A session written for Claude Code holds what the CLI needs to resume it, and nothing made up."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.tests.claude_rows import CWD, SESSION, Rows, calls, save, says
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
    Reasoning,
    Structured,
    SubAgent,
    Superseded,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
)
from transcripts.stores.base import WrittenSession
from transcripts.stores.claude import ClaudeStore

NEW = "aaaaaaaa-1111-4222-8333-444444444444"
START = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)


def made(*messages: AnyMessage, agent: str = "codex", **fields: Any) -> Transcript:
    """Number messages that were written down without ids and times."""
    numbered = tuple(
        msgspec.structs.replace(
            message,
            id=message.id or f"made-{number}",
            at=message.at or START + timedelta(seconds=number),
        )
        for number, message in enumerate(messages)
    )
    return Transcript(agent=agent, session_id="source", cwd=CWD, messages=numbered, **fields)


def asks(text: str, **fields: Any) -> UserMessage:
    return UserMessage(id="", author="human", content=(Text(text=text),), **fields)


def answers(text: str, **fields: Any) -> AgentMessage:
    return AgentMessage(id="", author="model", content=(Text(text=text),), **fields)


def command(run: str, output: str | None, code: int | None, **fields: Any) -> CommandExecution:
    status = "unresolved" if output is None else "completed" if code == 0 else "failed"
    given: dict[str, Any] = {
        "output": None if output is None else (Text(text=output),),
        "exit_code": code,
        "status": status,
        **fields,
    }
    return CommandExecution(id="", author="model", name="shell", command=run, **given)


def write(home: Path, transcript: Transcript, **options: Any) -> WrittenSession:
    return ClaudeStore(home).write(transcript, session_id=NEW, **options)


def rows_of(session: WrittenSession) -> list[dict[str, Any]]:
    text = session.path.read_bytes().decode("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def blocks(rows: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [
        block
        for row in rows
        for block in row["message"]["content"]
        if isinstance(block, dict) and block["type"] == kind
    ]


def lost(session: WrittenSession) -> set[str]:
    return {loss.loss for loss in session.losses}


# ------------------------------------------------------------------ where and how


def test_a_session_is_placed_under_its_slug_for_its_owner_alone(tmp_path: Path) -> None:
    session = write(tmp_path, made(asks("hi"), answers("hello")), cwd="/srv/new place")
    relative = session.path.relative_to(tmp_path).as_posix()
    assert relative == f".claude/projects/-srv-new-place/{NEW}.jsonl"
    assert stat.S_IMODE(session.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(session.path.parent.stat().st_mode) == 0o700
    assert list(session.path.parent.iterdir()) == [session.path]
    assert {row["cwd"] for row in rows_of(session)} == {"/srv/new place"}


def test_every_row_hangs_off_the_last_and_is_later(tmp_path: Path) -> None:
    same = START + timedelta(minutes=1)
    session = write(
        tmp_path,
        made(
            asks("one", at=same),
            command("a", "A", 0, response="r", at=same),
            command("b", "B", 0, response="r", at=same),
            answers("two", at=START),
        ),
    )
    rows = rows_of(session)
    assert [row["parentUuid"] for row in rows] == [None, *(row["uuid"] for row in rows[:-1])]
    times = [row["timestamp"] for row in rows]
    assert times == sorted(set(times))
    assert times[0] == "2026-05-04T09:01:00.000Z"
    assert "time-moved" in lost(session)


def test_writing_is_the_same_in_every_process(tmp_path: Path) -> None:
    source = Rows()
    source.user("weigh it")
    source.assistant(calls("toolu_w", "Bash", command="weigh"), message_id="msg_w")
    source.result("toolu_w", "3 kg", is_error=False)
    path = save(tmp_path, source)
    program = (
        "import sys; from pathlib import Path; from transcripts import read_path; "
        "from transcripts.stores.claude import ClaudeStore; "
        "store = ClaudeStore(Path(sys.argv[2])); "
        "store.write(read_path(sys.argv[1]), session_id=sys.argv[3])"
    )
    written: set[bytes] = set()
    for seed in ("1", "2"):
        home = tmp_path / seed
        subprocess.run(
            [sys.executable, "-c", program, str(path), str(home), NEW],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": str(Path(__file__).parents[2]),
            },
            check=True,
        )
        found = ClaudeStore(home).find(NEW)
        assert found is not None
        written.add(found.read_bytes())
    assert len(written) == 1


def test_what_cannot_be_written_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    store = ClaudeStore(tmp_path)
    plain = made(asks("hi"))
    with pytest.raises(UnwritableSession, match="no UUID"):
        store.write(plain, session_id="../escape")
    with pytest.raises(MissingWorkingDirectory):
        store.write(msgspec.structs.replace(plain, cwd=None), session_id=NEW)
    with pytest.raises(NothingToWrite):
        store.write(made(Error(id="", author="harness", text="503")), session_id=NEW)
    assert not list(tmp_path.rglob("*.jsonl"))
    store.write(plain, session_id=NEW)
    with pytest.raises(SessionExists):
        store.write(plain, session_id=NEW, cwd="/somewhere/else")


def test_model_and_release_are_inherited_only_from_this_store(tmp_path: Path) -> None:
    said = answers("hello", model="big-model")
    marks = {"cli_version": "0.99.1", "model": "big-model"}
    foreign = rows_of(write(tmp_path / "a", made(asks("hi"), said, **marks)))
    assert foreign[1]["message"]["model"] != "big-model"
    assert foreign[1]["version"] != "0.99.1"
    own = rows_of(write(tmp_path / "b", made(asks("hi"), said, agent="claude", **marks)))
    assert own[1]["message"]["model"] == "big-model"
    assert own[1]["version"] == "0.99.1"
    named = write(tmp_path / "c", made(asks("hi"), said, agent="claude"), model="other-model")
    assert rows_of(named)[1]["message"]["model"] == "other-model"


# ------------------------------------------------------------------ calls


def test_every_call_is_closed_and_every_result_has_its_call_before_it(tmp_path: Path) -> None:
    session = write(
        tmp_path,
        made(
            asks("open all"),
            command("valve 1", "open", 0, response="r"),
            command("valve 2", None, None, response="r"),
            ToolCall(
                id="", author="model", name="gauge", error="cracked", status="failed", response="r"
            ),
            Other(
                id="",
                author="harness",
                record="tool_result",
                in_context=False,
                value={"type": "tool_result", "tool_use_id": "call_x", "content": "left over"},
            ),
            asks("go on"),
        ),
    )
    rows = rows_of(session)
    order = [
        (block["type"], block.get("id") or block.get("tool_use_id"))
        for row in rows
        for block in row["message"]["content"]
        if isinstance(block, dict) and block["type"] in ("tool_use", "tool_result")
    ]
    uses = [identity for kind, identity in order if kind == "tool_use"]
    assert [kind for kind, _ in order] == ["tool_use"] * 3 + ["tool_result"] * 3
    assert [identity for kind, identity in order if kind == "tool_result"] == uses
    assert len({row["message"]["id"] for row in rows if row["type"] == "assistant"}) == 1
    results = blocks(rows, "tool_result")
    assert results[1]["is_error"] is True
    assert "interrupted" in results[1]["content"]
    assert (results[2]["is_error"], results[2]["content"]) == (True, "cracked")
    assert "orphan-result-narrated" in lost(session)
    assert "left over" in rows[-2]["message"]["content"]
    back = ClaudeStore.read_path(session.path)
    assert [m.status for m in back.messages[1:4]] == ["completed", "unresolved", "failed"]


def test_words_behind_a_call_begin_a_new_run_of_their_response(tmp_path: Path) -> None:
    session = write(
        tmp_path,
        made(
            asks("go"),
            answers("before", response="r"),
            command("a", "A", 0, response="r"),
            answers("between", response="r"),
            command("b", "B", 0, response="r"),
        ),
    )
    rows = rows_of(session)[1:]
    kinds = [row["message"]["content"][0]["type"] for row in rows]
    assert kinds == ["text", "tool_use", "tool_result", "text", "tool_use", "tool_result"]
    ids = [row["message"].get("id") for row in rows]
    assert ids[0] == ids[1] != ids[3] == ids[4]


def test_results_come_in_the_order_in_which_they_ended(tmp_path: Path) -> None:
    late, soon = START + timedelta(seconds=9), START + timedelta(seconds=5)
    session = write(
        tmp_path,
        made(
            asks("go"),
            command("slow", "S", 0, response="r", ended_at=late),
            command("fast", "F", 0, response="r", ended_at=soon),
        ),
    )
    assert [block["content"] for block in blocks(rows_of(session), "tool_result")] == ["F", "S"]


def test_an_exit_code_is_framed_as_the_cli_frames_it(tmp_path: Path) -> None:
    session = write(
        tmp_path,
        made(
            asks("go"),
            command("a", "no rule\n", 2, exit_code_source="field"),
            command("b", "", 1),
            command("c", "it exited with code 7", 0),
            command("d", "who knows", None, status="unknown"),
            command("e", "done behind", 0, background_id="b7"),
        ),
    )
    results = blocks(rows_of(session), "tool_result")
    assert [(r["content"], r.get("is_error")) for r in results] == [
        ("Exit code 2\nno rule\n", True),
        ("Exit code 1", True),
        ("it exited with code 7", False),
        ("who knows", None),
        ("done behind", False),
    ]
    back = ClaudeStore.read_path(session.path).messages[1:]
    codes = [m.exit_code for m in back if isinstance(m, CommandExecution)]
    assert codes == [2, 1, 0, None, 0]
    assert back[3].status == "unknown"
    assert [loss.message for loss in session.losses if loss.loss == "exit-code-as-text"] == [
        "made-1"
    ]


def test_edits_become_tools_only_with_all_their_contents(tmp_path: Path) -> None:
    def change(*edits: FileEdit) -> FileChange:
        return FileChange(id="", author="model", name="apply_patch", changes=edits)

    known = FileEdit(path="/w/a", operation="update", before="x", after="y")
    new = FileEdit(path="/w/b", operation="add", after="whole\n", whole=True)
    bare = FileEdit(path="/w/c", operation="update")
    moved = FileEdit(path="/w/d", operation="move", moved_to="/w/e")
    session = write(
        tmp_path, made(asks("go"), change(known, new), change(known, bare), change(moved))
    )
    rows = rows_of(session)
    assert [(b["name"], b["input"]) for b in blocks(rows, "tool_use")] == [
        ("Edit", {"file_path": "/w/a", "old_string": "x", "new_string": "y"}),
        ("Write", {"file_path": "/w/b", "content": "whole\n"}),
    ]
    prose = [block["text"] for block in blocks(rows, "text")]
    assert "/w/a" in prose[0]
    assert "/w/c" in prose[0]
    assert "/w/d" in prose[1]
    assert "/w/e" in prose[1]
    narrated = [loss.message for loss in session.losses if loss.loss == "narrated"]
    assert narrated == ["made-2", "made-3"]


def test_tool_names_and_arguments_fit_what_the_api_takes(tmp_path: Path) -> None:
    picture = Asset(sha256="0" * 64, media_type="image/png", data="aGk=")
    session = write(
        tmp_path,
        made(
            asks("go"),
            ToolCall(id="", author="model", name="weigh", server="yard", arguments={"n": 2**70}),
            ToolCall(
                id="",
                author="model",
                name="odd name!",
                arguments="free words",
                output=(Text(text="a"), Structured(value={"b": 1}), picture),
            ),
        ),
    )
    first, second = blocks(rows_of(session), "tool_use")
    assert (first["name"], first["input"]) == ("mcp__yard__weigh", {"n": 2**70})
    assert (second["name"], second["input"]) == ("odd_name_", {"input": "free words"})
    content = blocks(rows_of(session), "tool_result")[1]["content"]
    assert [block["type"] for block in content] == ["text", "text", "image"]
    assert content[1]["text"] == '{"b":1}'
    assert "structured-as-text" in lost(session)


# ------------------------------------------------------------------ words, thoughts, the rest


def test_no_foreign_signature_crosses_and_an_own_one_only_with_its_model(tmp_path: Path) -> None:
    def thought(text: str, signature: str) -> Reasoning:
        opaque = Opaque(form="signature", data=signature, provider="anthropic")
        content = (Text(text=text), opaque) if text else (opaque,)
        return Reasoning(id="", author="model", model="m-1", content=content)

    both = made(asks("go"), thought("old crack", "SIG-1"), thought("", "SIG-2"), agent="claude")
    own = write(tmp_path / "own", both)
    assert blocks(rows_of(own), "thinking") == [
        {"type": "thinking", "thinking": "old crack", "signature": "SIG-1"}
    ]
    assert "SIG-2" not in own.path.read_text()
    for name, transcript, options in (
        ("other-model", both, {"model": "m-2"}),
        ("other-cli", msgspec.structs.replace(both, agent="copilot"), {}),
    ):
        session = write(tmp_path / name, transcript, **options)
        text = session.path.read_text()
        assert "signature" not in text
        assert "SIG-" not in text
        assert [b["text"] for b in blocks(rows_of(session), "text")] == ["(thinking) old crack"]
        assert "reasoning-opaque-dropped" in lost(session)


def test_halves_of_surrogate_pairs_are_replaced_and_said(tmp_path: Path) -> None:
    session = write(tmp_path, made(asks("cut \ud83d here"), answers("whole 🪵")))
    rows = rows_of(session)
    assert rows[0]["message"]["content"] == "cut \ufffd here"
    assert rows[1]["message"]["content"] == [says("whole 🪵")]
    assert b"\\ud83d" not in session.path.read_bytes()
    assert [loss.message for loss in session.losses if loss.loss == "replacement-character"] == [
        "made-0"
    ]


def test_a_call_of_which_no_result_is_recorded_is_closed_and_said(tmp_path: Path) -> None:
    viewed = ToolCall(id="v", author="model", name="view_image", arguments={"path": "/p.png"})
    session = write(tmp_path, made(asks("look"), viewed))
    assert [(loss.loss, loss.message) for loss in session.losses] == [("call-closed", "v")]
    assert len(blocks(rows_of(session), "tool_result")) == 1


def test_nothing_empty_is_written_and_the_first_row_is_a_users(tmp_path: Path) -> None:
    empty = UserMessage(id="", author="human", content=())
    blank = answers("  \n")
    session = write(tmp_path, made(empty, blank, answers("hello"), asks("hi")))
    rows = rows_of(session)
    assert [row["type"] for row in rows] == ["user", "assistant", "user"]
    assert rows[0]["isMeta"] is True
    assert [loss.loss for loss in session.losses] == ["empty-dropped", "empty-dropped"]
    back = ClaudeStore.read_path(session.path)
    assert [m.author for m in back.messages] == ["harness", "model", "human"]


def test_failures_are_withheld_and_foreign_context_stays_behind(tmp_path: Path) -> None:
    session = write(
        tmp_path,
        made(
            UserMessage(id="", author="harness", content=(Text(text="SYSTEM-WORDS"),)),
            asks("hi"),
            Error(id="", author="harness", text="FAILED-529", status="failed"),
            answers("old", superseded_by=Superseded(id=None, why="rewind")),
            answers("inner", agent="child"),
            Other(id="", author="harness", record="system.message", value={"content": "YOU-ARE"}),
            answers("hello"),
        ),
    )
    text = session.path.read_text()
    for word in ("SYSTEM-WORDS", "FAILED-529", "old", "inner", "YOU-ARE"):
        assert word not in text
    assert [(loss.loss, loss.message) for loss in session.losses] == [
        ("harness-dropped", "made-0"),
        ("withheld-error", "made-2"),
        ("superseded-dropped", "made-3"),
        ("harness-dropped", "made-5"),
        ("thread-flattened", "made-4"),
    ]


def test_kinds_without_a_record_are_said_by_whoever_they_are_from(tmp_path: Path) -> None:
    session = write(
        tmp_path,
        made(
            asks("go"),
            Plan(
                id="",
                author="model",
                name="update_plan",
                form="checklist",
                items=(PlanItem(text="graft", status="pending"),),
            ),
            PermissionRequest(
                id="", author="harness", tool="shell", reason="it digs", in_context=False
            ),
            SubAgent(
                id="",
                author="model",
                name="spawn",
                description="count",
                prompt="count all",
                output=(Text(text="nine"),),
            ),
        ),
    )
    rows = rows_of(session)
    assert rows[1]["message"]["content"][0]["text"].startswith("(plan) ")
    assert rows[2]["isMeta"] is True
    assert "it digs" in rows[2]["message"]["content"]
    [task] = blocks(rows, "tool_use")
    assert (task["name"], task["input"]) == (
        "Agent",
        {"description": "count", "prompt": "count all"},
    )
    assert blocks(rows, "tool_result")[0]["content"] == "nine"


def test_a_compaction_says_by_the_cli_s_names_how_much_there_was_and_is(tmp_path: Path) -> None:
    boundary = CompactBoundary(
        id="b",
        author="harness",
        trigger="manual",
        summary=(Text(text="so far"),),
        pre_tokens=900,
        post_tokens=120,
    )
    old = asks("old", superseded_by=Superseded(id="b", why="compaction"))
    rows = rows_of(write(tmp_path, made(old, boundary, asks("new"))))
    told = rows[0]["compactMetadata"]
    assert (told["trigger"], told["preTokens"], told["postTokens"]) == ("manual", 900, 120)


def test_a_compaction_is_one_only_where_it_hides_nothing_live(tmp_path: Path) -> None:
    gone = Superseded(id="b", why="compaction")
    boundary = CompactBoundary(
        id="b", author="harness", trigger="auto", summary=(Text(text="so far"),)
    )
    session = write(tmp_path / "a", made(asks("old", superseded_by=gone), boundary, asks("new")))
    rows = rows_of(session)
    assert [row.get("subtype") or row["message"]["content"] for row in rows] == [
        "compact_boundary",
        "so far",
        "new",
    ]
    assert rows[0]["parentUuid"] is None
    assert rows[1]["isCompactSummary"] is True

    live = write(tmp_path / "b", made(asks("still live"), boundary, asks("new")))
    rows = rows_of(live)
    assert [row["type"] for row in rows] == ["user", "user", "user"]
    assert "compacted" in rows[1]["message"]["content"]
    assert "so far" in rows[1]["message"]["content"]


# ------------------------------------------------------------------ there and back


def essence(message: AnyMessage) -> AnyMessage:
    """Return a message without what names it in one session."""
    neutral: dict[str, Any] = dict.fromkeys(("follows", "turn", "caller")) | {
        "id": "",
        "sources": (),
    }
    if message.superseded_by is not None:
        neutral["superseded_by"] = Superseded(id=None, why=message.superseded_by.why)
    if not hasattr(message, "arguments"):
        neutral["external_id"] = None
    return msgspec.structs.replace(message, **neutral)


def test_a_session_of_this_store_comes_back_the_same(tmp_path: Path) -> None:
    rows = Rows()
    rows.bare("queue-operation", operation="enqueue", content="taken back")
    rows.user("<command-name>/survey</command-name>\n<command-args>west</command-args>")
    rows.user("the body of the command", isMeta=True)
    counts = {"usage": {"input_tokens": 3, "output_tokens": 8, "cache_read_input_tokens": 2}}
    rows.assistant(
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"}, message_id="m1", message=counts
    )
    rows.assistant(says("looking"), message_id="m1", message=counts)
    use = rows.assistant(
        calls("toolu_1", "Bash", command="ls", description="look"), message_id="m1", message=counts
    )
    rows.assistant(
        calls("toolu_2", "Read", file_path="/srv/orchard/x"), message_id="m1", message=counts
    )
    rows.result("toolu_2", "<tool_use_error>none</tool_use_error>", is_error=True)
    side = {"stdout": "a b", "stderr": "", "interrupted": False}
    rows.result("toolu_1", "a b", is_error=False, toolUseResult=side, parent=use)
    rows.assistant(calls("toolu_3", "Write", file_path="/srv/orchard/n", content="n\n"))
    written = {"type": "update", "originalFile": "o\n", "content": "n\n"}
    rows.result("toolu_3", "updated", toolUseResult=written)
    rows.assistant(calls("toolu_4", "Agent", description="d", prompt="count"))
    report = {"agentId": "a9", "content": [says("nine")], "totalDurationMs": 12}
    rows.result("toolu_4", [says("nine")], toolUseResult=report)
    rows.assistant(calls("toolu_5", "TodoWrite", todos=[{"content": "x", "status": "pending"}]))
    rows.result("toolu_5", "ok")
    rows.assistant(calls("toolu_6", "Bash", command="sleep 9"))
    answer = rows.assistant(says("No response requested."), model="<synthetic>")
    rows.user("[Request interrupted by user]")
    rows.user("first wish")
    rows.assistant(says("first answer"))
    rows.user("second wish", parent=answer, promptSource="typed", origin={"kind": "human"})
    rows.assistant(says("second answer"))
    path = save(tmp_path, rows)
    child = Rows(numbered_from=800)
    child.user("count", isSidechain=True, agentId="a9")
    child.assistant(says("nine"), isSidechain=True, agentId="a9")
    save(tmp_path, child, f"{SESSION}/subagents/agent-a9")

    source = ClaudeStore.read_path(path)
    session = write(tmp_path / "new", source)
    back = ClaudeStore.read_path(session.path)
    assert [essence(m) for m in back.messages] == [essence(m) for m in source.messages]
    assert session.losses == ()
    assert (back.cwd, back.title, back.model) == (source.cwd, source.title, source.model)
