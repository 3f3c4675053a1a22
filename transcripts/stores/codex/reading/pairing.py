"""Words, thoughts and searches, told once however often the record repeats them.

Each vocabulary tells a thing once, so a telling is paired with the first of the same turn
that its vocabulary has not told: by id where both have one, else by the words. Two equal
prompts are two messages, and what has no partner stands for itself.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from transcripts.narration import content_text
from transcripts.stores.codex.dialects.responses import spoken_text
from transcripts.stores.codex.foreign import mapping, text
from transcripts.stores.codex.reading.drafts import Searched, Spoken, Thought, Vocabulary
from transcripts.stores.codex.reading.state import State
from transcripts.stores.codex.reading.telling import Open


class Pairing:
    """What has been told in this turn and may be told again."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._words: dict[str, Open[Spoken]] = {
            "user": Open(_keys_of_words),
            "assistant": Open(_keys_of_words),
        }
        self._unanswered: list[Spoken] = []
        self._thoughts: Open[Thought] = Open()
        self._searches: Open[Searched] = Open()

    @property
    def looks(self) -> int:
        """How often something told before was looked at: grows with the records, no faster."""
        every = (*self._words.values(), self._thoughts, self._searches)
        return sum(one.looks for one in every)

    def end(self) -> None:
        """End the turn: nothing told in it is told again."""
        self.end_words()
        self._thoughts.clear()
        self._searches.clear()

    def end_words(self) -> None:
        """End the words of the turn, as when the history is replaced."""
        for words in self._words.values():
            words.clear()
        self._unanswered.clear()

    def words(self, draft: Spoken, vocabulary: Vocabulary) -> None:
        """Take in words: as another telling of what is known, or as a message of their own.

        Each vocabulary tells a message once, so equal words told twice by one are two.
        """
        draft.told = (vocabulary,)
        open_words = self._words.get(draft.role)
        known = None
        if open_words is not None and open_words.awaits(vocabulary):
            known = _same_message(open_words, draft, vocabulary)
        if open_words is None or known is None:
            if open_words is not None:
                self._new_words(draft.role)
                open_words.add(draft, (draft.own_id,) if draft.own_id else ())
                if draft.role == "user":
                    self._unanswered.append(draft)
            self._state.drafts.append(draft)
            if draft.role == "assistant":
                self._state.by_model(draft)
            else:
                self._state.end_response()
            return
        open_words.tell(known, vocabulary)
        known.sources += draft.sources
        known.phase = known.phase or draft.phase
        known.typed = known.typed or draft.typed
        own_id = known.own_id or draft.own_id
        if vocabulary == "item":
            if known.role == "assistant":
                self._state.go_on(known)
            known.content, known.authors, known.kinds = draft.content, draft.authors, draft.kinds
            own_id = draft.own_id or known.own_id
            open_words.look_again(known)
        if own_id != known.own_id:
            known.own_id = own_id
            open_words.index(known, (own_id,))

    def _new_words(self, role: str) -> None:
        """Close what words of one side end: an item never comes after the other has spoken."""
        if role == "user":
            self._words["assistant"].clear()
        else:
            for one in self._unanswered:
                if "item" not in one.told:
                    self._words["user"].close(one)
            self._unanswered.clear()

    def thought(self, draft: Thought, vocabulary: Vocabulary) -> None:
        """Take in a whole thought: with what told it, or parts of it, before."""
        draft.told += (vocabulary,)
        told = self._thoughts.candidates(
            _keys_of_thought(draft), vocabulary, lambda one: vocabulary in one.told
        )
        known = [one for one in told if _same_thought(one, draft, vocabulary)]
        if not known:
            if draft.texts or draft.sealed is not None:
                self._new_thought(draft)
            return
        first, *others = known
        if first.told == ("echo",):
            for one in others:
                if one.told == ("echo",):
                    first.sources += one.sources
                    first.echoed += one.echoed
                    self._state.drop(one)
                    self._thoughts.close(one)
        first.sources += draft.sources
        self._thoughts.tell(first, vocabulary)
        first.texts = draft.texts or first.texts
        first.sealed = draft.sealed or first.sealed
        first.own_id = draft.own_id or first.own_id
        self._thoughts.index(first, _keys_of_thought(first))

    def part_of_thought(self, words: str | None) -> None:
        """Take in an echo, which tells one part of a thought."""
        if words is None:
            self._state.count("event_msg/agent_reasoning")
            return
        parts = self._thoughts.candidates(
            [words], "part", lambda one: one.told != ("echo",) and _has_echoed(one, words)
        )
        for one in parts:
            if one.told != ("echo",):
                one.sources.append(self._state.here())
                one.echoed.append(words)
                if "echo" not in one.told:
                    self._thoughts.tell(one, "echo")
                return
        draft = Thought(*self._state.standing(), texts=[words], echoed=[words], told=("echo",))
        self._new_thought(draft)

    def _new_thought(self, draft: Thought) -> None:
        self._thoughts.add(draft, _keys_of_thought(draft))
        self._state.drafts.append(draft)
        self._state.by_model(draft)

    def search(
        self, own_id: str | None, action: Any, status: str | None, vocabulary: Vocabulary
    ) -> None:
        """Take in a web search."""
        asked = mapping(action)
        keys = _keys_of_search(own_id, asked)
        for one in self._searches.candidates(keys, vocabulary, lambda one: vocabulary in one.told):
            same = (own_id is not None and own_id == one.own_id) or one.action == asked
            if same:
                one.sources.append(self._state.here())
                self._searches.tell(one, vocabulary)
                return
        draft = Searched(
            *self._state.standing(own_id),
            own_id=own_id,
            action=asked,
            query=text(asked.get("query")),
            status="failed" if status == "failed" else "completed",
            told=(vocabulary,),
        )
        self._searches.add(draft, keys)
        self._state.drafts.append(draft)
        self._state.by_model(draft)


def _same_message(known: Open[Spoken], wanted: Spoken, vocabulary: Vocabulary) -> Spoken | None:
    """Return the first message that the vocabulary has not told yet, by its id or its words."""

    def told(one: Spoken) -> bool:
        return vocabulary in one.told

    if wanted.own_id:
        only = known.only(wanted.own_id)
        if only is not None and only.own_id == wanted.own_id and not told(only):
            return only
        for one in known.candidates([wanted.own_id], vocabulary, told):
            if one.own_id == wanted.own_id:
                return one
    spoken = spoken_text(wanted.content)
    for one in known.closely().candidates(_keys_of_words(wanted), vocabulary, told):
        if spoken_text(one.content) == spoken or (
            content_text(one.content) == content_text(wanted.content)
        ):
            return one
    return None


def _keys_of_words(draft: Spoken) -> list[Hashable]:
    spoken, content = hash(spoken_text(draft.content)), hash(content_text(draft.content))
    return [("spoken", spoken), ("content", content)]


def _keys_of_thought(draft: Thought) -> list[Hashable]:
    return [*draft.texts, *([("id", draft.own_id)] if draft.own_id else [])]


def _keys_of_search(own_id: str | None, asked: dict[str, Any]) -> list[Hashable]:
    return [("asked", len(asked), text(asked.get("query"))), *([own_id] if own_id else [])]


def _has_echoed(thought: Thought, words: str) -> bool:
    return thought.echoed.count(words) >= thought.texts.count(words)


def _same_thought(known: Thought, wanted: Thought, vocabulary: Vocabulary) -> bool:
    """Whether a thought told whole is one that others have told, whole or in part."""
    if vocabulary in known.told:
        return False
    if known.own_id and wanted.own_id:
        return known.own_id == wanted.own_id
    if known.told == ("echo",):
        return all(words in wanted.texts for words in known.texts)
    return bool(wanted.texts) and known.texts == wanted.texts
