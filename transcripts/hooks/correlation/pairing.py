"""The pairs of one turn: calls with their ends, what they did below, and what was asked first.

Events are added as they come; :meth:`TurnPairs.resolve` says what is certain of all so far. A
later event may take a certainty away again (another call that looks the same), so while a turn
is open only a link is shown that could have no other partner whatever comes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from transcripts.hooks.correlation.calls import CallPairs
from transcripts.hooks.correlation.evidence import REQUEST, TABLES
from transcripts.hooks.correlation.layers import Below, Closing, LayerPairs, until_closed
from transcripts.hooks.correlation.matching import Item, Link, Match, Quality, Role, match
from transcripts.hooks.correlation.shown import owner_item, requested_item
from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import LAYERS, HookEvent, Layer


class Orphan(msgspec.Struct, frozen=True, kw_only=True):
    """An event belongs to another, and nothing says for sure to which: why not.

    ``start_missing``: nothing that was seen could be what it belongs to.
    """

    event: int
    why: str
    start_missing: bool = False


class Resolution(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a turn's events at one moment."""

    links: list[Link]
    orphans: list[Orphan]


class TurnPairs:
    """The pairs of one turn, by evidence; a pair by a unique id is told by :meth:`closed`.

    Without ``all_layers`` only calls and what MCP servers did are paired. ``waiting`` is how
    many events are kept to be compared.
    """

    def __init__(self, dialect: Dialect, *, all_layers: bool = True) -> None:
        self.waiting = 0
        self._dialect = dialect
        self._asks = all_layers and dialect.asks is not None
        self._calls = CallPairs(by_id=dialect.needs_id)
        self._kept: Collection[Layer] = TABLES if all_layers else ("mcp",)
        self._layers: dict[Layer, LayerPairs] = {}
        self._requestable: dict[int, Item] = {}
        self._requests: list[Item] = []
        self._closings: dict[int, Closing] = {}

    def start(self, event: HookEvent, *, by_id: bool) -> None:
        """Add a call's start; ``by_id``: its end will be told by its id alone."""
        dialect = self._dialect
        if not by_id:
            self.waiting += 1
            self._calls.start(event)
        layer = dialect.layer(event.tool) if dialect.layered else None
        if layer is not None and layer in self._kept:
            self.waiting += 1
            self._layer(layer).owner(owner_item(event, layer, dialect))
        if self._asks:
            self._requestable[event.line] = requested_item(event, dialect)

    def end(self, event: HookEvent) -> None:
        """Add a call's end that only its evidence can pair."""
        self.waiting += 1
        self._calls.end(event)

    def closed(self, start: int, end: int, *, failed: bool) -> None:
        """Take note of a call that its unique id has closed."""
        if self._requests:
            self._closings[start] = Closing(end, failed)
        else:
            # No request is waiting, and none that comes later can be this call's.
            self._requestable.pop(start, None)

    def request(self, event: HookEvent) -> None:
        """Add a request for permission."""
        if self._asks:
            self.waiting += 1
            self._requests.append(requested_item(event, self._dialect))

    def inner(self, event: HookEvent) -> None:
        """Add a shell, MCP or file event."""
        layer = LAYERS[event.kind]
        if layer in self._kept:
            self.waiting += 1
            self._layer(layer).add(event)

    def resolve(self, *, is_open: bool) -> Resolution:
        """Return what is certain now; ``is_open``: more may come, so that less is shown."""
        links: list[Link] = []
        orphans: list[Orphan] = []
        for role, matches, why_not in self._found():
            for line, told in matches.items():
                if told.start is None or (is_open and len(told.rivals) > 1):
                    why = _reason(told.rivals, why_not)
                    missing = not told.rivals
                    orphans.append(Orphan(event=line, why=why, start_missing=missing))
                else:
                    links.append(_link(line, told, told.start, role))
        return Resolution(links=links, orphans=orphans)

    def settle(self) -> Resolution:
        """Return what is certain, for good: only what is left unpaired is kept for later."""
        if not self.waiting:
            return _NOTHING
        found = self.resolve(is_open=False)
        ended = {link.to: link.event for link in found.links if link.role == "end"}
        if any(not layer.is_empty() for layer in self._layers.values()):
            links = {link.event: link.to for link in found.links}
            closings = self._closings | {
                start: Closing(end, self._calls.failed(end)) for start, end in ended.items()
            }
            for layer in self._layers.values():
                layer.settle(links, closings)
        if self._requestable:
            over = {link.to for link in found.links} | self._closings.keys()
            self._requestable = {
                line: item for line, item in self._requestable.items() if line not in over
            }
        self._calls.settle(ended)
        self._requests.clear()
        self._closings.clear()
        self.waiting = 0
        return found

    def is_empty(self) -> bool:
        """Return whether nothing is kept that a later event could be of."""
        kept = (self._calls, *self._layers.values())
        return not self._requestable and all(part.is_empty() for part in kept)

    def _layer(self, layer: Layer) -> LayerPairs:
        """Return a layer's pairs, which are there from now on."""
        pairs = self._layers.get(layer)
        if pairs is None:
            pairs = self._layers[layer] = LayerPairs(layer)
        return pairs

    def _found(self) -> Iterator[Below]:
        """Yield what is known of the calls, then of what depends on where they ended."""
        calls = self._calls.resolve()
        yield Below("end", calls, "no open call of this turn fits")
        if not self._layers and not self._requests:
            return
        closings = dict(self._closings)
        for end, told in calls.items():
            if told.start is not None:
                closings[told.start] = Closing(end, self._calls.failed(end))
        for layer in self._layers.values():
            yield from layer.resolve(closings)
        if self._requests:
            starts = until_closed(self._requestable.values(), closings)
            asked = match(starts, self._requests, REQUEST)
            yield Below("permission", asked, "no open call fits this request")


_NOTHING = Resolution(links=[], orphans=[])


def _link(line: int, told: Match, start: int, role: Role) -> Link:
    both = "tool_use_id" in told.shown and "tool_input" in told.shown
    quality: Quality = "corroborated" if both else "heuristic"
    return Link(line, start, role, told.shown, told.score, quality)


def _reason(rivals: Collection[int], otherwise: str) -> str:
    if not rivals:
        return otherwise
    named = ", ".join(map(str, sorted(rivals)[:4])) + (", …" if len(rivals) > 4 else "")
    if len(rivals) == 1:
        return f"the event of line {named} fits, and others fit it as well or it is over"
    return f"several events fit and nothing tells them apart: lines {named}"
