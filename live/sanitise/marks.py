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

import msgspec

from live.sanitise.documents import Document
from live.sanitise.rules import Marks


def without_marks(document: Document, rule: Marks) -> Document:
    """Return a file without the marks of hooks."""
    if document.form != "lines":
        return document
    kept = [one for one in document.records if one.get("type") not in (rule.start, rule.end)]
    return msgspec.structs.replace(document, records=tuple(kept))


_Pair = tuple[Any, ...]
"""A beginning and its end, or one record of any other kind."""


def marks_in_order(records: Sequence[Any], rule: Marks) -> list[Any]:
    """Return a file's records with the marks of hooks in order."""
    turned = _behind_their_own(list(records), rule)
    pointers = {one[rule.id]: one[rule.parent] for one in turned}
    found: list[Any] = []
    paired = _paired(turned, pointers, rule)
    for together, some in groupby(paired, key=lambda one: _together(one, rule)):
        pairs = list(some)
        if together is not None and _is_chain(
            [one for pair in pairs for one in pair], pointers, rule
        ):
            before = [one for pair in pairs for one in pair]
            pairs.sort(key=_place(rule.together[together].events, rule))
            _rechain(before, [one for pair in pairs for one in pair], pointers, rule)
        found += (record for pair in pairs for record in pair)
    return _refitted(records, found, pointers, rule)


def _behind_their_own(records: list[Any], rule: Marks) -> list[Any]:
    """Put a record that was written before the one that it points at behind that."""
    for index in range(len(records) - 1):
        if records[index][rule.parent] == records[index + 1][rule.id]:
            records[index], records[index + 1] = records[index + 1], records[index]
    return records


def _paired(records: Sequence[Any], pointers: dict[Any, Any], rule: Marks) -> list[_Pair]:
    ends = {one["data"][rule.invocation]: one for one in records if one["type"] == rule.end}
    begun = {one["data"][rule.invocation] for one in records if one["type"] == rule.start}
    found: list[_Pair] = []
    for record in records:
        invocation = record["data"].get(rule.invocation)
        if record["type"] == rule.start and invocation in ends:
            end = ends[invocation]
            _hang(end[rule.id], record[rule.id], pointers)
            found.append((record, end))
        elif record["type"] != rule.end or invocation not in begun:
            found.append((record,))
    return found


def _hang(moved: Any, behind: Any, pointers: dict[Any, Any]) -> None:
    """Let a record point at another one, and what pointed at either point on."""
    if pointers[moved] == behind:
        return
    for one, pointed in pointers.items():
        if pointed == moved:
            pointers[one] = pointers[moved]
    for one, pointed in pointers.items():
        if pointed == behind:
            pointers[one] = moved
    pointers[moved] = behind


def _together(pair: _Pair, rule: Marks) -> int | None:
    """Return which of the table's groups a mark is of."""
    if pair[0]["type"] != rule.start:
        return None
    event = pair[0]["data"][rule.event]
    return next((i for i, one in enumerate(rule.together) if event in one.events), None)


def _place(events: Sequence[str], rule: Marks) -> Callable[[_Pair], tuple[int, str]]:
    def place(pair: _Pair) -> tuple[int, str]:
        data = pair[0]["data"]
        told = {key: value for key, value in data["input"].items() if key != "timestamp"}
        return events.index(data[rule.event]), json.dumps(told)

    return place


def _is_chain(records: Sequence[Any], pointers: dict[Any, Any], rule: Marks) -> bool:
    ids = [one[rule.id] for one in records]
    return [pointers[one] for one in ids[1:]] == ids[:-1]


def _rechain(
    before: Sequence[Any], after: Sequence[Any], pointers: dict[Any, Any], rule: Marks
) -> None:
    """Let records that were a chain be one in another order."""
    old, new = ([one[rule.id] for one in some] for some in (before, after))
    following = [one for one, pointed in pointers.items() if pointed == old[-1]]
    first = pointers[old[0]]
    for one, pointed in zip(new, [first, *new], strict=False):
        pointers[one] = pointed
    for one in following:
        pointers[one] = new[-1]


def _refitted(
    before: Sequence[Any], after: Sequence[Any], pointers: dict[Any, Any], rule: Marks
) -> list[Any]:
    """Let records point as they now do, and have the times of the places that they moved to."""
    found: list[Any] = []
    for place, record in zip(before, after, strict=True):
        fitting = {rule.parent: pointers[record[rule.id]]}
        if record is not place:
            fitting[rule.time] = place[rule.time]
        same = all(record[key] == value for key, value in fitting.items())
        found.append(record if same else {**record, **fitting})
    return found
