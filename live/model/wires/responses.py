"""OpenAI's Responses API: input items in, ``response.created`` … ``response.completed`` out.

Event order as in https://developers.openai.com/api/reference/resources/responses/streaming-events;
the SDK's event types name every field.
"""

from __future__ import annotations

import base64
from typing import Any

from live.model.history import Entry
from live.model.play import PlayResponse, WireCall
from live.model.script import Failure
from live.model.wires.base import (
    CREATED,
    ENCRYPTED,
    Event,
    Role,
    Stream,
    image_url_value,
    name_of,
    objects,
    parsed_arguments,
    pieces,
    role_of,
    text_of,
    tokens,
    wire_id,
    written_arguments,
)
from live.model.wires.sealing import opened, with_seals

SEARCH_CALL = "web_search_call"
"""The item by which the provider says that it searched. A scripted call of that name is one:
its arguments are the item's ``action``, nobody answers it, and the model goes on when it is
asked again."""

_SEARCH_ID = "ws_"
_RESULTS = ("function_call_output", "custom_tool_call_output")
_NO_WORDS = ("additional_tools", "compaction_trigger")


def history(body: Any) -> list[Entry]:
    """Turn a request's body into what the model reads: instructions, then the input."""
    entries: list[Entry] = []
    if body.get("instructions"):
        entries.append(Entry(role="system", type="text", text=text_of(body["instructions"])))
    given = body.get("input")
    if isinstance(given, str):
        return [*entries, Entry(role="user", type="text", text=given)]
    for item in objects(given):
        entries += _item(item)
    return entries


def tool_kinds(body: Any) -> list[str]:
    """Name every offered tool, also those that a code-mode request carries in its input."""
    return [
        str(tool.get("name") if tool.get("type") in ("function", "custom") else tool.get("type"))
        for tool in _offered(body)
    ]


def _offered(body: Any) -> list[Any]:
    offered = list(objects(body.get("tools")))
    for item in objects(body.get("input")):
        if item.get("type") == "additional_tools":
            offered += objects(item.get("tools"))
    return offered


def stream(response: PlayResponse, body: Any, model: str) -> Stream:
    """Turn a scripted answer into the wire's events, numbered in sequence."""
    finished = whole(response, body, model)
    begun = {
        **finished,
        "status": "in_progress",
        "completed_at": None,
        "output": [],
        "usage": None,
    }
    opening = [
        _event("response.created", response=begun),
        _event("response.in_progress", response=begun),
    ]
    for index, item in enumerate(finished["output"]):
        opening += _item_events(index, item)
    closing = [_event("response.completed", response=finished)]
    for number, event in enumerate([*opening, *closing]):
        event.data["sequence_number"] = number
    return Stream(opening=tuple(opening), closing=tuple(closing))


def whole(response: PlayResponse, body: Any, model: str) -> Any:
    """Turn a scripted answer into a response object, with the request's settings repeated."""
    return {
        "id": wire_id("resp_", response.id),
        "object": "response",
        "created_at": CREATED,
        "completed_at": CREATED,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": body.get("max_output_tokens"),
        "model": body.get("model", model),
        "output": _output(response, body),
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "reasoning": {"effort": None, "summary": None},
        "store": body.get("store", True),
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _usage(response),
        "metadata": {},
        **_going_on(response),
    }


def _going_on(response: PlayResponse) -> dict[str, Any]:
    """Say that the model's turn goes on after an answer in which only the provider acted."""
    hosted = [call.name == SEARCH_CALL for call in response.calls]
    return {"end_turn": False} if hosted and all(hosted) else {}


def compacted(response: PlayResponse) -> Any:
    """Turn a scripted summary into the answer of ``/responses/compact``."""
    return {
        "id": wire_id("resp_", response.id),
        "object": "response.compaction",
        "created_at": CREATED,
        "output": [_compaction(response)],
        "usage": _usage(response),
    }


def refusal(failure: Failure, request_id: str) -> Any:
    """Turn a failure into the wire's error body; the id stands only in the headers."""
    return {
        "error": {
            "message": failure.message,
            "type": failure.type,
            "param": None,
            "code": failure.type,
        }
    }


def _item(item: Any) -> list[Entry]:
    kind = item.get("type", "message" if "role" in item else None)
    if kind == "message":
        return _message(item)
    if kind == "agent_message":
        return [
            Entry(role="user", type=entry.type, text=entry.text, name=name_of(item.get("author")))
            for entry in _message({**item, "role": "user", "content": _unsealed(item)})
        ]
    if kind == "reasoning":
        return [_reasoning(item)]
    if kind in ("function_call", "custom_tool_call"):
        return [_call(item, free_text=kind == "custom_tool_call")]
    if kind in _RESULTS:
        return _result(item)
    if kind in _NO_WORDS:
        return []
    if kind == SEARCH_CALL:
        # The provider searched by itself: what it looked for is in the item, and no result.
        action = item.get("action")
        value = {"type": kind, "action": action}
        own = name_of(item.get("id"))
        call_id = None if own is None else own.removeprefix(_SEARCH_ID)
        return [Entry(role="assistant", type="opaque", value=value, call_id=call_id)]
    return [Entry(role="assistant", type="opaque", value={"type": kind})]


def _unsealed(item: Any) -> list[Any]:
    return [
        {"type": "input_text", "text": opened(text_of(part.get("encrypted_content")))}
        if part.get("type") == "encrypted_content"
        else part
        for part in objects(item.get("content"))
    ]


def _message(item: Any) -> list[Entry]:
    role = role_of(item.get("role"))
    content = item.get("content")
    if isinstance(content, str):
        return [Entry(role=role, type="text", text=content)]
    return [_part(role, part, None) for part in objects(content)]


def _part(role: Role, part: Any, call_id: str | None) -> Entry:
    kind = part.get("type")
    if kind in ("input_text", "output_text", "text", "refusal"):
        text = text_of(part.get("text", part.get("refusal")))
        return Entry(role=role, type="text", text=text, call_id=call_id)
    if kind == "input_image":
        value = image_url_value(part.get("image_url"))
        return Entry(role=role, type="image", value=value, call_id=call_id)
    return Entry(role=role, type="opaque", value={"type": kind}, call_id=call_id)


def _reasoning(item: Any) -> Entry:
    parts = [*objects(item.get("summary")), *objects(item.get("content"))]
    texts = [text_of(part["text"]) for part in parts if "text" in part]
    if not texts:
        return Entry(role="assistant", type="opaque", value={"type": "reasoning"})
    return Entry(role="assistant", type="reasoning", text="\n".join(texts))


def _call(item: Any, *, free_text: bool) -> Entry:
    return Entry(
        role="assistant",
        type="call",
        call_id=name_of(item.get("call_id")),
        name=name_of(item.get("name")),
        namespace=name_of(item.get("namespace")),
        arguments=item.get("input") if free_text else parsed_arguments(item.get("arguments")),
    )


def _result(item: Any) -> list[Entry]:
    call_id = name_of(item.get("call_id"))
    output = item.get("output")
    if isinstance(output, str):
        return [Entry(role="tool", type="result", call_id=call_id, text=output)]
    parts = [_part("tool", part, call_id) for part in objects(output)]
    text = "\n".join(part.text or "" for part in parts if part.type == "text")
    result = Entry(role="tool", type="result", call_id=call_id, text=text)
    return [result, *(part for part in parts if part.type != "text")]


def is_compacting(body: Any) -> bool:
    """Tell whether the request ends by asking for the context to be compacted."""
    return any(item.get("type") == "compaction_trigger" for item in objects(body.get("input"))[-1:])


def _compaction(response: PlayResponse) -> dict[str, Any]:
    summary = base64.b64encode((response.text or "").encode()).decode()
    return {
        "type": "compaction",
        "id": wire_id("cmp_", response.id),
        "encrypted_content": summary,
    }


def _output(response: PlayResponse, body: Any) -> list[dict[str, Any]]:
    if is_compacting(body):
        return [_compaction(response)]
    output: list[dict[str, Any]] = []
    if response.reasoning is not None:
        output.append(
            {
                "id": wire_id("rs_", response.id),
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": response.reasoning}],
                "encrypted_content": ENCRYPTED,
            }
        )
    if response.sealed_reasoning:
        output.append(
            {
                "id": wire_id("rs_", f"{response.id}-sealed"),
                "type": "reasoning",
                "summary": [],
                "encrypted_content": ENCRYPTED,
            }
        )
    if response.text is not None:
        output.append(
            {
                "id": wire_id("msg_", response.id),
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [_output_text(response.text)],
            }
        )
    offered = _offered(body)
    return output + [_output_call(with_seals(call, offered)) for call in response.calls]


def _output_text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _output_call(call: WireCall) -> dict[str, Any]:
    item: dict[str, Any]
    if call.name == SEARCH_CALL:
        return {
            "id": wire_id(_SEARCH_ID, call.id),
            "type": SEARCH_CALL,
            "status": "completed",
            "action": call.arguments,
        }
    if call.custom or isinstance(call.arguments, str):
        item = {
            "id": wire_id("ctc_", call.id),
            "type": "custom_tool_call",
            "status": "completed",
            "call_id": call.id,
            "name": call.name,
            "input": written_arguments(call.arguments),
        }
    else:
        item = {
            "id": wire_id("fc_", call.id),
            "type": "function_call",
            "status": "completed",
            "call_id": call.id,
            "name": call.name,
            "arguments": written_arguments(call.arguments),
        }
    if call.namespace is not None:
        item["namespace"] = call.namespace
    return item


def _usage(response: PlayResponse) -> dict[str, Any]:
    counts = tokens(response)
    given = counts.input + counts.cache_read + counts.cache_write
    return {
        "input_tokens": given,
        "input_tokens_details": {
            "cached_tokens": counts.cache_read,
            "cache_write_tokens": counts.cache_write,
        },
        "output_tokens": counts.output,
        "output_tokens_details": {"reasoning_tokens": counts.reasoning},
        "total_tokens": given + counts.output,
    }


def _item_events(index: int, item: dict[str, Any]) -> list[Event]:
    make = {
        "reasoning": _reasoning_events,
        "message": _message_events,
        "function_call": _function_events,
        "custom_tool_call": _custom_events,
        SEARCH_CALL: _search_events,
        "compaction": lambda _, item: (item, []),
    }[item["type"]]
    begun, inner = make(index, item)
    return [
        _event("response.output_item.added", output_index=index, item=begun),
        *inner,
        _event("response.output_item.done", output_index=index, item=item),
    ]


def _reasoning_events(index: int, item: dict[str, Any]) -> tuple[Any, list[Event]]:
    place = {"item_id": item["id"], "output_index": index, "summary_index": 0}
    if not item["summary"]:
        return item, []
    part = item["summary"][0]
    prefix = "response.reasoning_summary_"
    return {**item, "summary": []}, [
        _event(prefix + "part.added", **place, part={**part, "text": ""}),
        *_deltas(prefix + "text.delta", part["text"], **place),
        _event(prefix + "text.done", **place, text=part["text"]),
        _event(prefix + "part.done", **place, part=part),
    ]


def _message_events(index: int, item: dict[str, Any]) -> tuple[Any, list[Event]]:
    place = {"item_id": item["id"], "output_index": index, "content_index": 0}
    part = item["content"][0]
    return {**item, "status": "in_progress", "content": []}, [
        _event("response.content_part.added", **place, part=_output_text("")),
        *_deltas("response.output_text.delta", part["text"], **place, logprobs=[]),
        _event("response.output_text.done", **place, text=part["text"], logprobs=[]),
        _event("response.content_part.done", **place, part=part),
    ]


def _function_events(index: int, item: dict[str, Any]) -> tuple[Any, list[Event]]:
    place = {"item_id": item["id"], "output_index": index}
    name = "response.function_call_arguments"
    return {**item, "status": "in_progress", "arguments": ""}, [
        *_deltas(f"{name}.delta", item["arguments"], **place),
        _event(f"{name}.done", **place, name=item["name"], arguments=item["arguments"]),
    ]


def _custom_events(index: int, item: dict[str, Any]) -> tuple[Any, list[Event]]:
    place = {"item_id": item["id"], "output_index": index}
    name = "response.custom_tool_call_input"
    return {**item, "status": "in_progress", "input": ""}, [
        *_deltas(f"{name}.delta", item["input"], **place),
        _event(f"{name}.done", **place, input=item["input"]),
    ]


def _search_events(index: int, item: dict[str, Any]) -> tuple[Any, list[Event]]:
    place = {"item_id": item["id"], "output_index": index}
    name = "response.web_search_call"
    begun = {key: value for key, value in item.items() if key != "action"}
    return {**begun, "status": "in_progress"}, [
        _event(f"{name}.{step}", **place) for step in ("in_progress", "searching", "completed")
    ]


def _deltas(name: str, text: str, /, **place: Any) -> list[Event]:
    return [
        Event(name=name, data={"type": name, **place, "delta": piece}, delta=True)
        for piece in pieces(text)
    ]


def _event(name: str, /, **data: Any) -> Event:
    return Event(name=name, data={"type": name, **data})
