"""Old releases of Claude Code record some things otherwise; they are read for what they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.tests.claude_rows import Rows, calls, save
from transcripts.model import CommandExecution, Text, UserMessage
from transcripts.stores.claude import ClaudeStore


def _command(home: Path, version: str, words: str) -> Any:
    rows = Rows(version=version)
    rows.user("Weigh the plums.")
    rows.assistant(calls("toolu_1", "Bash", command="weigh plums"))
    rows.result("toolu_1", words, is_error=True, toolUseResult=f"Error: {words}")
    (command,) = (
        message
        for message in ClaudeStore.read_path(save(home, rows)).messages
        if isinstance(message, CommandExecution)
    )
    return command


@pytest.mark.parametrize("version", ["0.2.126", "1.0.60", "2.0.0"])
def test_a_failing_command_without_its_code_has_output_and_no_error(
    tmp_path: Path, version: str
) -> None:
    command = _command(tmp_path, version, "no plums\n\nscale: 0")
    assert (command.status, command.exit_code, command.exit_code_source) == ("failed", None, "none")
    assert command.output == (Text(text="no plums\n\nscale: 0"),)
    assert command.error is None


@pytest.mark.parametrize(
    "words",
    [
        "<tool_use_error>InputValidationError: no command</tool_use_error>",
        "InputValidationError: no command",
        "Bash operation blocked by hook:\n- no weighing today",
    ],
)
def test_a_command_that_was_never_run_has_an_error_and_no_output(
    tmp_path: Path, words: str
) -> None:
    command = _command(tmp_path, "2.0.0", words)
    assert command.output is None
    assert command.error


def test_a_release_that_words_its_codes_means_an_error_without_one(tmp_path: Path) -> None:
    command = _command(tmp_path, "2.0.77", "no plums")
    assert (command.output, command.error) == (None, "no plums")


def test_a_note_that_a_task_has_begun_is_nobodys_prompt(tmp_path: Path) -> None:
    rows = Rows(version="2.1.50")
    rows.user("Weigh the plums.")
    note = {"task_id": "a1", "tool_use_id": "toolu_1", "task_type": "local_agent"}
    rows.bare(
        "queue-operation", operation="enqueue", content=json.dumps(note, separators=(",", ":"))
    )
    typed = '{"task_id":"a1"} is what I saw'
    rows.bare("queue-operation", operation="enqueue", content=typed)
    said = [
        part.text
        for message in ClaudeStore.read_path(save(tmp_path, rows)).messages
        if isinstance(message, UserMessage)
        for part in message.content
        if isinstance(part, Text)
    ]
    assert said == ["Weigh the plums.", typed]
