"""The order of hook events that arrive at once, made one that no chance decides.

A CLI starts a process for each event, and waits for it before it goes on: what it tells one
after the other arrives in that order, and that order stays. The calls of one answer it may
announce all at once; then the processes race, and which line stands first says nothing about
the CLI. Only such lines change places: neighbours of one event, of different calls of one
answer, that came within a moment of each other (then they stand as the model made the calls);
and neighbours of two events that the agent's table says are started together. A row that was
waited for is moved past by none, so a call's own rows, its prompt's and its turn's keep their
places. Times stay where they are: the n-th line has the n-th time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from live.model.log import Exchange
from live.sanitise.rules import Hooks

_AT_ONCE_SECONDS = 0.3
"""Scripted commands end further apart than this; processes started at once don't arrive so."""

Rows = list[dict[str, Any]]


def arranged(rows: Sequence[dict[str, Any]], exchanges: Sequence[Exchange], table: Hooks) -> Rows:
    """Return the rows of a log in an order that the next run has too."""
    calls = _Calls(exchanges, table)
    found = [(row, _seconds(row), calls.place(row["payload"])) for row in rows]
    moved = True
    while moved:
        moved = False
        for index in range(len(found) - 1):
            early, late = found[index], found[index + 1]
            if abs(late[1] - early[1]) > _AT_ONCE_SECONDS:
                continue
            if _by_call(early, late) or _by_event(early[0], late[0], table):
                found[index], found[index + 1] = late, early
                moved = True
    return [
        {**row, "observed_at": there["observed_at"]}
        for (row, _, _), there in zip(found, sorted(rows, key=_seconds), strict=True)
    ]


Place = tuple[str, int]
"""A response's id and a call's index in it."""

_Found = tuple[dict[str, Any], float, Place | None]


def _by_call(early: _Found, late: _Found) -> bool:
    """Whether two rows of one event are of one answer's calls, the later call first."""
    (one, _, place), (other, _, behind) = early, late
    if place is None or behind is None or one["event"] != other["event"]:
        return False
    return place[0] == behind[0] and place[1] > behind[1]


def _by_event(early: Mapping[str, Any], late: Mapping[str, Any], table: Hooks) -> bool:
    """Whether two rows are of events that are started together, in the other order."""
    return any(
        early["event"] in together.events
        and late["event"] in together.events
        and together.events.index(early["event"]) > together.events.index(late["event"])
        for together in table.together
    )


class _Calls:
    """The calls that the scripted model made, found again by what a hook tells of them."""

    def __init__(self, exchanges: Sequence[Exchange], table: Hooks) -> None:
        self._table = table
        self._ids: dict[str, Place] = {}
        self._inputs: dict[tuple[str, str], Place | None] = {}
        for exchange in exchanges:
            for index, call in enumerate(exchange.answer.calls):
                place = (exchange.response or "", index)
                self._ids[call.id] = place
                key = (call.name, _canonical(call.arguments))
                self._inputs[key] = None if key in self._inputs else place

    def place(self, payload: Mapping[str, Any]) -> Place | None:
        """Return which call a payload is of; by its name and input where it bears no id."""
        given = _first(payload, self._table.call)
        if given is not None:
            return self._ids.get(str(given))
        name, value = _first(payload, self._table.tool), _first(payload, self._table.input)
        if name is None or value is None:
            return None
        return self._inputs.get((str(name), _canonical(value)))


def _first(payload: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((payload[name] for name in names if payload.get(name) is not None), None)


def _canonical(value: Any) -> str:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return value
    return json.dumps(value, sort_keys=True)


def _seconds(row: Mapping[str, Any]) -> float:
    return datetime.fromisoformat(row["observed_at"]).timestamp()
