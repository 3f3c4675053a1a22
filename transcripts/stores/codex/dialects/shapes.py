"""The commonest records, decoded straight into what is read of them.

Most of a rollout's bytes are never asked for, and a decoder that knows what is makes nothing of
the rest. It knows only whole shapes: a record of another kind, or with a field of an odd type, is
decoded as an object and comes here by :func:`shaped`, which takes each field that is as it should
be. So there is one set of fields, whichever way they were read.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any, Literal, TypeVar, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo

T = TypeVar("T", bound=Struct)

_PASSED = "internal_chat_message_metadata_passthrough"


class Passed(Struct, kw_only=True):
    """What Codex passes along with a response item: its turn, and who wrote its parts."""

    turn_id: str | None = None
    content_item_kinds: list[Any] | None = None
    content_item_metadata: list[Any] | None = None


class Words(Struct, kw_only=True, gc=False):
    """A part of a content that is words and nothing else, as it mostly is."""

    type: Literal["output_text", "input_text", "Text", "text"]
    text: str


Parts = list[Words] | None
"""A content of words. One with another part in it stays as it was recorded."""


class Item(Struct, kw_only=True, tag_field="type"):
    """What every response item has."""

    id: str | None = None
    passed: Passed | None = msgspec.field(default=None, name=_PASSED)


class Message(Item, kw_only=True, tag="message"):
    """Words of one role."""

    role: str | None = None
    content: Parts = None
    phase: str | None = None


class Reasoned(Item, kw_only=True, tag="reasoning"):
    """A thought."""

    summary: Any = None
    content: Any = None
    encrypted_content: str | None = None


class Call(Item, kw_only=True, tag="function_call"):
    """A call with JSON arguments."""

    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    arguments: Any = None


class CustomCall(Item, kw_only=True, tag="custom_tool_call"):
    """A call with free text."""

    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    input: Any = None


class Output(Item, kw_only=True, tag="function_call_output"):
    """The result of a call."""

    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    output: Any = None


class CustomOutput(Output, kw_only=True, tag="custom_tool_call_output"):
    """The result of a call with free text."""


# ------------------------------------------------------------------ completed items and events


class Told(Struct, kw_only=True, tag_field="type"):
    """What a completed item or an event that tells of the conversation has."""

    id: str | None = None


class TypedItem(Told, kw_only=True, tag="UserMessage"):
    """What the person typed."""

    content: Parts = None
    images: Any = None


class AnsweredItem(Told, kw_only=True, tag="AgentMessage"):
    """What the model said."""

    content: Parts = None
    phase: str | None = None


class ThoughtItem(Told, kw_only=True, tag="Reasoning"):
    """What the model thought."""

    summary_text: Any = None
    raw_content: Any = None


class Ran(Told, kw_only=True, tag="CommandExecution"):
    """What came of a command."""

    call_id: str | None = None
    command: Any = None
    cwd: str | None = None
    status: Any = None
    aggregated_output: str | None = None
    formatted_output: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None
    duration: Any = None


class RanEvent(Ran, kw_only=True, tag="exec_command_end"):
    """The same, before there were items."""


class Patched(Told, kw_only=True, tag="FileChange"):
    """What came of a patch."""

    call_id: str | None = None
    status: Any = None
    success: bool | None = None
    changes: Any = None
    stdout: str | None = None
    stderr: str | None = None


class PatchedEvent(Patched, kw_only=True, tag="patch_apply_end"):
    """The same, before there were items."""


class Served(Told, kw_only=True, tag="McpToolCall"):
    """What an MCP server answered."""

    call_id: str | None = None
    invocation: Any = None
    server: str | None = None
    tool: str | None = None
    arguments: Any = None
    result: Any = None
    error: Any = None
    status: Any = None
    duration: Any = None


class ServedEvent(Served, kw_only=True, tag="mcp_tool_call_end"):
    """The same, before there were items."""


CompletedItem = TypedItem | AnsweredItem | ThoughtItem | Ran | Patched | Served


class Event(Struct, kw_only=True, tag_field="type"):
    """What events that are no evidence have: nothing in common but the name of their kind."""


class TurnStarted(Event, kw_only=True, tag="task_started"):
    """A turn begins."""

    turn_id: str | None = None


class TurnEnded(Event, kw_only=True, tag="task_complete"):
    """A turn ends, well or with an error."""

    error: Any = None


class TokensCounted(Event, kw_only=True, tag="token_count"):
    """How many tokens the session and its last answer took."""

    info: Any = None


class ItemCompleted(Event, kw_only=True, tag="item_completed"):
    """A part of a turn is complete."""

    item: CompletedItem
    turn_id: str | None = None


class TypedEcho(Event, kw_only=True, tag="user_message"):
    """What the person typed, told before there were items."""

    id: str | None = None
    message: Any = None
    images: Any = None


class AnsweredEcho(Event, kw_only=True, tag="agent_message"):
    """What the model said, told before there were items."""

    message: str | None = None
    phase: str | None = None


class ThoughtEcho(Event, kw_only=True, tag="agent_reasoning"):
    """A part of what the model thought, told before there were items."""

    text: str | None = None


# ------------------------------------------------------------------ other records


class AnswerCounted(Struct, kw_only=True):
    """How many tokens an answer took, and its id."""

    response_id: str | None = None
    usage: dict[str, Any] | None = None


class TurnContext(Struct, kw_only=True):
    """In which turn, where and with which model the next answers are given."""

    turn_id: str | None = None
    cwd: str | None = None
    model: str | None = None


ResponseItem = Message | Reasoned | Call | CustomCall | Output | CustomOutput
EventMessage = (
    TurnStarted
    | TurnEnded
    | TokensCounted
    | ItemCompleted
    | TypedEcho
    | AnsweredEcho
    | ThoughtEcho
    | RanEvent
    | PatchedEvent
    | ServedEvent
)


class Line(Struct, kw_only=True, tag_field="type"):
    """What every line has, whatever it holds."""

    timestamp: str | None = None
    ordinal: int | None = None


class ResponseItemLine(Line, kw_only=True, tag="response_item"):
    """A line with a response item."""

    payload: ResponseItem


class EventLine(Line, kw_only=True, tag="event_msg"):
    """A line with an event."""

    payload: EventMessage


class TokensLine(Line, kw_only=True, tag="token_usage_record"):
    """A line with a count of tokens."""

    payload: AnswerCounted


class ContextLine(Line, kw_only=True, tag="turn_context"):
    """A line with the context of a turn."""

    payload: TurnContext


decode = msgspec.json.Decoder(ResponseItemLine | EventLine | TokensLine | ContextLine).decode
"""Decode one line; ``msgspec.DecodeError`` where it is none of the commonest."""


# ------------------------------------------------------------------ from an object


def _by_tag(kinds: Any) -> dict[str, type[Any]]:
    return {str(kind.__struct_config__.tag): kind for kind in get_args(kinds)}


_ITEMS, _EVENTS, _COMPLETED = map(_by_tag, (ResponseItem, EventMessage, CompletedItem))
del _EVENTS["item_completed"]  # What it holds may be of any kind.


def item_of(form: str, payload: dict[str, Any]) -> Item | None:
    """Return a response item of one of the commonest types; None of another."""
    kind = _ITEMS.get(form)
    return None if kind is None else shaped(kind, payload)


def event_of(form: str, payload: dict[str, Any]) -> Event | Told | None:
    """Return an event of one of the commonest types; None of another."""
    kind = _EVENTS.get(form)
    return None if kind is None else shaped(kind, payload)


def completed_of(form: str, item: dict[str, Any]) -> Told | None:
    """Return a completed item of one of the commonest types; None of another."""
    kind = _COMPLETED.get(form)
    return None if kind is None else shaped(kind, item)


def shaped(kind: type[T], value: dict[str, Any]) -> T:
    """Return what is read of an object: each field that has the type that is needed."""
    taken: dict[str, Any] = {}
    for field in _fields(kind):
        own = value.get(field.encode_name)
        if field.encode_name == _PASSED:
            taken[field.name] = shaped(Passed, own) if isinstance(own, dict) else None
            continue
        if field.type == Parts:
            taken[field.name] = own
            continue
        # Half a surrogate pair where no text is looked for is refused in another way.
        with suppress(msgspec.ValidationError, UnicodeEncodeError):
            taken[field.name] = msgspec.convert(own, field.type)
    return kind(**taken)


@cache
def _fields(kind: type[Struct]) -> tuple[FieldInfo, ...]:
    return msgspec.structs.fields(kind)
