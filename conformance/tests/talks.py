"""Conversations in the normalised model for tests, a line of words each; times rise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from hypothesis import strategies as st

from transcripts.ids import derive
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    CommandExecution,
    Error,
    FileChange,
    FileEdit,
    Other,
    Reasoning,
    SubAgent,
    Text,
    Transcript,
    UserMessage,
)

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def talk(*messages: AnyMessage, agent: str = "claude", **more: Any) -> Transcript:
    """Return a session of these messages, each with an id of its own and a time."""
    numbered = [
        msgspec.structs.replace(
            one, id=derive("talk", number), at=START + timedelta(seconds=number)
        )
        for number, one in enumerate(messages)
    ]
    told: dict[str, Any] = {"cwd": "/srv/mill", "cli_version": "2.1.332", "title": "The mill"}
    return Transcript(agent=agent, session_id="s-1", messages=tuple(numbered), **(told | more))


def asks(text: str, **more: Any) -> UserMessage:
    return UserMessage(**_told("human", more), content=(Text(text=text),))


def injects(text: str) -> UserMessage:
    return UserMessage(**_told("harness", {}), content=(Text(text=text),))


def says(text: str, **more: Any) -> AgentMessage:
    return AgentMessage(**_told("model", more), content=(Text(text=text),))


def thinks(text: str) -> Reasoning:
    return Reasoning(**_told("model", {}), content=(Text(text=text),))


def runs(command: str, output: str | None = "done", **more: Any) -> CommandExecution:
    told: dict[str, Any] = {
        "name": "sh",
        "external_id": f"call-{command}",
        "arguments": {"command": command},
        "status": "unresolved" if output is None else "completed",
        "output": None if output is None else (Text(text=output),),
    }
    return CommandExecution(**_told("model", told | more), command=command)


def edits(path: str, **more: Any) -> FileChange:
    told: dict[str, Any] = {"name": "Edit", "output": (Text(text="ok"),)}
    changes = (FileEdit(path=path, operation="update", before="a", after="b"),)
    return FileChange(**_told("model", told | more), changes=changes)


def hands_over(task: str, **more: Any) -> SubAgent:
    return SubAgent(**_told("model", {"name": "Agent"} | more), prompt=task)


def fails(text: str = "it would not", **more: Any) -> Error:
    return Error(**_told("harness", {"status": "failed", "in_context": False} | more), text=text)


def notes(record: str) -> Other:
    return Other(**_told("harness", {"in_context": False}), record=record)


def _told(author: str, more: dict[str, Any]) -> dict[str, Any]:
    return {"id": "", "author": author} | more


words = st.text(st.characters(codec="utf-8"), max_size=30)
statuses = st.sampled_from(["completed", "failed", "unresolved", "declined", "cancelled"])


def talks(most: int = 12) -> st.SearchStrategy[Transcript]:
    """Return conversations of any messages in any order."""
    one = st.one_of(
        st.builds(asks, words),
        st.builds(injects, words),
        st.builds(says, words),
        st.builds(thinks, words),
        st.builds(fails, words),
        st.builds(runs, words, st.none() | words),
        st.builds(lambda path, status: edits(path, status=status), words, statuses),
        st.builds(notes, st.just("bookkeeping")),
        st.builds(lambda text: says(text, agent="child"), words),
        st.builds(lambda text: fails(text, agent="child"), words),
    )
    return st.lists(one, max_size=most).map(lambda messages: talk(*messages))
