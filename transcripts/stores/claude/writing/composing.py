"""Messages as rows: which record each becomes, and what it loses on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from transcripts.losses import Loss, LossId
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Call,
    CompactBoundary,
    Content,
    Error,
    FileChange,
    Message,
    Opaque,
    Other,
    Reasoning,
    SubAgent,
    Text,
    UserMessage,
    WebSearch,
)
from transcripts.narration import has_lone_surrogate, prose
from transcripts.stores.claude.content import blocks
from transcripts.stores.claude.reading.context import PROVIDER
from transcripts.stores.claude.reading.results import text_of
from transcripts.stores.claude.writing.chain import Chain, stamp
from transcripts.stores.claude.writing.prompts import marked
from transcripts.stores.claude.writing.responses import Responses, Settings, Written
from transcripts.stores.claude.writing.translation import native_calls


class Composer:
    """Writes the messages of one thread into a chain of rows.

    ``calls`` maps messages to the ids of the calls that they became; the threads of a session
    share it.
    """

    def __init__(
        self,
        chain: Chain,
        settings: Settings,
        messages: Sequence[AnyMessage],
        calls: dict[str, str],
    ) -> None:
        self.losses: list[Loss] = []
        self._chain = chain
        self._settings = settings
        self._messages = messages
        self._calls = calls
        self._rows = Written()
        self._responses = Responses(chain, settings, messages, self._rows, set(calls.values()))
        self._live: set[str] = set()
        self._summary_written = False
        self._rewinds = {
            message.superseded_by.id
            for message in messages
            if message.superseded_by and message.superseded_by.why != "compaction"
        }

    def write(self) -> None:
        """Write all messages; what each loses is in ``losses`` afterwards."""
        for message in self._messages:
            if message.superseded_by is not None and not self._settings.own:
                self._lose(message, "superseded-dropped", message.superseded_by.why)
                continue
            count = len(self._chain.rows)
            self._write(message)
            added = [
                row
                for row in self._chain.rows[count:]
                if row.get("uuid") in self._rows.of(message.id)
            ]
            if added:
                self._written(message, added)
        self._responses.close(None)

    def _write(self, message: AnyMessage) -> None:
        match message:
            case Error():
                self._lose(message, "withheld-error", "a provider's failure is not the model's")
            case UserMessage():
                self._user(message)
            case AgentMessage():
                self._agent(message)
            case Reasoning():
                self._reasoning(message)
            case CompactBoundary():
                self._boundary(message)
            case Other():
                self._other(message)
            case Call():
                self._call(message)
            case _:
                self._narrate(message)

    def _written(self, message: AnyMessage, rows: Sequence[Mapping[str, Any]]) -> None:
        """Note what a message lost just by crossing."""
        if message.in_context and message.superseded_by is None:
            self._live.add(message.id)
        spoken = rows[:1] if isinstance(message, CompactBoundary) else rows
        times = {row["timestamp"] for row in spoken}
        if message.at is not None and times != {stamp(message.at)}:
            self._lose(message, "time-moved", "times must rise from record to record")
        if message.model is not None and message.model != self._settings.model_of(message):
            self._lose(message, "model-dropped", f"{message.model} is not what goes on with it")
        if message.usage is not None and not self._settings.own:
            self._lose(message, "usage-dropped", "counts of another provider's tokens")
        if _has_half_a_pair(message):
            self._lose(message, "replacement-character", "half a surrogate pair")

    def _lose(self, message: Message, loss: LossId, why: str) -> None:
        self.losses.append(Loss(loss=loss, message=message.id, why=why))

    def _lose_parts(self, message: Message, losses: Sequence[LossId]) -> None:
        for loss in dict.fromkeys(losses):
            self._lose(message, loss, "a part of its content")

    # ------------------------------------------------------------------ the user's side

    def _user(self, message: UserMessage) -> None:
        if message.author in ("harness", "hook") and not self._settings.own:
            self._lose(message, "harness-dropped", "the CLI makes its own context")
            return
        if message.provenance == "compact-summary" and self._summary_written:
            return
        if message.provenance == "queue-operation" and self._settings.own:
            self._retracted(message)
            return
        content, lost = blocks(message.content)
        if not content:
            self._lose(message, "empty-dropped", "nothing in it that could be written")
            return
        self._lose_parts(message, lost)
        self._responses.close(message)
        if message.id in self._rewinds:
            self._chain.last = self._rows.last_of(message.follows)
        words, fields = marked(message, own=self._settings.own)
        if words is not None:
            content = [{"type": "text", "text": words}]
        self._rows.note(message, self._chain.user(_plain(content), message.at, **fields))

    def _retracted(self, message: UserMessage) -> None:
        """Write a prompt that was typed and never delivered where the model does not see it."""
        row = {"operation": "enqueue", "content": text_of(message.content)}
        self._chain.note("queue-operation", message.at, **row)
        self._chain.note("queue-operation", message.at, operation="remove")

    def _narrate(self, message: Message, loss: LossId = "narrated") -> None:
        """Say a message in prose: the model's as its own words, the harness's as context."""
        words = prose(message)
        if words is None:
            self._lose(message, "empty-dropped", "nothing in it that could be said")
            return
        self._lose(message, loss, "no record of its own there")
        if message.author == "model":
            self._responses.add(message, [{"type": "text", "text": words}])
            return
        self._responses.close(message)
        self._rows.note(message, self._chain.user(words, message.at, isMeta=True))

    # ------------------------------------------------------------------ the model's side

    def _agent(self, message: AgentMessage) -> None:
        content, lost = blocks(message.content)
        if not content:
            self._lose(message, "empty-dropped", "nothing in it that could be written")
            return
        self._lose_parts(message, lost)
        self._responses.add(message, content)

    def _reasoning(self, message: Reasoning) -> None:
        """Write a thought as one only where its own signature stays valid."""
        opaque = [part for part in message.content if isinstance(part, Opaque)]
        if self._settings.own and message.model == self._settings.model_of(message):
            block = _thought(message.content)
            if block is not None:
                self._responses.add(message, [block])
                return
        if opaque:
            self._lose(message, "reasoning-opaque-dropped", "only its own provider reads it")
        if text_of(message.content).strip():
            self._narrate(message)
        elif not opaque:
            self._lose(message, "empty-dropped", "a thought without words")

    def _call(self, call: Call) -> None:
        native = native_calls(call, own=self._settings.own)
        if native is None:
            self._narrate(call)
            return
        if isinstance(call, FileChange) and text_of(call.content).strip():
            self._responses.add(call, [{"type": "text", "text": text_of(call.content)}])
        for number, one in enumerate(native):
            identity = self._responses.call(call, one, number)
            if number == 0:
                self._calls[call.id] = identity
        if call.author in ("harness", "hook") and not self._settings.own:
            self._lose(call, "provenance-dropped", "there only the model makes calls")
        self._lose_parts(call, [loss for one in native for loss in one.losses])
        if call.duration_ms is not None and not _keeps_duration(call):
            self._lose(call, "duration-dropped", "no field for it")

    # ------------------------------------------------------------------ the harness's side

    def _boundary(self, boundary: CompactBoundary) -> None:
        """Write a compaction as one, if all that it would hide is meant to be hidden."""
        summary, lost = blocks(boundary.summary or ())
        hidden = self._live - set(boundary.preserved)
        if hidden or not (summary or self._settings.own):
            self._narrate(boundary)
            return
        self._responses.close(boundary)
        self._lose_parts(boundary, lost)
        counts = {
            "trigger": boundary.trigger,
            "preTokens": boundary.pre_tokens,
            "postTokens": boundary.post_tokens,
        }
        metadata: dict[str, Any] = {
            name: value for name, value in counts.items() if value is not None
        }
        before, self._chain.last = self._chain.last, None
        uuid = self._chain.add(
            "system",
            boundary.at,
            logicalParentUuid=before,
            subtype="compact_boundary",
            content="Conversation compacted",
            isMeta=False,
            level="info",
            compactMetadata=metadata,
        )
        self._rows.note(boundary, uuid)
        if summary:
            fields = {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
            anchor = self._chain.user(_plain(summary), self._told(boundary), **fields)
            self._rows.note(boundary, anchor)
            self._summary_written = True
            kept = [row for one in boundary.preserved for row in self._rows.of(one)]
            if kept:
                preserved = {"anchorUuid": anchor, "uuids": kept, "allUuids": kept}
                metadata["preservedMessages"] = preserved
        self._live &= set(boundary.preserved)

    def _told(self, boundary: CompactBoundary) -> datetime | None:
        """Return when the CLI's own record says the summary to the model."""
        following = self._messages[self._messages.index(boundary) :]
        carriers = (one for one in following if one.provenance == "compact-summary")
        return next((one.at for one in carriers), None) if self._settings.own else None

    def _other(self, other: Other) -> None:
        kind, _, name = other.record.partition("/")
        if self._settings.own and name and isinstance(other.value, Mapping):
            if kind == "attachment":
                self._responses.close(other)
                self._rows.note(other, self._chain.add(kind, other.at, attachment=other.value))
                return
            if kind == "assistant":
                self._responses.add(other, [dict(other.value)])
                return
        orphan = other.record == "tool_result"
        if other.author in ("harness", "hook") and not (orphan or self._settings.own):
            # Such as what a CLI tells its model of itself, which nobody said to this one.
            self._lose(other, "harness-dropped", "the CLI makes its own context")
            return
        self._narrate(other, "orphan-result-narrated" if orphan else "narrated")


def _has_half_a_pair(message: Message) -> bool:
    try:
        msgspec.json.encode(message)
    except (UnicodeEncodeError, OverflowError, RecursionError):
        return has_lone_surrogate(msgspec.to_builtins(message, enc_hook=str))
    return False


def _plain(content: list[dict[str, Any]]) -> Any:
    """Return one text block as the string that the CLI writes for it."""
    if len(content) == 1 and content[0]["type"] == "text":
        return content[0]["text"]
    return content


def _thought(content: Content) -> dict[str, Any] | None:
    """Return a thought's own block; None for a hollow one, which no request survives."""
    text = "".join(part.text for part in content if isinstance(part, Text))
    for part in content:
        if isinstance(part, Opaque) and part.provider == PROVIDER:
            if part.form == "signature" and text.strip():
                return {"type": "thinking", "thinking": text, "signature": part.data}
            if part.form == "redacted" and not text:
                return {"type": "redacted_thinking", "data": part.data}
    return None


def _keeps_duration(call: Call) -> bool:
    return (isinstance(call, SubAgent) and call.agent_id is not None) or (
        isinstance(call, WebSearch) and call.name == "WebSearch"
    )
