"""The calls of a turn and their ends, told by what they show of themselves.

Behind most gates (id, tool and subagent) there is one call and one end: those are kept as they
came and compared once. Only what looks alike is weighed event by event.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import compress
from typing import Any

import msgspec

from transcripts.hooks.correlation.canonical import canonical_input
from transcripts.hooks.correlation.evidence import CALL, score
from transcripts.hooks.correlation.matching import Item, Match, match
from transcripts.hooks.events import HookEvent

_Gate = tuple[str | None, str | None, str | None]
_GATE_NAMES = ("tool_use_id", "tool_name", "agent_id")


class _Alone(msgspec.Struct, gc=False):
    """The one call behind a gate and its one end: nothing else looks like them so far."""

    start: int
    input: bytes
    end: int | None = None
    given: bytes = b""


class CallPairs:
    """Calls and ends of one turn; ``by_id`` says that an equal id is evidence enough."""

    def __init__(self, *, by_id: bool) -> None:
        self._by_id = by_id
        self._alone: dict[_Gate, _Alone] = {}
        self._crowded: set[_Gate] = set()
        self._starts: dict[int, Item] = {}
        self._ends: dict[int, Item] = {}
        self._failed: set[int] = set()

    def start(self, event: HookEvent) -> None:
        """Add a call's start."""
        gate = _gate(event)
        if gate in self._crowded or gate in self._alone:
            self._crowd(gate)
            self._starts[event.line] = _item(event.line, gate, bytes(event.input))
        else:
            self._alone[gate] = _Alone(event.line, bytes(event.input))

    def end(self, event: HookEvent) -> None:
        """Add a call's end."""
        gate = _gate(event)
        if event.kind != "call-end":
            self._failed.add(event.line)
        alone = self._alone.get(gate)
        if alone is not None and alone.end is None:
            alone.end, alone.given = event.line, bytes(event.input)
        else:
            self._crowd(gate)
            self._ends[event.line] = _item(event.line, gate, bytes(event.input))

    def resolve(self) -> dict[int, Match]:
        """Return what is known of each end, by its line."""
        found = {
            alone.end: self._compared(gate, alone)
            for gate, alone in self._alone.items()
            if alone.end is not None
        }
        if self._ends:
            starts, ends = list(self._starts.values()), list(self._ends.values())
            weighed = match(starts, ends, CALL, unweighed=self._by_id)
            for end, told in weighed.items():
                gate: Any = self._ends[end].gate
                shown = (*_shown(gate), *told.shown)
                found[end] = msgspec.structs.replace(told, shown=shown)
        return found

    def failed(self, end: int) -> bool:
        """Return whether an end says that its call has failed."""
        return end in self._failed

    def settle(self, linked: Iterable[int]) -> None:
        """Forget the ends, and the starts that are linked; the others stay open."""
        over = set(linked)
        self._ends.clear()
        self._failed.clear()
        self._alone = {
            gate: _Alone(alone.start, alone.input)
            for gate, alone in self._alone.items()
            if alone.start not in over
        }
        if self._crowded:
            for start in over:
                self._starts.pop(start, None)
            self._crowded.intersection_update(item.gate for item in self._starts.values())

    def is_empty(self) -> bool:
        """Return whether no call is kept that a later end could be of."""
        return not self._alone and not self._starts

    def _crowd(self, gate: _Gate) -> None:
        """Let what stood alone behind a gate be weighed against what has come there."""
        self._crowded.add(gate)
        alone = self._alone.pop(gate, None)
        if alone is not None:
            self._starts[alone.start] = _item(alone.start, gate, alone.input)
            if alone.end is not None:
                self._ends[alone.end] = _item(alone.end, gate, alone.given)

    def _compared(self, gate: _Gate, alone: _Alone) -> Match:
        """Return what is known of the one end behind a gate."""
        given, taken = alone.input, alone.given
        if given == taken:
            weight = _WEIGHT if given else 0
        else:
            values = (canonical_input(given),), (canonical_input(taken),)
            weight = score(*values, CALL)
        if weight < 0 or (weight == 0 and not self._by_id):
            return _NO_MATCH
        shown = _shown(gate)
        if weight:
            shown = (*shown, CALL[0].name)
        return Match(alone.start, weight, shown, (alone.start,), True)


_WEIGHT = CALL[0].weight
_NO_MATCH = Match(None, 0, (), (), False)


def _gate(event: HookEvent) -> _Gate:
    return (event.call or None, event.tool, event.agent or None)


@lru_cache(maxsize=8)
def _named(has_id: bool, has_tool: bool, has_agent: bool) -> tuple[str, ...]:
    return tuple(compress(_GATE_NAMES, (has_id, has_tool, has_agent)))


def _shown(gate: _Gate) -> tuple[str, ...]:
    """Return the names of what a gate shows."""
    call, tool, agent = gate
    return _named(call is not None, tool is not None, agent is not None)


def _item(line: int, gate: _Gate, given: bytes) -> Item:
    return Item(line=line, gate=gate, values=(canonical_input(given),))
