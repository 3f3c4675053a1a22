"""Ids are derived from what a store recorded, never minted: reading twice gives the same ids."""

from __future__ import annotations

from uuid import UUID, uuid5

NAMESPACE = UUID("6f2a1d54-9c3e-4b77-8f21-2d5c0a9e7b13")
"""The namespace of all derived ids, shared with Mintokei.AgentTranscripts so that both agree."""

_SEPARATOR = "\x1f"


def derive(*parts: str | int | None) -> str:
    """Return the RFC 4122 version-5 UUID of the parts, joined by U+001F; None counts as "".

    Never pass a message's text as a part: two equal prompts are two messages.
    """
    name = _SEPARATOR.join("" if part is None else str(part) for part in parts)
    return str(uuid5(NAMESPACE, name.encode("utf-8", "surrogatepass").decode("utf-8", "replace")))
