"""Chance taken out of a run's files: order that nothing decides, and lines there or not.

Two tasks of the CLI race and each writes a record; which comes first is chance. Where records
point at the one before them the pointers are turned too, so that the file is again one that
the CLI could have written: the same as on the other day.
"""

from __future__ import annotations

from typing import Any

import msgspec

from live.sanitise.documents import Document, dumps
from live.sanitise.rules import Anchored, Floating, Neighbours, Rules


def in_order(document: Document, rules: Rules) -> Document:
    """Return a file of lines with all neighbours in the order that the table says."""
    if document.form != "lines" or not rules.neighbours:
        return document
    records = list(document.records)
    for rule in rules.neighbours:
        for index in range(len(records) - 1):
            if _are(rule, records[index], records[index + 1]):
                _turn(rule, records, index)
    return msgspec.structs.replace(document, records=tuple(records))


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
