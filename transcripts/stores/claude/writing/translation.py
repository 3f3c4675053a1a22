"""Calls of the model as this CLI's tool calls: the same meaning, nothing invented, or nothing.

A call that Claude Code recorded goes back under its own name with its own arguments. One of
another CLI becomes the tool of the same meaning where every field that the tool must have is
known; else there is no native form, and the writer says it in marked prose.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from transcripts.losses import LossId
from transcripts.model import (
    Call,
    CommandExecution,
    Content,
    FileChange,
    FileEdit,
    Plan,
    SubAgent,
    Text,
    ToolCall,
    UserQuestion,
    WebSearch,
)
from transcripts.narration import qualified_name
from transcripts.stores.claude import wordings
from transcripts.stores.claude.content import blocks
from transcripts.stores.claude.foreign import mapping
from transcripts.stores.claude.reading.results import text_of
from transcripts.stores.claude.tools import EDITORS, PLANS, SHELLS, TASKS

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 128


class ToolResult(NamedTuple):
    """A tool_result block's content and flag, the side record, and further row fields."""

    content: Any
    is_error: bool | None = None
    side: Any = None
    fields: Mapping[str, Any] = MappingProxyType({})


class NativeCall(NamedTuple):
    """A tool_use block with the result that closes it, and what the translation loses."""

    name: str
    input: dict[str, Any]
    result: ToolResult
    losses: tuple[LossId, ...] = ()


def native_calls(call: Call, *, own: bool) -> list[NativeCall] | None:
    """Return a call as native ones, None where only prose can say it.

    ``own`` says that the call was recorded by this CLI.
    """
    losses: list[LossId] = []
    if isinstance(call, CommandExecution):
        return [_command(call, losses, own=own)]
    if isinstance(call, FileChange):
        return _file_change(call, losses, own=own)
    if isinstance(call, SubAgent):
        return _sub_agent(call, losses, own=own)
    if isinstance(call, ToolCall) or (own and _is_own(call)):
        name = qualified_name(call.name, call.server)
        given = _arguments(call.arguments)
        return [_native(name, given, _result(call, name, losses), losses)]
    return None


def _is_own(call: Call) -> bool:
    match call:
        case Plan():
            return call.name in PLANS | TASKS | {"TodoWrite"}
        case WebSearch():
            return call.name == "WebSearch"
        case UserQuestion():
            return call.name == "AskUserQuestion"
        case _:
            return False


def _native(
    name: str, given: dict[str, Any], result: ToolResult, losses: list[LossId]
) -> NativeCall:
    name = _NOT_IN_A_NAME.sub("_", name)[:_LONGEST_NAME] or "unnamed"
    return NativeCall(name, given, result, tuple(dict.fromkeys(losses)))


def _arguments(arguments: Any) -> dict[str, Any]:
    """Return arguments as the object that the API takes."""
    if isinstance(arguments, dict):
        return arguments
    if arguments is None:
        return {}
    return {"input": arguments}


# ------------------------------------------------------------------ results


def _result(call: Call, name: str, losses: list[LossId]) -> ToolResult:
    unusual = _unusual(call)
    if unusual is not None:
        return unusual
    if call.output is None:
        # What came of it is not recorded; the API takes no call without a result.
        losses.append("call-closed")
    content = _content(call.output or (), name, losses)
    if call.status == "failed":
        return ToolResult(content, is_error=True)
    return ToolResult(content, side=_side(call))


def _unusual(call: Call) -> ToolResult | None:
    """Return the result of a call that did not come to its end by itself."""
    match call.status:
        case "unresolved":
            return ToolResult(wordings.CALL_INTERRUPTED, is_error=True)
        case "declined":
            return _refused(call, "user-rejected")
        case "cancelled":
            return _refused(call, "cancelled")
        case _:
            pass
    if call.error is None:
        return None
    words = call.error if call.error.strip() else "(the error has no text)"
    return ToolResult(words, is_error=True, side=f"Error: {words}")


def _refused(call: Call, kind: str) -> ToolResult:
    words = call.error or text_of(call.output or ()) or wordings.REJECTED[0]
    return ToolResult(words, is_error=True, fields={"toolDenialKind": kind})


def _content(output: Content, name: str, losses: list[LossId]) -> Any:
    """Return an output as result content: a string for plain words, blocks for more."""
    if all(isinstance(part, Text) for part in output):
        text = text_of(output)
        if not text.strip("\r\n"):
            return f"({name} completed with no output)"
        if len(output) == 1:
            return text
    made, lost = blocks(output)
    losses += lost
    return made or f"({name} completed with no output)"


def _side(call: Call) -> Any:
    """Return the side record of an own call whose fields stand only there."""
    match call:
        case WebSearch():
            hits = [{"title": hit.title, "url": hit.url} for hit in call.results]
            seconds = None if call.duration_ms is None else call.duration_ms / 1000
            return {
                "query": call.query,
                "results": [{"tool_use_id": call.external_id, "content": hits}],
                "durationSeconds": seconds,
            }
        case UserQuestion():
            answers = {one.text: one.answer for one in call.questions if one.answer is not None}
            questions = mapping(call.arguments).get("questions")
            return {"questions": questions, "answers": answers} if answers else None
        case Plan() if call.name == "TaskCreate" and call.items and call.items[-1].id:
            return {"task": {"id": call.items[-1].id, "subject": call.items[-1].text}}
        case Plan() if call.name == "TaskList" and call.items:
            tasks = [
                {"id": item.id, "subject": item.text, "status": item.status, "blockedBy": []}
                for item in call.items
            ]
            return {"tasks": tasks}
        case _:
            return None


# ------------------------------------------------------------------ commands


def _command(call: CommandExecution, losses: list[LossId], *, own: bool) -> NativeCall:
    own = own and call.name in SHELLS and isinstance(call.arguments, dict)
    name = call.name if own else "Bash"
    given = _arguments(call.arguments) if own else {"command": call.command}
    if own and call.background_id is not None and call.error is None:
        # How it ended is not in its own result but in the notification that follows.
        content = _content(call.output or (), name, losses)
        side = _shell_side(call, backgroundTaskId=call.background_id)
        return _native(name, given, ToolResult(content, side=side), losses)
    return _native(name, given, _command_result(call, name, losses), losses)


def _command_result(call: CommandExecution, name: str, losses: list[LossId]) -> ToolResult:
    if call.exit_code:
        if call.exit_code_source == "field":
            losses.append("exit-code-as-text")
        output = text_of(call.output or ())
        words = f"Exit code {call.exit_code}" + (f"\n{output}" if output else "")
        return ToolResult(words, is_error=True, side=f"Error: {words}")
    if call.status == "cancelled" and call.error is None and call.output is not None:
        content = _content(call.output, name, losses)
        return ToolResult(content, is_error=False, side=_shell_side(call, interrupted=True))
    unusual = _unusual(call)
    if unusual is not None:
        return unusual
    content = _content(call.output or (), name, losses)
    if call.output_extent == "elsewhere" and call.overflow_path is not None:
        content = wordings.persisted(text_of(call.output or ()), call.overflow_path)
    if call.exit_code == 0:
        side = None if call.stdout is None and call.stderr is None else _shell_side(call)
        return ToolResult(content, is_error=False, side=side)
    if call.status == "unknown":
        side = _shell_side(call, returnCodeInterpretation=wordings.CODE_NOT_RECORDED)
        return ToolResult(content, side=side)
    if call.status == "failed":
        return ToolResult(content, is_error=True, side=_shell_side(call))
    if call.stdout is not None:
        side = _shell_side(call, returnCodeInterpretation=wordings.NO_ERROR)
        return ToolResult(content, is_error=False, side=side)
    return ToolResult(content)


def _shell_side(call: CommandExecution, **more: Any) -> dict[str, Any]:
    stdout = text_of(call.output or ()) if call.stdout is None else call.stdout
    return {
        "stdout": stdout,
        "stderr": call.stderr or "",
        "interrupted": False,
        "isImage": False,
        **({"persistedOutputPath": call.overflow_path} if call.overflow_path else {}),
        **more,
    }


# ------------------------------------------------------------------ files


def _file_change(call: FileChange, losses: list[LossId], *, own: bool) -> list[NativeCall] | None:
    if own and call.name in EDITORS and isinstance(call.arguments, dict):
        result = _result(call, call.name, losses)
        if call.status == "completed" and call.changes:
            result = result._replace(side=_editor_side(call.name, call.changes[0]))
        return [_native(call.name, call.arguments, result, losses)]
    made = [_edit(edit) for edit in call.changes]
    found = [one for one in made if one is not None]
    if not found or len(found) < len(made):
        return None
    return [
        _native(name, given, _edit_result(call, edit, name, losses), losses)
        for edit, (name, given) in zip(call.changes, found, strict=True)
    ]


def _edit(edit: FileEdit) -> tuple[str, dict[str, Any]] | None:
    """Return the tool and the input that make one edit, None where a content is not known."""
    if edit.operation == "add" and edit.after is not None:
        return "Write", {"file_path": edit.path, "content": edit.after}
    if edit.operation == "update" and edit.before and edit.after is not None:
        given = {"file_path": edit.path, "old_string": edit.before, "new_string": edit.after}
        return "Edit", given
    return None


def _edit_result(call: FileChange, edit: FileEdit, name: str, losses: list[LossId]) -> ToolResult:
    result = _result(call, name, losses)
    if call.status != "completed" or call.error is not None:
        return result
    if name == "Write":
        # Without the side record, a result's words alone decide whether a file was new.
        result = result._replace(side=_editor_side(name, edit))
    return result


def _editor_side(name: str, edit: FileEdit) -> dict[str, Any] | None:
    match name:
        case "Write":
            return {
                "type": "create" if edit.operation == "add" else "update",
                "filePath": edit.path,
                "content": edit.after,
                "structuredPatch": [],
                "originalFile": edit.before,
                "userModified": False,
            }
        case "NotebookEdit" if edit.before is not None:
            return {
                "notebook_path": edit.path,
                "old_source": edit.before,
                "new_source": edit.after or "",
                "error": "",
            }
        case _:
            return None


# ------------------------------------------------------------------ agents


def _sub_agent(call: SubAgent, losses: list[LossId], *, own: bool) -> list[NativeCall] | None:
    known = own and call.name in ("Task", "Agent") and isinstance(call.arguments, dict)
    if not known and not (call.prompt and call.description):
        return None
    name = call.name if known else "Agent"
    given = _arguments(call.arguments) if known else _task(call)
    result = _result(call, name, losses)
    if call.agent_id and not result.is_error:
        result = result._replace(side=_agent_side(call))
    return [_native(name, given, result, losses)]


def _task(call: SubAgent) -> dict[str, Any]:
    given: dict[str, Any] = {"description": call.description, "prompt": call.prompt}
    if call.agent_type:
        given["subagent_type"] = call.agent_type
    if call.background:
        given["run_in_background"] = True
    return given


def _agent_side(call: SubAgent) -> dict[str, Any]:
    """Return what links a call to the file of its thread."""
    made, _ = blocks(call.output or ())
    launched = call.background and call.status == "unknown"
    side: dict[str, Any] = {
        "status": "async_launched" if launched else "completed",
        "prompt": call.prompt,
        "agentId": call.agent_id,
        "content": made,
    }
    if launched:
        side["isAsync"] = True
    if call.agent_type:
        side["agentType"] = call.agent_type
    if call.duration_ms is not None:
        side["totalDurationMs"] = call.duration_ms
    return side
