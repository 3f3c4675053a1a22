"""The real CLI goes on with what the writer wrote, and its model is shown all of it, in order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from conformance.tests.claude_rows import Rows, calls, save
from conformance.tests.claude_rows import says as row_says
from live.model.history import Entry
from live.resume import resume
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    CommandExecution,
    CompactBoundary,
    Content,
    FileChange,
    FileEdit,
    PermissionRequest,
    Plan,
    PlanItem,
    Reasoning,
    SubAgent,
    Superseded,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
)
from transcripts.stores.claude import ClaudeStore

NEW = "cccccccc-1111-4222-8333-444444444444"
START = datetime(2026, 4, 5, 6, 7, tzinfo=UTC)
RELEASES = ("2.1.332", "2.0.77")

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


def text(words: str) -> Content:
    return (Text(text=words),)


def asks(words: str) -> UserMessage:
    return UserMessage(id="", author="human", content=text(words))


def says(words: str) -> AgentMessage:
    return AgentMessage(id="", author="model", content=text(words))


def runs(command: str, output: str | None, code: int | None, response: str) -> CommandExecution:
    return CommandExecution(
        id="",
        author="model",
        name="sh",
        command=command,
        response=response,
        output=None if output is None else text(output),
        exit_code=code,
        status="unresolved" if output is None else "failed" if code else "completed",
    )


def shown(home: Path, version: str, messages: Sequence[AnyMessage]) -> list[Entry]:
    """Write messages of no CLI, resume them and return what the model was shown of them."""
    placed = tuple(
        msgspec.structs.replace(
            message, id=message.id or f"m{number}", at=START + timedelta(seconds=number)
        )
        for number, message in enumerate(messages)
    )
    transcript = Transcript(agent="made", session_id="s", cwd="/srv/project", messages=placed)
    return resumed_with(home, version, transcript)


def resumed_with(home: Path, version: str, transcript: Transcript) -> list[Entry]:
    """Write a transcript, resume it and return what the model was shown before the prompt."""
    ClaudeStore(home).write(transcript, session_id=NEW, cwd="/srv/project")
    resumed = resume("claude", version, home, NEW, "And now? token NOW-77123")
    assert resumed.returncode == 0, resumed.stderr or resumed.log_line
    assert resumed.asked is not None
    assert resumed.asked.violations == ()
    history = resumed.asked.history
    end = next(i for i, entry in enumerate(history) if "NOW-77123" in (entry.text or ""))
    return [entry for entry in history[:end] if entry.role in ("user", "assistant", "tool")]


def outline(entries: Sequence[Entry]) -> list[tuple[str, str, str]]:
    """Return role, type and the telling word of each entry, the CLI's own context left out."""
    lines = [
        (entry.role, entry.type, (entry.name or entry.text or "").strip()) for entry in entries
    ]
    return [line for line in lines if not line[2].startswith("<system-reminder>")]


@pytest.mark.parametrize("version", RELEASES)
def test_every_kind_is_shown_in_order(tmp_path: Path, version: str) -> None:
    edit = FileEdit(path="/srv/project/a", operation="update", before="old", after="new")
    conversation = [
        asks("one"),
        Reasoning(id="", author="model", content=text("a thought")),
        says("two"),
        runs("north", "N", 0, "r1"),
        runs("middle", "M", 3, "r1"),
        msgspec.structs.replace(says("aside"), response="r1"),
        ToolCall(
            id="",
            author="model",
            name="weigh",
            server="yard",
            response="r1",
            arguments={"n": 1},
            error="no scale",
            status="failed",
        ),
        says("three"),
        FileChange(id="", author="model", name="patch", changes=(edit,), output=text("edited")),
        Plan(
            id="",
            author="model",
            name="plan",
            form="checklist",
            items=(PlanItem(text="dig", status="pending"),),
        ),
        SubAgent(
            id="", author="model", name="go", description="d", prompt="p", output=text("report")
        ),
        PermissionRequest(id="", author="harness", tool="sh", reason="it digs", decision="denied"),
        asks("four"),
        runs("unheard", None, None, "r2"),
        asks("five"),
        says("six"),
    ]
    entries = shown(tmp_path, version, conversation)
    assert outline(entries) == [
        ("user", "text", "one"),
        ("assistant", "text", "(thinking) a thought"),
        ("assistant", "text", "two"),
        ("assistant", "call", "Bash"),
        ("assistant", "call", "Bash"),
        ("tool", "result", "N"),
        ("tool", "result", "Exit code 3\nM"),
        ("assistant", "text", "aside"),
        ("assistant", "call", "mcp__yard__weigh"),
        ("tool", "result", "no scale"),
        ("assistant", "text", "three"),
        ("assistant", "call", "Edit"),
        ("tool", "result", "edited"),
        ("assistant", "text", "(plan) [ ] dig"),
        ("assistant", "call", "Agent"),
        ("tool", "result", "report"),
        ("user", "text", "(permission was asked for sh: it digs; it was denied)"),
        ("user", "text", "four"),
        ("assistant", "call", "Bash"),
        ("tool", "result", "[Tool call interrupted: no result was recorded]"),
        ("user", "text", "five"),
        ("assistant", "text", "six"),
    ]
    calls = [entry.call_id for entry in entries if entry.type == "call"]
    results = [entry.call_id for entry in entries if entry.type == "result"]
    assert calls == results
    assert [entry.error for entry in entries if entry.type == "result"][1:3] == [True, True]


@pytest.mark.parametrize("version", RELEASES)
def test_a_compaction_hides_what_was_before_it(tmp_path: Path, version: str) -> None:
    gone = Superseded(id="b", why="compaction")
    entries = shown(
        tmp_path,
        version,
        [
            msgspec.structs.replace(asks("hidden"), superseded_by=gone),
            CompactBoundary(id="b", author="harness", trigger="auto", summary=text("a summary")),
            asks("after"),
            says("answer"),
        ],
    )
    assert outline(entries) == [
        ("user", "text", "a summary"),
        ("user", "text", "after"),
        ("assistant", "text", "answer"),
    ]


@pytest.mark.parametrize("version", RELEASES)
def test_a_long_result_and_awkward_words_arrive_whole(tmp_path: Path, version: str) -> None:
    long = "".join(f"line {number} of the harvest\n" for number in range(20_000)) + "the end"
    awkward = "Grüße \u2028 שלום 👩\u200d🌾 \"q\" 'q' \\n ```x``` <b>&</b>"
    entries = shown(tmp_path, version, [asks(awkward), runs("cat", long, 0, "r"), says(awkward)])
    texts = [entry.text or "" for entry in entries]
    assert outline(entries)[0] == ("user", "text", awkward)
    assert outline(entries)[-1] == ("assistant", "text", awkward)
    assert any(line.rstrip("\n") == long for line in texts)


@pytest.mark.parametrize("version", RELEASES)
def test_an_own_session_goes_on_from_its_newest_branch(tmp_path: Path, version: str) -> None:
    rows = Rows()
    rows.user("<command-name>/survey</command-name>\n<command-args>west</command-args>")
    rows.user("the body of the command", isMeta=True)
    rows.assistant(row_says("looking"))
    context = {"type": "hook_additional_context", "content": ["frost"], "hookEvent": "PreToolUse"}
    rows.row("attachment", attachment=context)
    rows.assistant(calls("toolu_1", "Bash", command="dig"))
    rows.row("attachment", attachment={"type": "queued_command", "prompt": "while you dig"})
    before = rows.assistant(row_says("half dug"))
    rows.user("first wish")
    rows.assistant(row_says("first answer"))
    rows.user("second wish", parent=before)
    rows.assistant(row_says("second answer"))
    source = ClaudeStore.read_path(save(tmp_path / "source", rows))
    entries = resumed_with(tmp_path / "new", version, source)
    command, *others = [line for line in outline(entries) if line[1] == "text"]
    # The CLI shows its model a typed command in the wrapper that it records.
    assert "<command-name>/survey</command-name>" in command[2]
    assert "<command-args>west</command-args>" in command[2]
    assert others == [
        ("user", "text", "the body of the command"),
        ("assistant", "text", "looking"),
        ("user", "text", "frost"),
        ("user", "text", "while you dig"),
        ("assistant", "text", "half dug"),
        ("user", "text", "second wish"),
        ("assistant", "text", "second answer"),
    ]
