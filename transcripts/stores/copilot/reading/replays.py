"""Events that a session holds twice: told once, and named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transcripts.model import Damage
from transcripts.records import Record


def without_replays(records: Iterable[Record], damage: list[Damage]) -> Iterator[Record]:
    """Yield records, but none a second time: the same id in the same bytes is a replay.

    An id that comes back in other bytes is another event and stays.
    """
    seen: dict[str, tuple[int, int]] = {}
    for record in records:
        own_id = record.value.get("id")
        if isinstance(own_id, str):
            digest, line = seen.setdefault(own_id, (hash(record.raw), record.line))
            if line != record.line and digest == hash(record.raw):
                why = f"event {own_id} is already on line {line}"
                damage.append(
                    Damage(
                        kind="duplicate_record",
                        source=record.path,
                        line=record.line,
                        offset=record.offset,
                        why=why,
                    )
                )
                continue
        yield record
