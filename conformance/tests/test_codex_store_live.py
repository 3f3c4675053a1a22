"""The real Codex goes on with what was written for it; its model is told all of it, in order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from live.model.history import Entry
from live.resume import Resumed, resume
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
    UserMessage,
    UserQuestion,
    WebSearch,
)
from transcripts.stores import WrittenSession
from transcripts.stores.codex import CodexStore
from transcripts.stores.codex.tools import WITHOUT_RESULT

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SESSION = "0199f3a0-5b1c-7e4d-8a2f-6c3d9e0b1a77"
PROMPT = "And what now?"
CWD = "/srv/project"
STARTED = datetime(2026, 4, 11, 6, 30, tzinfo=UTC)
RELEASES = ("0.171.0", "0.130.0")
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def text(words: str) -> tuple[Text, ...]:
    return (Text(text=words),)


def asks(words: str, *more: Asset) -> UserMessage:
    return UserMessage(id="", author="human", content=(*text(words), *more))


def says(words: str) -> AgentMessage:
    return AgentMessage(id="", author="model", content=text(words))


def model(kind: Any, external_id: str, response: str = "", **fields: Any) -> Any:
    return kind(
        id="", author="model", external_id=external_id, response=response or external_id, **fields
    )


def foreign() -> Iterator[AnyMessage]:
    """A conversation of another CLI's, with every way in which a message crosses."""
    yield asks("Prune the pear. Grüße 👩\u200d🌾\u2028 <b>now</b>")
    yield asks("again")
    yield asks("again")
    yield asks("Look.", Asset(sha256=None, media_type="image/png", data=PIXEL))
    thought = (*text("old wood"), Opaque(form="signature", data="QUFB", provider="else"))
    yield Reasoning(id="", author="model", content=thought)
    yield says("Three cuts.")
    yield model(
        CommandExecution,
        "a1",
        "r1",
        name="Bash",
        command="saw",
        output=text("dust\n"),
        exit_code=0,
        exit_code_source="field",
    )
    yield model(
        CommandExecution,
        "a2",
        "r1",
        name="Bash",
        command="snap",
        cwd="/srv/shed",
        output=text("exited with code 5\n"),
        exit_code=3,
        exit_code_source="text",
        status="failed",
    )
    yield model(CommandExecution, "a3", name="Bash", command="wait", status="unresolved")
    added = FileEdit(path="/srv/project/a", operation="add", after="one\ntwo\n", whole=True)
    changed = FileEdit(path="/srv/project/b", operation="update", before="x", after="y")
    yield model(FileChange, "b1", name="Edit", changes=(added, changed), output=text("ok"))
    half = FileEdit(path="/srv/project/c", operation="update", after="ripe")
    yield model(FileChange, "b2", name="Edit", changes=(half,), output=text("ok"))
    yield model(
        ToolCall,
        "c1",
        name="count",
        server="grove",
        arguments={"n": [1, {"é": None}]},
        output=(Text(text="two"), Structured(value={"n": 2})),
    )
    yield model(
        ToolCall, "c2", name="boom", server="grove", arguments={}, error="fell", status="failed"
    )
    yield model(ToolCall, "c3", name="Read", arguments={}, error="no file", status="failed")
    items = (PlanItem(text="saw", status="completed"), PlanItem(text="rake", status="pending"))
    yield Plan(id="", author="model", name="todo", form="checklist", items=items)
    yield WebSearch(id="", author="model", name="web", query="pear", output=text("green"))
    yield model(SubAgent, "d1", name="Task", prompt="Count them", output=text("nine"))
    asked = (Question(text="Which?", options=("pear", "plum"), answer="plum"),)
    yield model(UserQuestion, "d2", name="Ask", questions=asked)
    yield CompactBoundary(id="", author="harness", summary=text("Pruned so far."))
    yield Error(id="", author="harness", text="SECRET-401", in_context=False)
    yield says("Done.\n```\n'quoted' \\ \"twice\"\n```")


def expected() -> list[tuple[Any, ...]]:
    patch = (
        "*** Begin Patch\n*** Add File: /srv/project/a\n+one\n+two\n"
        "*** Update File: /srv/project/b\n@@\n-x\n+y\n*** End Patch"
    )
    question = {
        "questions": [
            {
                "id": "q1",
                "header": "",
                "question": "Which?",
                "options": [
                    {"label": "pear", "description": ""},
                    {"label": "plum", "description": ""},
                ],
            }
        ]
    }
    return [
        ("user", "Prune the pear. Grüße 👩\u200d🌾\u2028 <b>now</b>"),
        ("user", "again"),
        ("user", "again"),
        ("user", "Look."),
        ("image",),
        ("assistant", "(thinking) old wood"),
        ("assistant", "Three cuts."),
        ("call", "a1", "exec_command", {"cmd": "saw"}),
        ("call", "a2", "exec_command", {"cmd": "snap", "workdir": "/srv/shed"}),
        ("result", "a1", "Process exited with code 0\nOutput:\ndust\n"),
        ("result", "a2", "Process exited with code 3\nOutput:\nexited with code 5\n"),
        ("call", "a3", "exec_command", {"cmd": "wait"}),
        ("result", "a3", WITHOUT_RESULT["unresolved"]),
        ("call", "b1", "apply_patch", patch),
        ("result", "b1", "Exit code: 0\nWall time: 0 seconds\nOutput:\nok"),
        ("assistant", "Edited /srv/project/c\n\nripe"),
        ("call", "c1", "mcp__grove/count", {"n": [1, {"é": None}]}),
        ("result", "c1", 'two\n{"n":2}'),
        ("call", "c2", "mcp__grove/boom", {}),
        ("result", "c2", "fell"),
        ("call", "c3", "Read", {}),
        ("result", "c3", "no file"),
        ("assistant", "(plan) [x] saw\n[ ] rake"),
        ("assistant", "(the web was searched: pear)\n\ngreen"),
        ("call", "d1", "spawn_agent", {"message": "Count them"}),
        ("result", "d1", "nine"),
        ("call", "d2", "request_user_input", question),
        ("result", "d2", '{"answers":{"q1":{"answers":["plum"]}}}'),
        ("user", "(the conversation before this was compacted)\n\nPruned so far."),
        ("assistant", "Done.\n```\n'quoted' \\ \"twice\"\n```"),
        ("user", PROMPT),
    ]


def told(entry: Entry) -> tuple[Any, ...]:
    match entry.type:
        case "call":
            name = f"{entry.namespace}/{entry.name}" if entry.namespace else entry.name
            return ("call", entry.call_id, name, entry.arguments)
        case "result":
            return ("result", entry.call_id, entry.text)
        case "image":
            return ("image",)
        case _:
            return (entry.role, entry.text)


def conversation(history: Sequence[Entry]) -> list[tuple[Any, ...]]:
    """Return what is said in a request, without the context that Codex makes itself."""
    return [
        told(entry)
        for entry in history
        if entry.role not in ("system", "developer")
        and not (entry.text or "").startswith("<environment_context>")
    ]


def write(home: Path, messages: Iterator[AnyMessage], agent: str = "elsewhere") -> WrittenSession:
    timed = tuple(
        replace(message, id=f"m{index}", at=STARTED + timedelta(seconds=index))
        for index, message in enumerate(messages)
    )
    source = Transcript(agent=agent, session_id="s", cwd=CWD, messages=timed, title="Pears")
    return CodexStore(home).write(source, session_id=SESSION)


def history_of(resumed: Resumed) -> Sequence[Entry]:
    assert resumed.returncode == 0, (resumed.stderr, resumed.log_line)
    assert resumed.asked is not None, resumed.stderr
    assert resumed.asked.violations == ()
    return resumed.asked.history


@pytest.mark.parametrize("release", RELEASES)
def test_the_model_is_told_the_whole_conversation_in_order(tmp_path: Path, release: str):
    write(tmp_path, foreign())
    resumed = resume("codex", release, tmp_path, SESSION, PROMPT)
    history = history_of(resumed)
    assert conversation(history) == expected()
    assert "SECRET-401" not in json.dumps([entry.text for entry in history])


@pytest.mark.parametrize("release", RELEASES)
def test_a_session_is_found_without_its_id(tmp_path: Path, release: str):
    write(tmp_path, iter([asks("Prune the pear."), says("Pruned.")]))
    history = history_of(resume("codex", release, tmp_path, "--last", PROMPT))
    assert conversation(history) == [
        ("user", "Prune the pear."),
        ("assistant", "Pruned."),
        ("user", PROMPT),
    ]


@pytest.mark.parametrize("release", RELEASES)
def test_without_the_echo_of_a_prompt_no_session_would_be_found(tmp_path: Path, release: str):
    path = write(tmp_path, iter([asks("Prune the pear."), says("Pruned.")])).path
    kept = [line for line in path.read_text().splitlines() if '"user_message"' not in line]
    path.write_text("".join(f"{line}\n" for line in kept))
    history = history_of(resume("codex", release, tmp_path, "--last", PROMPT))
    assert conversation(history) == [("user", PROMPT)]


@pytest.mark.parametrize("release", RELEASES)
def test_its_own_session_is_written_again_and_resumed(tmp_path: Path, release: str):
    write(tmp_path, iter([asks("Prune the pear."), says("Pruned.")]))
    read = CodexStore(tmp_path).read(SESSION)
    assert read is not None
    again = CodexStore(tmp_path / "again").write(read, session_id=SESSION)
    assert again.losses == ()
    history = history_of(resume("codex", release, tmp_path / "again", SESSION, PROMPT))
    assert conversation(history)[-3:] == [
        ("user", "Prune the pear."),
        ("assistant", "Pruned."),
        ("user", PROMPT),
    ]


def superseding() -> Iterator[AnyMessage]:
    """A conversation of Codex's own that was compacted, and in which turns were taken back."""
    replaced = Superseded(id="m5", why="compaction")
    undone = Superseded(id=None, why="rewind")
    yield replace(asks("Prune the pear."), turn="t1")
    yield replace(says("Pruned."), turn="t1", superseded_by=replaced)
    # Two prompts of one turn: the second was steered into it.
    yield replace(asks("Burn the twigs."), turn="t2", superseded_by=undone)
    yield replace(asks("All of them."), turn="t2", superseded_by=undone)
    yield replace(says("Burnt."), turn="t2", superseded_by=undone)
    yield CompactBoundary(id="", author="harness", turn="t3", summary=text("The pear is pruned."))
    yield replace(asks("Plan the plum."), turn="t4")
    yield replace(says("Gladly."), turn="t4", response="r4")
    plan = Plan(id="", author="model", name="", form="proposal", content=text("1. saw"))
    yield replace(plan, turn="t4", response="r4")
    yield replace(asks("Sell the plum."), turn="t5", superseded_by=undone)
    yield replace(says("Sold."), turn="t5", superseded_by=undone)


@pytest.mark.parametrize("release", RELEASES)
def test_the_model_is_not_told_what_was_replaced_or_taken_back(tmp_path: Path, release: str):
    assert write(tmp_path, superseding(), agent="codex").losses == ()
    history = history_of(resume("codex", release, tmp_path, SESSION, PROMPT))
    assert conversation(history) == [
        ("user", "Prune the pear."),
        ("user", "The pear is pruned."),
        ("user", "Plan the plum."),
        ("assistant", "Gladly.\n<proposed_plan>\n1. saw\n</proposed_plan>"),
        ("user", PROMPT),
    ]
