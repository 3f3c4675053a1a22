"""Anthropic's Messages API: content blocks in, ``message_start`` … ``message_stop`` out.

Event order as in https://platform.claude.com/docs/en/build-with-claude/streaming.
"""

from __future__ import annotations

from typing import Any

from live.model.history import Entry
from live.model.play import PlayResponse, Search
from live.model.script import Failure
from live.model.wires.base import (
    ENCRYPTED,
    SIGNATURE,
    Event,
    Role,
    Stream,
    image_value,
    name_of,
    object_of,
    objects,
    pieces,
    role_of,
    text_of,
    tokens,
    wire_id,
    written_arguments,
)

SEARCH_PREFIX = "web_search"


def history(body: Any) -> list[Entry]:
    """Turn a request's body into what the model reads: system text, then the messages."""
    system = body.get("system")
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else objects(system)
    entries = [
        Entry(role="system", type="text", text=text_of(block.get("text"))) for block in blocks
    ]
    for message in objects(body.get("messages")):
        entries += _message(message)
    return entries


def tool_kinds(body: Any) -> list[str]:
    """Name every offered tool: by type where it is not the client's own."""
    return [
        str(tool.get("name") if tool.get("type") in (None, "custom") else tool["type"])
        for tool in objects(body.get("tools"))
    ]


def stream(response: PlayResponse, body: Any, model: str) -> Stream:
    """Turn a scripted answer into the wire's events."""
    message = whole(response, body, model)
    usage = message["usage"]
    start = {
        **message,
        "content": [],
        "stop_reason": None,
        "usage": {**usage, "output_tokens": 1},
    }
    opening = [
        _event({"type": "message_start", "message": start}),
        _event({"type": "ping"}),
    ]
    for index, block in enumerate(message["content"]):
        opening += _block_events(index, block)
    ending: dict[str, Any] = {
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
        "usage": {
            key: usage[key]
            for key in (
                "input_tokens",
                "cache_creation_input_tokens",
                "cache_read_input_tokens",
                "output_tokens",
            )
        },
    }
    if body.get("context_management") is not None:
        ending["context_management"] = {"applied_edits": []}
    return Stream(
        opening=tuple(opening), closing=(_event(ending), _event({"type": "message_stop"}))
    )


def whole(response: PlayResponse, body: Any, model: str) -> Any:
    """Turn a scripted answer into a message object."""
    counts = tokens(response)
    return {
        "id": wire_id("msg_", response.id),
        "type": "message",
        "role": "assistant",
        "model": body.get("model", model),
        "content": _blocks(response, body),
        "stop_reason": "tool_use" if response.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": counts.input,
            "cache_creation_input_tokens": counts.cache_write,
            "cache_read_input_tokens": counts.cache_read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": counts.cache_write,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": counts.output,
            "service_tier": "standard",
        },
    }


def refusal(failure: Failure, request_id: str) -> Any:
    """Turn a failure into the wire's error body."""
    return {
        "type": "error",
        "error": {"type": failure.type, "message": failure.message},
        "request_id": request_id,
    }


def is_search(body: Any) -> bool:
    """Tell whether this is the nested request by which a CLI searches the web."""
    kinds = tool_kinds(body)
    return bool(kinds) and all(kind.startswith(SEARCH_PREFIX) for kind in kinds)


def _message(message: Any) -> list[Entry]:
    role = role_of(message.get("role"))
    content = message.get("content")
    if isinstance(content, str):
        return [Entry(role=role, type="text", text=content)]
    entries: list[Entry] = []
    for block in objects(content):
        entries += _block(role, block)
    return entries


def _block(role: Role, block: Any) -> list[Entry]:
    kind = block.get("type")
    if kind == "text":
        return [Entry(role=role, type="text", text=text_of(block.get("text")))]
    if kind == "thinking":
        return [Entry(role=role, type="reasoning", text=text_of(block.get("thinking")))]
    if kind == "tool_use":
        return [
            Entry(
                role=role,
                type="call",
                call_id=name_of(block.get("id")),
                name=name_of(block.get("name")),
                arguments=block.get("input"),
            )
        ]
    if kind == "tool_result":
        return _result(block)
    if kind == "image":
        return [Entry(role=role, type="image", value=_image(block))]
    return [Entry(role=role, type="opaque", value={"type": kind})]


def _result(block: Any) -> list[Entry]:
    content = block.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
    texts = [text_of(part.get("text")) for part in parts if part.get("type") == "text"]
    call_id = name_of(block.get("tool_use_id"))
    entries = [
        Entry(
            role="tool",
            type="result",
            call_id=call_id,
            text="\n".join(texts),
            error=bool(block.get("is_error")),
        )
    ]
    for part in parts:
        if part.get("type") == "image":
            entries.append(Entry(role="tool", type="image", call_id=call_id, value=_image(part)))
        elif part.get("type") != "text":
            value = {"type": part.get("type")}
            entries.append(Entry(role="tool", type="opaque", call_id=call_id, value=value))
    return entries


def _image(block: Any) -> Any:
    source = object_of(block.get("source"))
    if source.get("type") == "base64":
        return image_value(str(source.get("data", "")), source.get("media_type"))
    return {key: source[key] for key in ("url", "file_id") if key in source}


def _blocks(response: PlayResponse, body: Any) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if response.reasoning is not None:
        blocks.append({"type": "thinking", "thinking": response.reasoning, "signature": SIGNATURE})
    if response.sealed_reasoning:
        blocks.append({"type": "redacted_thinking", "data": ENCRYPTED})
    if response.search is not None and is_search(body):
        blocks += _search_blocks(response, response.search)
    if response.text is not None:
        blocks.append({"type": "text", "text": response.text})
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in response.calls
    ]
    return blocks


def _search_blocks(response: PlayResponse, search: Search) -> list[dict[str, Any]]:
    call_id = wire_id("srvtoolu_", response.id)
    found = [
        {
            "type": "web_search_result",
            "title": hit.title,
            "url": hit.url,
            "encrypted_content": SIGNATURE,
            "page_age": None,
        }
        for hit in search.hits
    ]
    return [
        {
            "type": "server_tool_use",
            "id": call_id,
            "name": "web_search",
            "input": {"query": search.query},
        },
        {"type": "web_search_tool_result", "tool_use_id": call_id, "content": found},
    ]


def _block_events(index: int, block: dict[str, Any]) -> list[Event]:
    kind = block["type"]
    empty = dict(block)
    deltas: list[dict[str, Any]] = []
    if kind == "text":
        empty["text"] = ""
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
    elif kind == "thinking":
        empty |= {"thinking": "", "signature": ""}
        deltas = [
            {"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])
        ]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    elif kind in ("tool_use", "server_tool_use"):
        empty["input"] = {}
        written = ["", *pieces(written_arguments(block["input"]))]
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in written]
    return [
        _event({"type": "content_block_start", "index": index, "content_block": empty}),
        *(
            _event({"type": "content_block_delta", "index": index, "delta": delta}, delta=True)
            for delta in deltas
        ),
        _event({"type": "content_block_stop", "index": index}),
    ]


def _event(data: dict[str, Any], *, delta: bool = False) -> Event:
    return Event(name=data["type"], data=data, delta=delta)
