"""What the writer puts into a rollout: response items, their echoes, and the frames of results.

Echoes are not decoration: without ``user_message`` no picker lists the session, and without
the others Codex's own history shows only the prompts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from transcripts.model import (
    Asset,
    Call,
    CommandExecution,
    Content,
    FileEdit,
    Opaque,
    Status,
    Structured,
    Text,
)
from transcripts.narration import content_text, json_text
from transcripts.stores.codex import patches, tools

Payload = dict[str, Any]

LONGEST_CALL_ID = 64


# ------------------------------------------------------------------ words


def parts(content: Content, text_type: str) -> list[Payload]:
    """Return content as the wire's parts: text, and images whose bytes are at hand."""
    made: list[Payload] = []
    for part in content:
        if isinstance(part, Asset) and takes_image(part):
            media_type = part.media_type or "image/png"
            url = f"data:{media_type};base64,{part.data}"
            made.append({"type": "input_image", "image_url": url})
        elif isinstance(part, Opaque):
            continue
        elif words := content_text((part,)):
            made.append({"type": text_type, "text": words})
        elif isinstance(part, Text) and len(content) == 1:
            made.append({"type": text_type, "text": ""})
    return made


def wire_id(prefix: str, own_id: str | None) -> str | None:
    """Return the id that an item was recorded with, if the provider would take it back."""
    return own_id if own_id and own_id.startswith(prefix) else None


def takes_image(part: Asset) -> bool:
    """Whether an attachment has the bytes of an image, which is all that the wire takes."""
    return part.data is not None and (part.media_type or "image/").startswith("image/")


def message(role: str, content: list[Payload], own_id: str | None, **more: Any) -> Payload:
    """Return a message item."""
    item: Payload = {"type": "message", "role": role, "content": content}
    return item | _given(id=wire_id("msg", own_id), **more)


def tagged(
    kinds: Sequence[str | None] | None, turn: str | None, count: int
) -> dict[str, Payload | None]:
    """Return the field that says who wrote each part, as releases from 0.150 record it."""
    passed: Payload = _given(turn_id=turn)
    if kinds is not None:
        known = [kind or "unknown" for kind in kinds]
        passed["content_item_kinds"] = (known * count)[:count] if len(known) == 1 else known
    return {"internal_chat_message_metadata_passthrough": passed or None}


def user_message(content: Sequence[Payload]) -> Payload:
    """Return the echo of a prompt, by the parts of its item: the words of both must agree."""
    return {
        "type": "user_message",
        "message": "".join(part.get("text", "") for part in content),
        "images": [part["image_url"] for part in content if part["type"] == "input_image"],
        "local_images": [],
        "text_elements": [],
    }


def agent_message(words: str, phase: str | None) -> Payload:
    """Return the echo of an answer."""
    return {"type": "agent_message", "message": words, "phase": phase, "memory_citation": None}


def completed(item: Payload, turn: str | None, session_id: str) -> Payload:
    """Return the event that tells something whole, as releases from 0.150 tell everything."""
    ids = {"thread_id": session_id, "turn_id": turn or ""}
    return {"type": "item_completed", **ids, "item": item}


def letter(sender: str, heading: str, sealed: Sequence[str], own_id: str | None) -> Payload:
    """Return what one agent wrote to another, sealed for the model of that other."""
    content = [{"type": "input_text", "text": heading}]
    content += [{"type": "encrypted_content", "encrypted_content": data} for data in sealed]
    item = {"type": "agent_message", "author": sender, "recipient": "", "content": content}
    return _given(id=wire_id("amsg", own_id)) | item


def reasoning(texts: Sequence[str], sealed: str | None, own_id: str | None) -> Payload:
    """Return a thought."""
    return {
        "type": "reasoning",
        **_given(id=wire_id("rs", own_id)),
        "summary": [{"type": "summary_text", "text": words} for words in texts],
        "content": None,
        "encrypted_content": sealed,
    }


# ------------------------------------------------------------------ calls and results


def function_call(name: str, arguments: Any, call_id: str, namespace: str | None = None) -> Payload:
    """Return a call whose arguments are JSON, or, for free text, a custom call."""
    if isinstance(arguments, str):
        return {
            "type": "custom_tool_call",
            "status": "completed",
            "call_id": call_id,
            "name": name,
            "input": arguments,
        }
    words = json_text({} if arguments is None else arguments)
    item: Payload = {"type": "function_call", "name": name, "arguments": words, "call_id": call_id}
    return item | _given(namespace=namespace)


def output(call: Payload, result: Any) -> Payload:
    """Return the item that closes a call."""
    return {"type": f"{call['type']}_output", "call_id": call["call_id"], "output": result}


def command_frame(command: CommandExecution) -> str:
    """Return what the frame of a shell tool says of a result, in the tool's own form."""
    code = command.exit_code
    if command.background_id is not None:
        code = None
    if command.name in ("shell", "shell_command", "container.exec") and code is not None:
        return f"Exit code: {code}\nWall time: {_seconds(command)} seconds\nOutput:\n"
    lines = [f"Wall time: {_seconds(command)} seconds\n"] if command.duration_ms else []
    if code is not None:
        lines.append(f"Process exited with code {code}\n")
    elif command.background_id is not None:
        lines.append(f"Process running with session ID {command.background_id}\n")
    return "".join([*lines, "Output:\n"])


def patch_frame(exit_code: int) -> str:
    """Return the frame of a patch's result."""
    return f"Exit code: {exit_code}\nWall time: 0 seconds\nOutput:\n"


def result_parts(content: Content) -> str | list[Payload]:
    """Return a tool's result: a string where it is text, else its parts."""
    if any(isinstance(part, Asset) and takes_image(part) for part in content):
        return parts(content, "input_text")
    return content_text(content)


# ------------------------------------------------------------------ echoes of results


def command_end(command: CommandExecution, call_id: str, cwd: str) -> Payload:
    """Return the event with which a command's end is recorded."""
    shown = content_text(command.output)
    return {
        "type": "exec_command_end",
        "call_id": call_id,
        "turn_id": command.turn or "",
        "command": ["bash", "-lc", command.command],
        "cwd": command.cwd or cwd,
        "parsed_cmd": [{"type": "unknown", "cmd": command.command}],
        "source": "agent",
        "stdout": command.stdout or "",
        "stderr": command.stderr or "",
        "aggregated_output": shown,
        "exit_code": -1 if command.exit_code is None else command.exit_code,
        "duration": _duration(command),
        "formatted_output": shown,
        "status": _status(command.status),
    }


def patch_end(call: Call, call_id: str, edits: Sequence[FileEdit]) -> Payload | None:
    """Return the event with which a patch's effect is recorded; None if it can't hold it."""
    changes = patches.changes_of(edits)
    if not changes:
        return None
    return {
        "type": "patch_apply_end",
        "call_id": call_id,
        "turn_id": call.turn or "",
        "stdout": content_text(call.output),
        "stderr": call.error or "",
        "success": call.status == "completed",
        "changes": changes,
        "status": _status(call.status),
    }


def mcp_end(call: Call, call_id: str) -> Payload:
    """Return the event with which an MCP tool's answer is recorded."""
    content: list[Payload] = []
    structured = None
    for part in call.output or ():
        if isinstance(part, Structured) and structured is None:
            structured = part.value
        elif isinstance(part, Asset) and part.data is not None:
            content.append({"type": "image", "data": part.data, "mimeType": part.media_type})
        else:
            content.append({"type": "text", "text": content_text((part,))})
    if call.error is not None:
        content.append({"type": "text", "text": call.error})
    result: Payload = {"content": content, "isError": call.error is not None}
    return {
        "type": "mcp_tool_call_end",
        "call_id": call_id,
        "invocation": {"server": call.server, "tool": call.name, "arguments": call.arguments},
        "duration": _duration(call),
        "result": {"Ok": result | _given(structuredContent=structured)},
    }


def tool_end(call: Call, call_id: str) -> Payload:
    """Return the event that says that a tool of the client's own failed, and how."""
    return {
        "type": "dynamic_tool_call_response",
        "call_id": call_id,
        "turn_id": call.turn or "",
        "tool": call.name,
        "arguments": call.arguments,
        "content_items": parts(call.output or (), "inputText"),
        "success": False,
        "error": call.error,
        "duration": _duration(call),
    }


def image_viewed(call_id: str, path: str) -> Payload:
    """Return the event that says that the model had an image opened."""
    return {"type": "view_image_tool_call", "call_id": call_id, "path": path}


def token_count(total: Mapping[str, int], last: Mapping[str, int]) -> Payload:
    """Return the event that tells the tokens of an answer and of all up to it."""
    info = {
        "total_token_usage": total,
        "last_token_usage": last,
        "model_context_window": None,
    }
    return {"type": "token_count", "info": info, "rate_limits": None}


def agent_spawned(agent_id: str, prompt: str | None, call_id: str, session_id: str) -> Payload:
    """Return the event that says which thread a spawned agent runs on."""
    return {
        "type": "collab_agent_spawn_end",
        "call_id": call_id,
        "sender_thread_id": session_id,
        "new_thread_id": agent_id,
        "prompt": prompt or "",
        "status": "completed",
    }


def _given(**fields: Any) -> Payload:
    return {name: value for name, value in fields.items() if value is not None}


def _seconds(call: Call) -> str:
    return f"{(call.duration_ms or 0) / 1000:.4f}"


def _duration(call: Call) -> Mapping[str, int]:
    nanos = round((call.duration_ms or 0) * 1_000_000)
    return {"secs": nanos // 1_000_000_000, "nanos": nanos % 1_000_000_000}


def _status(status: Status) -> str:
    return status if status in ("completed", "failed", "declined") else "failed"


def closing(status: Status) -> str:
    """Return the sentence that closes a call without a result."""
    return tools.WITHOUT_RESULT[status]
