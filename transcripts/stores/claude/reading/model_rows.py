"""The model's side: words, thoughts and calls, one record each or several in one."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

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
from transcripts.stores.claude.foreign import integer, mapping, string
from transcripts.stores.claude.reading.context import PROVIDER, Context
from transcripts.stores.claude.reading.entries import Entry, Thought, ToolResult, ToolUse, Words
from transcripts.stores.claude.reading.notifications import Notification
from transcripts.stores.claude.reading.results import Result, Use, text_of
from transcripts.stores.claude.reading.rows import Row, time_of
from transcripts.stores.claude.reading.shell_changes import changed_by_shell
from transcripts.stores.claude.tools import read_call
from transcripts.stores.claude.wordings import is_usage_limit, stated_status

USAGE_LIMIT = "usage_limit_reached"
"""What 2.1.332 calls a used up allowance; older releases have one word for every 429."""


def model_messages(row: Row, context: Context) -> list[AnyMessage]:
    """Return what an assistant row says; neighbouring text blocks are one message."""
    entry = row.entry
    if entry.is_api_error_message:
        return [_error(row, entry, context)]
    blocks = entry.blocks
    if not blocks:
        context.count("assistant/(no content)", known=False)
    messages: list[AnyMessage] = []
    texts: list[Any] = []
    for position, block in enumerate(blocks):
        if type(block) is Words or (type(block) is dict and block.get("type") == "text"):
            texts.append(block)
            continue
        if texts:
            messages += _words(row, entry, position, texts, context)
            texts = []
        messages.append(_block(row, entry, position, block, context))
    if texts:
        messages += _words(row, entry, len(blocks), texts, context)
    return messages


def _words(
    row: Row, entry: Entry, end: int, texts: list[Any], context: Context
) -> list[AgentMessage]:
    content = parts(texts)
    if not content:
        return []
    fields = context.model_fields(row, entry, end - len(texts))
    fields["content"] = content
    return [AgentMessage(**fields)]


def _block(row: Row, entry: Entry, position: int, block: Any, context: Context) -> AnyMessage:
    if type(block) is ToolUse:
        return _call(row, entry, position, block, context)
    content: Content
    if type(block) is Thought:
        content = _thought(row, block, context)
        return Reasoning(**context.model_fields(row, entry, position), content=content)
    if type(block) is ToolResult:
        # No model gives a result: such a block is kept as it was recorded.
        block = row.whole_block(position)
    given = mapping(block)
    kind = string(given.get("type"))
    fields = context.model_fields(row, entry, position)
    if kind == "redacted_thinking":
        data = given.get("data")
        text = data if isinstance(data, str) else ""
        content = (Opaque(form="redacted", data=text, provider=PROVIDER),)
        return Reasoning(**fields, content=content)
    return Other(**fields, record=f"assistant/{kind or '(no type)'}", value=given)


def _thought(row: Row, block: Thought, context: Context) -> Content:
    text = block.thinking
    content: Content = (Text(text=text),) if text and text.strip() else ()
    if not content:
        context.damage("hollow_thinking", row, "a thought with no text")
    if block.signature:
        content += (Opaque(form="signature", data=block.signature, provider=PROVIDER),)
    return content


def _call(row: Row, entry: Entry, position: int, block: ToolUse, context: Context) -> AnyMessage:
    call = block.id or None
    given = block.input
    if given is None:
        given = {}
        context.damage("missing_input", row, f"the call {call} has no input")
    use = Use(call, block.name or "unknown", given, entry.cwd or None)
    answered = context.ahead.results.get(call) if call else None
    result = None if answered is None else answered.result()
    fields = context.model_fields(row, entry, position, call)
    if answered is not None:
        where = answered.row.at(f"/message/content/{answered.position}")
        fields["sources"] = (*fields["sources"], where)
    message = read_call(use, result, fields, context.session.checklist)
    if result is not None and message.status == "declined" and _was_running(result, context):
        message = msgspec.structs.replace(message, status="cancelled")
    found = None if result is None else result.details.bash_edit_diff
    if found is not None and context.agent is None and message.inherited_from is None:
        context.session.shell_changes += changed_by_shell(message.id, found)
    ends = context.ahead.ends
    if not ends:
        return message
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
    return context.unasked and result.entry.permission_decision is UNSET


def _ended(message: AnyMessage, end: Notification | None) -> AnyMessage:
    """Return a background call with the end that it was told of later."""
    if end is None:
        return message
    changes: dict[str, Any] = {
        "status": end.status,
        "ended_at": time_of(end.row),
        "sources": (*message.sources, end.row.at(end.pointer)),
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
        **context.fields(row, row.entry, 0, "/error"),
        author="harness",
        provenance="retried",
        in_context=False,
        status="failed",
        text=said,
        status_code=integer(error.get("status")) or stated_status(said),
        raw=error or None,
    )


def _failure(value: dict[str, Any], text: str) -> str | None:
    """Return the CLI's word for a failure, the more telling one where it has two."""
    named = string(value.get("apiError")) or string(value.get("error"))
    return USAGE_LIMIT if is_usage_limit(text) else named


def _error(row: Row, entry: Entry, context: Context) -> Error:
    names = (
        *("error", "apiErrorStatus", "errorDetails", "apiErrorType", "apiError"),
        *("apiErrorParams", "quotaLimits", "requestId"),
    )
    value = row.value
    raw = {name: value[name] for name in names if name in value}
    text = text_of(parts(entry.blocks))
    return Error(
        **context.fields(row, entry, 0, "/message/content"),
        author="harness",
        in_context=False,
        status="failed",
        text=text,
        failure=_failure(value, text),
        status_code=integer(value.get("apiErrorStatus")) or stated_status(text),
        raw=raw or None,
    )
