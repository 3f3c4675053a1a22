"""Marked prose keeps what matters of every kind, and says what it is."""

from __future__ import annotations

import pytest

from transcripts import narration
from transcripts.model import (
    AgentMessage,
    Asset,
    CommandExecution,
    CompactBoundary,
    Error,
    FileChange,
    FileEdit,
    Message,
    Opaque,
    Other,
    PermissionRequest,
    Plan,
    PlanItem,
    Question,
    Reasoning,
    SearchResult,
    Structured,
    SubAgent,
    Text,
    ToolCall,
    UserMessage,
    UserQuestion,
    WebSearch,
)


def text(words: str) -> tuple[Text, ...]:
    return (Text(text=words),)


def said(message: Message) -> str:
    words = narration.prose(message)
    assert words is not None
    return words


def test_a_thought_and_a_plan_are_marked_so_that_none_takes_them_for_an_answer():
    thought = Reasoning(id="1", author="model", content=text("Maybe the moor."))
    plan = Plan(
        id="2",
        author="model",
        name="todo",
        form="checklist",
        items=(PlanItem(text="Dig", status="completed"), PlanItem(text="Fill", status="pending")),
    )
    assert said(thought) == "(thinking) Maybe the moor."
    assert said(plan) == "(plan) [x] Dig\n[ ] Fill"


def test_a_thought_without_readable_text_is_not_said():
    sealed = Opaque(form="encrypted", data="gAAA")
    assert narration.prose(Reasoning(id="1", author="model", content=(sealed,))) is None


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (
            FileEdit(path="a.txt", operation="add", after="one\n", whole=True),
            "Created a.txt\n\none\n",
        ),
        (
            FileEdit(path="a.txt", operation="update", before="x = 1\n", after="x = 2\n"),
            "Edited a.txt\n\n-x = 1\n+x = 2",
        ),
        (
            FileEdit(path="a.txt", operation="update", diff="@@ -1 +1 @@"),
            "Edited a.txt\n\n@@ -1 +1 @@",
        ),
        (FileEdit(path="a.txt", operation="delete", before="one\n"), "Deleted a.txt"),
        (FileEdit(path="a.txt", operation="move", moved_to="b.txt"), "Moved a.txt to b.txt"),
    ],
)
def test_an_edit_says_its_operation_its_path_and_its_text(edit: FileEdit, words: str):
    change = FileChange(id="1", author="model", name="edit", changes=(edit,))
    assert said(change) == words


def test_an_edit_with_prose_keeps_the_prose_and_the_path():
    edit = FileEdit(path="a.txt", operation="update", after="x = 2")
    change = FileChange(
        id="1", author="model", name="edit", changes=(edit,), content=text("Doubled x.")
    )
    assert said(change) == "Doubled x.\n\nEdited a.txt\n\nx = 2"


def test_an_edit_that_failed_does_not_read_as_done():
    edit = FileEdit(path="a.txt", operation="update", after="x = 2")
    change = FileChange(
        id="1", author="model", name="edit", changes=(edit,), status="failed", error="not found"
    )
    assert said(change).endswith("(this edit failed: not found)")


def test_a_question_is_said_with_its_answer():
    asked = UserQuestion(
        id="1",
        author="model",
        name="ask",
        questions=(Question(text="Which pond?", options=("north", "south"), answer="south"),),
    )
    assert said(asked) == "Asked: Which pond? (north / south)\nAnswered: south"


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        (
            CompactBoundary(id="1", author="harness", summary=text("Dug it."), pre_tokens=900),
            ("compacted", "Dug it.", "900"),
        ),
        (
            SubAgent(
                id="1",
                author="model",
                name="spawn",
                description="find",
                prompt="Find it",
                output=text("MERLIN"),
            ),
            ("sub agent", "find", "Find it", "MERLIN"),
        ),
        (
            WebSearch(
                id="1",
                author="model",
                name="web",
                query="rowan",
                results=(SearchResult(url="https://example.org/", title="Rowan"),),
            ),
            ("rowan", "https://example.org/"),
        ),
        (
            PermissionRequest(id="1", author="harness", tool="rm", reason="why", decision="denied"),
            ("rm", "why", "denied"),
        ),
        (Other(id="1", author="harness", record="review", value={"n": 4}), ("review", '{"n":4}')),
    ],
)
def test_what_no_record_can_carry_becomes_a_sentence_in_parentheses(
    message: Message, tokens: tuple[str, ...]
):
    words = said(message)
    assert words.startswith("(")
    assert all(token in words for token in tokens)


def test_an_error_of_the_provider_is_never_said():
    assert narration.prose(Error(id="1", author="harness", text="401")) is None


def command(output: str, exit_code: int | None) -> CommandExecution:
    return CommandExecution(
        id="1", author="model", name="sh", command="x", output=text(output), exit_code=exit_code
    )


@pytest.mark.parametrize(
    ("output", "exit_code", "words"),
    [
        ("Failed: 3\n", 1, "Failed: 3\n\nexited with code 1"),
        ("", 3, "exited with code 3"),
        ("fine\n", 0, "fine\n"),
        ("unknown\n", None, "unknown\n"),
        ("it exited with code 3", 3, "it exited with code 3"),
        ("it exited with code 30", 3, "it exited with code 30\n\nexited with code 3"),
    ],
)
def test_a_non_zero_exit_status_is_said_once(output: str, exit_code: int | None, words: str):
    assert narration.output_with_exit_status(command(output, exit_code)) == words


def test_a_call_without_a_result_does_not_read_as_done():
    call = ToolCall(id="1", author="model", name="echo", server="lab", status="unresolved")
    assert said(call) == (
        "(the tool mcp__lab__echo was called)\n\n(no result of this call is recorded)"
    )


@pytest.mark.parametrize(
    ("full", "tool", "server"),
    [
        ("mcp__lab__echo", "echo", "lab"),
        ("mcp__lab__echo__twice", "echo__twice", "lab"),
        ("mcp__lab", "mcp__lab", None),
        ("mcp__", "mcp__", None),
        ("exec_command", "exec_command", None),
    ],
)
def test_a_tool_name_splits_into_tool_and_server_and_joins_again(
    full: str, tool: str, server: str | None
):
    assert narration.split_name(full) == (tool, server)
    assert narration.qualified_name(tool, server) == full


def test_half_a_surrogate_pair_becomes_a_replacement_character_everywhere_in_a_value():
    value = {"k\ud83d": ["a\ude00b", {"n": 1}]}
    assert narration.has_lone_surrogate(value)
    clean = narration.scrub_value(value)
    assert clean == {"k\ufffd": ["a\ufffdb", {"n": 1}]}
    assert not narration.has_lone_surrogate(clean)


def test_parts_are_read_in_order_and_what_is_not_text_is_named_as_a_loss():
    content = (
        Text(text="one"),
        Structured(value={"k": 1}),
        Asset(sha256=None, media_type="image/png"),
        Opaque(form="signature", data="x"),
    )
    assert narration.content_text(content) == 'one\n{"k":1}\n(attached: image/png)'
    assert narration.part_losses(content) == (
        "structured-as-text",
        "asset-dropped",
        "reasoning-opaque-dropped",
    )


def test_plain_messages_are_said_as_they_are():
    assert said(UserMessage(id="1", author="human", content=text("<div>"))) == "<div>"
    assert said(AgentMessage(id="1", author="model", content=text("ok"))) == "ok"
