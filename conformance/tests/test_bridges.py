"""Bridges say what a tool gives, under the model's names: no less of it, and nothing besides.

The samples are made by hand after what each tool prints; no tool is needed.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import msgspec
import pytest

from conformance.corpus import find_corpus, load_case, opened, releases
from conformance.essence import shown_text
from conformance.peers import Peer, peers
from conformance.peers.enclosing import opened_peer
from conformance.peers.installing import install
from transcripts.model import AgentMessage, CommandExecution, FileChange, SubAgent, Transcript

BRIDGES = Path(__file__).parents[1] / "peers" / "bridges"
SHARED = frozenset(path.stem for path in BRIDGES.glob("*.py"))


@pytest.fixture(autouse=True)
def _beside_each_other(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let bridges find their neighbours, as they do when they are run, and forget them after."""
    monkeypatch.syspath_prepend(str(BRIDGES))
    yield
    for name in SHARED & sys.modules.keys():
        del sys.modules[name]


def bridge(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), BRIDGES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(transcript: dict[str, Any]) -> Transcript:
    """Read what a bridge gives as the wire does: by its schema."""
    return msgspec.json.decode(json.dumps(transcript), type=Transcript)


def command(transcript: Transcript, number: int) -> CommandExecution:
    found = transcript.messages[number]
    assert isinstance(found, CommandExecution)
    return found


def event(kind: str, number: int, **fields: Any) -> dict[str, Any]:
    meta = {"uuid": f"u{number}", "session_id": "s1", "cwd": "/srv/app", "cc_version": "2.1.300"}
    return {"kind": kind, "meta": meta, "text": "", "blocks": [], "api_error": None, **fields}


def test_a_command_of_claude_has_its_exit_status_from_the_words_of_its_result() -> None:
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls doors"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "Exit code 2\nno doors"}
    events = [
        event("user", 1, text="Look for doors."),
        event("assistant", 2, blocks=[{"type": "text", "text": "Looking."}, use]),
        event("user", 3, blocks=[{**result, "is_error": True}]),
    ]
    found = read(bridge("cc-transcript").transcript(events, "s1"))
    assert [message.kind for message in found.messages] == [
        "UserMessage",
        "AgentMessage",
        "CommandExecution",
    ]
    ran = command(found, 2)
    assert (ran.exit_code, ran.exit_code_source, ran.status) == (2, "text", "failed")
    assert ran.output is not None
    assert (shown_text(ran.output), ran.error) == ("no doors", None)
    assert (found.cwd, found.cli_version) == ("/srv/app", "2.1.300")


def test_what_a_tool_hands_on_beside_the_text_of_a_result_is_not_lost() -> None:
    asked = {"questions": [{"question": "Which?", "options": [{"label": "Red"}]}]}
    use = {"type": "tool_use", "id": "t1", "name": "AskUserQuestion", "input": asked}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "answered", "is_error": False}
    events = [
        event("assistant", 1, blocks=[use]),
        event("user", 2, blocks=[{**result, "tool_use_result": {"answers": {"Which?": "Red"}}}]),
    ]
    (question,) = bridge("cc-transcript").transcript(events, "s1")["messages"]
    assert question["questions"] == [{"text": "Which?", "options": ["Red"], "answer": "Red"}]


def block(kind: str, **fields: Any) -> SimpleNamespace:
    names = ("text", "tool_name", "tool_input", "call_id", "raw_block")
    given = {**dict.fromkeys(names), "is_error": False, "result_parts": (), **fields}
    return SimpleNamespace(type=SimpleNamespace(value=kind), **given)


def said(role: str, *blocks: SimpleNamespace) -> SimpleNamespace:
    about = {"uid": None, "timestamp": "2026-03-01T12:00:00Z"}
    return SimpleNamespace(role=SimpleNamespace(value=role), content=blocks, **about)


def test_frames_of_codex_are_no_part_of_the_output_and_a_developer_is_no_person() -> None:
    output = "Chunk ID: 0\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\nstuck\n"
    session = SimpleNamespace(
        meta=SimpleNamespace(session_id="s1", cwd="/srv", model=None, version="0.171.0", extra={}),
        messages=(
            said("system", block("text", text="Be brief.")),
            said("user", block("text", text="Turn the wheel.")),
            said(
                "assistant",
                block(
                    "tool_call", tool_name="exec_command", tool_input={"cmd": "turn"}, call_id="c"
                ),
            ),
            said("tool", block("tool_result", call_id="c", text=output)),
        ),
    )
    found = read(bridge("agent-session-bridge").transcript(session, "codex", "s1"))
    assert [message.author for message in found.messages] == ["harness", "human", "model"]
    ran = command(found, 2)
    assert (ran.command, ran.exit_code, ran.status) == ("turn", 3, "failed")
    assert ran.output is not None
    assert shown_text(ran.output) == "stuck\n"


def row(number: int, role: str, content: str, **fields: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("source_uuid", "model", "thinking_text"), "")
    flags = dict.fromkeys(("is_sidechain", "is_system", "is_compact_boundary"), 0)
    message = {"id": number, "role": role, "content": content, "timestamp": None}
    return {**message, **empty, **flags, "dialogue_text": None, **fields}


def called(message: int, name: str, given: str, **fields: Any) -> dict[str, Any]:
    call = {"message_id": message, "tool_name": name, "tool_use_id": name, "input_json": given}
    return {**call, "observed_outcome": "content", "subagent_session_id": None, **fields}


SESSION = {"cwd": "", "source_version": "", "git_branch": "", "session_name": None}


def test_a_row_of_agentsview_is_a_thought_then_words_then_calls() -> None:
    content = "[Thinking]\nHow many?\n[/Thinking]\n\nCounting."
    ended = '{"content":"five\\n<shellId: a completed with exit code 0>"}'
    begun = {"tool_use_id": "bash", "source": "tool_execution", "subagent_session_id": None}
    events = [
        {**begun, "status": "started", "content": ""},
        {**begun, "status": "completed", "content": ended},
    ]
    calls = [called(1, "bash", '{"command": "count"}')]
    given = ({"id": "copilot:s1", **SESSION}, [row(1, "assistant", content)], calls, events)
    found = read(bridge("agentsview").transcript(*given, "copilot"))
    assert found.session_id == "s1"
    kinds = ["Reasoning", "AgentMessage", "CommandExecution"]
    assert [message.kind for message in found.messages] == kinds
    ran = command(found, 2)
    assert (ran.command, ran.exit_code) == ("count", 0)


def test_what_an_agent_reported_later_stands_at_the_call_that_started_it() -> None:
    spawned = called(1, "spawn_agent", '{"message": "Weigh it."}', subagent_session_id="codex:s2")
    report = {"tool_use_id": "wait_agent", "source": "wait_output", "content": "214 kg"}
    events = [{**report, "status": "completed", "subagent_session_id": "codex:s2"}]
    given = ({"id": "codex:s1", **SESSION}, [row(1, "assistant", "[Task]")], [spawned], events)
    found = read(bridge("agentsview").transcript(*given, "codex"))
    (agent,) = found.messages
    assert isinstance(agent, SubAgent)
    assert (agent.prompt, agent.status) == ("Weigh it.", "completed")
    assert agent.output is not None
    assert shown_text(agent.output) == "214 kg"


def test_a_turn_of_portable_resume_is_parted_at_its_headings() -> None:
    turns = [
        {"role": "user", "content": "Run it.", "timestamp": None, "tool_name": None},
        {
            "role": "tool",
            "content": 'Input: {"command":"run"}\nResult:\nExit code 4\nbroken',
            "timestamp": None,
            "tool_name": "Bash",
        },
        {
            "role": "tool",
            "content": 'Input: {"command":"again"}\nResult:\n[missing tool result]',
            "timestamp": None,
            "tool_name": "Bash",
        },
    ]
    shown = {"sessions": [{"cwd": "/srv", "branch": None, "title": "Run it.", "turns": turns}]}
    found = read(bridge("portable-resume").transcript(shown, "claude", "s1"))
    assert (command(found, 1).exit_code, command(found, 1).status) == (4, "failed")
    assert (command(found, 2).output, command(found, 2).status) == (None, "unresolved")


def test_a_step_of_atif_with_an_edit_is_a_change_of_that_file() -> None:
    edit = {"file_path": "/srv/a.txt", "old_string": "peas", "new_string": "kale"}
    call = {"tool_call_id": "t", "function_name": "Edit", "arguments": edit}
    result = {"source_call_id": "t", "content": "done", "extra": {"is_error": False}}
    steps = [
        {"source": "user", "message": "Kale, please."},
        {
            "source": "agent",
            "message": "",
            "tool_calls": [call],
            "observation": {"results": [result]},
        },
    ]
    trajectory = {"agent": {"version": "2.1.300"}, "steps": steps}
    found = read(bridge("trajectory-fidelity-bridge").transcript(trajectory, "s1"))
    change = found.messages[1]
    assert isinstance(change, FileChange)
    assert (change.changes[0].before, change.changes[0].after) == ("peas", "kale")


def test_totals_are_the_tools_own_and_what_it_does_not_count_is_not_zero() -> None:
    totals = {"inputTokens": 480, "outputTokens": 120, "totalTokens": 600}
    report = {"sessions": [{"sessionId": "-srv"}], "totals": totals}
    (message,) = read(bridge("ccusage").transcript(report, "s1")).messages
    assert message.usage is not None
    assert (message.usage.input, message.usage.output, message.usage.total) == (480, 120, 600)
    assert (message.usage.cache_read, message.usage.reasoning) == (None, None)


def test_each_response_that_openaidr_tells_of_is_counted_once() -> None:
    usage = {"input_tokens": 100, "output_tokens": 10, "reasoning_tokens": 3}
    session = {"session_id": "codex:s1", "working_directory": "/srv", "model": "m"}
    report = {"sessions": [{**session, "responses": [{"usage": usage}, {"usage": usage}]}]}
    (message,) = read(bridge("openaidr").transcript(report, "codex", "s1")).messages
    assert message.usage is not None
    assert (message.usage.input, message.usage.output, message.usage.reasoning) == (200, 20, 6)


def test_a_new_session_is_the_one_that_the_tool_names() -> None:
    assert bridge("coding-agent-session-manager").new_id({"target_id": "n"}) == "n"
    listed = {"sessions": [{"id": "s1", "directory": "/srv/app"}]}
    assert bridge("claude-codex-sessions").directory(listed) == "/srv/app"


def test_a_report_behind_which_the_cli_puts_an_id_is_without_it() -> None:
    calls, calling = import_module("claude_calls"), import_module("calling")
    report = [{"type": "text", "text": "9 boxes.\nagentId: a1 (for later)"}]
    call = calling.Called("Task", {"prompt": "Count."}, output=report)
    assert calls.message(call, {})["output"] == [{"type": "text", "text": "9 boxes."}]


@pytest.mark.parametrize(
    ("patch", "edits"),
    [
        ("*** Add File: a\n+one\n+two", [("add", None, "one\ntwo\n")]),
        ("*** Delete File: a", [("delete", None, None)]),
        ("*** Update File: a\n@@\n same\n-old\n+new\n same", [("update", "old", "new")]),
        ("*** Update File: a\n@@\n place\n+more", [("update", "place", "place\nmore")]),
        ("*** Update File: a\n*** Move to: b\n@@\n same", [("move", None, None)]),
    ],
)
def test_a_patch_is_its_edits(patch: str, edits: list[tuple[str, str | None, str | None]]) -> None:
    made = import_module("patches").edits(f"*** Begin Patch\n{patch}\n*** End Patch", "/srv")
    assert [(one["operation"], one.get("before"), one.get("after")) for one in made] == edits
    assert made[0]["path"] == "/srv/a"


def test_what_a_tool_prints_is_no_answer_and_what_it_raises_is_its_own_failure() -> None:
    program = """
import wire
def read(request):
    print("loading")
    with wire.tool("read"):
        raise ValueError("a line is torn")
wire.serve({"name": "x", "version": "1", "language": "Python"}, {}, {"read": read})
"""
    asked = '{"cmd": "run", "verb": "read", "seq": 1}\n{"cmd": "run", "verb": "list", "seq": 2}\n'
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        input=asked,
        capture_output=True,
        text=True,
        cwd=BRIDGES,
        timeout=60,
    )
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["stage"], first["message"]) == ("read", "ValueError: a line is torn")
    assert second["stage"] == "internal"
    assert "loading" in done.stderr


def _imports(path: Path) -> str:
    """Return the names that a file takes from the wire, as words."""
    found = re.search(r"^from wire import (.*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return "" if found is None else " ".join(f"import {name}" for name in found[1].split(", "))


def test_every_bridge_is_some_peers() -> None:
    used = {peer.bridge for peer in peers() if peer.bridge}
    run = {path.name for path in BRIDGES.glob("*.py") if "import serve" in _imports(path)}
    assert run == used


def test_of_what_codex_finds_only_the_session_that_is_asked_for_is_imported() -> None:
    module = bridge("codex-import")
    sessions = [{"path": f"/h/.claude/projects/p/{name}.jsonl", "cwd": "/p"} for name in ("a", "b")]
    holder = {"itemType": "SESSIONS", "details": {"sessions": sessions}}
    others = [{"itemType": "SKILLS"}, {"itemType": "SESSIONS", "details": None}]
    asked = module.only({"items": [*others, holder]}, Path("/elsewhere/b.jsonl"))
    assert asked == {"itemType": "SESSIONS", "details": {"sessions": [sessions[1]]}}
    success = {"itemType": "SESSIONS", "target": "new"}
    result = {"itemType": "SESSIONS", "successes": [success], "failures": []}
    assert module.imported({"itemTypeResults": [result]}) == "new"


def test_a_directory_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    in_place = bridge("codex-import").in_place
    assert in_place(str(tmp_path)) == []
    assert in_place(str(tmp_path / "gone" / "app"))[-2:] == [
        str(tmp_path),
        str(tmp_path / "gone" / "app"),
    ]


PEERS = [peer for peer in peers() if peer.bridge]
NEW = "019b8d99-0000-7db1-8baa-7e76cb5c5c99"
AT_ONCE = "command-fails"
LAST = "The sluice is stuck since the last run, token SLUICE-7743."


@pytest.mark.live
@pytest.mark.extended
@pytest.mark.parametrize("peer", PEERS, ids=[peer.name for peer in PEERS])
def test_a_real_tool_gives_the_last_words_of_a_recorded_session(peer: Peer, tmp_path: Path) -> None:
    install(peer, print)
    corpus = find_corpus(None)
    for agent, offers in peer.stores.items():
        release = releases(corpus, agent)[-1]
        case = load_case(corpus / agent / release / AT_ONCE, corpus)
        with opened(case) as home, opened_peer(peer) as adapter:
            if offers.read and not offers.totals:
                last = adapter.read(agent, home, case.facts.session_id).messages[-1]
                assert isinstance(last, AgentMessage)
                assert shown_text(last.content) == LAST
            for target in offers.convert:
                session_id, place = case.facts.session_id, tmp_path / target
                made = adapter.convert(
                    agent, home, session_id, target, place, new_session_id=NEW, cwd="/srv/app"
                )
                assert made.session_id
                texts = [path.read_text() for path in (tmp_path / target).rglob("*.jsonl")]
                assert any(LAST in text for text in texts)
