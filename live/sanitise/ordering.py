"""Chance taken out of a run's files: order that nothing decides, and lines there or not.

Two tasks of the CLI race and each writes a record; which comes first is chance. Where records
point at the one before them the pointers are turned too, so that the file is again one that
the CLI could have written: the same as on the other day.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from live.sanitise.documents import Document, dumps
from live.sanitise.marks import marks_in_order
from live.sanitise.rules import Anchored, Floating, Neighbours, Rules


def in_order(document: Document, rules: Rules) -> Document:
    """Return a file of lines with all neighbours in the order that the table says."""
    marks = rules.marks
    if document.form != "lines" or not (rules.neighbours or marks):
        return document
    records = list(document.records)
    if marks is not None and any(_kind(one) == marks.start for one in records):
        records = marks_in_order(records, marks)
    for rule in rules.neighbours:
        for index in range(len(records) - 1):
            if _are(rule, records[index], records[index + 1]):
                _turn(rule, records, index)
    return msgspec.structs.replace(document, records=tuple(records))


def as_filed(
    stream: Document, files: Sequence[tuple[Document, Document]], rules: Rules
) -> Document:
    """Return what was said aside with its records as their files have them once in order.

    ``files`` are pairs: as it was written, and in order. A stream leaves records out, so that
    neighbours in a file need not be any there: what was turned is known from the files alone. A
    pointer that was not turned stays, even where the stream has another one than the file.
    """
    records = list(stream.records)
    for id_key, parent in {(rule.id, rule.parent) for rule in rules.neighbours}:
        for written, ordered in files:
            if ordered.form == "lines":
                _place_as(ordered, _turned(written, ordered, id_key, parent), records, id_key)
    return msgspec.structs.replace(stream, records=tuple(records))


def _turned(
    written: Document, ordered: Document, id_key: str, parent: str
) -> dict[Any, dict[str, Any]]:
    """Return what putting a file in order changed of each record, by the record's id."""
    pointers = {one[id_key]: one.get(parent) for one in _named(written.records, id_key)}
    return {
        one[id_key]: {parent: one[parent]} if pointers[one[id_key]] != one.get(parent) else {}
        for one in _named(ordered.records, id_key)
    }


def _place_as(
    ordered: Document, turned: dict[Any, dict[str, Any]], records: list[Any], id_key: str
) -> None:
    """Put those records that stand in a file, too, in its order, each where one of them stood."""
    order = {one[id_key]: place for place, one in enumerate(_named(ordered.records, id_key))}
    places = [
        place
        for place, one in enumerate(records)
        if isinstance(one, dict) and one.get(id_key) in order
    ]
    there = sorted((records[place] for place in places), key=lambda one: order[one[id_key]])
    for place, one in zip(places, there, strict=True):
        records[place] = {**one, **turned[one[id_key]]}


def _named(records: Sequence[Any], id_key: str) -> list[Any]:
    return [one for one in records if isinstance(one, dict) and one.get(id_key) is not None]


def without_chance(document: Document, rules: Rules) -> Document:
    """Return a file without the lines that the table says come by chance.

    Of a text, indented and empty lines go with the one that they continue.
    """
    if document.form == "lines":
        return _recurring(document, rules)
    name = document.path.rpartition("/")[2]
    lines = tuple(line for one in rules.chance if one.file == name for line in one.lines)
    if document.form != "text" or not lines:
        return document
    *body, end = document.records
    kept: list[str] = []
    leaving = False
    for line in body:
        leaving = line.startswith(lines) or (leaving and line[:1] in ("", " "))
        if not leaving:
            kept.append(line)
    return msgspec.structs.replace(document, records=(*kept, end))


def _recurring(document: Document, rules: Rules) -> Document:
    """Put records in their places that are written at some time about another, or ever again."""
    text = "\n".join(dumps(record) for record in document.records)
    records = list(document.records)
    for rule in rules.anchored:
        if rule.where in text:
            records = _anchored(records, rule)
    for rule in rules.floating:
        if rule.where and rule.where in text:
            records = floated(records, rule)
    for rule in rules.restated:
        if rule.where in text:
            last = {_kind(record): record for record in records if _kind(record) in rule.kinds}
            records = [record for record in records if _kind(record) not in rule.kinds]
            records += [last[kind] for kind in rule.kinds if kind in last]
    return msgspec.structs.replace(document, records=tuple(records))


def floated(records: list[Any], rule: Floating) -> list[Any]:
    """Put records of some kinds behind those among which they come by chance."""
    result: list[Any] = []
    waiting: list[Any] = []
    for record in records:
        kind = _kind(record)
        if kind in rule.kinds:
            waiting.append(record)
            continue
        if waiting and kind not in rule.among:
            result += sorted(waiting, key=lambda one: rule.kinds.index(one["type"]))
            waiting = []
        result.append(record)
    return result + sorted(waiting, key=lambda one: rule.kinds.index(one["type"]))


def _anchored(records: list[Any], rule: Anchored) -> list[Any]:
    behind: dict[Any, list[Any]] = {}
    places = {record.get(rule.id) for record in records if isinstance(record, dict)}
    rest: list[Any] = []
    for record in records:
        if _kind(record) in rule.kinds and record.get(rule.key) in places:
            behind.setdefault(record[rule.key], []).append(record)
        else:
            rest.append(record)
    placed: list[Any] = []
    for record in rest:
        placed.append(record)
        if isinstance(record, dict) and record.get(rule.id) is not None:
            placed += behind.get(record[rule.id], [])
    return placed


def _kind(record: Any) -> str | None:
    kind = record.get("type") if isinstance(record, dict) else None
    return kind if isinstance(kind, str) else None


def _are(rule: Neighbours, early: Any, late: Any) -> bool:
    return (
        isinstance(early, dict)
        and isinstance(late, dict)
        and early.get("type") == rule.second
        and late.get("type") == rule.first
        and late.get(rule.parent) == early.get(rule.id)
    )


def _turn(rule: Neighbours, records: list[Any], index: int) -> None:
    early, late = records[index], records[index + 1]
    records[index] = {**late, rule.parent: early[rule.parent]}
    records[index + 1] = {**early, rule.parent: late[rule.id]}
    if index + 2 < len(records) and records[index + 2].get(rule.parent) == late[rule.id]:
        records[index + 2] = {**records[index + 2], rule.parent: early[rule.id]}
