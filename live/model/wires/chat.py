"""OpenAI's Chat Completions: messages in, ``chat.completion.chunk`` … ``[DONE]`` out.

Thoughts travel as ``reasoning_content``, a field that the vendor's SDK does not have and
that compatible providers and Copilot CLI use; the API that goes with a Copilot account calls
it ``reasoning_text`` and seals it with ``reasoning_opaque``.
"""

from __future__ import annotations

from typing import Any

from live.model.history import Entry
from live.model.play import PlayResponse, WireCall
from live.model.script import Failure
from live.model.wires import responses
from live.model.wires.base import (
    CREATED,
    SIGNATURE,
    Event,
    Role,
    Stream,
    image_url_value,
    name_of,
    object_of,
    objects,
    parsed_arguments,
    pieces,
    role_of,
    text_of,
    tokens,
    wire_id,
    written_arguments,
)

_SEALED = "reasoning_text"


def history(body: Any) -> list[Entry]:
    """Turn a request's body into what the model reads."""
    entries: list[Entry] = []
    for message in objects(body.get("messages")):
        entries += _message(message)
    return entries


def tool_kinds(body: Any) -> list[str]:
    """Name every offered tool."""
    return [
        str(object_of(tool.get("function") or tool.get("custom")).get("name", tool.get("type")))
        for tool in objects(body.get("tools"))
    ]


def stream(response: PlayResponse, body: Any, model: str) -> Stream:
    """Turn a scripted answer into chunks; the counts come only when they were asked for."""
    opening = [_chunk(response, body, model, {"role": "assistant", "content": ""})]
    for piece in pieces(response.reasoning or ""):
        opening.append(_chunk(response, body, model, {response.thoughts_as: piece}, piece=True))
    if response.reasoning and response.thoughts_as == _SEALED:
        opening.append(_chunk(response, body, model, {"reasoning_opaque": SIGNATURE}))
    for piece in pieces(response.text or ""):
        opening.append(_chunk(response, body, model, {"content": piece}, piece=True))
    for index, call in enumerate(response.calls):
        for delta in _call_deltas(index, call):
            opening.append(_chunk(response, body, model, {"tool_calls": [delta]}, piece=True))
    closing = [_chunk(response, body, model, {}, finish=_finish(response))]
    if object_of(body.get("stream_options")).get("include_usage"):
        base = _base(response, body, model, "chat.completion.chunk")
        closing.append(Event(data={**base, "choices": [], "usage": _usage(response)}))
    return Stream(opening=tuple(opening), closing=(*closing, Event(data="[DONE]")))


def whole(response: PlayResponse, body: Any, model: str) -> Any:
    """Turn a scripted answer into a completion object."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": response.text,
        "refusal": None,
    }
    if response.reasoning is not None:
        message[response.thoughts_as] = response.reasoning
        if response.thoughts_as == _SEALED:
            message["reasoning_opaque"] = SIGNATURE
    if response.calls:
        message["tool_calls"] = [_call(call) for call in response.calls]
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": _finish(response),
    }
    return {
        **_base(response, body, model, "chat.completion"),
        "choices": [choice],
        "usage": _usage(response),
    }


def refusal(failure: Failure, request_id: str) -> Any:
    """Turn a failure into the wire's error body: the vendor has one for both of its wires."""
    return responses.refusal(failure, request_id)


def _message(message: Any) -> list[Entry]:
    role = role_of(message.get("role"))
    if role in ("tool", "function"):
        return [
            Entry(
                role="tool",
                type="result",
                call_id=name_of(message.get("tool_call_id")),
                text="\n".join(part.text or "" for part in _content("tool", message)),
            )
        ]
    entries: list[Entry] = []
    if thought := message.get("reasoning_content") or message.get(_SEALED):
        entries.append(Entry(role=role, type="reasoning", text=text_of(thought)))
    entries += _content(role, message)
    for call in objects(message.get("tool_calls")):
        entries.append(_call_entry(role, call))
    return entries


def _content(role: Role, message: Any) -> list[Entry]:
    content = message.get("content")
    if content is None:
        return []
    if isinstance(content, str):
        # An answer that is only calls may carry "" where another client sends null.
        if content == "" and message.get("tool_calls"):
            return []
        return [Entry(role=role, type="text", text=content)]
    return [_part(role, part) for part in objects(content)]


def _part(role: Role, part: Any) -> Entry:
    kind = part.get("type")
    if kind in ("text", "refusal"):
        return Entry(role=role, type="text", text=text_of(part.get("text", part.get("refusal"))))
    if kind == "image_url":
        url = object_of(part.get("image_url")).get("url")
        return Entry(role=role, type="image", value=image_url_value(url))
    return Entry(role=role, type="opaque", value={"type": kind})


def _call_entry(role: Role, call: Any) -> Entry:
    function = object_of(call.get("function"))
    custom = object_of(call.get("custom"))
    return Entry(
        role=role,
        type="call",
        call_id=name_of(call.get("id")),
        name=name_of(function.get("name", custom.get("name"))),
        arguments=parsed_arguments(function["arguments"])
        if "arguments" in function
        else custom.get("input"),
    )


def _call(call: WireCall) -> dict[str, Any]:
    written = written_arguments(call.arguments)
    if call.custom:
        custom = {"name": call.name, "input": written}
        return {"id": call.id, "type": "custom", "custom": custom}
    function = {"name": call.name, "arguments": written}
    return {"id": call.id, "type": "function", "function": function}


def _call_deltas(index: int, call: WireCall) -> list[dict[str, Any]]:
    kind, field = ("custom", "input") if call.custom else ("function", "arguments")
    head = {"id": call.id, "type": kind, kind: {"name": call.name, field: ""}}
    rest = [{kind: {field: piece}} for piece in pieces(written_arguments(call.arguments))]
    return [{"index": index, **delta} for delta in (head, *rest)]


def _chunk(
    response: PlayResponse,
    body: Any,
    model: str,
    delta: dict[str, Any],
    *,
    finish: str | None = None,
    piece: bool = False,
) -> Event:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    base = _base(response, body, model, "chat.completion.chunk")
    return Event(data={**base, "choices": [choice]}, delta=piece)


def _base(response: PlayResponse, body: Any, model: str, kind: str) -> dict[str, Any]:
    return {
        "id": wire_id("chatcmpl-", response.id),
        "object": kind,
        "created": CREATED,
        "model": body.get("model", model),
        "system_fingerprint": "fp_scripted",
    }


def _finish(response: PlayResponse) -> str:
    return "tool_calls" if response.calls else "stop"


def _usage(response: PlayResponse) -> dict[str, Any]:
    counts = tokens(response)
    given = counts.input + counts.cache_read + counts.cache_write
    return {
        "prompt_tokens": given,
        "completion_tokens": counts.output,
        "total_tokens": given + counts.output,
        "prompt_tokens_details": {"cached_tokens": counts.cache_read},
        "completion_tokens_details": {"reasoning_tokens": counts.reasoning},
    }
