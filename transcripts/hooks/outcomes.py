"""How a call ended and how long it took, as far as its harness says so.

Words of an output prove nothing: what is no field of the payload is unknown.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec

from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import HookEvent

Status = Literal["unresolved", "completed", "failed", "declined", "cancelled", "unknown"]
Source = Literal["native", "observed"]


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """How a call failed, in the harness's own words."""

    type: str | None
    message: str | None
    interrupted: bool | None


_RESULTS: dict[str, Status] = {
    "success": "completed",
    "failure": "failed",
    "error": "failed",
    "timeout": "failed",
    "rejected": "declined",
    "denied": "declined",
}
_AGENT_STATUSES: dict[str, Status] = {
    "completed": "completed",
    "error": "failed",
    "failed": "failed",
    "aborted": "cancelled",
    "cancelled": "cancelled",
}


class _Output(msgspec.Struct, kw_only=True):
    """The fields of a call's output that state how it went."""

    resultType: str | None = None
    result_type: str | None = None
    exitCode: int | None = None
    exit_code: int | None = None
    interrupted: bool | None = None
    agentId: str | None = None
    agent_id: str | None = None


_NOTHING = _Output()


def stated(raw: bytes) -> _Output:
    """Return what a call's output states, whether it is an object or an object in a string."""
    if not raw or raw[:1] not in b'{"':
        return _NOTHING
    try:
        if raw[:1] == b'"':
            raw = msgspec.json.decode(raw, type=str).encode()
        return msgspec.json.decode(raw, type=_Output)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return _NOTHING


def call_status(end: HookEvent | None, dialect: Dialect) -> Status:
    """Return how a call ended: *unknown* where its end does not say, *unresolved* without one."""
    if end is None:
        return "unresolved"
    if end.kind == "call-denied":
        return "declined"
    if end.kind == "call-failure":
        if end.interrupted:
            return "cancelled"
        return "declined" if end.failure == "permission_denied" else "failed"
    told = stated(bytes(end.output))
    if result := (told.resultType or told.result_type):
        return _RESULTS.get(result, "unknown")
    if not dialect.failure_shown:
        return "unknown"
    return "cancelled" if told.interrupted else "completed"


def agent_status(stop: HookEvent | None) -> Status:
    """Return how a subagent ended; that it stopped does not say whether it did its work."""
    if stop is None:
        return "unresolved"
    return _AGENT_STATUSES.get(stop.status or "", "unknown")


def failure(end: HookEvent | None) -> Failure | None:
    """Return how a call or a turn failed, in the harness's words; None if no event says so."""
    if end is None or end.kind not in ("call-failure", "call-denied", "turn-failure"):
        return None
    return Failure(
        type=end.failure or None, message=words(bytes(end.error)), interrupted=end.interrupted
    )


def words(raw: bytes) -> str | None:
    """Return the text of an error, which is a string or an object with a message."""
    if not raw:
        return None
    try:
        value: Any = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return raw.decode("utf-8", "replace")
    if isinstance(value, dict):
        fields: dict[str, Any] = value
        value = fields.get("message")
    return value if isinstance(value, str) and value else None


def exit_code(end: HookEvent | None) -> int | None:
    """Return the exit code that a call's output states as a field."""
    if end is None:
        return None
    told = stated(bytes(end.output))
    return told.exitCode if told.exitCode is not None else told.exit_code


def duration(began: datetime | None, end: HookEvent | None) -> tuple[float | None, Source | None]:
    """Return how long something took, in milliseconds, and whose figure that is.

    ``began``: when what told of its start was seen, None where nothing did.
    """
    if end is None:
        return None, None
    native = stated_duration(end)
    elapsed = _elapsed(began, end.at)
    if native is not None:
        if end.kind == "mcp-after" and end.duration_ms is None:
            native = _in_milliseconds(native, elapsed)
        return native, "native"
    return (None, None) if elapsed is None else (elapsed, "observed")


def stated_duration(end: HookEvent) -> float | None:
    """Return how long something took by the harness's own word; less than nothing is no word."""
    native = end.duration_ms if end.duration_ms is not None else end.duration
    return native if native is not None and native >= 0 else None


def _elapsed(began: datetime | None, ended: datetime | None) -> float | None:
    if began is None or ended is None or ended < began:
        return None
    return (ended - began).total_seconds() * 1000


def _in_milliseconds(native: float, elapsed: float | None) -> float:
    """Return an MCP event's duration in milliseconds.

    Documented in milliseconds, seen in seconds (Cursor 3.5.38): where both ends were seen, the
    unit is taken that comes closer to the time between them; else the documented one.
    """
    if elapsed is None or abs(native - elapsed) <= abs(native * 1000 - elapsed):
        return native
    return native * 1000
