"""The model's responses as records: one message id for each, results after its last call.

Some releases merge the texts of records without an id, or of one id in two places, into the
wrong message; so every run of records of one response has an id of its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec

from transcripts.ids import derive
from transcripts.model import AnyMessage, Call, CommandExecution, Message, Usage
from transcripts.stores.claude.reading.context import SYNTHETIC
from transcripts.stores.claude.writing.chain import Chain, stamp
from transcripts.stores.claude.writing.translation import NativeCall

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

    def model_of(self, message: Message) -> str:
        """Return the model under whose name a message is written."""
        if self.own and message.author == "harness" and message.model is None:
            return SYNTHETIC
        if self.own and message.model and not self.every_model:
            return message.model
        return self.model


class Written:
    """The uuids of the rows that each message became."""

    def __init__(self) -> None:
        self._rows: defaultdict[str, list[str]] = defaultdict(list)

    def note(self, message: Message, uuid: str) -> None:
        """Note a row of a message."""
        self._rows[message.id].append(uuid)

    def of(self, message_id: str) -> Sequence[str]:
        """Return the rows of a message."""
        return self._rows.get(message_id, ())

    def last_of(self, message_id: str | None) -> str | None:
        """Return the last row of a message, None if it has none."""
        rows = self.of(message_id or "")
        return rows[-1] if rows else None


class _Response(msgspec.Struct, kw_only=True):
    """A response that is being written; the results of its calls follow its last record."""

    key: str
    message_id: str
    usage: Usage | None
    waiting: list[tuple[Call, str, NativeCall, str]] = msgspec.field(default_factory=list)


class Responses:
    """Adds the records of responses to a chain, and closes every call."""

    def __init__(
        self,
        chain: Chain,
        settings: Settings,
        messages: Sequence[AnyMessage],
        written: Written,
        call_ids: set[str],
    ) -> None:
        self._chain = chain
        self._settings = settings
        self._written = written
        self._call_ids = call_ids
        self._message_ids: set[str] = set()
        self._open: _Response | None = None
        self._usage = {
            message.response: message.usage
            for message in messages
            if message.response is not None and message.usage is not None
        }

    def add(self, message: Message, content: list[dict[str, Any]]) -> str:
        """Add a record of words or thoughts to the response that the message is part of.

        Not behind a call of it: 2.1.332 shows words before the calls of one message, so the
        calls get their results first and a new run of the response begins.
        """
        if self._open is not None and self._open.waiting:
            self.close(message)
        return self._add(message, content)

    def _add(self, message: Message, content: list[dict[str, Any]]) -> str:
        response = self._response_of(message)
        if not self._chain.rows:
            self._chain.user(_BEGUN_ELSEWHERE, None, isMeta=True)
        place = message.cwd if isinstance(message, CommandExecution) else None
        uuid = self._chain.assistant(
            content,
            message.at,
            message_id=response.message_id,
            model=self._settings.model_of(message),
            usage=response.usage,
            **({"cwd": place} if place else {}),
        )
        self._written.note(message, uuid)
        return uuid

    def call(self, call: Call, native: NativeCall, number: int) -> str:
        """Add a call whose result follows when the response ends; return its id."""
        identity = self._call_id(call, number)
        block = {"type": "tool_use", "id": identity, "name": native.name, "input": native.input}
        uuid = self._add(call, [block])
        self._response_of(call).waiting.append((call, identity, native, uuid))
        return identity

    def close(self, following: Message | None) -> None:
        """End the open response: every call gets its result, in the order in which they came.

        A result that came later than the message that follows (work in the background, a
        notice in between) is not dated: dating it would move all that stands after it.
        """
        response, self._open = self._open, None
        if response is None:
            return
        waiting = response.waiting
        if all(call.ended_at is not None for call, *_ in waiting):
            waiting = sorted(waiting, key=lambda one: stamp(one[0].ended_at or self._chain.now))
        for call, identity, native, uuid in waiting:
            at = call.ended_at
            if not self._settings.own and following is not None and following.at is not None:
                at = at if at is not None and at < following.at else None
            row = self._chain.user([_block(native, identity)], at, **_fields(native, uuid))
            self._written.note(call, row)

    def _response_of(self, message: Message) -> _Response:
        """Return the open response of a message, closing another."""
        key = message.response or f"message {message.id}"
        if self._open is not None and self._open.key != key:
            self.close(message)
        if self._open is None:
            # A later run of the same response must not cost a second time.
            usage = self._usage.pop(key, None) if self._settings.own else None
            message_id = self._message_id(message, key)
            self._open = _Response(key=key, message_id=message_id, usage=usage)
        return self._open

    def _message_id(self, message: Message, key: str) -> str:
        own = message.response if self._settings.own else None
        ordinal = 0
        while own is None or own in self._message_ids:
            own = f"msg_{_hexadecimal(self._settings.scope, 'response', key, ordinal)}"
            ordinal += 1
        self._message_ids.add(own)
        return own

    def _call_id(self, call: Call, number: int) -> str:
        own = call.external_id if self._settings.own and number == 0 else None
        if own is None or own in self._call_ids or not _CALL_ID.fullmatch(own):
            own = f"toolu_{_hexadecimal(self._settings.scope, 'call', call.id, number)}"
        self._call_ids.add(own)
        return own


def _block(native: NativeCall, identity: str) -> dict[str, Any]:
    result = native.result
    block: dict[str, Any] = {
        "tool_use_id": identity,
        "type": "tool_result",
        "content": result.content,
    }
    if result.is_error is not None:
        block["is_error"] = result.is_error
    return block


def _fields(native: NativeCall, call_row: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"sourceToolAssistantUUID": call_row, **native.result.fields}
    if native.result.side is not None:
        fields["toolUseResult"] = native.result.side
    return fields


def _hexadecimal(*parts: str | int) -> str:
    return derive(*parts).replace("-", "")[:24]
