"""The real CLI resumes what was written for it, and its model is told the whole history."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from conformance.tests.copilot_events import Events, bash, request
from live.model.history import Entry
from live.model.wires.base import SIGNATURE
from live.resume import resume
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    CommandExecution,
    FileChange,
    FileEdit,
    Opaque,
    Plan,
    PlanItem,
    Reasoning,
    Structured,
    SubAgent,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
)
from transcripts.stores.copilot import CopilotStore

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SESSION = "f00dfeed-1234-4abc-8def-0123456789ab"
PROMPT = "What now?"
RELEASES = ("1.0.102", "1.0.60")
DIALECTS = (None, "chat", "apply-patch")


def said(text: str) -> tuple[Text, ...]:
    return (Text(text=text),)


def foreign() -> Transcript:
    """A conversation of another CLI's with every way in which a message crosses."""

    def made() -> Iterator[AnyMessage]:
        yield UserMessage(**frame(0, author="human"), content=said("Mill it.\u2028\u0085 ü😀"))
        thought = (*said("oats, surely"), Opaque(form="signature", data="QUFB", provider="else"))
        yield Reasoning(**frame(1), content=thought)
        yield AgentMessage(**frame(2, response="r"), content=said("Three things."))
        yield CommandExecution(
            **frame(3, response="r", external_id="toolu_a"),
            name="Bash",
            command="grind",
            output=said("dust\n"),
            exit_code=0,
        )
        yield CommandExecution(
            **frame(4, response="r", status="failed"),
            name="Bash",
            command="sieve",
            output=said("torn\n<exited with exit code 9>"),
            exit_code=3,
        )
        yield ToolCall(
            **frame(5, response="r"),
            name="count",
            server="grain",
            arguments={"sacks": 2},
            output=(Text(text="two"), Structured(value={"n": 2})),
        )
        yield ToolCall(**frame(6, status="failed"), name="Grep", error="bad pattern")
        yield ToolCall(**frame(7, status="unresolved"), name="Fetch", arguments="free words")
        changes = (
            FileEdit(path="/srv/project/a", operation="add", after="oats\n", whole=True),
            FileEdit(path="/srv/project/b", operation="update", before="rye", after="oats"),
        )
        yield FileChange(
            **frame(8), name="Edit", changes=changes, content=said("Changing."), output=said("ok")
        )
        gone = (FileEdit(path="/srv/project/gone", operation="delete"),)
        yield FileChange(**frame(9), name="Delete", changes=gone)
        items = (PlanItem(text="sow", status="completed"),)
        yield Plan(**frame(10), name="Todo", form="checklist", items=items)
        yield SubAgent(**frame(11), name="Task", prompt="count", output=said("nine sacks"))
        yield UserMessage(**frame(12, author="human"), content=said("Again."))
        yield UserMessage(**frame(13, author="human"), content=said("Again."))
        yield AgentMessage(**frame(14), content=said("Milled."))

    return Transcript(
        agent="claude", session_id="s", cwd="/srv/project", messages=tuple(made()), title="# mill"
    )


def frame(number: int, **fields: Any) -> dict[str, Any]:
    at = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC) + timedelta(seconds=number)
    return {"id": f"m{number}", "at": at, "author": "model"} | fields


def history(home: Path, release: str, dialect: str | None) -> list[tuple[str, ...]]:
    resumed = resume("copilot", release, home, SESSION, PROMPT, dialect=dialect)
    assert resumed.returncode == 0, (resumed.stderr, resumed.log_line)
    assert resumed.asked is not None
    assert resumed.asked.violations == ()
    told = [entry for entry in resumed.asked.history if entry.role not in ("system", "developer")]
    entries = [seen(entry) for entry in told]
    # The CLI frames the new prompt with the time and news of its own.
    assert PROMPT in entries[-1][2]
    return entries[:-1]


def seen(entry: Entry) -> tuple[str, ...]:
    if entry.type == "call":
        given = entry.arguments
        free = given if isinstance(given, str) else next(iter(given.values()), "")
        return (entry.role, "call", entry.name or "", str(free))
    return (entry.role, entry.type, entry.text or "")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("release", RELEASES)
def test_a_foreign_conversation_is_told_whole_and_in_order(
    release: str, dialect: str | None, tmp_path: Path
) -> None:
    CopilotStore(tmp_path).write(foreign(), session_id=SESSION)
    assert history(tmp_path, release, dialect) == [
        ("user", "text", "Mill it.\u2028\u0085 ü😀"),
        ("assistant", "text", "(thinking) oats, surely"),
        ("assistant", "text", "Three things."),
        ("assistant", "call", "bash", "grind"),
        ("assistant", "call", "bash", "sieve"),
        ("assistant", "call", "grain-count", "2"),
        ("tool", "result", "dust\n\n<shellId: 0 completed with exit code 0>"),
        (
            "tool",
            "result",
            "torn\n<exited with exit code 9>\n<shellId: 1 completed with exit code 3>",
        ),
        ("tool", "result", 'two\n{"n":2}'),
        ("assistant", "call", "Grep", ""),
        ("tool", "result", "bad pattern"),
        ("assistant", "call", "Fetch", "free words"),
        ("tool", "result", "No result of this call is recorded: it was interrupted."),
        ("assistant", "text", "Changing."),
        ("assistant", "call", "create", "/srv/project/a"),
        ("assistant", "call", "edit", "/srv/project/b"),
        ("tool", "result", "ok"),
        ("tool", "result", "File /srv/project/b updated with changes."),
        ("assistant", "text", "Deleted /srv/project/gone"),
        ("assistant", "text", "(plan) [x] sow"),
        (
            "assistant",
            "text",
            "(a sub agent was given a task)\n\nTask: count\n\nReport: nine sacks",
        ),
        ("user", "text", "Again."),
        ("user", "text", "Again."),
        ("assistant", "text", "Milled."),
    ]


def native() -> Events:
    """A session of Copilot's own with what only Copilot records."""
    events = Events(SESSION, "/srv/project")
    events.add("system.message", role="system", content="You mill.")
    events.user("Hello")
    blocks = {"type": "thinking", "thinking": "oats", "signature": SIGNATURE}
    events.answer(
        "Asking.",
        request("t", "task", {"description": "count", "prompt": "Count", "agent_type": "explore"}),
        reasoningText="oats",
        reasoningOpaque=SIGNATURE,
        reasoningBlocks={"provider": "anthropic-messages", "blocks": [blocks]},
    )
    started = {"agentName": "explore", "agentDisplayName": "e", "agentDescription": "d"}
    events.add("subagent.started", agent="a-1", toolCallId="t", **started)
    events.add(
        "assistant.message",
        agent="a-1",
        messageId="in",
        model="mill-1",
        content="Inside.",
        toolRequests=[],
        parentToolCallId="t",
    )
    events.done("t", "Nine.")
    events.user("Then?")
    events.answer("", bash("c", "sleep 9"))
    events.done("c", "\n<shellId: 0 completed with exit code 0>", shellExecution={"exitCode": 0})
    kind = {"type": "shell_completed", "shellId": "0", "exitCode": 0}
    events.add("system.notification", content="<n>done</n>", kind=kind)
    events.answer("Done.")
    return events


@pytest.mark.parametrize("release", RELEASES)
def test_a_copy_in_the_same_store_is_told_as_its_original(release: str, tmp_path: Path) -> None:
    session = native().write(tmp_path / "original")
    transcript = CopilotStore.read_path(session)
    CopilotStore(tmp_path / "copy").write(transcript, session_id=SESSION)
    original = history(tmp_path / "original", release, None)
    assert history(tmp_path / "copy", release, None) == original
    spoken = [entry[2] for entry in original]
    assert "Inside." not in spoken
    assert [text for text in ("Hello", "Asking.", "Nine.", "Then?", "Done.") if text in spoken] == [
        "Hello",
        "Asking.",
        "Nine.",
        "Then?",
        "Done.",
    ]
    # Only 1.0.102 tells the model again what it thought.
    assert (("assistant", "reasoning", "oats") in original) == (release == "1.0.102")


@pytest.mark.parametrize("release", RELEASES)
def test_a_summary_and_what_was_broken_off_are_told_as_in_the_original(
    release: str, tmp_path: Path
) -> None:
    events = Events(SESSION, "/srv/project")
    events.user("Hello")
    events.answer("Gone by then.")
    events.user("And then?")
    events.add("session.compaction_start", compactionAttemptId="k")
    events.answer("Meanwhile.")
    done: dict[str, Any] = {
        "success": True,
        "compactionAttemptId": "k",
        "summaryContent": "They ground oats.",
    }
    events.add("session.compaction_complete", **done)
    events.user("Mill on.")
    events.answer("Milling.", bash("c", "sleep 9"))
    events.add("abort", reason="user_abort")
    events.user("Enough.")
    events.answer("Stopped.")
    transcript = CopilotStore.read_path(events.write(tmp_path / "original"))
    CopilotStore(tmp_path / "copy").write(transcript, session_id=SESSION)
    original = history(tmp_path / "original", release, None)
    assert history(tmp_path / "copy", release, None) == original
    summary, *rest = [text for *_, text in original]
    told = [text for text in ("Hello", "And then?", "They ground oats.") if text in summary]
    assert told == ["Hello", "And then?", "They ground oats."]
    assert "Gone by then." not in summary
    broken_off = "The execution of this tool, or a previous tool was interrupted."
    spoken = ["Meanwhile.", "Mill on.", "Milling.", "sleep 9", broken_off, "Enough.", "Stopped."]
    assert rest == spoken


def no_uuid(events: Events) -> None:
    events.lines[1]["id"] = "evt-2"


def result_in_words(events: Events) -> None:
    events.lines[-3]["data"]["result"] = "plain"


def no_parent(events: Events) -> None:
    del events.lines[2]["parentId"]


@pytest.mark.parametrize("damage", [no_uuid, result_in_words, no_parent])
@pytest.mark.parametrize("release", RELEASES)
def test_what_the_fault_check_names_the_cli_refuses(
    release: str, damage: Callable[[Events], None], tmp_path: Path
) -> None:
    events = native()
    damage(events)
    events.write(tmp_path)
    resumed = resume("copilot", release, tmp_path, SESSION, PROMPT)
    assert resumed.asked is None
    assert resumed.returncode != 0
