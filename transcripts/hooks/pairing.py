"""The pairs of one turn: calls with their ends, and what they did below them.

Events are added as they come; :meth:`TurnPairs.resolve` says what is certain of all so far. A
later event may take a certainty away again (another call that looks the same), so while a turn
is open only a link is shown that could have no other partner whatever comes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import LAYERS, HookEvent, Layer
from transcripts.hooks.evidence import CALL, REQUEST, TABLES, Field
from transcripts.hooks.matching import NEVER, Item, Link, Match, Quality, Role, match
from transcripts.hooks.shown import call_item, layer_item, owner_item, requested_item


class Orphan(msgspec.Struct, frozen=True, kw_only=True):
    """An event that belongs to another, and nothing says for sure to which: why not."""

    event: int
    why: str


class Resolution(msgspec.Struct, kw_only=True):
    """What is known of a turn's events at one moment."""

    links: list[Link] = []
    orphans: list[Orphan] = []


class TurnPairs:
    """The pairs of one turn, by evidence; a pair by a unique id is told by :meth:`closed`."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._starts: dict[int, Item] = {}
        self._ends: dict[int, Item] = {}
        self._failures: set[int] = set()
        self._owners: dict[Layer, list[Item]] = {"shell": [], "mcp": [], "file": []}
        self._befores: dict[Layer, list[Item]] = {"shell": [], "mcp": []}
        self._afters: dict[Layer, list[Item]] = {"shell": [], "mcp": [], "file": []}
        self._requestable: dict[int, Item] = {}
        self._requests: list[Item] = []
        self._closed: dict[int, tuple[int, bool]] = {}

    @property
    def waiting(self) -> int:
        """How many events are kept to be compared."""
        layers = (*self._owners.values(), *self._befores.values(), *self._afters.values())
        return len(self._starts) + len(self._ends) + sum(map(len, layers)) + len(self._requests)

    def start(self, event: HookEvent, *, by_id: bool) -> None:
        """Add a call's start; ``by_id``: its end will be told by its id alone."""
        if not by_id:
            self._starts[event.line] = call_item(event)
        if self._dialect.layered and (owner := owner_item(event, self._dialect)):
            self._owners[owner[0]].append(owner[1])
        if self._dialect.asks:
            self._requestable[event.line] = requested_item(event, self._dialect)

    def end(self, event: HookEvent) -> None:
        """Add a call's end that only its evidence can pair."""
        self._ends[event.line] = call_item(event)
        if event.kind != "call-end":
            self._failures.add(event.line)

    def closed(self, start: int, end: int, *, failed: bool) -> None:
        """Take note of a call that its unique id has closed."""
        if self._requests:
            self._closed[start] = (end, failed)
        else:
            # No request is waiting, and none that comes later can be this call's.
            self._requestable.pop(start, None)

    def request(self, event: HookEvent) -> None:
        """Add a request for permission."""
        self._requests.append(requested_item(event, self._dialect))

    def inner(self, event: HookEvent) -> None:
        """Add a shell, MCP or file event."""
        layer = LAYERS[event.kind]
        is_before = event.kind in ("shell-before", "mcp-before")
        (self._befores if is_before else self._afters)[layer].append(layer_item(event, layer))

    def settle(self) -> Resolution:
        """Return what is certain, for good: only what is left unpaired is kept for later."""
        found = self.resolve(is_open=False)
        taken = {link.to for link in found.links if link.role == "end"}
        done = {link.to for link in found.links if link.role != "end"} | taken
        for start in taken:
            del self._starts[start]
        for items in self._owners.values():
            items[:] = [item for item in items if item.line not in done]
        for items in self._befores.values():
            items[:] = [item for item in items if item.line not in done]
        for items in self._afters.values():
            items.clear()
        self._requestable = {
            line: item
            for line, item in self._requestable.items()
            if line not in done and line not in self._closed
        }
        self._ends.clear()
        self._failures.clear()
        self._requests.clear()
        self._closed.clear()
        return found

    def resolve(self, *, is_open: bool) -> Resolution:
        """Return what is certain now; ``is_open``: more may come, so that less is shown."""
        found = Resolution()
        closed = dict(self._closed)
        if self._ends:
            self._calls(found, closed, is_open)
        for layer, table in TABLES.items():
            if self._befores.get(layer) or self._afters[layer]:
                self._layer(layer, table, found, closed, is_open)
        if self._requests:
            starts = _until(self._requestable.values(), closed)
            matches = match(starts, self._requests, REQUEST)
            self._note(found, matches, "permission", is_open, "no open call fits this request")
        return found

    def _calls(self, found: Resolution, closed: dict[int, tuple[int, bool]], is_open: bool) -> None:
        starts = list(self._starts.values())
        ends = list(self._ends.values())
        matches = match(starts, ends, CALL, unweighed=self._dialect.needs_id)
        for end, told in matches.items():
            if told.start is not None:
                closed[told.start] = (end, end in self._failures)
        self._note(found, matches, "end", is_open, "no open call of this turn fits")

    def _layer(
        self,
        layer: Layer,
        table: Sequence[Field],
        found: Resolution,
        closed: Mapping[int, tuple[int, bool]],
        is_open: bool,
    ) -> None:
        """Pair a layer's befores with calls, its afters with befores, and what is left."""
        owners = self._owners[layer]
        if layer == "file":
            reads = [item for item in self._afters[layer] if item.gate == "read"]
            edits = [item for item in self._afters[layer] if item.gate == "edit"]
            matches = match(_until(owners, closed), reads, table)
            # A file is reported as edited while its call ends: either may arrive first.
            matches |= match(_until(owners, closed, only_failed=True), edits, table)
            self._note(found, matches, "file", is_open, "no open call works on this file")
            return
        befores = self._befores[layer]
        above = match(_until(owners, closed), befores, table)
        self._note(found, above, "before", is_open, f"no open call fits this {layer} event")
        starts = [_expiring(item, _purged(above[item.line].start, closed)) for item in befores]
        within = match(starts, self._afters[layer], table)
        alone = [item for item in self._afters[layer] if not within[item.line].rivals]
        self._note(
            found,
            {line: told for line, told in within.items() if told.rivals},
            "after",
            is_open,
            "",
        )
        taken = {told.start for told in above.values()}
        free = [item for item in owners if item.line not in taken]
        direct = match(_until(free, closed, only_failed=True), alone, table)
        self._note(
            found, direct, "after", is_open, "its start is missing, and no one open call fits"
        )

    def _note(
        self,
        found: Resolution,
        matches: Mapping[int, Match],
        role: Role,
        is_open: bool,
        why: str,
    ) -> None:
        for line, told in matches.items():
            if told.start is None or (is_open and len(told.rivals) > 1):
                found.orphans.append(Orphan(event=line, why=_reason(told.rivals, why)))
                continue
            gate = self._gate_names(line) if role == "end" else ()
            quality: Quality = (
                "corroborated" if "tool_use_id" in gate and told.shown else "heuristic"
            )
            found.links.append(
                Link(
                    event=line,
                    to=told.start,
                    role=role,
                    evidence=(*gate, *told.shown),
                    score=told.score,
                    quality=quality,
                )
            )

    def _gate_names(self, end: int) -> tuple[str, ...]:
        names = ("tool_use_id", "tool_name", "agent_id")
        gate = self._ends[end].gate
        assert isinstance(gate, tuple)
        return tuple(name for name, value in zip(names, gate, strict=True) if value is not None)


def _reason(rivals: Collection[int], otherwise: str) -> str:
    if not rivals:
        return otherwise
    named = ", ".join(map(str, sorted(rivals)[:4])) + (", …" if len(rivals) > 4 else "")
    if len(rivals) == 1:
        return f"the event of line {named} fits, and others fit it as well or it is over"
    return f"several events fit and nothing tells them apart: lines {named}"


def _until(
    starts: Collection[Item], closed: Mapping[int, tuple[int, bool]], *, only_failed: bool = False
) -> list[Item]:
    """Return calls that can be reached until they are closed, or until they have failed."""
    reached: list[Item] = []
    for item in starts:
        end, failed = closed.get(item.line, (NEVER, False))
        reached.append(_expiring(item, end if failed or not only_failed else NEVER))
    return reached


def _expiring(item: Item, expires: int) -> Item:
    return item if expires == NEVER else msgspec.structs.replace(item, expires=expires)


def _purged(owner: int | None, closed: Mapping[int, tuple[int, bool]]) -> int:
    """Return from where on nothing can end what waits under a call: its failure."""
    end, failed = closed.get(owner, (NEVER, False)) if owner is not None else (NEVER, False)
    return end if failed else NEVER
