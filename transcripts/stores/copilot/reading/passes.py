"""A session's records gone through: once and kept, or twice, the second time only a part of them.

What comes later in a file decides about what stands before, so a first pass learns the links. It
also sees which records are nothing but counted, more than half of them. A session that is read
whole keeps the events of all others; one that is streamed goes through the file again, past the
lines of what was only counted. In a file in which something is broken a line may be less or more
than a record: there nothing is passed over.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from datetime import datetime

from transcripts.model import Damage, Location
from transcripts.records import Record, jsonlines
from transcripts.stores.copilot.layout import Place, moment
from transcripts.stores.copilot.reading.events import BOOKKEEPING, Event, event_of
from transcripts.stores.copilot.reading.index import TEACHING
from transcripts.stores.copilot.reading.replays import REPLAY, Replays
from transcripts.stores.copilot.reading.skimming import NO_DATA, Skimmed, of_whole, skim

PASSED_OVER = Event(Location(path=""), "(passed over)", NO_DATA, {}, None, None, None, None, None)
"""Stands for records that were only counted.

Whether something stood between two events tells an answer of the CLI's own from the model's.
"""

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
"""What is part of no message and changes none, but for what the index learns of it."""

_GROWTH = bytes(4096)
_COUNTED, _REPLAYED = 1, 2


class Passes:
    """The passes over one session's file, adding what is wrong in it to ``damage``."""

    def __init__(
        self,
        spot: Place,
        damage: list[Damage],
        *,
        recover: bool,
        twice: AbstractSet[int] = frozenset(),
    ) -> None:
        self._spot = spot
        self._recover = recover
        self._damage = damage
        self._twice = twice
        self._passed_over = bytearray()
        self._is_sound = True
        self.counts: Counter[str] = Counter()
        self.began_at: datetime | None = None
        self.ended_at: datetime | None = None
        self.overlooked: AbstractSet[int] = frozenset()

    def first(self, kept: deque[Event] | None = None) -> Iterator[Event]:
        """Yield the events that may teach something, and keep those that may make a message.

        ``counts`` then says how many records of each kind were only counted, and ``ended_at``
        when the last record says that it was written, if it is one of those. If ``overlooked``
        is not empty, all of it has to be done again knowing that these events came ``twice``.
        """
        counts, replays = self.counts, Replays(self._damage, self._twice)
        before: str | None = None
        quiet: Skimmed | None = None
        for record in self._records(self._damage):
            value = record.value
            seen: Skimmed = value if type(value) is Skimmed else of_whole(value)
            own, kind = seen.id, seen.type
            if self.began_at is None:
                self.began_at = moment(seen.timestamp)
            if type(own) is str and replays.holds(own, record):
                self._mark(record.line, _REPLAYED)
                continue
            if type(kind) is str and kind in _QUIET:
                counts[kind] += 1
                if kept is None:
                    self._mark(record.line, _COUNTED)
                quiet = seen
                if kind in TEACHING:
                    yield event_of(record, seen, before)
            else:
                event = event_of(record, seen, before)
                if kept is not None:
                    if quiet is not None:
                        kept.append(PASSED_OVER)
                    kept.append(event)
                quiet = None
                yield event
            if own and type(own) is str:
                before = own
        if quiet is not None:
            self.ended_at = moment(quiet.timestamp)
        self.overlooked = replays.overlooked()
        self._is_sound = all(one.kind == REPLAY for one in self._damage)

    def second(self) -> Iterator[Event]:
        """Yield once more the events that may make a message."""
        passed_over = self._passed_over if self._is_sound else bytearray()
        replays = Replays([], self._twice)
        before = 0
        for record in self._records([], passed_over):
            value, line = record.value, record.line
            seen: Skimmed = value if type(value) is Skimmed else of_whole(value)
            if not passed_over and type(seen.id) is str and replays.holds(seen.id, record):
                continue
            if line - before > 1 and _COUNTED in passed_over[before + 1 : line]:
                yield PASSED_OVER
            before = line
            yield event_of(record, seen, None)

    def _mark(self, line: int, why: int) -> None:
        """Let a line be passed over in the second pass."""
        marked = self._passed_over
        if line >= len(marked):
            marked.extend(bytes(line - len(marked)) + _GROWTH)
        marked[line] = why

    def _records(
        self, damage: list[Damage], passed_over: bytearray | None = None
    ) -> Iterator[Record]:
        spot = self._spot
        return jsonlines.skim(
            spot.events, spot.root, damage, skim, recover=self._recover, passed_over=passed_over
        )
