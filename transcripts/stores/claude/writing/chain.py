"""The rows of one thread while they are made: each linked to the last, each later than it.

What the releases need of a row was measured by resuming hand-made files: up to 2.1.50 the
newest time picks the branch, so times must rise; a response's records share one message id,
or some releases merge texts into the wrong message.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from transcripts.ids import derive
from transcripts.model import Usage

_TICK = timedelta(milliseconds=1)


class Chain:
    """The rows of a thread, and the link that the next one needs."""

    def __init__(
        self,
        *,
        scope: str,
        thread: str | None,
        envelope: Mapping[str, Any],
        start: datetime,
        rising: bool = True,
    ) -> None:
        self.rows: list[dict[str, Any]] = []
        self.last: str | None = None
        self._scope = scope
        self._thread = thread
        self._envelope = envelope
        self._clock = start - _TICK
        self._rising = rising

    def user(self, content: Any, at: datetime | None, **fields: Any) -> str:
        """Add a row of the user's side; return its uuid."""
        message = {"role": "user", "content": content}
        return self.add("user", at, message=message, **fields)

    def assistant(
        self,
        content: list[dict[str, Any]],
        at: datetime | None,
        *,
        message_id: str,
        model: str,
        usage: Usage | None,
        **fields: Any,
    ) -> str:
        """Add a row with one part of a response; return its uuid."""
        message = {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": content,
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _counts(usage),
        }
        return self.add("assistant", at, message=message, requestId=f"req_{message_id}", **fields)

    def add(self, kind: str, at: datetime | None, **fields: Any) -> str:
        """Add a row at a time, or as soon after the last one as the clock allows.

        What the CLI itself recorded keeps its times, in whatever order: it resumes it so.
        """
        uuid = derive(self._scope, "record", self._thread, len(self.rows))
        next_tick = self._clock + _TICK
        moment = next_tick if at is None else at if not self._rising else max(next_tick, at)
        self._clock = _whole_milliseconds(moment)
        row = {
            "parentUuid": self.last,
            **self._envelope,
            "type": kind,
            **fields,
            "uuid": uuid,
            "timestamp": stamp(self._clock),
        }
        self.rows.append(row)
        self.last = uuid
        return uuid

    def note(self, kind: str, at: datetime | None, **fields: Any) -> None:
        """Add a row of bookkeeping, which no other row hangs off."""
        times = {} if at is None else {"timestamp": stamp(at)}
        self.rows.append(
            {"type": kind, **fields, **times, "sessionId": self._envelope["sessionId"]}
        )

    @property
    def now(self) -> datetime:
        """The time of the last row."""
        return self._clock


def stamp(at: datetime) -> str:
    """Return a time as the CLI writes it, in UTC with milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _whole_milliseconds(at: datetime) -> datetime:
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def _counts(usage: Usage | None) -> dict[str, Any]:
    """Return token counts as recorded; zeros where nothing is known, for releases need some."""
    if usage is None:
        return {"input_tokens": 0, "output_tokens": 0}
    counts: dict[str, Any] = {
        "input_tokens": usage.input or 0,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output or 0,
    }
    if usage.reasoning is not None:
        counts["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    return {name: value for name, value in counts.items() if value is not None}
