"""Ids are derived from what a store recorded, never minted: reading twice gives the same ids."""

from __future__ import annotations

from hashlib import sha1
from uuid import UUID

NAMESPACE = UUID("6f2a1d54-9c3e-4b77-8f21-2d5c0a9e7b13")
"""The namespace of all derived ids, shared with Mintokei.AgentTranscripts so that both agree."""

SEPARATOR = "\x1f"
"""Stands between the parts of which an id is derived."""

_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}


class Scope:
    """Ids whose first parts are the same, such as those of one session.

    There is one for every message of a session, so no :class:`uuid.UUID` is made on the way, and
    what the ids have in common is hashed once.
    """

    def __init__(self, *first: str) -> None:
        self._space = sha1(NAMESPACE.bytes, usedforsecurity=False)
        self._space.update("".join(f"{part}{SEPARATOR}" for part in first).encode())

    def derive(self, *parts: str | int | None) -> str:
        """Return what :func:`derive` returns of the first parts and these."""
        first = parts[0] if len(parts) == 1 else None
        name = first if type(first) is str else _joined(parts)
        digest = self._space.copy()
        try:
            digest.update(name.encode())
        except UnicodeEncodeError:
            name = name.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
            digest.update(name.encode())
        text = digest.hexdigest()
        variant = _VARIANT[text[16]]
        return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}"


def _joined(parts: tuple[str | int | None, ...]) -> str:
    return SEPARATOR.join(["" if part is None else str(part) for part in parts])


_ALL = Scope()


def derive(*parts: str | int | None) -> str:
    """Return the RFC 4122 version-5 UUID of the parts, joined by U+001F; None counts as "".

    Never pass a message's text as a part: two equal prompts are two messages.
    """
    return _ALL.derive(*parts)
