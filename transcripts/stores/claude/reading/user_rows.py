"""The user's side: prompts, what stands in a prompt's place, and results that lost their call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transcripts.model import AnyMessage, Content, Other, UserMessage
from transcripts.stores.claude.content import parts
from transcripts.stores.claude.foreign import string
from transcripts.stores.claude.reading.authorship import delivery_of, is_unstamped, voice_of
from transcripts.stores.claude.reading.context import Context
from transcripts.stores.claude.reading.entries import Entry, Thought, ToolResult, ToolUse
from transcripts.stores.claude.reading.rows import SUMMARY, Row


def user_messages(row: Row, context: Context) -> Iterator[AnyMessage]:
    """Yield what a user row says beside the results of calls, which stand with their calls."""
    entry = row.entry
    blocks = entry.blocks
    said: list[Any] = []
    first = 0
    for position, block in enumerate(blocks):
        if type(block) is not ToolResult:
            first = position if not said else first
            # A person thinks and calls nothing: such a block is kept as it was recorded.
            odd = type(block) in (Thought, ToolUse)
            said.append(row.whole_block(position) if odd else block)
        elif (block.tool_use_id or None) not in context.ahead.uses:
            yield _orphan(row, entry, position, block, context)
    content = parts(said)
    if content:
        alone = len(said) == len(blocks)
        index, pointer = (0, "") if alone else (first, f"/{first}")
        fields = context.fields(row, entry, index, f"/message/content{pointer}")
        yield _user_message(row, entry, fields, content, context)
    elif not blocks:
        context.count("user/(no content)", known=False)


def _orphan(row: Row, entry: Entry, position: int, block: ToolResult, context: Context) -> Other:
    """Keep a result whose call is gone: compacted away, or left behind by a move."""
    call = block.tool_use_id or None
    context.damage("orphan_result", row, f"the call {call} of this result is nowhere")
    fields = context.fields(row, entry, position, f"/message/content/{position}")
    fields["external_id"] = call
    return Other(
        **fields,
        author="harness",
        in_context=False,
        record="tool_result",
        value=row.whole_block(position),
    )


def _user_message(
    row: Row, entry: Entry, fields: dict[str, Any], content: Content, context: Context
) -> UserMessage:
    if row.subtype == SUMMARY:
        # Its words are the boundary's summary, where they are counted as context.
        return UserMessage(
            **fields,
            author="harness",
            provenance="compact-summary",
            in_context=row.uuid not in context.ahead.summaries,
            content=content,
        )
    voice = voice_of(entry, content, thread=context.agent, stamping=context.session.stamping)
    mode = entry.permission_mode
    if mode:
        context.unasked = mode == "bypassPermissions"
    if voice.author == "human" and context.agent is None:
        context.turn = fields["turn"] = fields["id"]
        plain = voice.provenance is None and is_unstamped(entry, context.session.stamping)
        if plain and not _is_printed(row):
            context.session.unstamped.add(fields["id"])
    return UserMessage(
        **fields,
        author=voice.author,
        delivery=delivery_of(entry, voice.author),
        provenance=voice.provenance,
        content=voice.content,
    )


def _is_printed(row: Row) -> bool:
    """Whether a prompt was given to a CLI that printed its answer: nobody typed, none is marked."""
    return (string(row.value.get("entrypoint")) or "").startswith("sdk")
