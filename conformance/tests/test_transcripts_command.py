"""The ``transcripts`` command, run as people run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from transcripts.errors import UnwritableSession
from transcripts.ids import derive
from transcripts.model import (
    AgentMessage,
    CommandExecution,
    Message,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
)
from transcripts.stores import agents, open_store

SCHEMAS = Path(__file__).parents[1] / "schemas"
SESSION = "0190f5c6-1d2e-7abc-8def-0123456789ab"


def transcripts(*arguments: str, home: Path, **more: str) -> subprocess.CompletedProcess[bytes]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C"}
    environment |= more
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    program = "from transcripts.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment,
        capture_output=True,
        check=False,
        timeout=60,
    )


def document(run: subprocess.CompletedProcess[bytes], schema: str) -> dict[str, Any]:
    assert run.returncode == 0, run.stderr
    value = json.loads(run.stdout)
    jsonschema.validate(value, json.loads((SCHEMAS / f"{schema}.schema.json").read_text("utf-8")))
    return value


def at(second: int) -> datetime:
    return datetime(2026, 3, 1, 9, 0, second, tzinfo=UTC)


def conversation() -> Transcript:
    common: dict[str, Any] = {"at_source": "record"}
    messages: tuple[Message, ...] = (
        UserMessage(
            id=derive("t", 1), at=at(1), author="human", content=(Text(text="How many?"),), **common
        ),
        CommandExecution(
            id=derive("t", 2),
            external_id="call_1",
            at=at(2),
            author="model",
            status="failed",
            name="sh",
            arguments={"command": "ls gates"},
            command="ls gates",
            output=(Text(text="no gates"),),
            exit_code=2,
            exit_code_source="field",
            **common,
        ),
        AgentMessage(
            id=derive("t", 3), at=at(3), author="model", content=(Text(text="None."),), **common
        ),
    )
    return Transcript(
        agent="elsewhere", session_id="s", cwd="/srv/app", created_at=at(0), messages=messages
    )


@pytest.fixture(params=agents())
def agent(request: pytest.FixtureRequest) -> str:
    return request.param


def test_a_written_session_is_listed_and_shown(agent: str, tmp_path: Path):
    open_store(agent, tmp_path).write(conversation(), session_id=SESSION)
    listing = document(transcripts("list", "--format", "json", home=tmp_path), "sessions")
    (session,) = listing["sessions"]
    assert (session["agent"], session["session_id"]) == (agent, SESSION)
    assert (session["cwd"], session["first_user_message"]) == ("/srv/app", "How many?")
    assert (listing["seen"], listing["listed"], listing["failed"]) == (1, 1, [])

    shown = document(transcripts("show", SESSION, "--format", "json", home=tmp_path), "transcript")
    kinds = [message["kind"] for message in shown["messages"] if message["author"] != "harness"]
    assert kinds == ["UserMessage", "CommandExecution", "AgentMessage"]
    call = next(m for m in shown["messages"] if m["kind"] == "CommandExecution")
    assert (call["command"], call["exit_code"], call["status"]) == ("ls gates", 2, "failed")
    assert not Path(shown["source_path"]).is_absolute()


@pytest.mark.parametrize("target", agents())
def test_a_session_is_carried_over_by_its_id(agent: str, target: str, tmp_path: Path):
    source = open_store(agent, tmp_path).write(conversation(), session_id=SESSION)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    new = "0190f5c6-1d2e-7abc-8def-0123456789ff"
    run = transcripts(
        *("convert", SESSION, "--from", agent, "--to", target, "--session-id", new),
        *("--cwd", "/srv/elsewhere", "--home", str(tmp_path), "--format", "json"),
        home=tmp_path / "nobody",
    )
    converted = document(run, "conversion")
    assert converted["session_id"] == new
    assert new in " ".join(converted["resume"])
    assert {p: p.read_bytes() for p in before} == before
    assert source.path.exists()
    store = open_store(target, tmp_path)
    assert (store.root / converted["path"]).exists()
    copy = store.read(new)
    assert copy is not None
    assert copy.cwd == "/srv/elsewhere"


def test_people_are_shown_tables_and_words(agent: str, tmp_path: Path):
    open_store(agent, tmp_path).write(conversation(), session_id=SESSION)
    far = f"/srv/{'deep/' * 30}"
    open_store(agent, tmp_path).write(conversation(), session_id=SESSION[:-1] + "0", cwd=far)
    listed = transcripts("list", home=tmp_path).stdout
    for words in (SESSION.encode(), b"How many?", b"/srv/app", agent.encode()):
        assert words in listed
    run = transcripts("show", SESSION, home=tmp_path)
    assert run.returncode == 0, run.stderr
    for words in (b"How many?", b"ls gates", b"exit 2", b"None."):
        assert words in run.stdout
    assert b"\x1b[" not in run.stdout


@pytest.mark.parametrize("command", [("show",), ("convert", "--to", "codex")])
def test_what_cannot_be_read_is_one_line_and_exit_code_2(command: tuple[str, ...], tmp_path: Path):
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(
        b'{"type":"user","uuid":"6a1f0e9c-0000-4000-8000-000000000001","parentUuid":null,'
        b'"sessionId":"s","timestamp":"2026-03-01T09:00:00Z","cwd":"/srv/app",'
        b'"message":{"role":"user","content":"hello"}}\n{"type":"user","uu'
    )
    for argument, words in (
        (str(torn), b"torn.jsonl:2 (byte"),
        ("no-such-session", b"transcripts list"),
        (str(tmp_path), b"--agent"),
    ):
        run = transcripts(*command, argument, home=tmp_path / "home")
        assert run.returncode == 2, (argument, run.stdout, run.stderr)
        assert run.stdout == b""
        assert run.stderr.count(b"\n") == 1
        assert words in run.stderr
    assert not (tmp_path / "home").exists()


def test_one_id_in_two_stores_is_not_guessed(tmp_path: Path):
    for name in agents():
        open_store(name, tmp_path).write(conversation(), session_id=SESSION)
    run = transcripts("show", SESSION, home=tmp_path)
    assert run.returncode == 2
    assert b"--agent" in run.stderr
    assert transcripts("show", SESSION, "--agent", "copilot", home=tmp_path).returncode == 0


def test_half_a_surrogate_pair_reaches_the_terminal_as_a_replacement(tmp_path: Path):
    file = tmp_path / "half.jsonl"
    file.write_bytes(
        b'{"type":"user","uuid":"6a1f0e9c-0000-4000-8000-000000000001","parentUuid":null,'
        b'"sessionId":"s","timestamp":"2026-03-01T09:00:00Z","cwd":"/srv/app",'
        b'"message":{"role":"user","content":"half \\ud83c tree"}}\n'
    )
    run = transcripts("show", str(file), home=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "half \ufffd tree" in run.stdout.decode("utf-8")
    shown = transcripts("show", str(file), "--format", "json", home=tmp_path)
    assert b"half \\ud83c tree" in shown.stdout


@pytest.mark.parametrize("argument", ["~nobody-of-this-name/x", "a" * 5000])
def test_words_that_can_be_no_path_are_an_unknown_session(tmp_path: Path, argument: str):
    run = transcripts("show", argument, home=tmp_path)
    assert run.returncode == 2
    assert run.stderr.startswith(b"transcripts: no session")


def test_a_terminal_without_a_sign_for_a_character_gets_its_escape(tmp_path: Path):
    open_store("codex", tmp_path).write(conversation(), session_id=SESSION)
    (path,) = tmp_path.rglob("rollout-*.jsonl")
    path.write_bytes(path.read_bytes().replace(b"How many?", "How many \u9580?".encode()))
    run = transcripts("show", SESSION, home=tmp_path, PYTHONIOENCODING="ascii")
    assert run.returncode == 0, run.stderr
    assert b"How many \\u9580?" in run.stdout


def digging(levels: int) -> Transcript:
    deep: dict[str, Any] = {}
    for _ in range(levels - 1):
        deep = {"in": deep}
    asked = ToolCall(
        id=derive("t", 9),
        author="model",
        name="dig",
        server="spade",
        arguments=deep,
        status="completed",
        at_source="record",
    )
    before = conversation().messages[:1]
    return msgspec.structs.replace(conversation(), messages=(*before, asked))


def test_arguments_of_two_hundred_levels_are_written_and_read_back(tmp_path: Path, agent: str):
    transcript = digging(200)
    store = open_store(agent, tmp_path)
    store.write(transcript, session_id=SESSION)
    copy = store.read(SESSION)
    assert copy is not None
    written, read = (
        [message.arguments for message in one.messages if isinstance(message, ToolCall)]
        for one in (transcript, copy)
    )
    assert read == written


def test_arguments_too_deep_to_write_are_refused_before_anything_is_written(
    tmp_path: Path, agent: str
):
    with pytest.raises(UnwritableSession, match="nested too deeply"):
        open_store(agent, tmp_path).write(digging(201), session_id=SESSION)
    assert not list(tmp_path.iterdir())


def test_a_transcript_cannot_drive_the_terminal_and_loses_no_letters(tmp_path: Path):
    file = tmp_path / "odd.jsonl"
    content = "a\u001b]0;title\u0007b \u202e\u200f\u061cc \U0001f469\u200d\U0001f33e one\u2028two"
    row: dict[str, Any] = {
        "type": "user",
        "uuid": "6a1f0e9c-0000-4000-8000-000000000001",
        "parentUuid": None,
        "sessionId": "s",
        "timestamp": "2026-03-01T09:00:00Z",
        "cwd": "/srv/app",
        "message": {"role": "user", "content": content},
    }
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    shown = transcripts("show", str(file), home=tmp_path).stdout.decode("utf-8")
    assert "a]0;titleb c \U0001f469\u200d\U0001f33e one two" in shown


@pytest.mark.parametrize("option", ["--session-id", "--cwd"])
def test_an_empty_option_is_misuse_and_not_a_default(tmp_path: Path, option: str):
    open_store("codex", tmp_path).write(conversation(), session_id=SESSION)
    before = sorted(tmp_path.rglob("*"))
    run = transcripts("convert", SESSION, "--to", "claude", option, "", home=tmp_path)
    assert run.returncode == 2
    assert option.encode() in run.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    run = transcripts("show", str(tmp_path / "pipe"), "--agent", "claude", home=tmp_path)
    assert run.returncode == 2
    assert b"neither a regular file nor a directory" in run.stderr
