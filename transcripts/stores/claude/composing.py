"""Messages as rows: which record each becomes, and what it loses on the way."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from transcripts.ids import derive
from transcripts.losses import Loss, LossId
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Call,
    CommandExecution,
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
    Usage,
    UserMessage,
    WebSearch,
)
from transcripts.narration import has_lone_surrogate, prose
from transcripts.stores.claude.chain import Chain, stamp
from transcripts.stores.claude.content import blocks
from transcripts.stores.claude.context import PROVIDER, SYNTHETIC
from transcripts.stores.claude.prompts import marked
from transcripts.stores.claude.results import text_of
from transcripts.stores.claude.translation import NativeCall, native_calls

_BEGUN_ELSEWHERE = "(This conversation began elsewhere.)"
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a write decides once.

    ``own`` says that the transcript was recorded by this CLI; ``model`` stands for messages
    of other CLIs, and for all where the caller named it (``every_model``).
    """

    scope: str
    own: bool
    model: str
    every_model: bool


class _Response(msgspec.Struct, kw_only=True):
    """A response that is being written; the results of its calls follow its last record."""

    key: str
    message_id: str
    usage: Usage | None
    waiting: list[tuple[Call, str, NativeCall, str]] = msgspec.field(default_factory=list)


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
        self._call_ids = set(calls.values())
        self._response: _Response | None = None
        self._message_ids: set[str] = set()
        self._rows: dict[str, list[str]] = {}
        self._live: set[str] = set()
        self._summary_written = False
        self._usage = _usage_of_responses(messages)
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
                if row.get("uuid") in self._rows.get(message.id, ())
            ]
            if added:
                self._written(message, added)
        self._close(None)

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
        if message.model is not None and message.model != self._model(message):
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
        self._close(message)
        if message.id in self._rewinds:
            self._chain.last = self._last_row_of(message.follows)
        words, fields = marked(message, own=self._settings.own)
        if words is not None:
            content = [{"type": "text", "text": words}]
        self._note(message, self._chain.user(_plain(content), message.at, **fields))

    def _retracted(self, message: UserMessage) -> None:
        """Write a prompt that was typed and never delivered where the model does not see it."""
        row = {"operation": "enqueue", "content": text_of(message.content)}
        self._chain.note("queue-operation", message.at, **row)
        self._chain.note("queue-operation", message.at, operation="remove")

    def _last_row_of(self, message_id: str | None) -> str | None:
        rows = self._rows.get(message_id or "")
        return rows[-1] if rows else None

    def _note(self, message: Message, uuid: str) -> None:
        self._rows.setdefault(message.id, []).append(uuid)

    def _narrate(self, message: Message, loss: LossId = "narrated") -> None:
        """Say a message in prose: the model's as its own words, the harness's as context."""
        words = prose(message)
        if words is None:
            self._lose(message, "empty-dropped", "nothing in it that could be said")
            return
        self._lose(message, loss, "no record of its own there")
        if message.author == "model":
            self._blocks(message, [{"type": "text", "text": words}])
            return
        self._close(message)
        self._note(message, self._chain.user(words, message.at, isMeta=True))

    # ------------------------------------------------------------------ the model's side

    def _agent(self, message: AgentMessage) -> None:
        content, lost = blocks(message.content)
        if not content:
            self._lose(message, "empty-dropped", "nothing in it that could be written")
            return
        self._lose_parts(message, lost)
        self._blocks(message, content)

    def _reasoning(self, message: Reasoning) -> None:
        """Write a thought as one only where its own signature stays valid."""
        opaque = [part for part in message.content if isinstance(part, Opaque)]
        if self._settings.own and message.model == self._model(message):
            block = _thought(message.content)
            if block is not None:
                self._blocks(message, [block])
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
            self._blocks(call, [{"type": "text", "text": text_of(call.content)}])
        for number, one in enumerate(native):
            identity = self._call_id(call, number)
            if number == 0:
                self._calls[call.id] = identity
            block = {"type": "tool_use", "id": identity, "name": one.name, "input": one.input}
            uuid = self._blocks(call, [block])
            if self._response is not None:
                self._response.waiting.append((call, identity, one, uuid))
        self._lose_parts(call, [loss for one in native for loss in one.losses])
        if call.duration_ms is not None and not _keeps_duration(call):
            self._lose(call, "duration-dropped", "no field for it")

    def _call_id(self, call: Call, number: int) -> str:
        own = call.external_id if self._settings.own and number == 0 else None
        if own is None or own in self._call_ids or not _CALL_ID.fullmatch(own):
            own = f"toolu_{_hexadecimal(self._settings.scope, 'call', call.id, number)}"
        self._call_ids.add(own)
        return own

    def _blocks(self, message: Message, content: list[dict[str, Any]]) -> str:
        """Add a record of the response that the message is part of."""
        key = message.response or f"message {message.id}"
        if self._response is not None and self._response.key != key:
            self._close(message)
        if not self._chain.rows:
            self._chain.user(_BEGUN_ELSEWHERE, None, isMeta=True)
        if self._response is None:
            self._response = _Response(
                key=key,
                message_id=self._message_id(message, key),
                usage=self._usage.get(key) if self._settings.own else None,
            )
        place = (
            {"cwd": message.cwd} if isinstance(message, CommandExecution) and message.cwd else {}
        )
        uuid = self._chain.assistant(
            content,
            message.at,
            message_id=self._response.message_id,
            model=self._model(message),
            usage=self._response.usage,
            **place,
        )
        self._note(message, uuid)
        return uuid

    def _message_id(self, message: Message, key: str) -> str:
        """Return the id that the records of a response share, one for each run of them."""
        own = message.response if self._settings.own else None
        ordinal = 0
        while own is None or own in self._message_ids:
            own = f"msg_{_hexadecimal(self._settings.scope, 'response', key, ordinal)}"
            ordinal += 1
        self._message_ids.add(own)
        return own

    def _model(self, message: Message) -> str:
        if self._settings.own and message.author == "harness" and message.model is None:
            return SYNTHETIC
        if self._settings.own and message.model and not self._settings.every_model:
            return message.model
        return self._settings.model

    def _close(self, following: Message | None) -> None:
        """End the open response: every call gets its result, in the order in which they came.

        A result that came later than the message that follows (work in the background, a
        notice in between) is not dated: dating it would move all that stands after it.
        """
        response, self._response = self._response, None
        if response is None:
            return
        waiting = response.waiting
        if all(call.ended_at is not None for call, *_ in waiting):
            waiting = sorted(waiting, key=lambda one: stamp(one[0].ended_at or self._chain.now))
        for call, identity, native, uuid in waiting:
            result = native.result
            block: dict[str, Any] = {
                "tool_use_id": identity,
                "type": "tool_result",
                "content": result.content,
            }
            if result.is_error is not None:
                block["is_error"] = result.is_error
            fields: dict[str, Any] = {"sourceToolAssistantUUID": uuid, **result.fields}
            if result.side is not None:
                fields["toolUseResult"] = result.side
            at = call.ended_at
            if at is not None and following is not None and following.at is not None:
                at = at if at < following.at else None
            self._note(call, self._chain.user([block], at, **fields))

    # ------------------------------------------------------------------ the harness's side

    def _boundary(self, boundary: CompactBoundary) -> None:
        """Write a compaction as one, if all that it would hide is meant to be hidden."""
        summary, lost = blocks(boundary.summary or ())
        hidden = self._live - set(boundary.preserved)
        if hidden or not (summary or self._settings.own):
            self._narrate(boundary)
            return
        self._close(boundary)
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
        self._note(boundary, uuid)
        if summary:
            fields = {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
            anchor = self._chain.user(_plain(summary), None, **fields)
            self._note(boundary, anchor)
            self._summary_written = True
            kept = [row for one in boundary.preserved for row in self._rows.get(one, [])]
            if kept:
                preserved = {"anchorUuid": anchor, "uuids": kept, "allUuids": kept}
                metadata["preservedMessages"] = preserved
        self._live &= set(boundary.preserved)

    def _other(self, other: Other) -> None:
        kind, _, name = other.record.partition("/")
        if self._settings.own and name and isinstance(other.value, Mapping):
            if kind == "attachment":
                self._close(other)
                self._note(other, self._chain.add(kind, other.at, attachment=other.value))
                return
            if kind == "assistant":
                self._blocks(other, [dict(other.value)])
                return
        orphan = other.record == "tool_result"
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


def _usage_of_responses(messages: Sequence[AnyMessage]) -> dict[str, Usage]:
    return {
        message.response: message.usage
        for message in messages
        if message.response is not None and message.usage is not None
    }


def _hexadecimal(*parts: str | int) -> str:
    return derive(*parts).replace("-", "")[:24]
