"""The files of releases around 0.20: bare response items, without envelope or times.

The first line is the session's own, ``{"id", "timestamp", "instructions", "git"}``; the rest
are response items as the wire carries them, and ``{"record_type": "state"}``.
"""

from __future__ import annotations

from typing import Any

from transcripts.stores.codex.foreign import text

_ITEM_TYPES = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
    }
)


def is_meta(value: dict[str, Any]) -> bool:
    """Whether a record is the first line of a flat file."""
    return isinstance(value.get("id"), str) and "timestamp" in value and "payload" not in value


def lift(value: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Return a flat record as type and payload of the later envelope; None if it is not flat."""
    if "payload" in value:
        return None
    if "record_type" in value:
        return "state", value
    if text(value.get("type")) in _ITEM_TYPES:
        return "response_item", value
    if is_meta(value):
        return "session_meta", value
    return None
