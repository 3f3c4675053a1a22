"""Events that a session holds twice: told once, and named."""

from __future__ import annotations

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
        # One number an event, not its id and its bytes.
        self._lines: dict[int, int] = {}

    def holds(self, own_id: str, record: Record) -> bool:
        """Whether an event stands already before this record, which is then told of."""
        line = record.line
        first = self._lines.setdefault(hash(record.raw), line)
        if first == line:
            return False
        self._damage.append(
            Damage(
                kind=REPLAY,
                source=record.path,
                line=line,
                offset=record.offset,
                why=f"event {own_id} is already on line {first}",
            )
        )
        return True
