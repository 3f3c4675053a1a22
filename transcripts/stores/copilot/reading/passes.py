"""A session's records gone through twice, the second time only those that may make a message.

What comes later in a file decides about what stands before, so the first pass learns the links.
It also sees which records are nothing but counted, more than half of them: those are counted
there, and the second pass goes over their lines without parsing them. It yields
:data:`PASSED_OVER` in the place of such lines, for whether something stood between two events
tells an answer of the CLI's own from the model's. In a file in which something is broken a line
may be less or more than a record: it is read in full both times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from transcripts.model import Damage
from transcripts.records import Held, Record, jsonlines
from transcripts.stores.copilot.layout import Place, moment
from transcripts.stores.copilot.reading.events import BOOKKEEPING, Event, event_of
from transcripts.stores.copilot.reading.replays import without_replays

PASSED_OVER = Event(Held({}, "", 0, 0, 0), "(passed over)", {}, None, None, None, None)
"""Stands for records that were only counted."""

_QUIET = BOOKKEEPING - {
    "human_response.recorded",
    "permission.completed",
    "session.auto_mode_resolved",
    "session.binary_asset",
    "session.context_changed",
    "session.model_change",
    "session.resume",
    "session.start",
    "tool.execution_start",
}
"""What the second pass learns nothing from."""

_GROWTH = bytes(4096)
_COUNTED, _REPLAYED = 1, 2


class Passes:
    """The two passes over one session's file."""

    def __init__(self, spot: Place, *, recover: bool) -> None:
        self._spot = spot
        self._recover = recover
        self._passed_over = bytearray()
        self._is_sound = True
        self._replays: list[Damage] = []
        self._last_quiet: Record | None = None
        self._last_line = 0
        self.counts: Counter[str] = Counter()

    @property
    def ended_at(self) -> datetime | None:
        """When the last record says that it was written, if it is one that was passed over."""
        last = self._last_quiet
        if last is None or last.line < self._last_line:
            return None
        return moment(last.value.get("timestamp"))

    def first(self) -> Iterator[Record]:
        """Yield every record; ``counts`` then says which will be passed over."""
        faults: list[Damage] = []
        counts = self.counts
        last: Record | None = None
        for record in without_replays(self._records(faults, None), self._replays):
            kind = record.value.get("type")
            if type(kind) is str and kind in _QUIET:
                counts[kind] += 1
                self._mark(record.line, _COUNTED)
                last = record
            yield record
        self._last_quiet = last
        self._is_sound = not faults
        if faults:
            self._passed_over.clear()
            counts.clear()
            self._last_quiet = None
            return
        for replay in self._replays:
            self._mark(replay.line or 0, _REPLAYED)

    def second(self, damage: list[Damage]) -> Iterator[Event]:
        """Yield the events that may make a message, adding what is wrong to ``damage``."""
        passed_over = self._passed_over
        records = self._records(damage, passed_over)
        if self._is_sound:
            damage += self._replays
        else:
            records = without_replays(records, damage)
        before = 0
        for record in records:
            line = record.line
            if line - before > 1 and _COUNTED in passed_over[before + 1 : line]:
                yield PASSED_OVER
            before = self._last_line = line
            yield event_of(record)

    def _mark(self, line: int, why: int) -> None:
        """Let a line be passed over in the second pass."""
        marked = self._passed_over
        if line >= len(marked):
            marked.extend(bytes(line - len(marked)) + _GROWTH)
        marked[line] = why

    def _records(self, damage: list[Damage], passed_over: bytearray | None) -> Iterator[Record]:
        spot = self._spot
        return jsonlines.iterate(
            spot.events, spot.root, damage, recover=self._recover, passed_over=passed_over
        )
