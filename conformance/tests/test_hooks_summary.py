"""What a log comes to: nothing counted twice, no evidence taken for another."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from conformance.hooks import BY_NAME
from conformance.hooks.conversations import conversations
from conformance.shapes import schema_of
from conformance.tests.hook_trees import log_lines
from transcripts.errors import NotACaptureLog
from transcripts.hooks import CaptureLog, find_dialect
from transcripts.hooks.cli import hooks
from transcripts.hooks.summaries.skills import mentioned, skill_of_path, slash_commands
from transcripts.hooks.summaries.summarising import Counter, summarise
from transcripts.serialise import to_json


def summary_of(agent: str, lines: Iterable[bytes]) -> dict[str, Any]:
    """Return what ``hooks summary --format json`` prints of some lines."""
    dialect = find_dialect(agent)
    log = CaptureLog(Path("log"), dialect, keep_payloads=False)
    document: dict[str, Any] = json.loads(
        to_json(summarise(log.read(lines), dialect, log.bad_lines))
    )
    Draft202012Validator(schema_of("hooks-summary")).validate(document)
    return document


def cursor(name: str, second: float = 0, **fields: Any) -> dict[str, Any]:
    """A Cursor payload."""
    ids = {"conversation_id": "c", "generation_id": "g", "workspace_roots": ["/w"]}
    at = f"2026-01-10T10:00:{second:06.3f}Z"
    return {"hook_event_name": name, **ids, "observed_at": at, **fields}


def call(second: float, tool: str, number: int, **given: Any) -> list[dict[str, Any]]:
    """A Cursor call and its end, 100 ms apart, 70 ms of them its own."""
    said = {"tool_name": tool, "tool_use_id": f"t{number}", "tool_input": given}
    return [
        cursor("preToolUse", second, **said),
        cursor("postToolUse", second + 0.1, **said, duration=70),
    ]


def only_session(document: dict[str, Any]) -> dict[str, Any]:
    (session,) = document["sessions"]
    found: dict[str, Any] = session["summary"]
    return found


def test_a_turn_is_counted_in_calls_commands_edits_and_time_on_the_clock() -> None:
    shell, write = call(2, "Shell", 1, command="make"), call(3, "Write", 2, path="/w/a")
    lines = log_lines(
        [
            cursor("beforeSubmitPrompt", 1, prompt="Make it"),
            shell[0],
            cursor("beforeShellExecution", 2, command="make"),
            cursor("afterShellExecution", 2.05, command="make", duration=50),
            shell[1],
            write[0],
            cursor("afterFileEdit", 3, file_path="/w/a", edits=[]),
            write[1],
            cursor("stop", 5, status="completed"),
        ]
    )
    total = only_session(summary_of("cursor", lines))
    told = {name: total[name] for name in ("turns", "tool_calls", "commands", "edits", "wall_ms")}
    assert told == {"turns": 1, "tool_calls": 2, "commands": 1, "edits": 1, "wall_ms": 4000.0}
    assert total["files_written"] == ["/w/a"]


def test_an_mcp_call_is_no_normal_call_and_is_counted_once() -> None:
    given = {"tool_input": {"q": 1}, "tool_use_id": "m"}
    lines = log_lines(
        [
            cursor("preToolUse", 1, tool_name="MCP:find", **given),
            cursor(
                "beforeMCPExecution",
                1,
                tool_name="find",
                tool_input='{"q":1}',
                mcp_server_name="lab",
            ),
            cursor(
                "afterMCPExecution",
                3,
                tool_name="find",
                tool_input='{"q":1}',
                mcp_server_name="lab",
                duration=2,
            ),
            cursor("postToolUse", 3, tool_name="MCP:find", **given, duration=2000),
        ]
    )
    total = only_session(summary_of("cursor", lines))
    assert (total["tool_calls"], total["mcp_calls"], total["tools"]) == (0, 1, [])
    (row,) = total["mcp_tools"]
    # Reported in seconds: two of them lie between the two events.
    assert (row["name"], row["duration_ms"]) == ("lab/find", 2000.0)


def test_command_and_skill_read_and_skill_mentioned_do_not_stand_for_each_other() -> None:
    skill = "/w/.cursor/skills/dotnet-threads-analysis/SKILL.md"
    lines = log_lines(
        [
            cursor("beforeSubmitPrompt", 1, prompt="/dotnet-memory-analysis of this dump"),
            cursor("afterAgentThought", 2, text="I follow the perf-counters skill here."),
            *call(3, "Read", 1, path=skill),
            *call(4, "Read", 2, path=skill),
        ]
    )
    total = only_session(summary_of("cursor", lines))
    assert total["slash_commands"] == ["dotnet-memory-analysis"]
    assert total["skills"] == [
        {"id": "perf-counters", "evidence": ["mention"]},
        {"id": "dotnet-threads-analysis", "evidence": ["read"]},
    ]
    # Read twice, it is one skill and still two calls.
    assert [(row["name"], row["count"]) for row in total["tools"]] == [("Read", 2)]
    assert total["thoughts"] == 1


def test_a_failure_is_counted_without_its_time() -> None:
    said = {"tool_name": "Shell", "tool_use_id": "s", "tool_input": {"command": "x"}}
    lines = log_lines(
        [
            cursor("preToolUse", 1, **said),
            cursor("postToolUseFailure", 3, **said, duration=2000, failure_type="error"),
        ]
    )
    total = only_session(summary_of("cursor", lines))
    assert total["failures"] == 1
    assert total["tools"] == [{"name": "Shell", "count": 1, "failed": 1, "duration_ms": None}]


def test_a_start_that_is_told_twice_and_an_end_without_a_start_are_one_call_each() -> None:
    read = call(1, "Read", 1, path="/w/a")
    lost = call(2, "Grep", 2, pattern="x")
    total = only_session(summary_of("cursor", log_lines([read[0], *read, lost[1]])))
    assert sorted((row["name"], row["count"]) for row in total["tools"]) == [
        ("Grep", 1),
        ("Read", 1),
    ]


def test_a_session_s_tokens_are_the_last_input_and_all_output() -> None:
    def stop(turn: str, second: int, inside: int, out: int) -> dict[str, Any]:
        tokens = {"input_tokens": inside, "output_tokens": out}
        return cursor("stop", second, generation_id=turn, status="completed", **tokens)

    lines = log_lines(
        [
            cursor("beforeSubmitPrompt", 1, generation_id="g1", prompt="One"),
            stop("g1", 2, 100, 7),
            cursor("beforeSubmitPrompt", 3, generation_id="g2", prompt="Two"),
            cursor("afterAgentResponse", 4, generation_id="g2", text="x", input_tokens=1),
            stop("g2", 5, 250, 9),
        ]
    )
    tokens = only_session(summary_of("cursor", lines))["tokens"]
    assert tokens == {"input": 250, "output": 16, "cache_read": None, "cache_write": None}


def test_without_times_nothing_is_said_of_time() -> None:
    events = [{**event} for event in call(1, "Grep", 1, pattern="x")]
    for event in events:
        del event["observed_at"]
    assert only_session(summary_of("cursor", log_lines(events)))["wall_ms"] is None


def test_a_turn_that_comes_again_is_the_same_turn() -> None:
    lines = log_lines(
        [
            cursor("beforeSubmitPrompt", 1, generation_id="g1", prompt="One"),
            cursor("beforeSubmitPrompt", 2, generation_id="g2", prompt="Two"),
            cursor("afterAgentThought", 3, generation_id="g1", text="Late."),
        ]
    )
    (session,) = summary_of("cursor", lines)["sessions"]
    assert [(turn["id"], turn["summary"]["thoughts"]) for turn in session["turns"]] == [
        ("g1", 1),
        ("g2", 0),
    ]


def test_an_aborted_turn_is_counted() -> None:
    total = only_session(summary_of("cursor", log_lines([cursor("stop", 1, status="aborted")])))
    assert (total["turns"], total["aborted_turns"]) == (1, 1)


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("/fix it", ["fix"]),
        ("say /fix, then /Go-on!", ["fix", "Go-on"]),
        ("and/or http://a/b /c:/Users/x", []),
        ("/fix-me/now", []),
        ("<user_query>/a-b x</user_query> /c", ["a-b"]),
    ],
)
def test_a_slash_command_begins_a_word_and_ends_it(text: str, commands: list[str]) -> None:
    assert list(slash_commands(text)) == commands


@pytest.mark.parametrize(
    ("text", "skills"),
    [
        ("follow the dotnet-memory-analysis skill", ["dotnet-memory-analysis"]),
        ("this skill", []),
        ("the `a-b` skill and **C-D** skills", ["a-b", "c-d"]),
        ("a-b skilled", []),
    ],
)
def test_a_mention_is_a_hyphenated_name_before_the_word(text: str, skills: list[str]) -> None:
    assert list(mentioned(text)) == skills


@pytest.mark.parametrize(
    ("path", "skill"),
    [
        ("/a/b/SKILL.md", "b"),
        ("C:\\u\\skills\\dumps\\SKILL.md", "dumps"),
        ("/a/xSKILL.md", None),
        ("/a/b/skill.md", None),
        ("SKILL.md", None),
    ],
)
def test_a_skill_is_read_by_exactly_that_file_name(path: str, skill: str | None) -> None:
    assert skill_of_path(path) == skill


def _long_log(turns: int) -> Iterator[bytes]:
    for turn in range(turns):
        of_turn = {"generation_id": f"g{turn}"}
        yield from log_lines([cursor("beforeSubmitPrompt", 1, **of_turn, prompt=f"Turn {turn}")])
        for number in range(5):
            made = call(2, "Shell", number, command=f"run {turn} {number}")
            yield from log_lines({**event, **of_turn} for event in made)


def _peak(agent: str, lines: Iterable[bytes]) -> int:
    """Return the most memory that counting some lines takes."""
    tracemalloc.start()
    dialect = find_dialect(agent)
    log = CaptureLog(Path("log"), dialect, keep_payloads=False)
    with Counter(dialect) as counter:
        for event in log.read(lines):
            counter.add(event)
        for session in counter.sessions():
            for _ in session.turns():
                pass
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def test_memory_does_not_grow_with_the_length_of_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transcripts.hooks.summaries.keeping._MOST_HELD", 200)
    _peak("cursor", _long_log(100))
    assert _peak("cursor", _long_log(800)) < 2 * _peak("cursor", _long_log(200))


def test_text_that_is_no_unicode_is_counted_like_any_other() -> None:
    half = {"conversation_id": "\ud800", "generation_id": "\udfff", "workspace_roots": ["\ud800"]}
    lines = log_lines([{**event, **half} for event in call(1, "\udc00", 1, command="x")])
    document = summary_of("cursor", lines)
    (session,) = document["sessions"]
    assert (session["id"], session["workspace"]) == ("\ud800", "\ud800")
    (turn,) = session["turns"]
    assert turn["id"] == "\udfff"
    assert turn["summary"]["tools"] == [
        {"name": "\udc00", "count": 1, "failed": 0, "duration_ms": 70}
    ]


def test_a_number_that_is_out_of_all_measure_and_a_time_before_utc_cost_nothing_else() -> None:
    events = [
        cursor("stop", 1, status="completed", input_tokens=10**30),
        {**cursor("afterAgentThought", text="x"), "observed_at": "9999-12-31T23:59:59-14:00"},
    ]
    document = summary_of("cursor", log_lines(events))
    found = only_session(document)
    assert (found["thoughts"], found["tokens"]["input"]) == (1, 10**30)


@pytest.mark.parametrize("teller", ["before", "after"])
def test_an_mcp_server_that_only_one_of_two_events_names_is_the_call_s(teller: str) -> None:
    said = {"tool_name": "get", "tool_input": "{}"}
    named = {"mcp_server_name": "srv"}
    events = [
        cursor("beforeMCPExecution", 1, **said, **(named if teller == "before" else {})),
        cursor(
            "afterMCPExecution", 2, **said, **(named if teller == "after" else {}), duration=900
        ),
    ]
    found = only_session(summary_of("cursor", log_lines(events)))
    assert found["mcp_tools"] == [{"name": "srv/get", "count": 1, "failed": 0, "duration_ms": 900}]


@pytest.mark.parametrize("command", ["tree", "summary"])
def test_a_file_without_an_event_is_refused(tmp_path: Path, command: str) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text('{"type": "user"}\n# Title\n', encoding="utf-8")
    done = CliRunner().invoke(hooks, [command, str(path), "--agent", "claude"])
    assert isinstance(done.exception, NotACaptureLog)
    assert "session.jsonl:1" in str(done.exception)


def _interleaved(agent: str) -> list[bytes]:
    """Conversations of many sessions beside each other, with turns that come again."""
    (name, *_) = (name for name, made in BY_NAME.items() if made.agent == agent)
    told = conversations(name, 3, 400, at_once=8)
    lines = [line for one in told for line in one.lines()]
    return [*lines, *lines[::7]]


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "cursor"])
@pytest.mark.parametrize("most_held", [0, 5])
def test_where_turns_are_kept_makes_no_difference(
    agent: str, most_held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = _interleaved(agent)
    held = summary_of(agent, lines)
    monkeypatch.setattr("transcripts.hooks.summaries.keeping._MOST_HELD", most_held)
    assert summary_of(agent, lines) == held
    assert max(len(session["turns"]) for session in held["sessions"]) > 2


def test_sessions_are_told_in_the_order_in_which_they_were_first_seen() -> None:
    sessions = ["b", "a", "c"]
    prompts = [cursor("beforeSubmitPrompt", conversation_id=one, prompt="x") for one in sessions]
    ends = [cursor("sessionEnd", conversation_id=one) for one in reversed(sessions)]
    document = summary_of("cursor", log_lines([*prompts, *ends]))
    assert [session["id"] for session in document["sessions"]] == sessions


def test_memory_does_not_grow_with_the_number_of_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transcripts.hooks.summaries.keeping._MOST_HELD", 200)
    monkeypatch.setattr("transcripts.hooks.correlation.correlating._KEPT_SESSIONS", 64)

    def events(sessions: int) -> Iterator[bytes]:
        for number in range(sessions):
            named = {"session_id": f"{number:08x}-6901-7db1-8baa-7e76cb5c5c64", "cwd": "/w"}
            yield from log_lines(
                [
                    {"hook_event_name": "UserPromptSubmit", **named, "prompt": "x"},
                    {"hook_event_name": "SessionEnd", **named},
                ]
            )

    _peak("claude", events(100))
    assert _peak("claude", events(4000)) < 1.1 * _peak("claude", events(1000))
