"""Readers find what the script says, in every recording; and the comparison can fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from conformance.corpus import Case, CaseFile, TruthFile, cases, find_corpus
from conformance.matrix import read_case
from conformance.truth import HarnessMessage, differences
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    CommandExecution,
    FileChange,
    FileEdit,
    Opaque,
    Plan,
    PlanItem,
    SubAgent,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
)
from transcripts.stores.base import store_class

CASES = list(cases(find_corpus()))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_reader_finds_what_the_script_says(case: Case) -> None:
    transcript = read_case(case, store_class(case.facts.agent))
    assert differences(case, transcript) == []


# ------------------------------------------------------------------ it can fail

LISTED = (
    HarnessMessage(
        agent="made", releases=("1.*",), kind="UserMessage", provenance="hint", why="a hint"
    ),
)


def _text(text: str) -> tuple[Text]:
    return (Text(text=text),)


MESSAGES: tuple[AnyMessage, ...] = (
    UserMessage(id="0", author="harness", provenance="hint", content=_text("be kind")),
    UserMessage(id="1", author="human", content=_text("Once more.")),
    CommandExecution(
        id="2",
        author="model",
        name="sh",
        command="exit 3",
        exit_code=3,
        status="failed",
        output=_text("three\n"),
    ),
    ToolCall(
        id="3",
        author="model",
        name="find",
        server="yard",
        arguments={"deep": [1, True]},
        error="yard said: no such bed",
        status="failed",
    ),
    FileChange(
        id="4",
        author="model",
        name="edit",
        changes=(FileEdit(path="/srv/project/a", operation="update", before="old", after="new"),),
    ),
    Plan(
        id="5",
        author="model",
        name="todo",
        form="checklist",
        items=(PlanItem(text="dig", status="pending"),),
    ),
    SubAgent(
        id="6", author="model", name="task", prompt="Count.", output=_text("Nine."), agent_id="t9"
    ),
    UserMessage(id="7", author="human", content=_text("Once more.")),
    AgentMessage(id="8", author="model", content=_text("Done.")),
    UserMessage(id="9", author="agent", agent="t9", content=_text("Count.")),
    AgentMessage(id="10", author="model", agent="t9", content=_text("Nine.")),
)


def _frame(kind: str, author: str, thread: str | None = None, **values: Any) -> dict[str, Any]:
    status = values.pop("status", "completed")
    return {
        "kind": kind,
        "author": author,
        "thread": thread,
        "turn": 0,
        "response": None,
        "status": status,
        **values,
    }


TRUTH = (
    _frame("UserMessage", "human", text="Once more."),
    _frame(
        "CommandExecution", "model", command="exit 3", exit_code=3, output="three", status="failed"
    ),
    _frame(
        "ToolCall",
        "model",
        name="find",
        server="yard",
        arguments={"deep": [1, True]},
        error="no such bed",
        status="failed",
    ),
    _frame(
        "FileChange",
        "model",
        changes=[
            {"path": "/srv/project/a", "operation": "update", "before": "old", "after": "new"}
        ],
    ),
    _frame("Plan", "model", items=[{"text": "dig", "status": "pending"}]),
    _frame("SubAgent", "model", prompt="Count.", report="Nine."),
    _frame("UserMessage", "human", text="Once more."),
    _frame("AgentMessage", "model", text="Done."),
    _frame("UserMessage", "agent", "counter", text="Count."),
    _frame("AgentMessage", "model", "counter", text="Nine."),
)


def _case(unrecorded: Any = ()) -> Case:
    facts = {
        "format": 1,
        "agent": "made",
        "release": "1.2.3",
        "integrity": "sha512-x",
        "platform": {"os": "linux", "arch": "x64"},
        "scenario": "made",
        "revision": 1,
        "sanitiser": 1,
        "sealed": True,
        "session_id": "s",
        "session_path": "s",
        "cwd": "/srv/project",
        "files": {},
        "resumed": True,
        "unrecorded": unrecorded,
    }
    truth = {
        "format": 1,
        "agent": "made",
        "release": "1.2.3",
        "scenario": "made",
        "revision": 1,
        "messages": TRUTH,
    }
    return Case(
        directory=Path("made"),
        name="made/1.2.3/made",
        facts=msgspec.convert(facts, CaseFile),
        truth=msgspec.convert(truth, TruthFile),
    )


def _read(messages: tuple[AnyMessage, ...] = MESSAGES) -> Transcript:
    return Transcript(agent="made", session_id="s", messages=messages)


def test_equal_messages_have_no_difference() -> None:
    assert differences(_case(), _read(), LISTED) == []


def _changed(index: int, **values: Any) -> Callable[[tuple[AnyMessage, ...]], Any]:
    def change(messages: tuple[AnyMessage, ...]) -> tuple[AnyMessage, ...]:
        return (
            *messages[:index],
            replace(messages[index], **values),
            *messages[index + 1 :],
        )

    return change


WRONG: dict[str, tuple[Callable[[tuple[AnyMessage, ...]], Any], str]] = {
    "a prompt is folded": (lambda m: m[:7] + m[8:], "missing"),
    "a prompt is doubled": (lambda m: m[:2] + m[1:], "in no script"),
    "an order is swapped": (lambda m: (*m[:2], m[3], m[2], *m[4:]), "missing"),
    "an answer was made up": (lambda m: (*m, replace(m[8], id="x")), "in no script"),
    "a word is different": (_changed(8, content=_text("Done!")), "text is 'Done!'"),
    "an author is wrong": (_changed(1, author="model"), "author is 'model'"),
    "the harness takes a prompt": (_changed(1, author="harness"), "missing"),
    "a status is wrong": (_changed(2, status="completed"), "status is 'completed'"),
    "an exit status is unknown": (_changed(2, exit_code=None), "exit_code is None"),
    "an exit status is another": (_changed(2, exit_code=0), "exit_code is 0"),
    "an output is cut": (_changed(2, output=_text("thre")), "output is 'thre'"),
    "an output has a frame": (_changed(2, output=_text("Exit code 3\nthree\n")), "output is"),
    "a command is another": (_changed(2, command="exit 4"), "command is 'exit 4'"),
    "an error is an output": (_changed(3, error=None, output=_text("no such bed")), "error"),
    "a server is lost": (_changed(3, server=None), "server is None"),
    "a tool has another name": (_changed(3, name="yard__find"), "name is 'yard__find'"),
    "an argument changed its type": (_changed(3, arguments={"deep": ["1", True]}), "arguments"),
    "a path is relative": (
        _changed(4, changes=(FileEdit(path="a", operation="update", before="old", after="new"),)),
        "changes",
    ),
    "an edit lost what was there": (
        _changed(4, changes=(FileEdit(path="/srv/project/a", operation="update", after="new"),)),
        "changes",
    ),
    "a task is done too early": (
        _changed(5, items=(PlanItem(text="dig", status="completed"),)),
        "items",
    ),
    "a report is gone": (_changed(6, output=None), "report is None"),
    "a thread is flattened": (_changed(10, agent=None), "in no script"),
    "a thread is unread": (lambda m: m[:9], "missing"),
    "the harness says more": (
        lambda m: (*m, replace(m[0], id="x", provenance="sermon")),
        "not on the list",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_difference_is_told(name: str) -> None:
    change, told = WRONG[name]
    found = differences(_case(), _read(change(MESSAGES)), LISTED)
    assert any(told in difference for difference in found), found


def test_a_harness_message_of_another_release_is_not_listed() -> None:
    other = (replace(LISTED[0], releases=("2.*",)),)
    assert differences(_case(), _read(), other) != []


def test_what_the_cli_did_not_keep_is_subtracted() -> None:
    unrecorded = [
        {"message": 1, "fields": ["exit_code", "status"], "why": "not kept", "proof": {}},
        {"message": 7, "fields": None, "why": "not kept", "proof": {}},
    ]
    without = (*MESSAGES[:8], *MESSAGES[9:])
    changed = _changed(2, exit_code=None, status="unknown")(without)
    assert differences(_case(unrecorded), _read(changed), LISTED) == []
    assert differences(_case(), _read(changed), LISTED) != []


def test_what_is_said_of_one_message_in_two_entries_is_subtracted_together() -> None:
    unrecorded = [
        {"message": 1, "fields": [field], "why": "not kept", "proof": {}}
        for field in ("exit_code", "status")
    ]
    changed = _changed(2, exit_code=None, status="unknown")(MESSAGES)
    assert differences(_case(unrecorded), _read(changed), LISTED) == []


def test_a_sealed_message_stands_for_one_without_a_word_and_for_no_other() -> None:
    sealed = replace(MESSAGES[9], content=(Opaque(form="encrypted", data="x"),))
    messages = (*MESSAGES[:9], sealed, MESSAGES[10])
    unrecorded = [{"message": 8, "fields": None, "why": "sealed", "proof": "no string"}]
    assert differences(_case(unrecorded), _read(messages), LISTED) == []
    assert differences(_case(), _read(messages), LISTED) != []


def test_a_harness_message_is_known_by_its_beginning_where_nothing_else_tells() -> None:
    listed = (replace(LISTED[0], begins="be "),)
    assert differences(_case(), _read(), listed) == []
    assert differences(_case(), _read(), (replace(listed[0], begins="do "),)) != []


def test_what_is_said_to_be_unrecorded_must_not_be_found() -> None:
    unrecorded = [{"message": 7, "fields": None, "why": "not kept", "proof": {}}]
    assert differences(_case(unrecorded), _read(), LISTED) != []
