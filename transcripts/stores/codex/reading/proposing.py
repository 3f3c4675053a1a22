"""Plans that the model puts before the person, in plan mode.

A plan is told twice: as a completed item, and between tags in the words of the answer, which
are not said to anybody. Words with such tags are a plan only where Codex took them for one.
"""

from __future__ import annotations

import re

from transcripts.model import Content, Text
from transcripts.stores.codex.reading.drafts import Planned
from transcripts.stores.codex.reading.state import State

_TAGGED = re.compile(r"\n?<proposed_plan>\n(.*?)</proposed_plan>\s*", re.DOTALL)


class Proposing:
    """The plans of a turn."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._open: list[Planned] = []

    def end(self) -> None:
        """End the turn: no plan of it is told again."""
        self._open.clear()

    def item(self, own_id: str | None, words: str) -> None:
        """Take in a plan as an item tells it."""
        draft = Planned(*self._state.standing(own_id), own_id=own_id, text=words)
        self._open.append(draft)
        self._state.drafts.append(draft)
        self._state.by_model(draft)

    def without_plan(self, content: Content) -> tuple[Content, Planned | None]:
        """Return an answer's words without the plan in them, and the plan."""
        for part in content if self._open else ():
            found = _TAGGED.search(part.text) if isinstance(part, Text) else None
            if found is None or not isinstance(part, Text):
                continue
            for plan in self._open:
                if plan.text.strip() == found[1].strip():
                    rest = part.text[: found.start()] + part.text[found.end() :]
                    said = Text(text=rest) if rest else None
                    kept = [said if one is part else one for one in content]
                    return tuple(one for one in kept if one is not None), plan
        return content, None

    def before_plan(self, words: str) -> str:
        """Return words that are told without the plan in them, and without the line's end that
        stood before it: as the answer has them that holds both."""
        return (words.removesuffix("\n") if self._open else "") or words

    def keep_behind(self) -> None:
        """Keep plans behind words of their answer that were told after them."""
        for plan in self._open:
            self._state.drop(plan)
            self._state.drafts.append(plan)

    def behind(self, plan: Planned) -> None:
        """Put a plan behind the words of the answer that holds it."""
        self._open.remove(plan)
        self._state.drop(plan)
        plan.sources.append(self._state.here())
        self._state.drafts.append(plan)
        self._state.by_model(plan)
