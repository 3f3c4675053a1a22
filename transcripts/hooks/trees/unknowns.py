"""What stands in a log that its dialect does not know: events, and fields of known events."""

from __future__ import annotations

from collections.abc import Iterable, Set

from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import HookEvent
from transcripts.hooks.logs import unwrapped
from transcripts.hooks.trees.tree import Unknown


def unknowns(events: Iterable[HookEvent], dialect: Dialect) -> list[Unknown]:
    """Return the unknown events, and the unknown or odd fields of known ones, most seen first."""
    counts: dict[tuple[str, bool, tuple[str, ...]], int] = {}
    familiar = dialect.fields
    for event in events:
        known = event.kind != "other"
        fields = tuple(sorted({*_unknown_fields(event, familiar), *event.odd}))
        if not known or fields:
            key = (event.name or "(no name)", known, fields)
            counts[key] = counts.get(key, 0) + 1
    return [
        Unknown(event=name, known=known, fields=fields, count=count)
        for (name, known, fields), count in sorted(counts.items(), key=lambda one: -one[1])
    ]


def _unknown_fields(event: HookEvent, familiar: frozenset[str]) -> Set[str]:
    if not event.payload:
        return frozenset()
    try:
        return unwrapped(event.payload)[0].keys() - familiar
    except (ValueError, RecursionError):
        # The event was read; something in it that nobody asks for is beyond this reader.
        return frozenset()
