"""The calls that the model made itself, by name and by how they ended.

A call without a result is unresolved: neither failed nor done.
"""

from __future__ import annotations

from collections import Counter
from typing import TypeGuard

from transcripts.facts.fact import Fact
from transcripts.model import Call, Message, Plan
from transcripts.narration import qualified_name


class CallsFold:
    """The calls of one thread."""

    def __init__(self) -> None:
        self._calls: list[str] = []
        self._failed: list[str] = []
        self._unresolved: list[str] = []
        self._names: Counter[str] = Counter()

    def take(self, message: Message) -> None:
        """Take in a message: a call of the model's counts, whatever came of it."""
        if not is_call(message):
            return
        self._calls.append(message.id)
        self._names[qualified_name(message.name, message.server)] += 1
        if message.status == "failed":
            self._failed.append(message.id)
        elif message.status == "unresolved":
            self._unresolved.append(message.id)

    def count(self) -> Fact[int]:
        """Return how many calls there are."""
        return _counted(self._calls)

    def by_name(self) -> Fact[dict[str, int]]:
        """Return how often each tool was called."""
        value = dict(sorted(self._names.items()))
        return Fact(value=value, evidence=tuple(self._calls), accounting="derived")

    def failed(self) -> Fact[int]:
        """Return how many calls failed; one that was refused or stopped did not."""
        return _counted(self._failed)

    def unresolved(self) -> Fact[int]:
        """Return of how many calls no end was recorded."""
        return _counted(self._unresolved)


def is_call(message: Message) -> TypeGuard[Call]:
    """Whether a message is a call that the model made; a plan may be one of words only."""
    if not isinstance(message, Call) or message.author != "model":
        return False
    return bool(message.name) or not isinstance(message, Plan)


def _counted(ids: list[str]) -> Fact[int]:
    return Fact(value=len(ids), evidence=tuple(ids), accounting="derived")
