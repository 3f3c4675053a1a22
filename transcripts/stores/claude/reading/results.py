"""What came of a call: the tool result that the model was shown, and the record beside it.

A result is recorded twice, as the block that goes to the model and as ``toolUseResult`` for
the CLI's own screen: an object on success, a string on failure. The block says what the model
saw; the object adds what the text leaves out. Neither is trusted to have its usual shape.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from msgspec import UNSET

from transcripts.model import Content, Status, Text
from transcripts.stores.claude import wordings
from transcripts.stores.claude.content import parts
from transcripts.stores.claude.foreign import mapping, number, string
from transcripts.stores.claude.reading.entries import NO_SIDE, Entry, Side, ToolResult
from transcripts.stores.claude.reading.rows import Row, instant

_TOOL_USE_ERROR = re.compile(r"<tool_use_error>(.*)</tool_use_error>", re.DOTALL)
_EXIT_CODE = re.compile(r"Exit code (-?[0-9]+)(?:\n|\Z)")
_DENIALS: dict[str, Status] = {
    "user-rejected": "declined",
    "permission-rule": "declined",
    "cancelled": "cancelled",
    "interrupted": "cancelled",
}


class Use(NamedTuple):
    """A call: its id, the tool, what it was given, and where."""

    id: str | None
    name: str
    input: Any
    cwd: str | None


class Result(NamedTuple):
    """What came of a call: the row, what that says, and the block in it.

    ``failure`` is the side record where it is a failure's words, ``details`` where it is an
    object.
    """

    row: Row
    entry: Entry
    block: ToolResult
    failure: str | None
    details: Side


class Answered(NamedTuple):
    """Where the result of a call stands: the row, and the place in the row's content."""

    row: Row
    position: int

    def result(self) -> Result:
        """Return the result.

        The side record stands once in a row, so it means a block only where that block is the
        row's only result.
        """
        row, position = self
        entry = row.entry
        blocks = entry.blocks
        side = entry.tool_use_result
        if len(blocks) > 1 and sum(type(block) is ToolResult for block in blocks) > 1:
            side = None
        failure = side if type(side) is str else None
        details = side if type(side) is Side else NO_SIDE
        return Result(row, entry, blocks[position], failure, details)


def outcome(use: Use, result: Result | None) -> dict[str, Any]:
    """Return the fields of a call that its result decides."""
    if result is None:
        return {"status": "unresolved"}
    block, details = result.block, result.details
    shown = parts(block.content)
    text = text_of(shown)
    decided: dict[str, Any] = {
        "ended_at": instant(result.entry.timestamp),
        "duration_ms": _duration(details),
    }
    if block.is_error:
        return decided | _failure(result, text)
    if text == f"({use.name} completed with no output)":
        shown = ()
    decided["output"] = shown
    decided["status"] = "completed"
    persisted = wordings.persisted_output(text)
    if persisted is not None:
        decided["output"] = (Text(text=persisted.preview),)
        decided["output_extent"] = "elsewhere"
        path = string(details.persisted_output_path)
        decided["overflow_path"] = path or persisted.path
    return decided


def command_outcome(use: Use, result: Result | None) -> dict[str, Any]:
    """Return the fields of a shell command that its result decides.

    A non-zero status is recorded only as the first line of the text, until 2.0 not at all:
    then the text is what the command printed. A success is recorded by
    the block's ``is_error: false`` or by the side record's form: then the code is 0, for the
    CLI marks every other one. A plain result has neither: it closes the call and says no code.
    A code that the CLI interpreted away (``grep`` without a match) is recorded nowhere.
    """
    decided = outcome(use, result)
    if result is None:
        return decided
    details = result.details
    failed = result.block.is_error
    decided["stdout"] = _text_or_none(details.stdout)
    decided["stderr"] = _text_or_none(details.stderr)
    decided["background_id"] = string(details.background_task_id)
    interpretation = details.return_code_interpretation
    if failed:
        decided |= _failed_command(result, decided)
    elif details.interrupted is True:
        decided["status"] = "cancelled"
    elif decided["background_id"] or interpretation == wordings.CODE_NOT_RECORDED:
        decided["status"] = "unknown"
    elif (failed is False or details.stdout is not UNSET) and not interpretation:
        decided["exit_code"] = 0
        decided["exit_code_source"] = "field"
    return decided


def text_of(content: Content) -> str:
    """Return the words of some parts."""
    if len(content) == 1:
        part = content[0]
        return part.text if isinstance(part, Text) else ""
    return "\n".join(part.text for part in content if isinstance(part, Text))


def _failure(result: Result, text: str) -> dict[str, Any]:
    if wordings.is_interrupted_call(text):
        return {"status": "unresolved", "ended_at": None}
    error = _error_text(result.failure, text)
    denial = _DENIALS.get(result.entry.tool_denial_kind or "")
    if wordings.is_interruption(error):
        denial = "cancelled"
    elif denial is None:
        denial = "declined" if wordings.is_refusal(error) else "failed"
    # The harness's stock sentence says nothing that the status does not.
    stock = denial != "failed" and wordings.is_stock_refusal(error)
    return {"status": denial, "error": None if stock else error}


def _error_text(failure: str | None, text: str) -> str:
    """Return the tool's own words: without the wrapper and without what the harness adds."""
    wrapped = _TOOL_USE_ERROR.fullmatch(text)
    words = wrapped[1] if wrapped else text
    if failure is not None and failure.startswith("Error: "):
        own = failure.removeprefix("Error: ")
        if own and (words.startswith(own) or text.startswith(own)):
            return own
    return words


def _failed_command(result: Result, decided: dict[str, Any]) -> dict[str, Any]:
    error = decided.get("error")
    if not isinstance(error, str):
        return {}
    found = _EXIT_CODE.match(error)
    if found:
        output = error[found.end() :]
        return {
            "status": "failed",
            "exit_code": int(found[1]),
            "exit_code_source": "text",
            "output": (Text(text=output),) if output else (),
            "error": None,
        }
    if decided["status"] != "failed":
        return {}
    shown = parts(result.block.content)
    # An object with anything in it, be it of what nobody asks for.
    if result.details is not NO_SIDE and mapping(result.row.value.get("toolUseResult")):
        return {"output": shown, "error": None}
    worded = wordings.words_exit_codes(result.entry.version)
    if not worded and wordings.is_commands_own(text_of(shown)):
        return {"output": (Text(text=error),) if error else (), "error": None}
    return {}


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _duration(details: Side) -> float | None:
    for milliseconds in (number(details.total_duration_ms), number(details.duration_ms)):
        if milliseconds is not None:
            return milliseconds
    seconds = number(details.duration_seconds)
    return None if seconds is None else seconds * 1000
