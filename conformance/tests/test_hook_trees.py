"""Hook events become a conversation: what belongs together stands together, or is an orphan."""

from __future__ import annotations

from itertools import permutations
from time import process_time
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance.shapes import schema_of
from conformance.tests.hook_trees import (
    links,
    log_lines,
    node_of,
    nodes,
    orphans,
    snapshots,
    tree_of,
    turns,
)

_AT = "2026-01-10T10:00:{:06.3f}Z"


def cursor(name: str, at: float, **fields: Any) -> dict[str, Any]:
    """A Cursor payload of one turn."""
    ids = {"conversation_id": "c", "generation_id": "g", "workspace_roots": ["/w"]}
    return {"hook_event_name": name, **ids, "observed_at": _AT.format(at), **fields}


def claude(name: str, at: float, **fields: Any) -> dict[str, Any]:
    """A Claude payload."""
    ids = {"session_id": "s", "cwd": "/w"}
    return {"hook_event_name": name, **ids, "observed_at": _AT.format(at), **fields}


BUILD = {"command": "build", "cwd": ""}
LINT = {"cwd": "", "command": "lint"}
CROSSED = [
    cursor("preToolUse", 1, tool_name="Shell", tool_use_id="dup", tool_input=BUILD),
    cursor("preToolUse", 2, tool_name="Shell", tool_use_id="dup", tool_input=LINT),
    cursor("beforeShellExecution", 3, command="build", cwd="/w"),
    cursor("beforeShellExecution", 3, command="lint", cwd="/w"),
    cursor("afterShellExecution", 5, command="lint", output="clean", duration=1000),
    cursor(
        "postToolUse",
        5,
        tool_name="Shell",
        tool_use_id="dup",
        tool_input='{"command":"lint","cwd":""}',
    ),
    cursor("afterShellExecution", 9, command="build", output="ok", duration=5000),
    cursor("postToolUse", 9, tool_name="Shell", tool_use_id="dup", tool_input=BUILD),
]
TRUE_PAIRS = {
    (6, 2, "end"),
    (8, 1, "end"),
    (3, 1, "before"),
    (4, 2, "before"),
    (5, 4, "after"),
    (7, 3, "after"),
}


def test_two_calls_of_one_id_are_told_by_their_inputs_however_they_are_written() -> None:
    tree = tree_of("cursor", log_lines(CROSSED))
    assert links(tree) == TRUE_PAIRS
    assert not orphans(tree)
    assert Draft202012Validator(schema_of("hooks-tree")).is_valid(tree)


def test_any_order_that_keeps_pairs_in_order_gives_the_same_pairs() -> None:
    for order in permutations(range(8)):
        place = {event: number for number, event in enumerate(order)}
        if any(place[start - 1] > place[end - 1] for end, start, _ in TRUE_PAIRS):
            continue
        # A shell event comes before the end of the call that it is of.
        if place[2] > place[7] or place[3] > place[5]:
            continue
        tree = tree_of("cursor", log_lines([CROSSED[event] for event in order]))
        found = {(order[end - 1] + 1, order[to - 1] + 1, role) for end, to, role in links(tree)}
        assert found == TRUE_PAIRS, order


def test_a_lost_event_orphans_but_mispairs_nothing() -> None:
    for lost in range(8):
        kept = [number for number in range(8) if number != lost]
        tree = tree_of("cursor", log_lines([CROSSED[number] for number in kept]))
        found = {(kept[end - 1] + 1, kept[to - 1] + 1, role) for end, to, role in links(tree)}
        # An after event whose before event is lost hangs under its call.
        owners = {(5, 2, "after"), (7, 1, "after")}
        assert found <= TRUE_PAIRS | owners, lost


def test_an_end_without_an_id_stays_an_orphan_and_a_file_event_finds_its_call_by_path() -> None:
    read = {"tool_name": "Read", "tool_input": {"path": "C:\\W\\A.txt"}}
    tree = tree_of(
        "cursor",
        log_lines(
            [
                cursor("preToolUse", 1, **read),
                cursor("beforeReadFile", 1, file_path="c:/w/a.txt"),
                cursor("postToolUse", 2, **read),
            ]
        ),
    )
    assert links(tree) == {(2, 1, "file")}
    assert orphans(tree) == {3}
    assert node_of(tree, 3)["kind"] == "orphan"


def test_case_and_slash_are_folded_on_a_windows_path_only() -> None:
    tree = tree_of(
        "cursor",
        log_lines(
            [
                cursor("preToolUse", 1, tool_name="Read", tool_input={"path": "/w/A.txt"}),
                cursor("beforeReadFile", 1, file_path="/w/a.txt"),
            ]
        ),
    )
    assert orphans(tree) == {2}


def test_equal_calls_of_one_id_that_are_open_together_make_their_end_an_orphan() -> None:
    date = {"tool_name": "Shell", "tool_use_id": "s", "tool_input": {"command": "date"}}
    tree = tree_of(
        "cursor",
        log_lines(
            [
                cursor("preToolUse", 1, **date),
                cursor("preToolUse", 1, **date),
                cursor("postToolUse", 2, **date),
            ]
        ),
    )
    assert links(tree) == set()
    assert orphans(tree) == {3}
    assert [node_of(tree, line)["status"] for line in (1, 2)] == ["unresolved"] * 2


def test_a_read_that_is_told_twice_is_one_call() -> None:
    read = {"tool_name": "Read", "tool_use_id": "r", "tool_input": {"path": "/w/a"}}
    tree = tree_of(
        "cursor",
        log_lines(
            [
                cursor("preToolUse", 1, **read),
                cursor("preToolUse", 1, **read),
                cursor("postToolUse", 2, **read),
            ]
        ),
    )
    assert links(tree) == {(2, 1, "redelivery"), (3, 1, "end")}


def test_what_waits_under_a_failed_call_is_not_ended_by_its_retry() -> None:
    call = {"tool_name": "Shell", "tool_use_id": "s", "tool_input": {"command": "make"}}
    tree = tree_of(
        "cursor",
        log_lines(
            [
                cursor("preToolUse", 1, **call),
                cursor("beforeShellExecution", 2, command="make"),
                cursor("postToolUseFailure", 3, **call, failure_type="timeout"),
                cursor("preToolUse", 4, **call),
                cursor("beforeShellExecution", 5, command="make"),
                cursor("afterShellExecution", 6, command="make", duration=4),
                cursor("postToolUse", 7, **call),
            ]
        ),
    )
    assert links(tree) == {
        (2, 1, "before"),
        (3, 1, "end"),
        (5, 4, "before"),
        (6, 5, "after"),
        (7, 4, "end"),
    }
    assert node_of(tree, 1)["failure"] == {"type": "timeout", "message": None, "interrupted": None}


def test_a_call_that_got_no_end_is_not_closed_by_the_next_of_its_tool() -> None:
    edit = {"tool_name": "Edit", "tool_input": {"file_path": "/w/a"}}
    tree = tree_of(
        "claude",
        log_lines(
            [
                claude("PreToolUse", 1, tool_use_id="e1", **edit),
                claude("PreToolUse", 4, tool_use_id="e2", **edit),
                claude("PostToolUse", 5, tool_use_id="e2", **edit, tool_response={}),
                claude("PreToolUse", 7, tool_use_id="b1", tool_name="Bash"),
                claude("PreToolUse", 8, tool_use_id="b2", tool_name="Bash"),
                claude("PostToolUse", 9, tool_use_id="b2", tool_response={"stdout": "exit 1"}),
                claude("Stop", 12),
            ]
        ),
    )
    assert links(tree) == {(3, 2, "end"), (6, 5, "end")}
    open_calls = {1: "unresolved", 2: "completed", 4: "unresolved", 5: "completed"}
    assert {line: node_of(tree, line)["status"] for line in open_calls} == open_calls
    assert node_of(tree, 4)["duration_ms"] is None


def test_a_codex_call_that_ended_is_not_said_to_have_gone_well() -> None:
    call = {"session_id": "s", "turn_id": "t", "tool_name": "Bash", "tool_use_id": "x"}
    tree = tree_of(
        "codex",
        log_lines(
            [
                {"hook_event_name": "PreToolUse", **call, "tool_input": {"command": "false"}},
                {"hook_event_name": "PostToolUse", **call, "tool_response": "exit 1"},
            ]
        ),
    )
    assert node_of(tree, 1)["status"] == "unknown"


def test_a_stop_of_what_never_started_is_a_phantom_and_nothing_else() -> None:
    tree = tree_of(
        "claude",
        log_lines([claude("SubagentStop", 1, agent_id="a", agent_type="")]),
    )
    assert [one["event"] for one in tree["phantoms"]] == [1]
    assert not list(nodes(tree))


def test_a_thought_under_a_suffixed_id_is_of_the_same_turn() -> None:
    turn = "11111111-1111-4111-8111-111111111111"
    thought = {"generation_id": f"{turn}-3-ab12", "text": "Hm."}
    tree = tree_of(
        "cursor",
        log_lines(
            [
                cursor("beforeSubmitPrompt", 1, generation_id=turn, prompt="Go"),
                cursor("afterAgentThought", 2, **thought),
            ]
        ),
    )
    (only,) = turns(tree)
    assert (only["id"], only["title"]) == (turn, "Turn 1 · Go")


@pytest.mark.parametrize("second", [2.0, 1.5])
def test_calls_that_touch_are_no_wave_and_calls_that_overlap_are_one(second: float) -> None:
    tree = tree_of(
        "claude",
        log_lines(
            [
                claude("PreToolUse", 1, tool_use_id="a", tool_name="Read"),
                claude("PostToolUse", 2, tool_use_id="a", tool_name="Read"),
                claude("PreToolUse", second, tool_use_id="b", tool_name="Read"),
                claude("PostToolUse", 4, tool_use_id="b", tool_name="Read"),
            ]
        ),
    )
    waves = [node for node in nodes(tree) if node["kind"] == "wave"]
    assert [wave["duration_ms"] for wave in waves] == ([3000.0] if second == 1.5 else [])


def test_while_it_grows_a_link_only_turns_into_an_orphan() -> None:
    date = {"tool_name": "Shell", "tool_use_id": "s", "tool_input": {"command": "date"}}
    lines = log_lines(
        [
            cursor("preToolUse", 1, **date),
            cursor("postToolUse", 2, **date),
            cursor("postToolUse", 3, **date),
        ]
    )
    seen = [links(tree) for tree in snapshots("cursor", lines)]
    assert seen == [set(), {(2, 1, "end")}, set()]


def test_bad_lines_are_named_and_the_rest_is_read() -> None:
    lines = [
        b'{"a":\n',
        *log_lines([claude("Stop", 1)]),
        b"\n",
        b"[]\n",
        b'{"observed_at":"2026-01-10T10:00:00Z","event":"Stop","fault":"empty_payload"}\n',
    ]
    tree = tree_of("claude", lines)
    assert [bad["line"] for bad in tree["bad_lines"]] == [1, 3, 4, 5]
    assert tree["bad_lines"][3]["why"] == "empty_payload"
    assert node_of(tree, 2)["name"] == "Stop"


def test_a_field_of_an_odd_type_costs_that_field_only() -> None:
    odd = claude("PreToolUse", 1, tool_use_id="a", tool_name="Read", agent_type=7)
    tree = tree_of("claude", log_lines([odd]))
    assert node_of(tree, 1)["name"] == "Read"
    assert tree["unknown"] == [
        {"event": "PreToolUse", "known": True, "fields": ["agent_type"], "count": 1}
    ]


def test_a_stop_without_an_id_is_not_said_to_lack_its_start() -> None:
    tree = tree_of(
        "cursor",
        log_lines(
            [
                cursor("subagentStart", 1, subagent_id="a", subagent_type="explore"),
                cursor("subagentStop", 2, subagent_type="explore", status="completed"),
            ]
        ),
    )
    assert [one["why"] for one in tree["orphans"]] == ["the payload has no id of a subagent"]


def test_a_number_of_any_length_costs_no_event() -> None:
    start = cursor("preToolUse", 1, tool_name="Shell", tool_use_id="a", tool_input={"n": 7})
    end = {**start, "hook_event_name": "postToolUse"}
    lines = [line.replace(b"7", b"7" * 5000) for line in log_lines([start, end])]
    lines = [line.replace(b"}}", b'}, "fresh": {}}') for line in lines]
    tree = tree_of("cursor", lines)
    assert not tree["bad_lines"]
    assert node_of(tree, 1)["status"] == "completed"


@pytest.mark.parametrize("fits", [True, False])
def test_a_crowd_of_calls_under_one_unique_id_is_never_told_apart_nor_waited_for(fits: bool):
    start = claude("PreToolUse", 1, tool_name="Bash", tool_use_id="a", tool_input={})
    end = claude("PostToolUse", 2, tool_name="Bash" if fits else "Edit", tool_use_id="a")
    began = process_time()
    tree = tree_of("claude", log_lines([start] * 20_000 + [end] * 20_000))
    assert process_time() - began < 20
    assert len(tree["orphans"]) == 20_000
    assert all(len(one["why"]) < 100 for one in tree["orphans"])


def test_a_turn_that_failed_says_why() -> None:
    events = [
        claude("UserPromptSubmit", 1, prompt="p"),
        claude("StopFailure", 2, error="overloaded"),
    ]
    tree = tree_of("claude", log_lines(events))
    assert node_of(tree, 2)["failure"]["message"] == "overloaded"


def test_a_duration_below_nothing_is_none() -> None:
    said = {"tool_name": "Bash", "tool_use_id": "a", "tool_input": {}}
    events = [claude("PreToolUse", 1, **said), claude("PostToolUse", 3, **said, duration_ms=-5)]
    call = node_of(tree_of("claude", log_lines(events)), 1)
    assert (call["duration_ms"], call["duration_source"]) == (2000, "observed")
