"""What people leave behind in Claude Code's files: refusals, interruptions, forks, retries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.tests.claude_rows import OTHER_SESSION, SESSION, Rows, calls, save, says
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    CommandExecution,
    Error,
    SubAgent,
    Text,
    Transcript,
    UserMessage,
)
from transcripts.stores.claude import ClaudeStore

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file). STOP what you are doing and wait"
    " for the user to tell you how to proceed."
)
CORRECTED = f"{REJECTED} Correction to the text above: this call was stopped while running."


def read(home: Path, rows: Rows) -> Transcript:
    return ClaudeStore.read_path(save(home, rows, SESSION))


def only(transcript: Transcript, kind: type[AnyMessage]) -> Any:
    [found] = [message for message in transcript.messages if isinstance(message, kind)]
    return found


def words(message: AnyMessage) -> str:
    parts = getattr(message, "content", ())
    return "".join(part.text for part in parts if isinstance(part, Text))


@pytest.mark.parametrize(
    ("mode", "text", "decision", "status"),
    [
        ("default", REJECTED, {}, "declined"),
        ("bypassPermissions", REJECTED, {}, "cancelled"),
        ("bypassPermissions", REJECTED, {"permissionDecision": {"decision": "reject"}}, "declined"),
        ("default", CORRECTED, {"toolDenialKind": "user-rejected"}, "cancelled"),
    ],
)
def test_a_call_that_nobody_can_have_refused_was_interrupted(
    tmp_path: Path, mode: str, text: str, decision: dict[str, Any], status: str
) -> None:
    rows = Rows()
    rows.user("Pump the water.", permissionMode=mode)
    rows.assistant(calls("toolu_1", "Bash", command="pump"))
    rows.result("toolu_1", text, is_error=True, **decision)
    assert only(read(tmp_path, rows), CommandExecution).status == status


def test_a_fork_says_which_rows_are_copies_by_the_requests_that_they_answer(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("Where does it stand?")
    rows.assistant(says("By the wall."), requestSessionId=OTHER_SESSION)
    rows.user("And a second one?")
    rows.assistant(says("By the pond."), requestSessionId=SESSION)
    transcript = read(tmp_path, rows)
    origins = [
        one.inherited_from and (one.inherited_from.session, one.inherited_from.id)
        for one in transcript.messages
    ]
    uuids = [row["uuid"] for row in rows.rows]
    assert origins == [(OTHER_SESSION, uuids[0]), (OTHER_SESSION, uuids[1]), None, None]
    assert transcript.lineage.forked_from == OTHER_SESSION


def test_an_attempt_that_failed_and_was_made_again_is_a_failure_and_no_context(
    tmp_path: Path,
) -> None:
    rows = Rows()
    rows.user("Is it warm?")
    error = {"status": 529, "formatted": "529 not just now"}
    rows.row("system", subtype="api_error", level="error", error=error, retryAttempt=1)
    rows.assistant(says("It is warm."))
    transcript = read(tmp_path, rows)
    failed = only(transcript, Error)
    assert (failed.text, failed.status_code, failed.status) == ("529 not just now", 529, "failed")
    assert [type(one) for one in transcript.effective()] == [UserMessage, AgentMessage]


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("You've hit your session limit · resets 4:40am (UTC)", "usage_limit_reached"),
        ("API Error: Request rejected (429) · too many", "rate_limit"),
    ],
)
def test_a_used_up_allowance_is_told_from_a_request_too_many_by_its_words(
    tmp_path: Path, text: str, failure: str
) -> None:
    rows = Rows()
    rows.user("Is it locked?")
    fields: dict[str, Any] = {"isApiErrorMessage": True, "apiErrorStatus": 429}
    rows.assistant(says(text), model="<synthetic>", error="rate_limit", **fields)
    assert only(read(tmp_path, rows), Error).failure == failure


def test_an_output_put_into_a_file_keeps_its_beginning_and_names_the_file(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("Print it.")
    rows.assistant(calls("toolu_1", "Bash", command="seq 9000"))
    text = (
        "<persisted-output>\nOutput too large (42.8KB). Full output saved to: /srv/out.txt\n\n"
        "Preview (first 2KB):\n1\n2\n...\n</persisted-output>"
    )
    rows.result("toolu_1", text, is_error=False)
    found = only(read(tmp_path, rows), CommandExecution)
    assert [part.text for part in found.output] == ["1\n2"]
    assert (found.output_extent, found.overflow_path) == ("elsewhere", "/srv/out.txt")


def test_the_end_of_background_work_may_name_only_the_task(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("Have it weighed.")
    rows.assistant(calls("toolu_1", "Agent", prompt="Weigh it.", run_in_background=True))
    side = {"isAsync": True, "status": "async_launched", "agentId": "a17"}
    rows.result("toolu_1", "launched", is_error=False, toolUseResult=side)
    rows.user(
        "<task-notification>\n<task-id>a17</task-id>\n<status>completed</status>\n"
        "<result>214 kg</result>\n</task-notification>"
    )
    found = only(read(tmp_path, rows), SubAgent)
    assert (found.status, [part.text for part in found.output]) == ("completed", ["214 kg"])


def test_an_answer_written_before_its_prompt_is_read_behind_it(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("Name a tree.")
    rows.assistant(says("A lime tree."))
    rows.row("system", subtype="turn_duration", durationMs=9)
    rows.user("And a shrub.")
    prompt, answer, duration, second = rows.rows
    rows.rows[:] = [answer, duration, prompt, second]
    transcript = read(tmp_path, rows)
    assert [words(one) for one in transcript.messages] == [
        "Name a tree.",
        "A lime tree.",
        "And a shrub.",
    ]
    assert transcript.damage == ()


def test_an_unmarked_command_is_a_persons_where_it_is_a_prompt(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("First.", origin={"kind": "human"}, promptSource="typed")
    rows.user(
        "<command-message>label</command-message>\n<command-name>/label</command-name>\n"
        "<command-args>mint bed</command-args>"
    )
    rows.user(
        "<command-name>/exit</command-name>\n <command-message>exit</command-message>\n"
        " <command-args></command-args>"
    )
    found = [(words(one), one.author) for one in read(tmp_path, rows).messages]
    assert found == [("First.", "human"), ("/label mint bed", "human"), ("/exit", "harness")]


def test_an_agent_that_ended_with_its_providers_failure_has_not_reported(tmp_path: Path) -> None:
    rows = Rows()
    rows.user("Have it looked for.")
    rows.assistant(calls("toolu_1", "Agent", prompt="Look for it."))
    said = "API Error: 400 it can't be searched"
    side = {"status": "completed", "agentId": "a17", "content": [says(said)]}
    rows.result("toolu_1", [says(said)], is_error=False, toolUseResult=side)
    agent = Rows()
    agent.user("Look for it.", isSidechain=True, agentId="a17")
    fields: dict[str, Any] = {"isApiErrorMessage": True, "isSidechain": True, "agentId": "a17"}
    agent.assistant(says(said), model="<synthetic>", **fields)
    path = save(tmp_path, rows)
    folder = path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    lines = "".join(json.dumps(row) + "\n" for row in agent.rows)
    (folder / "agent-a17.jsonl").write_text(lines, encoding="utf-8")
    found = only(ClaudeStore.read_path(path), SubAgent)
    assert (found.status, found.error, found.output) == ("failed", said, None)
