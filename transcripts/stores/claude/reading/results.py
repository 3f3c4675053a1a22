"""What came of a call: the tool result that the model was shown, and the record beside it.

A result is recorded twice, as the block that goes to the model and as ``toolUseResult`` for
the CLI's own screen: an object on success, a string on failure. The block says what the model
saw; the object adds what the text leaves out. Neither is trusted to have its usual shape.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from transcripts.model import Content, Status, Text
from transcripts.stores.claude import wordings
from transcripts.stores.claude.content import parts
from transcripts.stores.claude.reading.rows import Row, blocks_of, mapping, number, string, time_of

_TOOL_USE_ERROR = re.compile(r"<tool_use_error>(.*)</tool_use_error>", re.DOTALL)
_EXIT_CODE = re.compile(r"Exit code (-?[0-9]+)(?:\n|\Z)")
_DENIALS: dict[str, Status] = {
    "user-rejected": "declined",
    "permission-rule": "declined",
    "cancelled": "cancelled",
    "interrupted": "cancelled",
}


class Use(NamedTuple):
    """A tool_use block: its id, the tool, and what it was given."""

    id: str | None
    name: str
    input: Any
    row: Row


class Result(NamedTuple):
    """A tool_result block: the row, and where it stands in the row's content."""

    row: Row
    position: int

    @property
    def block(self) -> dict[str, Any]:
        """The block itself."""
        return mapping(blocks_of(self.row)[self.position])

    @property
    def is_error(self) -> bool | None:
        """Whether the block says that the call failed; None where it says nothing."""
        flag = self.block.get("is_error")
        return flag if isinstance(flag, bool) else None

    @property
    def side(self) -> Any:
        """The record that the CLI keeps for its own screen.

        It stands once in a row, so it means a block only where that block is the row's only
        result.
        """
        content = mapping(self.row.value.get("message")).get("content")
        if isinstance(content, list) and len(content) > 1:
            kinds = [mapping(block).get("type") for block in content]
            if kinds.count("tool_result") > 1:
                return None
        return self.row.value.get("toolUseResult")

    @property
    def details(self) -> dict[str, Any]:
        """The side record where it is an object."""
        return mapping(self.side)


def outcome(use: Use, result: Result | None) -> dict[str, Any]:
    """Return the fields of a call that its result decides."""
    if result is None:
        return {"status": "unresolved"}
    shown = parts(result.block.get("content"))
    text = text_of(shown)
    decided: dict[str, Any] = {
        "ended_at": time_of(result.row),
        "duration_ms": _duration(result.details),
    }
    if result.is_error:
        return decided | _failure(result, text)
    if text == f"({use.name} completed with no output)":
        shown = ()
    decided["output"] = shown
    decided["status"] = "completed"
    persisted = wordings.persisted_output(text)
    if persisted is not None:
        decided["output"] = (Text(text=persisted.preview),)
        decided["output_extent"] = "elsewhere"
        path = string(result.details.get("persistedOutputPath"))
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
    decided["stdout"] = _text_or_none(details.get("stdout"))
    decided["stderr"] = _text_or_none(details.get("stderr"))
    decided["background_id"] = string(details.get("backgroundTaskId"))
    if result.is_error:
        return decided | _failed_command(result, decided)
    if details.get("interrupted") is True:
        return decided | {"status": "cancelled"}
    if decided["background_id"]:
        return decided | {"status": "unknown"}
    interpretation = details.get("returnCodeInterpretation")
    if interpretation == wordings.CODE_NOT_RECORDED:
        return decided | {"status": "unknown"}
    told = result.is_error is False or "stdout" in details
    if told and not interpretation:
        decided |= {"exit_code": 0, "exit_code_source": "field"}
    return decided


def text_of(content: Content) -> str:
    """Return the words of some parts."""
    return "\n".join(part.text for part in content if isinstance(part, Text))


def _failure(result: Result, text: str) -> dict[str, Any]:
    if wordings.is_interrupted_call(text):
        return {"status": "unresolved", "ended_at": None}
    error = _error_text(result.side, text)
    denial = _DENIALS.get(string(result.row.value.get("toolDenialKind")) or "")
    if wordings.is_interruption(error):
        denial = "cancelled"
    elif denial is None:
        denial = "declined" if wordings.is_refusal(error) else "failed"
    # The harness's stock sentence says nothing that the status does not.
    stock = denial != "failed" and wordings.is_stock_refusal(error)
    return {"status": denial, "error": None if stock else error}


def _error_text(side: Any, text: str) -> str:
    """Return the tool's own words: without the wrapper and without what the harness adds."""
    wrapped = _TOOL_USE_ERROR.fullmatch(text)
    words = wrapped[1] if wrapped else text
    if isinstance(side, str) and side.startswith("Error: "):
        own = side.removeprefix("Error: ")
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
    if result.details:
        return {"output": parts(result.block.get("content")), "error": None}
    worded = wordings.words_exit_codes(string(result.row.value.get("version")))
    if not worded and wordings.is_commands_own(text_of(parts(result.block.get("content")))):
        return {"output": (Text(text=error),) if error else (), "error": None}
    return {}


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _duration(details: dict[str, Any]) -> float | None:
    for key in ("totalDurationMs", "durationMs"):
        milliseconds = number(details.get(key))
        if milliseconds is not None:
            return milliseconds
    seconds = number(details.get("durationSeconds"))
    return None if seconds is None else seconds * 1000
