"""What calls did below: shell, MCP and file events, paired with their calls and their ends."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import msgspec

from transcripts.hooks.correlation.evidence import TABLES
from transcripts.hooks.correlation.matching import NEVER, Item, Match, Role, match
from transcripts.hooks.correlation.shown import layer_item
from transcripts.hooks.events import HookEvent, Layer


class Closing(NamedTuple):
    """Where a call ended (a line), and whether it failed."""

    end: int
    failed: bool


Closings = Mapping[int, Closing]
"""The calls that have ended, by the lines of their starts."""

_OPEN = Closing(NEVER, False)
_BEFORES = frozenset({"shell-before", "mcp-before"})


class Below(NamedTuple):
    """What is known of some events of a layer: as what they belong, and why if they don't."""

    role: Role
    matches: Mapping[int, Match]
    why_not: str


class LayerPairs:
    """The events of one layer below the calls of one turn."""

    def __init__(self, layer: Layer) -> None:
        self._layer: Layer = layer
        self._table = TABLES[layer]
        self._owners: list[Item] = []
        self._befores: list[Item] = []
        self._afters: list[Item] = []
        self._settled: dict[int, int | None] = {}

    def owner(self, item: Item) -> None:
        """Add a call that has this layer below it."""
        self._owners.append(item)

    def add(self, event: HookEvent) -> None:
        """Add an event of the layer."""
        item = layer_item(event, self._layer)
        (self._befores if event.kind in _BEFORES else self._afters).append(item)

    def resolve(self, closings: Closings) -> list[Below]:
        """Return what is known of the layer's events, given where calls have ended."""
        if not self._befores and not self._afters:
            return []
        return self._files(closings) if self._layer == "file" else self._inner(closings)

    def is_empty(self) -> bool:
        """Return whether nothing is kept that a later event could be of."""
        return not self._owners and not self._befores and not self._afters

    def settle(self, links: Mapping[int, int], closings: Closings) -> None:
        """Forget what is paired, and what came to end something.

        ``links`` are all that were made, by the lines of their events. A before that has no
        after yet is kept for one, with the call that it was found to be of, or not; but for
        one whose call has failed.
        """
        over = set(links.values())
        self._owners = [item for item in self._owners if item.line not in over]
        self._befores = [item for item in self._befores if item.line not in over]
        for item in self._befores:
            self._settled.setdefault(item.line, links.get(item.line))
        self._befores = [
            item for item in self._befores if _purged(self._settled[item.line], closings) == NEVER
        ]
        self._afters.clear()

    def _files(self, closings: Closings) -> list[Below]:
        reads = [item for item in self._afters if item.gate == "read"]
        edits = [item for item in self._afters if item.gate == "edit"]
        # A file is reported as edited while its call ends: either may arrive first.
        matches = match(until_closed(self._owners, closings), reads, self._table)
        matches |= match(_until_failed(self._owners, closings), edits, self._table)
        return [Below("file", matches, "no open call works on this file")]

    def _inner(self, closings: Closings) -> list[Below]:
        """Pair befores with calls, afters with befores, and with calls what has no before."""
        new = [item for item in self._befores if item.line not in self._settled]
        above = match(until_closed(self._owners, closings), new, self._table)
        owner_of = self._settled | {line: told.start for line, told in above.items()}
        starts = [_expiring(item, _purged(owner_of[item.line], closings)) for item in self._befores]
        within = match(starts, self._afters, self._table)
        alone = [item for item in self._afters if not within[item.line].reachable]
        taken = {told.start for told in above.values()}
        free = [item for item in self._owners if item.line not in taken]
        direct = match(_until_failed(free, closings), alone, self._table)
        within = {line: told for line, told in within.items() if told.reachable}
        return [
            Below("before", above, f"no open call fits this {self._layer} event"),
            Below("after", within, ""),
            Below("after", direct, "its start is missing, and no one open call fits"),
        ]


def until_closed(starts: Collection[Item], closings: Closings) -> list[Item]:
    """Return calls that can be reached until they have ended."""
    return [_expiring(item, closings.get(item.line, _OPEN).end) for item in starts]


def _until_failed(starts: Collection[Item], closings: Closings) -> list[Item]:
    """Return calls that can be reached until they have failed."""
    return [_expiring(item, _purged(item.line, closings)) for item in starts]


def _purged(owner: int | None, closings: Closings) -> int:
    """Return from where on nothing can end what waits under a call: its failure."""
    closing = _OPEN if owner is None else closings.get(owner, _OPEN)
    return closing.end if closing.failed else NEVER


def _expiring(item: Item, expires: int) -> Item:
    return item if expires == NEVER else msgspec.structs.replace(item, expires=expires)
