"""What a record says, as far as any reader asks: one form, and two ways to it.

A record is decoded by the types that its parts mostly have, which passes over all that nobody
asks for. One with a part of another type is taken from its JSON value instead, part by part: a
part of an odd type costs that part, never the record. Both ways make the same entry. All records
are skimmed before the first message can be told; what is skimmed is a part of an entry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from transcripts.stores.claude.foreign import integer, mapping


class Nothing(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An object of which nobody asks more than that it is there."""


NOTHING = Nothing()


# ------------------------------------------------------------------ blocks of a message


class Block(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag_field="type"):
    """A block of a message's content that is of a known type and whole.

    Any other stands in the content as the JSON value that it is.
    """


class Words(Block, frozen=True, kw_only=True, gc=False, tag="text"):
    """Text."""

    text: str


class SkimmedThought(Block, frozen=True, kw_only=True, gc=False, tag="thinking"):
    """A thought, unread."""


class SkimmedUse(Block, frozen=True, kw_only=True, gc=False, tag="tool_use"):
    """A call, and nothing of it but its id."""

    id: str | None = None


class SkimmedResult(Block, frozen=True, kw_only=True, gc=False, tag="tool_result"):
    """The result of a call, unread."""

    tool_use_id: str | None = None


class Thought(SkimmedThought, frozen=True, kw_only=True, gc=False, tag="thinking"):
    """What the model thought, with its signature."""

    thinking: str | None = None
    signature: str | None = None


class ToolUse(SkimmedUse, frozen=True, kw_only=True, gc=False, tag="tool_use"):
    """A call."""

    name: str | None = None
    input: Any = None


class ToolResult(SkimmedResult, frozen=True, kw_only=True, gc=False, tag="tool_result"):
    """The result of a call, as the model is shown it."""

    content: Any = None
    is_error: bool | None = None


# ------------------------------------------------------------------ parts of a record


class Thinking(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How many of the tokens that were written were thoughts."""

    thinking_tokens: int | None = None


class Counts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a response cost."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens_details: Thinking | None = None


class SkimmedMessage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The API message of a row, skimmed."""

    id: str | None = None
    content: str | list[Words | SkimmedThought | SkimmedUse | SkimmedResult] | None = None
    usage: Counts | None = None


class Said(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The API message of a user or assistant row."""

    id: str | None = None
    model: str | None = None
    content: str | list[Words | Thought | ToolUse | ToolResult] | None = None
    usage: Counts | None = None
    stop_reason: Any = UNSET


class Origin(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where a prompt came from."""

    kind: str | None = None


class Attachment(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the CLI attached."""

    type: str | None = None
    prompt: Any = None


class Side(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """What the CLI keeps of a result for its own screen, where that is an object.

    Each part is as it was recorded, whatever its type.
    """

    agent_id: Any = None
    agent_type: Any = None
    answers: Any = None
    background_task_id: Any = None
    bash_edit_diff: Any = None
    content: Any = None
    duration_ms: Any = None
    duration_seconds: Any = None
    file_path: Any = None
    harness_note_count: Any = None
    harness_tail_count: Any = None
    interrupted: Any = None
    is_async: Any = None
    old_source: Any = msgspec.field(default=None, name="old_source")
    original_file: Any = None
    persisted_output_path: Any = None
    plan: Any = None
    query: Any = None
    results: Any = None
    return_code_interpretation: Any = None
    status: Any = None
    stderr: Any = None
    stdout: Any = UNSET
    task: Any = None
    tasks: Any = None
    total_duration_ms: Any = None
    type: Any = UNSET


NO_SIDE = Side()


class _Linked(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """What a record says that decides about it; None for what is of another type than here."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str | None = None
    request_id: str | None = None
    request_session_id: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    timestamp: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    origin: Origin | None = None
    attachment: Attachment | None = None

    @property
    def origin_kind(self) -> str | None:
        """What the record says that its prompt came from."""
        return self.origin.kind or None if self.origin else None


class Skimmed(_Linked, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A record, skimmed: of its message only what else depends on."""

    message: SkimmedMessage | None = None


class Entry(_Linked, frozen=True, kw_only=True, gc=False, rename="camel"):
    """What a record says, as far as it is ever asked."""

    agent_id: str | None = None
    is_api_error_message: bool | None = None
    permission_mode: str | None = None
    permission_decision: Nothing | UnsetType | None = UNSET
    prompt_source: str | None = None
    tool_denial_kind: str | None = None
    message: Said | None = None
    tool_use_result: str | list[Nothing] | Side | None = None

    @property
    def blocks(self) -> list[Any]:
        """The blocks of the message; a string is one of text."""
        content = None if self.message is None else self.message.content
        if type(content) is str:
            return [Words(text=content)]
        return content or []  # type: ignore[return-value]

    @property
    def in_a_prompts_place(self) -> Any:
        """The content of a user row, or of what is attached in the place of one."""
        if self.type == "attachment":
            return None if self.attachment is None else self.attachment.prompt
        return None if self.message is None else self.message.content


skim: Callable[[bytes], Skimmed] = msgspec.json.Decoder(Skimmed).decode
"""Skim a record by its types; one of other types raises ``msgspec.DecodeError``."""

decode: Callable[[bytes], Entry] = msgspec.json.Decoder(Entry).decode
"""Decode a record by its types; one of other types raises ``msgspec.DecodeError``."""


# ------------------------------------------------------------------ from a JSON value


def entry_of(value: dict[str, Any]) -> Entry:
    """Return the entry of a record that is there as a JSON value."""
    get = value.get
    origin, attachment, message = get("origin"), get("attachment"), get("message")
    decision = get("permissionDecision", UNSET)
    return Entry(
        type=_text(get("type")),
        subtype=_text(get("subtype")),
        uuid=_text(get("uuid")),
        parent_uuid=_text(get("parentUuid")),
        logical_parent_uuid=_text(get("logicalParentUuid")),
        session_id=_text(get("sessionId")),
        request_id=_text(get("requestId")),
        request_session_id=_text(get("requestSessionId")),
        is_sidechain=_flag(get("isSidechain")),
        is_meta=_flag(get("isMeta")),
        is_compact_summary=_flag(get("isCompactSummary")),
        is_api_error_message=_flag(get("isApiErrorMessage")),
        agent_id=_text(get("agentId")),
        timestamp=_text(get("timestamp")),
        cwd=_text(get("cwd")),
        version=_text(get("version")),
        git_branch=_text(get("gitBranch")),
        permission_mode=_text(get("permissionMode")),
        permission_decision=decision if decision is UNSET or decision is None else NOTHING,
        prompt_source=_text(get("promptSource")),
        tool_denial_kind=_text(get("toolDenialKind")),
        origin=Origin(kind=_text(origin.get("kind"))) if isinstance(origin, dict) else None,
        attachment=_attachment(attachment) if isinstance(attachment, dict) else None,
        message=_said(message) if isinstance(message, dict) else None,
        tool_use_result=_side(get("toolUseResult")),
    )


def _attachment(value: dict[str, Any]) -> Attachment:
    return Attachment(type=_text(value.get("type")), prompt=value.get("prompt"))


def _said(value: dict[str, Any]) -> Said:
    content, usage = value.get("content"), value.get("usage")
    return Said(
        id=_text(value.get("id")),
        model=_text(value.get("model")),
        content=[_block(one) for one in content] if isinstance(content, list) else _text(content),
        usage=_counts(usage) if isinstance(usage, dict) else None,
        stop_reason=value.get("stop_reason", UNSET),
    )


def _block(value: Any) -> Any:
    match mapping(value).get("type"):
        case "text" if isinstance(value.get("text"), str):
            return Words(text=value["text"])
        case "thinking":
            thinking, signature = value.get("thinking"), value.get("signature")
            return Thought(thinking=_text(thinking), signature=_text(signature))
        case "tool_use":
            name = _text(value.get("name"))
            return ToolUse(id=_text(value.get("id")), name=name, input=value.get("input"))
        case "tool_result":
            call, failed = _text(value.get("tool_use_id")), _flag(value.get("is_error"))
            return ToolResult(tool_use_id=call, content=value.get("content"), is_error=failed)
        case _:
            return value


def _counts(value: dict[str, Any]) -> Counts:
    details = value.get("output_tokens_details")
    thought = Thinking(thinking_tokens=integer(mapping(details).get("thinking_tokens")))
    return Counts(
        input_tokens=integer(value.get("input_tokens")),
        output_tokens=integer(value.get("output_tokens")),
        cache_read_input_tokens=integer(value.get("cache_read_input_tokens")),
        cache_creation_input_tokens=integer(value.get("cache_creation_input_tokens")),
        output_tokens_details=thought if isinstance(details, dict) else None,
    )


def _side(value: Any) -> str | list[Nothing] | Side | None:
    if isinstance(value, dict):
        # Nothing is converted: a key that is no text (half a surrogate pair) would be refused.
        return Side(
            **{
                field.name: value[field.encode_name]
                for field in msgspec.structs.fields(Side)
                if field.encode_name in value
            }
        )
    return [NOTHING for _ in value] if isinstance(value, list) else _text(value)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None
