"""Events that a session holds twice: told once, and named."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from transcripts.model import Damage
from transcripts.records import Record


def without_replays(records: Iterable[Record], damage: list[Damage]) -> Iterator[Record]:
    """Yield records, but none a second time: the same id in the same bytes is a replay.

    An id that comes back in other bytes is another event and stays.
    """
    # One number an event, not its id and its bytes, and the lines apart: a session may have a
    # million.
    seen: set[int] = set()
    told, lines = array("q"), array("L")
    for record in records:
        own_id = record.value.get("id")
        if isinstance(own_id, str):
            digest = hash(record.raw)
            if digest in seen and record.line != (first := lines[told.index(digest)]):
                damage.append(
                    Damage(
                        kind="duplicate_record",
                        source=record.path,
                        line=record.line,
                        offset=record.offset,
                        why=f"event {own_id} is already on line {first}",
                    )
                )
                continue
            seen.add(digest)
            told.append(digest)
            lines.append(record.line)
        yield record
