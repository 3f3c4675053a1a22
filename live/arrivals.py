"""The order of hook events that arrive at once, made one that no chance decides.

A CLI starts a process for each event, and waits for it before it goes on: what it tells one
after the other arrives in that order, and that order stays. The calls of one answer it may
announce all at once; then the processes race, and which line stands first says nothing about
the CLI. Only such lines change places: neighbours of one event, of different calls of one
answer, that came within a moment of each other (then they stand as the model made the calls);
neighbours of two events that the agent's table says are started together; and what a subagent
does beside the one who sent it. A row that was waited for is moved past by none, so a call's own
rows, its prompt's and its turn's keep their places. Agents that nobody sent, with which a CLI warms
up, run beside everything: what is told of them stands behind the start that they belong to. Times
stay where they are: the n-th line has the n-th time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from live.calls import Place, Told, first
from live.model.log import Exchange
from live.sanitise.rules import Hooks

_AT_ONCE_SECONDS = 0.3
"""Scripted commands end further apart than this; processes started at once don't arrive so."""

_BEGUN_SECONDS = 1.0
"""What comes of a call can be awaited longer than processes take to start on a busy machine."""

_BESIDE_SECONDS = 1.5
"""What a subagent takes to begin, and whoever sent it to come to the next thing: who waits for
it waits longer."""

Rows = list[dict[str, Any]]


def arranged(rows: Sequence[dict[str, Any]], exchanges: Sequence[Exchange], table: Hooks) -> Rows:
    """Return the rows of a log in an order that the next run has too."""
    answers = [(one.response or "", one.answer.calls) for one in exchanges]
    made = [
        (call.id, call.name, call.arguments, (response, index, 0))
        for response, calls in answers
        for index, call in enumerate(calls)
    ]
    told = Told(made, table)
    found = [(row, _seconds(row), told.place(row["payload"])) for row in rows]
    unsent = warm_ups(rows, table)
    moved = True
    while moved:
        moved = False
        for index in range(len(found) - 1):
            early, late = found[index], found[index + 1]
            apart = abs(late[1] - early[1])
            at_once = apart <= _moment(early[0], table) and (
                _by_call(early, late)
                or (
                    _by_event(early[0], late[0], table)
                    # Else the two would change places for ever.
                    and not _by_thread(late[0], early[0], table)
                )
            )
            if unsent and (_warms(early[0], unsent, table) or _warms(late[0], unsent, table)):
                if not _before(early[0], late[0], unsent, table):
                    found[index], found[index + 1] = late, early
                    moved = True
            elif at_once or (apart <= _BESIDE_SECONDS and _by_thread(early[0], late[0], table)):
                found[index], found[index + 1] = late, early
                moved = True
    return [
        {**row, "observed_at": there["observed_at"]}
        for (row, _, _), there in zip(found, sorted(rows, key=_seconds), strict=True)
    ]


_Found = tuple[dict[str, Any], float, Place | None]


def _moment(row: Mapping[str, Any], table: Hooks) -> float:
    """Return within how many seconds the row after one is started at the same time."""
    begins = bool(table.result) and first(row["payload"], table.result) is None
    return _BEGUN_SECONDS if begins else _AT_ONCE_SECONDS


def _by_call(early: _Found, late: _Found) -> bool:
    """Whether two rows of one event are of one answer's calls, the later call first."""
    (one, _, place), (other, _, behind) = early, late
    if place is None or behind is None or one["event"] != other["event"]:
        return False
    return place[0] == behind[0] and place[1:] > behind[1:]


def _by_event(early: Mapping[str, Any], late: Mapping[str, Any], table: Hooks) -> bool:
    """Whether two rows are of events that are started together, in the other order."""
    return any(
        early["event"] in together.events
        and late["event"] in together.events
        and together.events.index(early["event"]) > together.events.index(late["event"])
        for together in table.together
    )


def _by_thread(early: Mapping[str, Any], late: Mapping[str, Any], table: Hooks) -> bool:
    """Whether a subagent's row is before one of who sent it, who does not wait for that."""
    of_agent = first(early["payload"], table.thread) is not None
    waited = early["event"] in table.thread_ends
    return of_agent and not waited and first(late["payload"], table.thread) is None


def warm_ups(rows: Sequence[Mapping[str, Any]], table: Hooks) -> dict[str, int]:
    """Return the agents that nobody sent, each with its rank: by start, then by what was told."""
    found: dict[str, tuple[int, str]] = {}
    starts, asked = 0, False
    for row in rows if table.begins else ():
        payload = row["payload"]
        agent = first(payload, table.thread)
        if row["event"] == table.begins:
            starts, asked = starts + 1, False
        elif agent is None:
            asked = asked or first(payload, table.tool) is not None
        elif starts and not asked and agent not in found and row["event"] in table.thread_ends[:1]:
            found[agent] = (starts, json.dumps(payload).replace(agent, ""))
    return {agent: rank for rank, agent in enumerate(sorted(found, key=lambda one: found[one]))}


def _warms(row: Mapping[str, Any], unsent: Mapping[str, int], table: Hooks) -> bool:
    return first(row["payload"], table.thread) in unsent


def _before(
    early: Mapping[str, Any], late: Mapping[str, Any], unsent: Mapping[str, int], table: Hooks
) -> bool:
    """Whether two rows, one at least of an agent that nobody sent, stand as they are put."""
    if not _warms(late, unsent, table):
        return True
    if not _warms(early, unsent, table):
        return early["event"] == table.begins
    one, other = (first(row["payload"], table.thread) for row in (early, late))
    if one == other:
        return True
    places = [(_end(row, table), unsent[agent]) for row, agent in ((early, one), (late, other))]
    return places[0] <= places[1]


def _end(row: Mapping[str, Any], table: Hooks) -> int:
    """Return which of the events of a thread's ends a row is of; the first begins it."""
    return table.thread_ends.index(row["event"]) if row["event"] in table.thread_ends else 0


def _seconds(row: Mapping[str, Any]) -> float:
    return datetime.fromisoformat(row["observed_at"]).timestamp()
