"""Recorded sessions joined into one conversation, in which every id is still its own.

Sanitising counts ids from the start in each recording, so two recordings hold the same ones;
a provider refuses a conversation in which an item or a call occurs twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid5

from msgspec.structs import replace

from transcripts.ids import NAMESPACE, derive
from transcripts.model import AnyMessage, CompactBoundary, SubAgent

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


class Renaming:
    """New names for the ids of one recording after the other, in the form they had."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def messages(self, name: str, messages: Sequence[AnyMessage]) -> tuple[AnyMessage, ...]:
        """Return a recording's messages under ids that no recording before it used."""
        known: dict[str, str] = {}

        def own(identifier: str | None) -> str | None:
            if identifier is None:
                return None
            if identifier not in known:
                known[identifier] = self._free(identifier, name)
            return known[identifier]

        renamed = tuple(_renamed(message, name, own) for message in messages)
        self._taken.update(known.values())
        return renamed

    def _free(self, identifier: str, name: str) -> str:
        if identifier not in self._taken:
            return identifier
        if _UUID.search(identifier):
            return _UUID.sub(lambda match: _other_uuid(match, name), identifier)
        number = next(n for n in range(2, 1000) if f"{identifier}_{n}" not in self._taken)
        return f"{identifier}_{number}"


def _renamed(message: AnyMessage, name: str, own: Any) -> AnyMessage:
    superseded = message.superseded_by
    if superseded is not None and superseded.id is not None:
        superseded = replace(superseded, id=derive(name, superseded.id))
    changed = replace(
        message,
        id=derive(name, message.id),
        external_id=own(message.external_id),
        turn=own(message.turn),
        response=own(message.response),
        agent=own(message.agent),
        caller=None if message.caller is None else derive(name, message.caller),
        superseded_by=superseded,
    )
    if isinstance(changed, CompactBoundary):
        return replace(changed, preserved=tuple(derive(name, one) for one in changed.preserved))
    if isinstance(changed, SubAgent):
        return replace(changed, agent_id=own(changed.agent_id))
    return changed


def _other_uuid(match: re.Match[str], name: str) -> str:
    """Return another UUID of the same version."""
    made = str(uuid5(NAMESPACE, f"{name}/{UUID(match[0])}"))
    return f"{made[:14]}{match[1]}{made[15:]}"
