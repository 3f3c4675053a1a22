"""Events that a session holds twice: told once, and named.

The same id in the same bytes again is a replay; an id that comes back in other bytes is another
event and stays.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Set as AbstractSet

from transcripts.model import Damage
from transcripts.records import Record

REPLAY = "duplicate_record"
"""The kind of damage that a replay is."""

_SHELVES = 64


class Replays:
    """Tells replays from the events that they repeat, once it is known which came ``twice``.

    Nearly always nothing did, and a session may have a million events: so each is noted as one
    number, and whether any number came twice is looked at when all are in. If one did, the
    session has to be gone through again.
    """

    def __init__(self, damage: list[Damage], twice: AbstractSet[int] = frozenset()) -> None:
        self._damage = damage
        self._twice = twice
        self._first: dict[int, int] = {}
        # On shelves, so that only a few are looked at at once, which takes more memory.
        self._noted = [array("q") for _ in range(_SHELVES)]

    def holds(self, own_id: str, record: Record) -> bool:
        """Whether an event stands already before this record, which is then told of."""
        digest = hash(record.raw)
        if digest in self._twice:
            line = record.line
            first = self._first.setdefault(digest, line)
            if first != line:
                why = f"event {own_id} is already on line {first}"
                self._damage.append(
                    Damage(
                        kind=REPLAY,
                        source=record.path,
                        line=line,
                        offset=record.offset,
                        why=why,
                    )
                )
                return True
        else:
            self._noted[digest % _SHELVES].append(digest)
        return False

    def overlooked(self) -> AbstractSet[int]:
        """Return the numbers of events that came twice, beside those that were known."""
        found: set[int] = set()
        for shelf in self._noted:
            distinct = set(shelf)
            if len(distinct) < len(shelf):
                counted = Counter(shelf)
                found.update(one for one in distinct if counted[one] > 1)
        return found
