"""The tokens that a rollout counts: its total, what of it was copied, and each answer's once."""

from __future__ import annotations

from typing import Any

from transcripts.model import Location
from transcripts.stores.codex.foreign import integer, mapping
from transcripts.stores.notes import RecordedTotal, Spent

_TOTAL = "event_msg/token_count"
_NAMES = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cached_input_tokens",
    "cache_write": "cache_write_input_tokens",
    "reasoning": "reasoning_output_tokens",
}


class Counted:
    """What has been counted so far.

    An answer that was copied from another session is that session's: it is in ``inherited``, the
    last total that was copied, and nowhere else.
    """

    def __init__(self) -> None:
        self.total: tuple[int, Location] | None = None
        self.inherited = 0
        self.spent: Spent | None = None
        self._last: str | None = None

    def answer(self, usage: Any, response: str | None) -> None:
        """Add what an answer took; told twice in a row it is added once."""
        counts = mapping(usage)
        if not counts or (response is not None and response == self._last):
            return
        self._last = response
        spent = self.spent = self.spent or Spent()
        for ours, theirs in _NAMES.items():
            count = integer(counts.get(theirs))
            if count is not None:
                setattr(spent, ours, (getattr(spent, ours) or 0) + count)

    def recorded(self) -> RecordedTotal | None:
        """Return the total that stands last, None where none does."""
        if self.total is None:
            return None
        tokens, source = self.total
        own = tokens - self.inherited
        return RecordedTotal(tokens=own, record=_TOTAL, source=source, inherited=self.inherited)
