"""The marks that hooks leave in a CLI's own file, in an order that no chance decides.

A CLI writes down where a hook began and where it ended, as it happens, while it goes on with
what does not wait for it. Each end is put right behind its beginning; and where hooks of several
events are begun at once, or one event's hooks for several calls, they stand in the order of the
table and then of what they were told. Times stay where they are: the n-th record has the n-th.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from live.sanitise.rules import Marks

_Pair = tuple[Any, ...]
"""A beginning and its end, or one record of any other kind."""


def marks_in_order(records: Sequence[Any], rule: Marks) -> list[Any]:
    """Return a file's records with the marks of hooks in order."""
    found: list[Any] = []
    for together, some in groupby(_paired(records, rule), key=lambda one: _together(one, rule)):
        pairs = list(some)
        if together is not None:
            pairs.sort(key=_place(rule.together[together], rule))
        found += (record for pair in pairs for record in pair)
    return _refitted(records, found, rule)


def _paired(records: Sequence[Any], rule: Marks) -> list[_Pair]:
    ends = {
        record["data"][rule.invocation]: record for record in records if record["type"] == rule.end
    }
    begun = {record["data"][rule.invocation] for record in records if record["type"] == rule.start}
    found: list[_Pair] = []
    for record in records:
        invocation = record["data"].get(rule.invocation)
        if record["type"] == rule.start and invocation in ends:
            found.append((record, ends[invocation]))
        elif record["type"] != rule.end or invocation not in begun:
            found.append((record,))
    return found


def _together(pair: _Pair, rule: Marks) -> int | None:
    """Return which of the table's groups a mark is of."""
    if pair[0]["type"] != rule.start:
        return None
    event = pair[0]["data"][rule.event]
    return next((i for i, events in enumerate(rule.together) if event in events), None)


def _place(events: Sequence[str], rule: Marks) -> Callable[[_Pair], tuple[int, str]]:
    def place(pair: _Pair) -> tuple[int, str]:
        data = pair[0]["data"]
        told = {key: value for key, value in data["input"].items() if key != "timestamp"}
        return events.index(data[rule.event]), json.dumps(told)

    return place


def _refitted(before: Sequence[Any], after: list[Any], rule: Marks) -> list[Any]:
    """Let records that were moved have the times of their new places, and point as those did."""
    for index in range(len(after)):
        fitting: dict[str, Any] = {}
        if after[index] is not before[index]:
            fitting = {key: before[index][key] for key in (rule.time, rule.parent)}
        if index and before[index][rule.parent] == before[index - 1][rule.id]:
            fitting[rule.parent] = after[index - 1][rule.id]
        if any(after[index].get(key) != value for key, value in fitting.items()):
            after[index] = {**after[index], **fitting}
    return after
