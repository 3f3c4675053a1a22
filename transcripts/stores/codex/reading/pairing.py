"""Words, thoughts and searches, told once however often the record repeats them.

Each vocabulary tells a thing once, so a telling is paired with the first of the same turn
that its vocabulary has not told: by id where both have one, else by the words. Two equal
prompts are two messages, and what has no partner stands for itself.
"""

from __future__ import annotations

from typing import Any

from transcripts.narration import content_text
from transcripts.stores.codex.dialects.responses import spoken_text
from transcripts.stores.codex.foreign import mapping, text
from transcripts.stores.codex.reading.drafts import Searched, Spoken, Thought, Vocabulary
from transcripts.stores.codex.reading.state import State


class Pairing:
    """What has been told in this turn and may be told again."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._words: dict[str, list[Spoken]] = {"user": [], "assistant": []}
        self._thoughts: list[Thought] = []
        self._searches: list[Searched] = []

    def end(self) -> None:
        """End the turn: nothing told in it is told again."""
        self.end_words()
        self._thoughts.clear()
        self._searches.clear()

    def end_words(self) -> None:
        """End the words of the turn, as when the history is replaced."""
        for words in self._words.values():
            words.clear()

    def words(self, draft: Spoken, vocabulary: Vocabulary) -> None:
        """Take in words: as another telling of what is known, or as a message of their own.

        Each vocabulary tells a message once, so equal words told twice by one are two.
        """
        draft.told.add(vocabulary)
        open_words = self._words.get(draft.role)
        known = None if open_words is None else _same_message(open_words, draft, vocabulary)
        if known is None:
            if open_words is not None:
                self._new_words(draft.role)
                open_words.append(draft)
            self._state.drafts.append(draft)
            if draft.role == "assistant":
                self._state.by_model(draft)
            else:
                self._state.end_response()
            return
        known.sources += draft.sources
        known.told.add(vocabulary)
        known.own_id = known.own_id or draft.own_id
        known.phase = known.phase or draft.phase
        known.typed = known.typed or draft.typed
        if vocabulary == "item":
            if known.role == "assistant":
                self._state.go_on(known)
            known.content, known.authors, known.kinds = draft.content, draft.authors, draft.kinds
            known.own_id = draft.own_id or known.own_id

    def _new_words(self, role: str) -> None:
        """Close what words of one side end: an item never comes after the other has spoken."""
        if role == "user":
            self._words["assistant"].clear()
        else:
            user = self._words["user"]
            user[:] = [one for one in user if "item" in one.told]

    def thought(self, draft: Thought, vocabulary: Vocabulary) -> None:
        """Take in a whole thought: with what told it, or parts of it, before."""
        draft.told.add(vocabulary)
        known = [one for one in self._thoughts if _same_thought(one, draft, vocabulary)]
        if not known:
            if draft.texts or draft.sealed is not None:
                self._new_thought(draft)
            return
        first, *others = known
        if "echo" in first.told and len(first.told) == 1:
            for one in others:
                if one.told == {"echo"}:
                    first.sources += one.sources
                    first.echoed += one.echoed
                    self._state.drop(one)
                    self._thoughts.remove(one)
        first.sources += draft.sources
        first.told.add(vocabulary)
        first.texts = draft.texts or first.texts
        first.sealed = draft.sealed or first.sealed
        first.own_id = draft.own_id or first.own_id

    def part_of_thought(self, words: str | None) -> None:
        """Take in an echo, which tells one part of a thought."""
        if words is None:
            self._state.count("event_msg/agent_reasoning")
            return
        for one in self._thoughts:
            whole = one.told != {"echo"}
            if whole and one.echoed.count(words) < one.texts.count(words):
                one.sources.append(self._state.here())
                one.echoed.append(words)
                one.told.add("echo")
                return
        draft = Thought(**self._state.draft_fields(), texts=[words], echoed=[words], told={"echo"})
        self._new_thought(draft)

    def _new_thought(self, draft: Thought) -> None:
        self._thoughts.append(draft)
        self._state.drafts.append(draft)
        self._state.by_model(draft)

    def search(
        self, own_id: str | None, action: Any, status: str | None, vocabulary: Vocabulary
    ) -> None:
        """Take in a web search."""
        asked = mapping(action)
        for one in self._searches:
            same = (own_id is not None and own_id == one.own_id) or one.action == asked
            if same and vocabulary not in one.told:
                one.sources.append(self._state.here())
                one.told.add(vocabulary)
                return
        draft = Searched(
            **self._state.draft_fields(own_id),
            own_id=own_id,
            action=asked,
            query=text(asked.get("query")),
            status="failed" if status == "failed" else "completed",
            told={vocabulary},
        )
        self._searches.append(draft)
        self._state.drafts.append(draft)
        self._state.by_model(draft)


def _same_message(known: list[Spoken], wanted: Spoken, vocabulary: Vocabulary) -> Spoken | None:
    """Return the first message that the vocabulary has not told yet, by its id or its words."""
    untold = [one for one in known if vocabulary not in one.told]
    for one in untold:
        if wanted.own_id and one.own_id == wanted.own_id:
            return one
    for one in untold:
        if spoken_text(one.content) == spoken_text(wanted.content) or (
            content_text(one.content) == content_text(wanted.content)
        ):
            return one
    return None


def _same_thought(known: Thought, wanted: Thought, vocabulary: Vocabulary) -> bool:
    """Whether a thought told whole is one that others have told, whole or in part."""
    if vocabulary in known.told:
        return False
    if known.own_id and wanted.own_id:
        return known.own_id == wanted.own_id
    if known.told == {"echo"}:
        return all(words in wanted.texts for words in known.texts)
    return bool(wanted.texts) and known.texts == wanted.texts
