"""What a later row took the place of: by a rewind, or by a compaction.

Parallel results, hook progress and summaries make the links of a healthy session a tree, so a
row with two children is no sign of anything (anthropics/claude-code#35024, #88597). A rewind
is two *prompts* with one parent: the person went back and said something else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from transcripts.stores.claude.foreign import mapping, sequence, string
from transcripts.stores.claude.reading.rows import Row


class Compaction(NamedTuple):
    """Where a compaction stands, and the uuids of the rows that it kept in context."""

    position: int
    kept: frozenset[str]


class Branches:
    """The rows of a thread that something later replaced."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._rewound = _rewound(rows)
        self._compactions = [
            Compaction(position, _kept(rows, row))
            for position, row in enumerate(rows)
            if row.type == "system" and row.is_boundary
        ]
        self._places = [compaction.position for compaction in self._compactions]
        self._first_rewound: dict[int, int] = {}
        for old, new in sorted(self._rewound.items()):
            self._first_rewound.setdefault(new, old)

    @property
    def are_none(self) -> bool:
        """Whether nothing was ever replaced."""
        return not (self._rewound or self._compactions)

    def rewound_by(self, position: int) -> int | None:
        """Return the position of the prompt that took a row's place in a rewind."""
        return self._rewound.get(position)

    def compacted_by(self, position: int) -> int | None:
        """Return the position of the compaction that took a row out of context."""
        uuid = self._rows[position].uuid
        for index in range(bisect_right(self._places, position), len(self._compactions)):
            if uuid not in self._compactions[index].kept:
                return self._places[index]
        return None

    def goes_on_from(self, position: int) -> int | None:
        """Return the first of the rows that a prompt replaced: it goes on from before that."""
        return self._first_rewound.get(position)

    def gone_back_to(self) -> frozenset[int]:
        """Return the positions before which some prompt goes on."""
        return frozenset(self._first_rewound.values())

    def kept_anywhere(self) -> frozenset[str]:
        """Return the uuids of all rows that some compaction kept."""
        return frozenset().union(*(compaction.kept for compaction in self._compactions))


def _rewound(rows: Sequence[Row]) -> dict[int, int]:
    replaced: dict[int, int] = {}
    siblings: dict[str | None, int] = {}
    roots_are_prompts = _roots_are_prompts(rows)
    for position, row in enumerate(rows):
        if not row.glance.prompt:
            if row.type == "system" and row.is_boundary:
                siblings.pop(None, None)
            continue
        if row.parent is None and not roots_are_prompts:
            continue
        earlier = siblings.get(row.parent)
        siblings[row.parent] = position
        if earlier is not None:
            for old in _descendants(rows, earlier, position):
                replaced.setdefault(old, position)
    return replaced


def _roots_are_prompts(rows: Sequence[Row]) -> bool:
    """Whether rows without a parent are real beginnings, or just rows whose links are missing."""
    return all(
        row.glance.prompt
        for row in rows
        if row.parent is None and row.uuid and row.type in ("user", "assistant")
    )


def _descendants(rows: Sequence[Row], start: int, end: int) -> list[int]:
    family = {rows[start].uuid}
    found = [start]
    for position in range(start + 1, end):
        row = rows[position]
        if row.parent in family:
            found.append(position)
            if row.uuid:
                family.add(row.uuid)
    return found


def _kept(rows: Sequence[Row], boundary: Row) -> frozenset[str]:
    """Return the uuids of the rows that a compaction kept: listed, or from one to another."""
    metadata = mapping(boundary.value.get("compactMetadata"))
    listed = sequence(mapping(metadata.get("preservedMessages")).get("uuids"))
    kept = {uuid for uuid in listed if isinstance(uuid, str)}
    segment = mapping(metadata.get("preservedSegment"))
    ends = (string(segment.get("headUuid")), string(segment.get("tailUuid")))
    if all(ends):
        places = [index for index, row in enumerate(rows) if row.uuid and row.uuid in ends]
        segment_rows = rows[places[0] : places[-1] + 1] if places else ()
        kept |= {uuid for row in segment_rows if (uuid := row.uuid)}
    return frozenset(kept)
