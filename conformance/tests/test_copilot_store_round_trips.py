"""Made-up conversations written for Copilot CLI and read back, and made-up damage."""

from __future__ import annotations

import contextlib
import json
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from conformance.tests.copilot_events import Events, bash, request, texts
from transcripts.errors import NoMessages, NotATranscript, TranscriptError
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    CommandExecution,
    FileChange,
    FileEdit,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
)
from transcripts.narration import scrub, scrub_value
from transcripts.stores.copilot import CopilotStore, writer_faults

NEW = "c0ffee00-1234-4abc-8def-0123456789ab"
START = datetime(2026, 5, 6, tzinfo=UTC)

# Everything that a string of JSON can hold, halves of surrogate pairs included.
WORDS = st.text(st.characters(exclude_categories=()), min_size=1, max_size=60)
AWKWARD = st.one_of(
    WORDS,
    st.sampled_from(
        [
            "<exited with exit code 9>",
            "x\n<shellId: 0 completed with exit code 9>",
            "<command started in background with shellId: 3>",
            "line\n\n\n",
            "\u2028\u0085\x0b\x00",
            "*** Begin Patch",
        ]
    ),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | AWKWARD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,20}", fullmatch=True)
RESPONSES = st.sampled_from([None, "r1", "r2"])
UNNAMED: dict[str, Any] = {
    "id": "",
    "external_id": None,
    "follows": None,
    "response": None,
    "sources": (),
    "turn": None,
}
QUIET = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def said(text: str) -> tuple[Text, ...]:
    return (Text(text=text),) if text else ()


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    outcome = draw(st.sampled_from(["completed", "failed", "declined"]))
    if outcome == "completed":
        return {"status": outcome, "output": said(draw(st.just("") | AWKWARD))}
    return {"status": outcome, "error": draw(AWKWARD)}


@st.composite
def messages(draw: st.DrawFn) -> AnyMessage:
    common: dict[str, Any] = {"id": "", "author": "model", "response": draw(RESPONSES)}
    match draw(st.sampled_from(["user", "agent", "command", "tool", "create", "edit"])):
        case "user":
            common["author"] = "human"
            return UserMessage(**common, content=said(draw(AWKWARD)))
        case "agent":
            return AgentMessage(**common, content=said(draw(AWKWARD)))
        case "command":
            code = draw(st.none() | st.integers(-3, 255))
            output = said(draw(st.just("") | AWKWARD))
            common |= {"output": output, "status": "failed" if code else "completed"}
            return CommandExecution(**common, name="Sh", command=draw(WORDS), exit_code=code)
        case "tool":
            server = draw(st.none() | NAMES)
            name, arguments = draw(NAMES), draw(st.dictionaries(WORDS, JSON, max_size=3))
            outcome = draw(calls())
            return ToolCall(**common, name=name, server=server, arguments=arguments, **outcome)
        case "create":
            edit = FileEdit(path="/m/a", operation="add", after=draw(AWKWARD), whole=True)
        case _:
            edit = FileEdit(
                path="/m/a", operation="update", before=draw(AWKWARD), after=draw(AWKWARD)
            )
    return FileChange(**common, name="Edit", changes=(edit,), **draw(calls()))


@st.composite
def conversations(draw: st.DrawFn) -> Transcript:
    made = draw(st.lists(messages(), min_size=1, max_size=12))
    placed = [
        replace(message, id=f"m{number}", at=START + timedelta(seconds=number))
        for number, message in enumerate(made)
    ]
    return Transcript(agent="claude", session_id="s", cwd="/m", messages=tuple(placed))


def meaning(message: AnyMessage) -> tuple[Any, ...]:
    """Return what must come back of a message, mended as strict UTF-8 needs it."""
    match message:
        case UserMessage() | AgentMessage():
            return (message.kind, scrub(texts(message.content)))
        case CommandExecution():
            # A newline at the end may be added, so that words are not taken for a status.
            output = scrub(texts(message.output)).rstrip("\n")
            return ("command", scrub(message.command), output, message.exit_code, message.status)
        case ToolCall():
            arguments = scrub_value(message.arguments)
            named = (message.name, message.server, arguments)
            result = (message.status, scrub(texts(message.output)), message.error)
            return ("tool", *named, result[0], result[1], message.error and scrub(message.error))
        case FileChange():
            (edit,) = message.changes
            change = (edit.operation, edit.before, edit.after)
            error = message.error and scrub(message.error)
            return ("file", edit.path, *scrub_value(change), message.status, error)
        case _:
            raise AssertionError(message)


def write(transcript: Transcript, home: Path) -> Transcript:
    written = CopilotStore(home).write(transcript, session_id=NEW)
    assert writer_faults(written.path.parent) == []
    written.path.read_bytes().decode("utf-8")
    back = CopilotStore(home).read(NEW)
    assert back is not None
    assert back.damage == ()
    return back


@QUIET
@given(conversations())
def test_a_foreign_conversation_comes_back_in_meaning_and_in_order(transcript: Transcript) -> None:
    with tempfile.TemporaryDirectory() as home:
        back = write(transcript, Path(home))
    assert [meaning(message) for message in back.messages] == [
        meaning(message) for message in transcript.messages
    ]


@QUIET
@given(conversations())
def test_what_this_store_has_read_it_writes_again_without_a_loss(transcript: Transcript) -> None:
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        once = write(transcript, Path(first))
        losses = CopilotStore(Path(second)).write(once, session_id=NEW).losses
        twice = CopilotStore(Path(second)).read(NEW)
    assert losses == ()
    assert twice is not None
    kept = [replace(message, **UNNAMED) for message in once.messages]
    assert [replace(message, **UNNAMED) for message in twice.messages] == kept


def session() -> bytes:
    events = Events()
    events.user("one \u2028 ü")
    events.answer("two", bash("a", "x"), request("b", "view"))
    events.done("b", "seen")
    events.done("a", "out\n<shellId: 0 completed with exit code 3>")
    events.add("abort", reason="user_abort")
    events.answer("three")
    return events.text().encode()


WHOLE = session()


def spoken(line: bytes) -> str | None:
    event = json.loads(line)
    return event["data"].get("content") if event["type"].endswith(".message") else None


@QUIET
@given(st.data())
def test_recovery_returns_all_that_stands_on_whole_lines(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(WHOLE)))
    length = data.draw(st.integers(0, 400))
    filler = data.draw(st.binary(max_size=8) | st.sampled_from([b"\0" * 64, b"\n", b'{"a":{}}']))
    damaged = WHOLE[:start] + filler + WHOLE[start + length :]
    lines = set(damaged.split(b"\n"))
    words = [spoken(line) for line in WHOLE.split(b"\n") if line and line in lines]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "events.jsonl"
        file.write_bytes(damaged)
        try:
            found = CopilotStore.read_path(file, recover=True).messages
        except (NoMessages, NotATranscript):
            found = ()
        with contextlib.suppress(TranscriptError):
            CopilotStore.read_path(file)
    said = [texts(getattr(message, "content", ())) for message in found]
    assert [word for word in words if word and word not in said] == []


@pytest.mark.parametrize("where", ["data", "result", "toolRequests", "usage"])
def test_a_key_that_is_half_a_surrogate_pair_costs_nothing_else(where: str, tmp_path: Path) -> None:
    half: dict[str, Any] = {"\ud800": None}
    data = {
        "data": half,
        "result": {"result": {**half, "content": "said"}},
        "toolRequests": {"toolRequests": [half]},
        "usage": {"usage": half},
    }[where]
    events = Events()
    events.user("before")
    events.lines.append({"type": "tool.execution_complete", "id": "odd", "data": data})
    transcript = CopilotStore.read_path(events.write(tmp_path))
    assert texts(getattr(transcript.messages[0], "content", ())) == "before"


@QUIET
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["type", "data", "id", "parentId", "timestamp", "agentId"]), JSON
        ),
        max_size=6,
    )
)
def test_records_of_any_shape_cost_no_more_than_themselves(odd: list[dict[str, Any]]) -> None:
    events = Events()
    events.user("before")
    events.lines.extend(odd)
    events.lines.append(events.lines[1] | {"id": "later", "data": {"content": "after"}})
    with tempfile.TemporaryDirectory() as directory:
        transcript = CopilotStore.read_path(events.write(Path(directory)))
    assert texts(getattr(transcript.messages[0], "content", ())) == "before"
    assert texts(getattr(transcript.messages[-1], "content", ())) == "after"
