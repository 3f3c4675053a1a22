"""Messages of the normalised model, for bridges: what a tool gave, under the model's names.

A message's id is its place in the session: tools that have ids of their own keep them in
``external_id``. Nothing here knows a store's format.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]


def text(words: str | None) -> list[Json]:
    """Return content of one text; no words, no content."""
    return [{"type": "text", "text": words}] if words else []


def words_of(content: Sequence[Json] | str | None) -> str:
    """Return the words of content, part by part on lines of their own."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def picture(data: str | None, media_type: str | None = None) -> Json:
    """Return an attachment whose bytes a tool gives in base64; without them, only that it is."""
    try:
        raw = None if data is None else base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raw = None
    asset: Json = {"type": "asset", "sha256": None, "media_type": media_type}
    if raw is not None:
        asset |= {"sha256": hashlib.sha256(raw).hexdigest(), "data": data, "size": len(raw)}
    return asset


def instant(value: Any) -> str | None:
    """Return a time as the wire has it, from RFC 3339 or from seconds or milliseconds; or None."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = value / 1000 if value > 10_000_000_000 else value
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def spoken(kind: str, author: str, content: list[Json], **fields: Any) -> Json:
    """Return a message that is only words: UserMessage, AgentMessage, Reasoning."""
    return {"kind": kind, "author": author, "content": content, **fields}


def numbered(session_id: str, messages: Sequence[Json]) -> list[Json]:
    """Return messages with ids, by their places; times that are no times are left out."""
    return [
        {**message, "id": f"{session_id}-{number}", "at": instant(message.get("at"))}
        for number, message in enumerate(messages, 1)
    ]
