"""Events that a session holds twice: told once, and named."""

from __future__ import annotations

from array import array

from transcripts.model import Damage
from transcripts.records import Record

REPLAY = "duplicate_record"
"""The kind of damage that a replay is."""


class Replays:
    """What a session has recorded so far: the same event in the same bytes again is a replay.

    An id that comes back in other bytes is another event and stays.
    """

    def __init__(self, damage: list[Damage]) -> None:
        self._damage = damage
        # One number an event, not its id and its bytes, and the lines apart: a session may have a
        # million.
        self._seen: set[int] = set()
        self._told, self._lines = array("q"), array("L")

    def holds(self, own_id: str, record: Record) -> bool:
        """Whether an event stands already before this record, which is then told of."""
        digest = hash(record.raw)
        if digest in self._seen:
            first = self._lines[self._told.index(digest)]
            if record.line != first:
                why = f"event {own_id} is already on line {first}"
                self._damage.append(
                    Damage(
                        kind=REPLAY,
                        source=record.path,
                        line=record.line,
                        offset=record.offset,
                        why=why,
                    )
                )
                return True
        self._seen.add(digest)
        self._told.append(digest)
        self._lines.append(record.line)
        return False
