"""The shape of what a release left of a scenario: every place that a reader could count on.

A shape is a mapping of places to what was seen there, in a few words; it holds no id, no time, no
count, no version and nothing that a person, a model or the vendor wrote at length. So two
recordings of one release have one shape, and where two releases differ, the places say in what.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.corpus import DATABASE_TEXT
from conformance.drift.timeline_data import Shape
from conformance.formats.naming import word
from conformance.formats.observing import Node, observe
from conformance.formats.records import Gathering, Named
from conformance.formats.tables import Place, ends, table
from live.model.script import Command, Read, Scenario, calls_of
from live.sanitise import rules

_LOOSE_FORMS = {"digits": "text", "hex": "text", "lines": "text"}
"""Forms that a drawn id or a measured text has by chance."""

_LONGEST_FRAME = 160
_ASKED = re.compile(r"/(?:input|arguments|toolArgs)(?:/|$)")
"""Places of what was called, not of what came of it."""

_CHANCE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("{uuid}", re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")),
    ("{time}", re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d[-:]\d\d[-:]\d\d[0-9.]*Z?")),
    ("{hex}", re.compile(r"(?<![0-9a-z{])a?[0-9a-f]{6,}(?![0-9a-z}])")),
    ("{n}", re.compile(r"\d+(?:\.\d+)?")),
)


def shape_of(agent: str, home: Path, scenario: Scenario, offered: Iterable[str]) -> Shape:
    """Return the shape of the files under a home, and of what the model was offered."""
    gathering = Gathering(agent, home, recover=True)
    known = rules(agent)
    records = [one._replace(value=_emptied(one.value, (), known.emptied)) for one in gathering]
    for one in known.chance:
        names = {line.removesuffix(": ") for line in one.lines}
        records = [
            _without(record, names) if record.kind == one.file else record for record in records
        ]
    shape: dict[str, str] = {f"tool offered: {name}": "yes" for name in offered}
    for path in sorted(path for path in home.rglob("*") if path.is_file()):
        name = path.relative_to(home).as_posix().removesuffix(DATABASE_TEXT)
        shape[f"file {without_chance(name)}"] = "yes"
    shape |= _observed(agent, records)
    shape |= _framed(records, scenario)
    return shape


def without_chance(text: str) -> str:
    """Return a text with ids, times and numbers left out."""
    for name, pattern in _CHANCE:
        text = pattern.sub(name, text)
    return text


def _emptied(value: Any, place: Place, foreign: Sequence[str]) -> Any:
    """Return a value without what is the vendor's own: lists of tools and the like."""
    if isinstance(value, dict | list) and ends(place, foreign):
        return type(value)()
    if isinstance(value, dict):
        return {key: _emptied(one, (*place, key), foreign) for key, one in value.items()}
    if isinstance(value, list):
        return [_emptied(one, place, foreign) for one in value]
    return value


def _without(record: Named, names: Collection[str]) -> Named:
    """Return a record without the fields that some releases write or don't, by chance."""
    if not isinstance(record.value, dict):
        return record
    return record._replace(value={k: one for k, one in record.value.items() if k not in names})


# ------------------------------------------------------------------ places


def _observed(agent: str, records: Sequence[Named]) -> Iterator[tuple[str, str]]:
    observers = observe(((one.kind, one.value, 1) for one in records), table(agent))
    for kind, observer in observers.items():
        yield kind, "record"
        yield from _places(kind, observer.root, "")


def _places(kind: str, node: Node, pointer: str) -> Iterator[tuple[str, str]]:
    if pointer:
        yield f"{kind} {pointer}", _said(node)
    for labels, variant in node.variants.items():
        yield from _fields(kind, variant, f"{pointer}<{'/'.join(map(word, labels))}>")
    yield from _fields(kind, node, pointer)
    if node.items is not None:
        yield from _places(kind, node.items, f"{pointer}[]")
    if node.members is not None:
        yield from _places(kind, node.members, f"{pointer}/*")


def _fields(kind: str, node: Node, pointer: str) -> Iterator[tuple[str, str]]:
    objects = node.types["object"]
    for key, child in node.properties.items():
        place = f"{pointer}/{key if word(key) != '(odd)' else '*'}"
        for at, said in _places(kind, child, place):
            always = at == f"{kind} {place}" and child.seen < objects
            yield at, f"{said}, not always" if always else said


def _said(node: Node) -> str:
    if node.is_opaque:
        return "anything"
    said = " or ".join(sorted(node.types))
    if node.words:
        return f"{said}: {', '.join(sorted(node.words))}"
    forms = {_LOOSE_FORMS.get(form, form) for form in node.forms} - {"text"}
    return f"{said} ({', '.join(sorted(forms))})" if forms else said


# ------------------------------------------------------------------ wordings


def _framed(records: Sequence[Named], scenario: Scenario) -> Mapping[str, str]:
    """Return how results are worded: the texts around what a command printed or a file held."""
    lines = sorted(_results(scenario), key=len, reverse=True)
    asked = [spelt for run in _commands(scenario) for spelt in (run, json.dumps(run)[1:-1])]
    found: defaultdict[str, set[str]] = defaultdict(set)
    for record in records:
        for pointer, text in _strings(record.value, ""):
            if _ASKED.search(pointer):
                continue
            frame = text
            for line in lines:
                frame = frame.replace(line, "…")
            if frame == text or frame.strip() == "…" or any(run in text for run in asked):
                continue
            frame = without_chance(frame)
            told = frame if len(frame) <= _LONGEST_FRAME else "(long)"
            found[f"wording in {record.kind} {pointer}"].add(json.dumps(told, ensure_ascii=False))
    return {place: " and ".join(sorted(frames)) for place, frames in found.items()}


def _commands(scenario: Scenario) -> list[str]:
    calls = (call for turn in scenario.turns for call in calls_of(turn.responses))
    return [call.run for call in calls if isinstance(call, Command)]


def _results(scenario: Scenario) -> set[str]:
    texts: set[str] = set()
    for turn in scenario.turns:
        for call in calls_of(turn.responses):
            if isinstance(call, Command):
                texts |= {call.stdout, call.stderr}
            elif isinstance(call, Read):
                texts.add(call.content or "")
    return {line for text in texts for line in text.splitlines() if line.strip()}


def _strings(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _strings(member, f"{pointer}/{key if word(key) != '(odd)' else '*'}")
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, f"{pointer}[]")
