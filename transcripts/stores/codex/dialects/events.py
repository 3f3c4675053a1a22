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
from transcripts.stores.codex.dialects.shapes import (
    Patched,
    PatchedEvent,
    Ran,
    RanEvent,
    Served,
    ServedEvent,
    Told,
)
from transcripts.stores.codex.foreign import flag, items, mapping, milliseconds, text
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


def evidence_in(told: Told, at: datetime | None) -> Evidence:
    """Return what one of the commonest events or items says of a call."""
    return _READERS_OF_SHAPES[type(told)](told, at)


def _status(value: Any) -> Status | None:
    known = _STATUSES.get(value) if isinstance(value, str) else None
    return known or _STATUSES.get(str(value).lower())


def _command(ran: Ran, at: datetime | None) -> Evidence:
    output = ran.aggregated_output
    return Evidence(
        kind="command",
        id=ran.id or ran.call_id,
        at=at,
        status=_status(ran.status),
        duration_ms=milliseconds(ran.duration),
        command=tools.command_line(ran.command),
        cwd=tools.path_of(ran.cwd),
        output=output if output is not None else ran.formatted_output,
        stdout=ran.stdout,
        stderr=ran.stderr,
        exit_code=ran.exit_code,
    )


def _patch(patched: Patched, at: datetime | None) -> Evidence:
    status = _status(patched.status)
    if status is None and patched.success is not None:
        status = "completed" if patched.success else "failed"
    return Evidence(
        kind="patch",
        id=patched.id or patched.call_id,
        at=at,
        status=status,
        changes=patched.changes,
        stdout=patched.stdout,
        stderr=patched.stderr,
    )


def _mcp(served: Served, at: datetime | None) -> Evidence:
    asked = mapping(served.invocation)
    if asked:
        server, tool = text(asked.get("server")), text(asked.get("tool"))
        arguments = asked.get("arguments")
    else:
        server, tool, arguments = served.server, served.tool, served.arguments
    result = mapping(served.result)
    error = text(mapping(served.error).get("message")) or text(served.error)
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
        id=served.id or served.call_id,
        at=at,
        status="failed" if failed else _status(served.status) or "completed",
        duration_ms=milliseconds(served.duration),
        name=tool,
        server=server,
        arguments=arguments,
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
        status="failed" if succeeded is False else _status(value.get("status")) or "completed",
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
        status=_status(value.get("status")),
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
    "dynamic_tool_call_response": _tool,
    "DynamicToolCall": _tool,
    "collab_agent_spawn_end": _agent,
    "CollabAgentToolCall": _agent,
    "view_image_tool_call": _image,
    "ImageView": _image,
}

_READERS_OF_SHAPES: dict[type[Told], Callable[[Any, datetime | None], Evidence]] = {
    Ran: _command,
    RanEvent: _command,
    Patched: _patch,
    PatchedEvent: _patch,
    Served: _mcp,
    ServedEvent: _mcp,
}
