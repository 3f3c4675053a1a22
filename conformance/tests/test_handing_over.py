"""Sessions that a failure ended, moved by ``transcripts convert``: cut, trimmed, briefed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance import corpus
from conformance.corpus import Case
from conformance.tests.claude_rows import Rows, calls, save
from conformance.tests.claude_rows import says as block
from conformance.tests.copilot_events import Events, bash
from conformance.tests.talks import asks, fails, says, talk
from conformance.tests.test_codex_store_reading import framed
from conformance.tests.test_transcripts_command import document, transcripts
from transcripts.handoff.preparing import prepare
from transcripts.model import CommandExecution, Transcript
from transcripts.narration import content_text
from transcripts.stores import agents, open_store

FAILURE = "You are past your limit for today"


def claude_session(home: Path) -> Path:
    rows = Rows()
    rows.user("Count the gates.")
    rows.assistant(block("Three gates."))
    rows.user("Paint them.")
    rows.assistant(calls("toolu_1", "Bash", command="paint gate-1"))
    rows.result("toolu_1", "painted gate-1")
    rows.assistant(calls("toolu_2", "Bash", command="paint gate-2"))
    flags: dict[str, Any] = {"isApiErrorMessage": True, "error": "rate_limit"}
    rows.assistant(block(FAILURE), model="<synthetic>", **flags)
    return save(home, rows)


def codex_session(home: Path) -> Path:
    session = "0190f5c6-1d2e-7abc-8def-0123456789ab"

    def say(role: str, text: str) -> tuple[str, dict[str, Any]]:
        form = "input_text" if role == "user" else "output_text"
        content = [{"type": form, "text": text}]
        return "response_item", {"type": "message", "role": role, "content": content}

    def run(call: str, command: str) -> tuple[str, dict[str, Any]]:
        arguments = json.dumps({"cmd": command})
        payload = {"type": "function_call", "name": "exec_command", "call_id": call}
        return "response_item", payload | {"arguments": arguments}

    def told(text: str) -> tuple[str, dict[str, Any]]:
        return "event_msg", {"type": "user_message", "message": text}

    painted = framed("painted gate-1")
    error = {"message": FAILURE, "codex_error_info": "usage_limit_exceeded"}
    records: list[tuple[str, dict[str, Any]]] = [
        (
            "session_meta",
            {
                "id": session,
                "timestamp": "2026-03-01T09:00:00.000Z",
                "cwd": "/srv/orchard",
                "originator": "codex_exec",
                "cli_version": "0.171.0",
                "source": "exec",
            },
        ),
        say("user", "Count the gates."),
        told("Count the gates."),
        say("assistant", "Three gates."),
        say("user", "Paint them."),
        told("Paint them."),
        run("call_1", "paint gate-1"),
        (
            "response_item",
            {
                "type": "function_call_output",
                "call_id": "call_1",
                "output": painted,
            },
        ),
        run("call_2", "paint gate-2"),
        (
            "event_msg",
            {"type": "task_complete", "turn_id": "t", "last_agent_message": None, "error": error},
        ),
    ]
    lines = [
        {"timestamp": f"2026-03-01T09:00:{second:02}.000Z", "type": kind, "payload": payload}
        for second, (kind, payload) in enumerate(records)
    ]
    path = home / f"rollout-2026-03-01T09-00-00-{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def copilot_session(home: Path) -> Path:
    events = Events()
    events.user("Count the gates.")
    events.answer("Three gates.")
    events.user("Paint them.")
    events.answer("", bash("call_1", "paint gate-1"))
    events.done("call_1", "painted gate-1")
    events.answer("", bash("call_2", "paint gate-2"))
    events.add("session.error", errorType="rate_limit", message=FAILURE, statusCode=429)
    path = home / "copilot" / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in events.lines))
    return path


SESSIONS: dict[str, Callable[[Path], Path]] = {
    "claude": claude_session,
    "codex": codex_session,
    "copilot": copilot_session,
}


def said(transcript: Transcript) -> list[tuple[str, str]]:
    """Return who said what, and what was run with what result, without a harness's own."""
    found: list[tuple[str, str]] = []
    for message in transcript.effective():
        if isinstance(message, CommandExecution):
            found.append((message.command, content_text(message.output).strip()))
        elif message.kind in ("UserMessage", "AgentMessage") and message.author != "harness":
            text = content_text(getattr(message, "content", ()))
            found += [(message.author, text)] if text.strip() else []
    return found


@pytest.mark.parametrize("source", SESSIONS)
@pytest.mark.parametrize("target", agents())
def test_a_session_that_a_failure_ended_is_cut_trimmed_and_moved(
    source: str, target: str, tmp_path: Path
):
    path = SESSIONS[source](tmp_path / "source")
    before = path.read_bytes()
    arguments = ["convert", str(path), "--to", target, "--cwd", "/srv/orchard", "--trim"]
    options = ["--cut-before-failure", "--prompt", "default", "--format", "json"]
    run = transcripts(*arguments, *options, home=tmp_path)
    converted = document(run, "conversion")
    assert path.read_bytes() == before
    assert (converted["cut"]["number"], converted["cut"]["kind"]) == (1, "RateLimited")
    assert converted["trimmed"]["outstanding_request"] == "Paint them."
    assert len(converted["trimmed"]["unresolved_calls"]) == 1
    for told in ("Rate limited", "Paint them.", "paint gate-2", str(path)):
        assert told in converted["prompt"]
    moved = open_store(target, tmp_path).read(converted["session_id"])
    assert moved is not None
    assert said(moved) == [
        ("human", "Count the gates."),
        ("model", "Three gates."),
        ("human", "Paint them."),
        ("paint gate-1", "painted gate-1"),
    ]
    written = b"".join(one.read_bytes() for one in tmp_path.rglob(f"*{converted['path'][-20:]}"))
    assert b"gate-2" not in written
    assert FAILURE.encode() not in written


@pytest.mark.parametrize("target", agents())
def test_a_briefing_is_moved_like_a_conversation(target: str, tmp_path: Path):
    path = claude_session(tmp_path / "source")
    account = tmp_path / "account.md"
    account.write_text("Gate two may be wet.", encoding="utf-8")
    arguments = ["convert", str(path), "--to", target, "--summarise", "0", "--format", "json"]
    run = transcripts(*arguments, "--narrative", str(account), "--trim", home=tmp_path)
    converted = document(run, "conversion")
    assert converted["summarised"]["messages"] == 4
    moved = open_store(target, tmp_path).read(converted["session_id"])
    assert moved is not None
    (_, text), (answered, _) = said(moved)
    assert answered == "model"
    for told in ("1. Count the gates.\n2. Paint them.", "Gate two may be wet.", str(path)):
        assert told in text


def test_a_short_conversation_is_not_summarised_nor_anything_else_by_itself(tmp_path: Path):
    path = claude_session(tmp_path / "source")
    arguments = ["convert", str(path), "--to", "codex", "--format", "json"]
    for more in ((), ("--summarise", "200")):
        converted = document(transcripts(*arguments, *more, home=tmp_path), "conversion")
        none = [converted[name] for name in ("cut", "trimmed", "summarised", "prompt")]
        assert none == [None] * 4


def test_the_failures_of_a_session_are_listed_for_people_and_for_machines(tmp_path: Path):
    path = claude_session(tmp_path / "source")
    told = document(
        transcripts("failures", str(path), "--format", "json", home=tmp_path), "failures"
    )
    (failure,) = told["failures"]
    assert (failure["index"], failure["kind"], failure["text"]) == (5, "RateLimited", FAILURE)
    assert (failure["recovered"], failure["classified_by"]) == (False, "subtype")
    assert told["knowable"] is True
    run = transcripts("failures", str(path), home=tmp_path)
    assert run.returncode == 0
    shown = run.stdout.decode()
    assert "Rate limited" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_what_a_damaged_file_still_tells_of_its_failures_is_said_to_be_recovered(tmp_path: Path):
    path = claude_session(tmp_path / "source")
    path.write_bytes(path.read_bytes() + b'{"type": "assis')
    refused = transcripts("failures", str(path), home=tmp_path)
    assert refused.returncode == 2
    assert b":8" in refused.stderr
    arguments = ["failures", str(path), "--recover", "--format", "json"]
    told = document(transcripts(*arguments, home=tmp_path), "failures")
    assert [one["kind"] for one in told["failures"]] == ["RateLimited"]
    assert [one["line"] for one in told["damage"]] == [8]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--cut-before-failure", "2"], "no failure 2"),
        (["--cut-before-failure", "x"], "put the session before the options"),
        (["--no-facts"], "go with --summarise"),
        (["--prompt", ""], "--prompt is empty"),
        (["--prompt", "@nowhere.txt"], "nowhere.txt can't be read"),
        (["--summarise", "-1"], "-1"),
    ],
)
def test_what_can_not_be_done_is_said_in_a_line(options: list[str], words: str, tmp_path: Path):
    path = claude_session(tmp_path / "source")
    run = transcripts("convert", str(path), "--to", "codex", *options, home=tmp_path)
    assert run.returncode == 2
    assert words in run.stderr.decode()
    assert not list(tmp_path.rglob("rollout-*"))


def test_a_session_without_a_failure_can_not_be_cut(tmp_path: Path):
    rows = Rows()
    rows.user("Count the gates.")
    rows.assistant(block("API Error: 401 is what the gate says."))
    path = save(tmp_path / "source", rows)
    arguments = ["convert", str(path), "--to", "codex", "--cut-before-failure"]
    run = transcripts(*arguments, home=tmp_path)
    assert run.returncode == 2
    assert b"records no failure" in run.stderr


def test_a_prompt_for_people_drives_no_terminal(tmp_path: Path):
    rows = Rows()
    rows.user("Paint \x1b]0;mine\x07 them.")
    rows.assistant(calls("toolu_1", "Bash", command="paint"))
    rows.result("toolu_1", "done")
    path = save(tmp_path / "source", rows)
    arguments = ["convert", str(path), "--to", "codex", "--trim", "--prompt", "{request}"]
    run = transcripts(*arguments, home=tmp_path)
    assert run.returncode == 0, run.stderr
    assert b"Paint ]0;mine them." in run.stdout
    assert b"\x1b" not in run.stdout


def test_a_request_is_still_open_though_words_were_said_before_the_failure():
    transcript = talk(asks("Paint them."), says("On it."), fails())
    assert prepare(transcript, cut=True, trim=True).request == "Paint them."
    assert prepare(transcript, trim=True).request is None


ENDED = [
    case
    for case in corpus.cases(corpus.find_corpus())
    if case.facts.scenario.startswith("failure-")
    and "recovered" not in case.facts.scenario
    and not (case.facts.agent == "codex" and corpus.version_key(case.facts.release) < (0, 145))
]


@pytest.mark.parametrize("case", ENDED, ids=lambda case: case.name)
def test_of_every_recorded_failure_the_request_that_it_ended_is_what_is_left_to_do(case: Case):
    asked = [one["text"] for one in case.truth.messages if one["kind"] == "UserMessage"]
    with corpus.opened(case) as home:
        transcript = open_store(case.facts.agent, home).read(case.facts.session_id)
    assert transcript is not None
    prepared = prepare(transcript, cut=True, trim=True)
    assert prepared.request == asked[-1]
    assert not [one for one in prepared.transcript.messages if one.kind == "Error"]
