"""What a session took in tokens, as the CLI says each time it shuts down.

Releases up to 1.0.60 count what one process did, 1.0.80 and later what the session took in all:
only these say how large the session's file is.
"""

from __future__ import annotations

from transcripts.stores.copilot.foreign import integer, mapping
from transcripts.stores.copilot.reading.events import Event
from transcripts.stores.notes import Notes, RecordedTotal

_RECORD = "session.shutdown"
_SIZE = "eventsFileSizeBytes"
_INPUT, _OUTPUT = "inputTokens", "outputTokens"
"""What was read from a cache is part of the input."""


class Totals:
    """The totals of one session's file, the last of which counts."""

    def __init__(self) -> None:
        self._last: RecordedTotal | None = None
        self._is_of_session = False
        self._stops = 0
        self._inherited: int | None = None
        self._went_on = False

    def answered(self, event: Event) -> None:
        """Take in an answer: no total before it counts it."""
        self._went_on = True

    def forked(self) -> None:
        """What came so far was copied from another session, with its totals."""
        self._inherited = self._last.tokens if self._last is not None else None
        if self._went_on:
            self._inherited = None
        self._last, self._stops, self._went_on = None, 0, False

    def shut_down(self, event: Event) -> None:
        """Take in the total at the end of a process."""
        data = event.whole
        models = mapping(data.get("modelMetrics")).values()
        usages = [mapping(mapping(one).get("usage")) for one in models]
        taken, written = (
            sum(integer(usage.get(name)) or 0 for usage in usages) for name in (_INPUT, _OUTPUT)
        )
        self._is_of_session = _SIZE in data
        self._stops += 1
        self._went_on = False
        self._last = RecordedTotal(
            tokens=taken + written, output=written, record=_RECORD, source=event.location
        )

    def take_down(self, notes: Notes) -> None:
        """Say what the session took, or why its totals don't say it."""
        last = self._last
        if last is None:
            return
        if self._went_on:
            notes.total_unavailable = f"the session went on behind its last {_RECORD}"
        elif not self._is_of_session and self._stops > 1:
            notes.total_unavailable = f"each {_RECORD} of this release counts one process only"
        elif notes.lineage.forked_from is None:
            notes.total = last
        elif self._inherited is None:
            notes.total_unavailable = f"its {_RECORD} counts what was copied, which has no total"
        else:
            own = last.tokens - self._inherited
            notes.total = RecordedTotal(
                tokens=own, record=_RECORD, source=last.source, inherited=self._inherited
            )
