"""Under which rule of drift a change of a timeline falls, as far as a shape tells.

A shape knows places alone: what is renamed or moved is here one that went and one that came.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from conformance.drift.rules import RULES, SEVERITIES, Direction, Severity
from conformance.drift.timeline_data import Change

_OPTIONAL = ", not always"
_SAID = re.compile(r"(?P<types>[a-z ]+)(?:: (?P<words>.*)| \((?P<forms>.*)\))?")


def rule_of(change: Change) -> str:
    """Return the id of a change's rule."""
    sort = "added" if change.before is None else "removed" if change.after is None else "changed"
    if change.place.startswith("file "):
        return f"file-{sort}"
    if change.place.startswith("tool offered: "):
        return f"tool-{sort}"
    if change.place.startswith("wording in "):
        return f"wording-{sort}"
    if change.before is None or change.after is None:
        kind = "kind" if "record" in (change.before, change.after) else "field"
        return f"{kind}-{sort}"
    return _field(change.before, change.after)


def _field(before: str, after: str) -> str:
    sometimes = [said.endswith(_OPTIONAL) for said in (before, after)]
    if sometimes[0] != sometimes[1]:
        return "field-became-optional" if sometimes[1] else "field-became-required"
    old, new = (_SAID.fullmatch(said.removesuffix(_OPTIONAL)) for said in (before, after))
    if old is None or new is None:
        return "type-changed"
    was, now = (set(one["types"].split(" or ")) for one in (old, new))
    if was != now:
        if was ^ now == {"null"}:
            return "became-nullable" if "null" in now else "no-longer-null"
        return "type-widened" if was < now else "type-narrowed" if now < was else "type-changed"
    if old["words"] and new["words"]:
        return "word-added" if {*_words(new["words"])} - {*_words(old["words"])} else "word-removed"
    return "encoding-changed"


def _words(said: str) -> list[str]:
    return said.split(", ")


def severities(changes: Iterable[Change], direction: Direction) -> dict[Severity, Counter[str]]:
    """Return how many changes fall under each rule, by how bad they are for one direction."""
    found: dict[Severity, Counter[str]] = {severity: Counter() for severity in SEVERITIES}
    for change in changes:
        rule = rule_of(change)
        found[getattr(RULES[rule], direction)][rule] += 1
    return {severity: rules for severity, rules in found.items() if rules}
