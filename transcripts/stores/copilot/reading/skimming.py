"""A record in one quick look: what is read of it by name, all else passed over.

Every record of a session is looked at, and most of what is in it does not matter. Each field is
taken whatever its type: whoever reads it judges that. A record of which not even the objects are
objects is read whole instead, by :func:`of_whole`; both make the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from transcripts.stores.copilot.foreign import integer, mapping, mappings

_S = TypeVar("_S", bound=msgspec.Struct)


class Asked(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A call as an answer requests it; its start says the same in other words."""

    type: Any = None
    name: Any = None
    tool_call_id: Any = None
    tool_name: Any = None
    mcp_server_name: Any = UNSET
    mcp_tool_name: Any = UNSET
    arguments: Any = UNSET


class Result(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """What a call came to, as the model was told."""

    content: Any = None
    structured_content: Any = None
    binary_results_for_llm: Any = None


class Counts(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """What an answer took: all numbers, or the record is read whole."""

    api_call_id: Any = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


class Data(Asked, frozen=True, kw_only=True, gc=False, rename="camel"):
    """What is read of the data of the common events, of all of them together.

    What may be missing and may be null, and means two things then, is unset where it is missing.
    """

    interaction_id: Any = None
    parent_tool_call_id: Any = None
    # What somebody says.
    content: Any = None
    transformed_content: Any = None
    attachments: Any = None
    source: Any = None
    delivery: Any = None
    is_autopilot_continuation: Any = None
    # What the model answers.
    message_id: Any = None
    api_call_id: Any = None
    turn_id: Any = None
    model: Any = None
    output_tokens: Any = None
    tool_requests: list[Asked] | None = None
    reasoning_text: Any = UNSET
    reasoning_opaque: Any = UNSET
    reasoning_blocks: Any = UNSET
    encrypted_content: Any = UNSET
    usage: Counts | None = None
    # What a call comes to.
    success: Any = None
    result: Result | str | UnsetType | None = UNSET
    error: Any = UNSET
    shell_execution: Any = None


NO_DATA = Data()


class Skimmed(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """What is read of a record."""

    type: Any = None
    id: Any = None
    parent_id: Any = None
    timestamp: Any = None
    agent_id: Any = None
    data: Data = NO_DATA


skim: Callable[[bytes], Skimmed] = msgspec.json.Decoder(Skimmed).decode
"""What :func:`transcripts.records.jsonlines.skim` is given."""


def of_whole(value: Mapping[str, Any]) -> Skimmed:
    """Return what is read of a whole record: where an object is none, it is as good as missing."""
    return Skimmed(
        type=value.get("type"),
        id=value.get("id"),
        parent_id=value.get("parentId"),
        timestamp=value.get("timestamp"),
        agent_id=value.get("agentId"),
        data=data_of(mapping(value.get("data"))),
    )


def data_of(data: Mapping[str, Any]) -> Data:
    """Return what is read of an event's data."""
    kept = dict(data)
    requests, usage, result = data.get("toolRequests"), data.get("usage"), data.get("result")
    kept["toolRequests"] = (
        [_taken(Asked, one) for one in mappings(requests)] if isinstance(requests, list) else None
    )
    kept["usage"] = _counts_of(usage) if isinstance(usage, dict) else None
    if isinstance(result, dict):
        kept["result"] = _taken(Result, result)
    elif result is not None and not isinstance(result, str):
        kept["result"] = None
    return _taken(Data, kept)


def _taken(kind: type[_S], value: Mapping[str, Any]) -> _S:
    """Return the fields of an object that are read, as they are.

    Nothing is converted: a key that is no text (half a surrogate pair) would be refused.
    """
    fields = msgspec.structs.fields(kind)
    return kind(
        **{field.name: value[field.encode_name] for field in fields if field.encode_name in value}
    )


def _counts_of(usage: Mapping[str, Any]) -> Counts:
    return Counts(
        api_call_id=usage.get("apiCallId"),
        input_tokens=integer(usage.get("inputTokens")),
        output_tokens=integer(usage.get("outputTokens")),
        cache_read_tokens=integer(usage.get("cacheReadTokens")),
        cache_write_tokens=integer(usage.get("cacheWriteTokens")),
        reasoning_tokens=integer(usage.get("reasoningTokens")),
    )
