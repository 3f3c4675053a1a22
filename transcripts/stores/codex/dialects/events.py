"""What the harness says of a call, in events and in completed items, as one evidence.

Neither is a mere mirror of the response items: an item proves an edit whose result was never
recorded, and in code mode it is the only trace of a command.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from transcripts.model import Content, Status
from transcripts.narration import content_text
from transcripts.stores.codex import tools
from transcripts.stores.codex.dialects.responses import content_of, mcp_content
from transcripts.stores.codex.foreign import flag, integer, items, mapping, milliseconds, text
from transcripts.stores.codex.reading.drafts import Evidence

_STATUSES: dict[str, Status] = {
    "completed": "completed",
    "failed": "failed",
    "declined": "declined",
    "in_progress": "unresolved",
    "cancelled": "cancelled",
}


def evidence_of(form: str, value: dict[str, Any], at: datetime | None) -> Evidence | None:
    """Return what an event (by type) or an item (by its PascalCase type) says of a call."""
    read = _READERS.get(form)
    return None if read is None else read(value, at)


def _status(value: dict[str, Any]) -> Status | None:
    return _STATUSES.get(str(value.get("status")).lower())


def _command(value: dict[str, Any], at: datetime | None) -> Evidence:
    output = text(value.get("aggregated_output"))
    return Evidence(
        kind="command",
        id=text(value.get("id")) or text(value.get("call_id")),
        at=at,
        status=_status(value),
        duration_ms=milliseconds(value.get("duration")),
        command=tools.command_line(value.get("command")),
        cwd=tools.path_of(value.get("cwd")),
        output=output if output is not None else text(value.get("formatted_output")),
        stdout=text(value.get("stdout")),
        stderr=text(value.get("stderr")),
        exit_code=integer(value.get("exit_code")),
    )


def _patch(value: dict[str, Any], at: datetime | None) -> Evidence:
    status = _status(value)
    if status is None and flag(value.get("success")) is not None:
        status = "completed" if value["success"] else "failed"
    return Evidence(
        kind="patch",
        id=text(value.get("id")) or text(value.get("call_id")),
        at=at,
        status=status,
        changes=value.get("changes"),
        stdout=text(value.get("stdout")),
        stderr=text(value.get("stderr")),
    )


def _mcp(value: dict[str, Any], at: datetime | None) -> Evidence:
    asked = mapping(value.get("invocation")) or value
    result = mapping(value.get("result"))
    error = text(mapping(value.get("error")).get("message")) or text(value.get("error"))
    if "Ok" in result:
        result = mapping(result["Ok"])
    elif "Err" in result:
        error = text(result["Err"]) or error
        result = {}
    content: Content | None = mcp_content(result) if result else None
    failed = error is not None or flag(result.get("isError")) or flag(result.get("is_error"))
    if failed and error is None and content is not None:
        error = content_text(content)
    return Evidence(
        kind="mcp",
        id=text(value.get("id")) or text(value.get("call_id")),
        at=at,
        status="failed" if failed else _status(value) or "completed",
        duration_ms=milliseconds(value.get("duration")),
        name=text(asked.get("tool")),
        server=text(asked.get("server")),
        arguments=asked.get("arguments"),
        content=None if failed else content,
        error=error if failed else None,
    )


def _tool(value: dict[str, Any], at: datetime | None) -> Evidence:
    content = content_of(value.get("content_items"))
    succeeded = flag(value.get("success"))
    error = text(value.get("error"))
    if succeeded is False and error is None:
        error = content_text(content)
    return Evidence(
        kind="tool",
        id=text(value.get("id")) or text(value.get("call_id")),
        at=at,
        status="failed" if succeeded is False else _status(value) or "completed",
        duration_ms=milliseconds(value.get("duration")),
        name=text(value.get("tool")),
        arguments=value.get("arguments"),
        content=content or None,
        error=error if succeeded is False else None,
    )


def _agent(value: dict[str, Any], at: datetime | None) -> Evidence:
    threads = items(value.get("receiver_thread_ids"))
    agents = items(value.get("receiver_agents"))
    return Evidence(
        kind="agent",
        id=text(value.get("id")) or text(value.get("call_id")),
        at=at,
        status=_status(value),
        name=text(value.get("tool")),
        agent_id=text(threads[0]) if threads else text(value.get("new_thread_id")),
        agent_type=text(mapping(agents[0]).get("agent_role")) if agents else None,
        prompt=text(value.get("prompt")),
    )


def _image(value: dict[str, Any], at: datetime | None) -> Evidence:
    return Evidence(
        kind="image",
        id=text(value.get("id")) or text(value.get("call_id")),
        at=at,
        status="completed",
        name=tools.IMAGE,
        arguments={"path": tools.path_of(value.get("path"))},
    )


_READERS: dict[str, Callable[[dict[str, Any], datetime | None], Evidence]] = {
    "exec_command_end": _command,
    "CommandExecution": _command,
    "patch_apply_end": _patch,
    "FileChange": _patch,
    "mcp_tool_call_end": _mcp,
    "McpToolCall": _mcp,
    "dynamic_tool_call_response": _tool,
    "DynamicToolCall": _tool,
    "collab_agent_spawn_end": _agent,
    "CollabAgentToolCall": _agent,
    "view_image_tool_call": _image,
    "ImageView": _image,
}
