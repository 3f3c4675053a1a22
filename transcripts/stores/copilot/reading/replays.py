"""Events that a session holds twice: told once, and named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transcripts.model import Damage
from transcripts.records import Record

_LINE_BITS = 28
_LINE = (1 << _LINE_BITS) - 1


def without_replays(records: Iterable[Record], damage: list[Damage]) -> Iterator[Record]:
    """Yield records, but none a second time: the same id in the same bytes is a replay.

    An id that comes back in other bytes is another event and stays.
    """
    # One number an event, not its id and its bytes: a session may have a million.
    seen: dict[int, int] = {}
    for record in records:
        own_id = record.value.get("id")
        if isinstance(own_id, str):
            digest = hash(record.raw) & ~_LINE
            first = seen.setdefault(hash(own_id), digest | (record.line & _LINE))
            if first & ~_LINE == digest and first & _LINE != record.line & _LINE:
                damage.append(
                    Damage(
                        kind="duplicate_record",
                        source=record.path,
                        line=record.line,
                        offset=record.offset,
                        why=f"event {own_id} is already on line {first & _LINE}",
                    )
                )
                continue
        yield record
