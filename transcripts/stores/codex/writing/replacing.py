"""What no request holds any more, kept as Codex keeps it: before what replaced it or took it back.

A compaction names the history that stands in the place of all before it; turns taken back are
followed by an event that says how many prompts they had. Releases from 0.171 begin another file
to go back; they read the event too, and it needs no second file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import dropwhile, groupby

from transcripts.model import AnyMessage, CompactBoundary, Message, Opaque
from transcripts.narration import content_text
from transcripts.stores.codex.writing import items
from transcripts.stores.codex.writing.items import Payload
from transcripts.stores.codex.writing.rollout import Held, Rollout
from transcripts.stores.codex.writing.wording import SUMMARY, is_prompt


def kept_though_superseded(messages: Sequence[AnyMessage]) -> set[str]:
    """Return which superseded messages of a thread Codex can keep, and say so of, by their ids."""
    return {
        *_replaced(messages),
        *(message.id for turns in _taken_back(messages) for message in turns),
    }


def _replaced(messages: Sequence[AnyMessage]) -> Iterator[str]:
    """Yield the messages behind which the compaction stands that replaced them."""
    behind: set[str] = set()
    for message in reversed(messages):
        why = message.superseded_by
        replaced = why is not None and why.why == "compaction" and why.id in behind
        if replaced:
            yield message.id
        if isinstance(message, CompactBoundary) and (replaced or why is None):
            behind.add(message.id)


def _taken_back(messages: Sequence[AnyMessage]) -> Iterator[list[AnyMessage]]:
    """Yield the runs of messages taken back, each from its first prompt on.

    Codex counts prompts back from the end. A compaction among what was taken back is undone with
    it, and what history it had put in the place of the turns before is not known.
    """
    for undone, run in groupby(messages, key=_is_undone):
        turns = list(dropwhile(lambda one: not is_prompt(one, own=True), run)) if undone else []
        if turns and not any(isinstance(one, CompactBoundary) for one in turns):
            yield turns


def _is_undone(message: Message) -> bool:
    return message.superseded_by is not None and message.superseded_by.why == "rewind"


class Replacing:
    """The compactions of one rollout, and the turns taken back in it."""

    def __init__(self, rollout: Rollout, messages: Sequence[AnyMessage]) -> None:
        self._rollout = rollout
        self._gone: dict[str, set[str]] = {}
        for message in messages:
            why = message.superseded_by
            if why is not None and why.why == "compaction" and why.id is not None:
                self._gone.setdefault(why.id, set()).add(message.id)
        self._undone: list[AnyMessage] = []

    def replace(self, boundary: CompactBoundary) -> None:
        """Write that a shorter history stands in the place of all before.

        A compaction of which no record says what it replaced is only told of, or held sealed.
        """
        words = content_text(boundary.summary)
        gone = self._gone.get(boundary.id, set[str]())
        sealed: list[Payload] = [
            {"type": "compaction", "encrypted_content": part.data}
            for part in boundary.summary or ()
            if isinstance(part, Opaque)
        ]
        if not (words or gone or boundary.preserved):
            for item in sealed:
                self._rollout.item(item)
            if not sealed:
                self._rollout.event({"type": "context_compacted"})
            return
        self._rollout.forget(gone)
        history = self._rollout.history
        # Codex puts prompts before what it tells of their surroundings: the order is its own.
        places = {one: place for place, one in enumerate(boundary.preserved)}
        history.sort(key=lambda held: places.get(held.message or "", len(places)))
        if words:
            summary = [{"type": "input_text", "text": words}]
            told = items.message("user", summary, None, **items.tagged([SUMMARY], None, 1))
            history.append(Held(boundary.id, told))
        history += [Held(boundary.id, item) for item in sealed]
        replaced = [one.item for one in history]
        self._rollout.line("compacted", {"message": words, "replacement_history": replaced})

    def goes_back_before(self, message: Message) -> bool:
        """Whether turns were taken back before a message, which that has to be said of first."""
        return bool(self._undone) and not _is_undone(message)

    def note(self, message: AnyMessage) -> None:
        """Note a message that is to be written."""
        if _is_undone(message):
            self._undone.append(message)

    def go_back(self) -> None:
        """Write that the last turns were taken back, if they were."""
        prompts = sum(is_prompt(one, own=True) for one in self._undone)
        if prompts:
            self._rollout.event({"type": "thread_rolled_back", "num_turns": prompts})
            self._rollout.forget({one.id for one in self._undone})
        self._undone.clear()
