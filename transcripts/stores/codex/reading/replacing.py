"""Parts of the history that were replaced or taken back: what the next request still holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from transcripts.model import Opaque, Superseded, Text
from transcripts.narration import content_text
from transcripts.stores.codex.dialects.responses import content_of, spoken_text
from transcripts.stores.codex.foreign import items, mapping, text
from transcripts.stores.codex.reading import authors
from transcripts.stores.codex.reading.drafts import Called, Compacted, Draft, Spoken
from transcripts.stores.codex.reading.pairing import Pairing
from transcripts.stores.codex.reading.state import State

_HEADING = re.compile(r"Another language model [^\n]*\n")
"""What Codex puts over a summary, since 0.77, for the model that goes on with it."""

_DONE = "Compact task completed"
"""What 0.45 says behind a compaction, in the model's place."""


class Replacing:
    """The compactions of a rollout, and the turns taken back."""

    def __init__(self, state: State, pairing: Pairing) -> None:
        self._state = state
        self._pairing = pairing
        self._compactions: list[Compacted] = []
        self._has_any = False

    def compacted(self, payload: dict[str, Any]) -> None:
        """Take in a history put in the place of all before it."""
        words = _HEADING.sub("", text(payload.get("message")) or "", count=1)
        history = items(payload.get("replacement_history"))
        boundary = Compacted(
            *self._state.standing(),
            summary=(Text(text=words),) if words else _sealed(history),
        )
        response_id = text(payload.get("compaction_response_id"))
        answered = (
            self._untold() if response_id is None else self._state.last_of_response.get(response_id)
        )
        if answered is not None and words.endswith(content_text(answered.content)):
            # The model's answer to the request to summarise was never said to anybody.
            boundary.summary = answered.content
            boundary.sources[:0] = answered.sources
            self._state.drop(answered)
        if payload.get("replacement_history") is None:
            # Before 0.92 it is made anew from the prompts and the summary whenever it is needed.
            boundary.kept = [*self._prompts()]
        else:
            boundary.kept = self._kept(history)
        kept = {id(draft) for draft in boundary.kept}
        for draft in self._state.drafts:
            if draft.superseded_by is None and id(draft) not in kept:
                draft.superseded_by = boundary
        self._pairing.end_words()
        self._state.end_response()
        self._compactions.append(boundary)
        self._add(boundary)

    def turn_ended(self) -> None:
        """Tell who had the history replaced in the turn that ends: a turn in which nothing else
        was asked or answered is one that the person asked for it in."""
        turn = self._state.turn
        if turn is None or not self._has_any:
            return
        drafts = list(takewhile(lambda one: one.turn == turn, reversed(self._state.drafts)))
        boundaries = [one for one in drafts if isinstance(one, Compacted)]
        if boundaries:
            alone = not any(isinstance(one, Called) or self._is_talk(one) for one in drafts)
            for boundary in boundaries:
                boundary.trigger = "manual" if alone else "auto"

    def _is_talk(self, draft: Draft) -> bool:
        spoken = isinstance(draft, Spoken) and draft.role == "assistant"
        return spoken or self._is_prompt(draft)

    def _untold(self) -> Spoken | None:
        """Return the last message if it is an answer that no event has told anybody.

        Releases before 0.160 name no response.
        """
        last = self._state.drafts[-1] if self._state.drafts else None
        if isinstance(last, Spoken) and last.role == "assistant" and last.told == ("item",):
            return last
        return None

    def sealed(self, payload: dict[str, Any]) -> None:
        """Take in a summary that only its provider can read."""
        sealed = text(payload.get("encrypted_content"))
        content = (Opaque(form="encrypted", data=sealed),) if sealed else None
        self._add(Compacted(*self._state.standing(text(payload.get("id"))), summary=content))

    def is_done(self, words: str | None) -> bool:
        """Whether an event's words are Codex's own, that the history was just replaced."""
        last = self._state.drafts[-1] if self._state.drafts else None
        return words == _DONE and isinstance(last, Compacted)

    def echo(self, own_id: str | None) -> None:
        """Take in an event that tells a compaction again, or alone."""
        if self._compactions:
            self._compactions.pop(0).sources.append(self._state.here())
            return
        self._add(Compacted(*self._state.standing(own_id), own_id=own_id))

    def _add(self, boundary: Compacted) -> None:
        self._has_any = True
        self._state.drafts.append(boundary)

    def _kept(self, history: list[Any]) -> list[Draft]:
        """Return the messages that a replaced history still holds, by their id or their words."""
        kept: list[Draft] = []
        said = [
            one
            for one in self._state.drafts
            if isinstance(one, Spoken) and one.role != "developer" and one.superseded_by is None
        ]
        for value in map(mapping, history):
            role = value.get("role")
            own_id = text(value.get("id"))
            words = spoken_text(content_of(value.get("content")))
            # A copy has its original's id or, before 0.160, a new one.
            same = [one for one in said if one.role == role]
            draft = next((one for one in same if own_id and own_id == one.own_id), None)
            if draft is None:
                draft = next((one for one in same if spoken_text(one.content) == words), None)
            if draft is not None:
                kept.append(draft)
                said.remove(draft)
        return kept

    def roll_back(self, turns: int) -> None:
        """Take back the last turns: all from the person's n-th last prompt on."""
        prompts = [
            at
            for at, draft in enumerate(self._state.drafts)
            if not isinstance(draft.superseded_by, Superseded) and self._is_prompt(draft)
        ]
        if turns < 1:
            return
        start = prompts[-turns] if turns <= len(prompts) else 0
        self._take_back(self._state.drafts[start:])

    def go_back(self, ordinal: int) -> None:
        """Take back what was recorded from an ordinal on."""
        self._take_back([one for one in self._state.drafts if (one.ordinal or 0) >= ordinal])

    def _take_back(self, undone: Sequence[Draft]) -> None:
        """Mark what was taken back, and undo the compactions among it."""
        gone = {id(draft) for draft in undone}
        for draft in self._state.drafts:
            if id(draft) in gone:
                draft.superseded_by = Superseded(id=None, why="rewind")
            elif id(draft.superseded_by) in gone:
                draft.superseded_by = None

    def _prompts(self) -> list[Draft]:
        """Return the prompts that the history still holds."""
        return [
            one for one in self._state.drafts if one.superseded_by is None and self._is_prompt(one)
        ]

    @staticmethod
    def _is_prompt(draft: Draft) -> bool:
        if not isinstance(draft, Spoken) or draft.role != "user":
            return False
        if draft.typed or "human" in draft.authors:
            return True
        untagged = draft.from_agent is None and not any(draft.authors)
        return untagged and not authors.is_by_harness(draft.content)


def _sealed(history: list[Any]) -> tuple[Opaque, ...] | None:
    for value in map(mapping, history):
        sealed = text(value.get("encrypted_content"))
        if str(value.get("type")).startswith("compaction") and sealed:
            return (Opaque(form="encrypted", data=sealed),)
    return None
