"""The harness's side: compactions, queued prompts and what hooks said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transcripts.model import AnyMessage, Author, CompactBoundary, Content, Other, UserMessage
from transcripts.stores.claude import wordings
from transcripts.stores.claude.content import parts
from transcripts.stores.claude.foreign import integer, mapping, string
from transcripts.stores.claude.reading.authorship import author_of_origin
from transcripts.stores.claude.reading.context import Context
from transcripts.stores.claude.reading.results import text_of
from transcripts.stores.claude.reading.rows import Row


def boundary_message(row: Row, context: Context) -> CompactBoundary:
    """Return the compaction that a boundary row marks, with the summary that it left."""
    metadata = mapping(row.value.get("compactMetadata"))
    trigger = metadata.get("trigger")
    return CompactBoundary(
        **context.fields(row, row.entry, 0, None),
        author="harness",
        trigger=trigger if trigger in ("manual", "auto") else None,
        pre_tokens=integer(metadata.get("preTokens")),
        post_tokens=integer(metadata.get("postTokens")),
        summary=context.ahead.summaries.get(row.uuid or ""),
    )


def attachment_messages(row: Row, context: Context) -> Iterator[AnyMessage]:
    """Yield what an attachment says to the model or to the person; most are bookkeeping."""
    kind = row.subtype or ""
    if kind == "queued_command":
        yield from _queued(row, mapping(row.value.get("attachment")), context)
    elif kind.startswith("hook_"):
        yield from _hook(row, kind, mapping(row.value.get("attachment")), context)
    else:
        context.skip(row)


def _queued(row: Row, attachment: dict[str, Any], context: Context) -> Iterator[UserMessage]:
    content = parts(attachment.get("prompt"))
    if not content:
        context.skip(row)
        return
    origin = string(mapping(attachment.get("origin")).get("kind"))
    mode = string(attachment.get("commandMode"))
    author: Author = "human"
    if origin is not None:
        author = author_of_origin(origin)
    elif (
        mode == "task-notification"
        or attachment.get("isMeta") is True
        or wordings.typed(text_of(content)).author == "harness"
    ):
        author = "harness"
    yield UserMessage(
        **context.fields(row, row.entry, 0, "/attachment/prompt"),
        author=author,
        delivery="queued",
        # A prompt is one, whether it reached the model by an attachment or by a row of its own.
        provenance=origin or ("queued" if mode == "prompt" else mode),
        content=content,
    )


def _hook(
    row: Row, kind: str, attachment: dict[str, Any], context: Context
) -> Iterator[AnyMessage]:
    """Yield what a hook gave to the model, or what it told only the person."""
    event = string(attachment.get("hookEvent"))
    provenance = f"{kind}/{event}" if event else kind
    pointer = "/attachment/content"
    content: Content = ()
    if kind in ("hook_additional_context", "hook_success"):
        content = parts(attachment.get("content"))
        if kind == "hook_success" and not content:
            context.skip(row)
            return
    elif kind == "hook_blocking_error":
        reason = mapping(attachment.get("blockingError")).get("blockingError")
        content, pointer = parts(reason), "/attachment/blockingError/blockingError"
    if content:
        yield UserMessage(
            **context.fields(row, row.entry, 0, pointer),
            author="hook",
            delivery="programmatic",
            provenance=provenance,
            content=content,
        )
        return
    yield Other(
        **context.fields(row, row.entry, 0, "/attachment"),
        author="hook",
        in_context=False,
        provenance=provenance,
        record=f"attachment/{kind}",
        value=attachment,
    )
