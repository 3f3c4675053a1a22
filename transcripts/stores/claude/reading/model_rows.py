"""The model's side: words, thoughts and calls, one record each or several in one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from transcripts.model import (
    AgentMessage,
    AnyMessage,
    CommandExecution,
    Content,
    Error,
    Opaque,
    Other,
    Reasoning,
    SubAgent,
    Text,
)
from transcripts.stores.claude.content import parts
from transcripts.stores.claude.reading.context import PROVIDER, Context, place
from transcripts.stores.claude.reading.notifications import Notification
from transcripts.stores.claude.reading.results import Result, Use, text_of
from transcripts.stores.claude.reading.rows import (
    Row,
    blocks_of,
    integer,
    mapping,
    message_of,
    string,
    time_of,
)
from transcripts.stores.claude.tools import read_call
from transcripts.stores.claude.wordings import is_usage_limit, stated_status

USAGE_LIMIT = "usage_limit_reached"
"""What 2.1.332 calls a used up allowance; older releases have one word for every 429."""


def model_messages(row: Row, context: Context) -> Iterator[AnyMessage]:
    """Yield what an assistant row says; neighbouring text blocks are one message."""
    if row.value.get("isApiErrorMessage") is True:
        yield _error(row, context)
        return
    blocks = blocks_of(row)
    if not blocks:
        context.count("assistant/(no content)", known=False)
    texts: list[Any] = []
    for position, block in enumerate(blocks):
        if mapping(block).get("type") == "text":
            texts.append(block)
            continue
        if texts:
            yield from _words(row, position, texts, context)
            texts = []
        yield _block(row, position, mapping(block), context)
    if texts:
        yield from _words(row, len(blocks), texts, context)


def _words(row: Row, end: int, texts: list[Any], context: Context) -> Iterator[AgentMessage]:
    content = parts(texts)
    if content:
        fields = context.model_fields(row, end - len(texts))
        yield AgentMessage(**fields, content=content)


def _block(row: Row, position: int, block: dict[str, Any], context: Context) -> AnyMessage:
    kind = string(block.get("type"))
    match kind:
        case "thinking":
            content = _thought(row, block, context)
            return Reasoning(**context.model_fields(row, position), content=content)
        case "redacted_thinking":
            data = block.get("data")
            opaque = Opaque(
                form="redacted", data=data if isinstance(data, str) else "", provider=PROVIDER
            )
            return Reasoning(**context.model_fields(row, position), content=(opaque,))
        case "tool_use":
            return _call(row, position, block, context)
        case _:
            record = f"assistant/{kind or '(no type)'}"
            return Other(**context.model_fields(row, position), record=record, value=block)


def _thought(row: Row, block: dict[str, Any], context: Context) -> Content:
    text = block.get("thinking")
    signature = string(block.get("signature"))
    content: Content = (Text(text=text),) if isinstance(text, str) and text.strip() else ()
    if not content:
        context.damage("hollow_thinking", row, "a thought with no text")
    if signature:
        content += (Opaque(form="signature", data=signature, provider=PROVIDER),)
    return content


def _call(row: Row, position: int, block: dict[str, Any], context: Context) -> AnyMessage:
    call = string(block.get("id"))
    given = block.get("input")
    if given is None:
        given = {}
        context.damage("missing_input", row, f"the call {call} has no input")
    use = Use(call, string(block.get("name")) or "unknown", given, row)
    result = context.ahead.results.get(call) if call else None
    if result is not None:
        result = Result(result.row.at_hand(), result.position)
    fields = context.model_fields(row, position, call)
    if result is not None:
        where = place(result.row, f"/message/content/{result.position}")
        fields["sources"] = (*fields["sources"], where)
    message = read_call(use, result, fields, context.session.checklist)
    if result is not None and message.status == "declined" and _was_running(result, context):
        message = msgspec.structs.replace(message, status="cancelled")
    ends = context.ahead.ends
    return _ended(message, ends.get(call or "") or ends.get(_task(message) or ""))


def _task(message: AnyMessage) -> str | None:
    """Return by what the CLI knows the background work that a call began."""
    match message:
        case SubAgent():
            return message.agent_id
        case CommandExecution():
            return message.background_id
        case _:
            return None


def _was_running(result: Result, context: Context) -> bool:
    """Whether a call that is recorded as refused can only have been interrupted.

    Escape leaves the same words behind as a refusal. Where no call needs the person's word,
    and none is recorded, nobody can have refused one.
    """
    return context.unasked and "permissionDecision" not in result.row.value


def _ended(message: AnyMessage, end: Notification | None) -> AnyMessage:
    """Return a background call with the end that it was told of later."""
    if end is None:
        return message
    changes: dict[str, Any] = {
        "status": end.status,
        "ended_at": time_of(end.row),
        "sources": (*message.sources, place(end.row, end.pointer)),
    }
    match message:
        case SubAgent(background=True):
            if end.result is not None:
                changes["output"] = (Text(text=end.result),)
        case CommandExecution() if message.background_id is not None:
            if end.exit_code is not None:
                changes |= {"exit_code": end.exit_code, "exit_code_source": "text"}
        case _:
            return message
    return msgspec.structs.replace(message, **changes)


def retried(row: Row, context: Context) -> Error:
    """Return the failure of an attempt that was made again."""
    error = mapping(row.value.get("error"))
    said = string(error.get("formatted")) or string(error.get("message")) or ""
    return Error(
        **context.fields(row, 0, "/error"),
        author="harness",
        provenance="retried",
        in_context=False,
        status="failed",
        text=said,
        status_code=integer(error.get("status")) or stated_status(said),
        raw=error or None,
    )


def _failure(row: Row, text: str) -> str | None:
    """Return the CLI's word for a failure, the more telling one where it has two."""
    named = string(row.value.get("apiError")) or string(row.value.get("error"))
    return USAGE_LIMIT if is_usage_limit(text) else named


def _error(row: Row, context: Context) -> Error:
    names = (
        *("error", "apiErrorStatus", "errorDetails", "apiErrorType", "apiError"),
        *("apiErrorParams", "quotaLimits", "requestId"),
    )
    raw = {name: row.value[name] for name in names if name in row.value}
    text = text_of(parts(message_of(row).get("content")))
    return Error(
        **context.fields(row, 0, "/message/content"),
        author="harness",
        in_context=False,
        status="failed",
        text=text,
        failure=_failure(row, text),
        status_code=integer(row.value.get("apiErrorStatus")) or stated_status(text),
        raw=raw or None,
    )
