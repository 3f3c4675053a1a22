"""Whatever conversation is written for Claude Code, its reader finds the same one there."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from transcripts.model import (
    AgentMessage,
    AnyMessage,
    CommandExecution,
    Content,
    FileChange,
    FileEdit,
    Status,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
)
from transcripts.stores.claude import ClaudeStore

NEW = "bbbbbbbb-1111-4222-8333-444444444444"
START = datetime(2026, 6, 7, tzinfo=UTC)

words = st.text(
    st.characters(exclude_categories=["Cs"])
    | st.sampled_from("\n\r\t\u2028\u0085\0\x1b<>[]`\"'\\"),
    min_size=1,
    max_size=40,
)
said = words.filter(lambda text: bool(text.strip()))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(-1e9, 1e9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
responses = st.none() | st.sampled_from(["r1", "r2"])


def content(text: str) -> Content:
    return (Text(text=text),)


@st.composite
def commands(draw: st.DrawFn) -> CommandExecution:
    code = draw(st.sampled_from([0, 0, None, 1, 3, 143, -1]))
    output = draw(st.none() | st.just("") | words) if code is None else draw(st.just("") | words)
    status: Status = "completed"
    if code:
        status = "failed"
    elif output is None:
        status = draw(st.sampled_from(["unresolved", "declined"]))
    elif code is None:
        status = draw(st.sampled_from(["completed", "unknown"]))
    return CommandExecution(
        id="",
        author="model",
        name="shell",
        response=draw(responses),
        command=draw(words),
        exit_code=code,
        status=status,
        output=None if output is None else content(output),
    )


@st.composite
def tool_calls(draw: st.DrawFn) -> ToolCall:
    error = draw(st.none() | said)
    return ToolCall(
        id="",
        author="model",
        name=draw(st.from_regex(r"[a-z][a-z_]{0,20}", fullmatch=True).filter(_unlike_mcp)),
        server=draw(st.none() | st.from_regex(r"[a-z]{1,8}", fullmatch=True)),
        response=draw(responses),
        arguments=draw(st.dictionaries(words, json_values, max_size=3)),
        error=error,
        status="failed" if error is not None else "completed",
        output=content(draw(words)) if error is None else None,
    )


def _unlike_mcp(name: str) -> bool:
    return not name.startswith("mcp_") and not name.startswith("_")


@st.composite
def edits(draw: st.DrawFn) -> FileChange:
    new = draw(st.booleans())
    edit = FileEdit(
        path=draw(said),
        operation="add" if new else "update",
        before=None if new else draw(words),
        after=draw(st.just("") | words),
        whole=new,
    )
    return FileChange(
        id="",
        author="model",
        name="edit",
        response=draw(responses),
        changes=(edit,),
        output=content(draw(words)),
    )


prompts = st.builds(
    lambda texts: UserMessage(id="", author="human", content=tuple(Text(text=t) for t in texts)),
    st.lists(said, min_size=1, max_size=2),
)
answers = st.builds(
    lambda text, response: AgentMessage(
        id="", author="model", content=content(text), response=response
    ),
    said,
    responses,
)
conversations = st.lists(
    prompts | answers | commands() | tool_calls() | edits(), min_size=1, max_size=8
)


def placed(messages: Sequence[AnyMessage]) -> Transcript:
    numbered = tuple(
        msgspec.structs.replace(message, id=f"m{number}", at=START + timedelta(minutes=number))
        for number, message in enumerate(messages)
    )
    return Transcript(agent="made", session_id="s", cwd="/srv/w", messages=numbered)


def essence(message: AnyMessage) -> Any:
    """Return what must come back: kind, words, arguments, contents, exit codes, fates."""
    match message:
        case CommandExecution():
            output = plain(message.output)
            return (message.kind, message.command, message.exit_code, message.status, output)
        case ToolCall():
            given = (message.name, message.server, message.arguments)
            return (message.kind, *given, message.status, message.error, plain(message.output))
        case FileChange():
            edits = [(e.path, e.operation, e.before, e.after) for e in message.changes]
            return (message.kind, edits, message.status, plain(message.output))
        case UserMessage() | AgentMessage():
            return (message.kind, message.author, message.content)
        case _:
            return message


def plain(output: Content | None) -> str:
    text = "".join(part.text for part in output or () if isinstance(part, Text))
    # Line ends alone are a result without output, to the CLI and to the model.
    return text if text.strip("\r\n") else ""


def crossed(transcript: Transcript) -> tuple[bytes, Transcript]:
    with tempfile.TemporaryDirectory() as home:
        store = ClaudeStore(Path(home))
        session = store.write(transcript, session_id=NEW)
        return session.path.read_bytes(), ClaudeStore.read_path(session.path)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(conversations)
def test_a_written_conversation_reads_back(messages: list[AnyMessage]) -> None:
    transcript = placed(messages)
    _, back = crossed(transcript)
    found = [message for message in back.messages if message.author != "harness"]
    assert [essence(m) for m in found] == [essence(m) for m in transcript.messages]
    assert not back.damage


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(conversations)
def test_what_was_read_back_is_written_to_the_same_words(messages: list[AnyMessage]) -> None:
    once, back = crossed(placed(messages))
    twice, again = crossed(back)
    assert [essence(m) for m in again.messages] == [essence(m) for m in back.messages]
    assert crossed(back)[0] == twice
    assert len(once.split(b"\n")) == len(twice.split(b"\n"))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.text(st.characters(), min_size=1).filter(lambda t: bool(t.strip())),
        min_size=1,
        max_size=4,
    )
)
def test_any_text_becomes_strict_utf_8(texts: list[str]) -> None:
    data, back = crossed(
        placed([UserMessage(id="", author="human", content=content(text)) for text in texts])
    )
    assert data.decode("utf-8", "strict")
    kept = [m.content[0] for m in back.messages if isinstance(m, UserMessage)]
    assert kept == [Text(text="".join(map(mended, text))) for text in texts]


def mended(character: str) -> str:
    return "\ufffd" if "\ud800" <= character <= "\udfff" else character
