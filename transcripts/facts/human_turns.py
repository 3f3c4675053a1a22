"""What a person said, turn by turn, and what stands in a person's place without being theirs.

The CLI's own mark decides. Where a release marks what is typed, a prompt without any mark is not a
person's however it reads, and is listed as reclassified, so that a reader may disagree; a prompt
that came another way (given to a CLI that prints its answer) bears the mark of that way instead.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from datetime import datetime

import msgspec

from transcripts.facts.fact import Fact
from transcripts.facts.words import words_of
from transcripts.model import UserMessage


class HumanTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a person said, when they said it."""

    id: str
    at: datetime | None
    text: str
    delivery: str | None = None


class ExcludedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt that no person gave, and why; ``reclassified`` if its words read like one's."""

    id: str
    at: datetime | None
    reason: str
    provenance: str | None = None
    reclassified: bool = False


Rule = Callable[["HumanTurnsFold", UserMessage], bool]


class HumanTurnsFold:
    """The turns of one session.

    ``unstamped`` are the prompts without a mark in releases that set one; it grows while the
    messages are read. ``previous`` is the turn right before, None once the agent has done anything:
    then the same words are said again.
    """

    def __init__(self, unstamped: Set[str]) -> None:
        self.unstamped = unstamped
        self.previous: HumanTurn | None = None
        self._turns: list[HumanTurn] = []
        self._excluded: list[ExcludedTurn] = []
        self._provenance: dict[str, str | None] = {}

    def take(self, message: UserMessage) -> None:
        """Take in a prompt, or what stands in a prompt's place."""
        reason = next((name for name, rule in RULES.items() if rule(self, message)), None)
        if reason is None:
            turn = HumanTurn(
                id=message.id,
                at=message.at,
                text=words_of(message.content),
                delivery=message.delivery,
            )
            self._turns.append(turn)
            self.previous = turn
        else:
            self._excluded.append(
                ExcludedTurn(
                    id=message.id,
                    at=message.at,
                    reason=reason,
                    provenance=message.provenance,
                    reclassified=reason == UNSTAMPED,
                )
            )
        self._provenance[message.id] = message.provenance

    def turns(self, is_told_by_words: Callable[[str | None], bool]) -> Fact[list[HumanTurn]]:
        """Return what a person said."""
        ids = tuple(turn.id for turn in self._turns)
        return Fact(value=self._turns, evidence=ids, by_text=self._worded(ids, is_told_by_words))

    def excluded(self, is_told_by_words: Callable[[str | None], bool]) -> Fact[list[ExcludedTurn]]:
        """Return what is no person's, each with its reason."""
        ids = tuple(turn.id for turn in self._excluded)
        worded = self._worded(ids, is_told_by_words)
        return Fact(value=self._excluded, evidence=ids, by_text=worded)

    def _worded(
        self, ids: tuple[str, ...], is_told_by_words: Callable[[str | None], bool]
    ) -> tuple[str, ...]:
        return tuple(one for one in ids if is_told_by_words(self._provenance[one]))


def _of_subagent(_: HumanTurnsFold, message: UserMessage) -> bool:
    return message.agent is not None


def _inherited(_: HumanTurnsFold, message: UserMessage) -> bool:
    return message.inherited_from is not None


def _not_by_person(_: HumanTurnsFold, message: UserMessage) -> bool:
    return message.author != "human"


def _unstamped(fold: HumanTurnsFold, message: UserMessage) -> bool:
    return message.id in fold.unstamped


def _never_delivered(_: HumanTurnsFold, message: UserMessage) -> bool:
    return message.status == "cancelled" and message.delivery == "queued"


def _told_twice(fold: HumanTurnsFold, message: UserMessage) -> bool:
    before = fold.previous
    if before is None or before.at is None or before.at != message.at:
        return False
    return before.text.split() == words_of(message.content).split()


UNSTAMPED = "no_human_origin"
RULES: dict[str, Rule] = {
    "subagent": _of_subagent,
    "inherited": _inherited,
    "not_by_a_person": _not_by_person,
    UNSTAMPED: _unstamped,
    "never_delivered": _never_delivered,
    "told_twice": _told_twice,
}
"""Why a prompt is no person's turn; the first rule that holds is the reason."""
