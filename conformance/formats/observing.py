"""What was seen of a kind of record: at every pointer the types, how often, where, which words.

A library that infers a schema from samples (GenSON) knows no pointers, merges shapes that a
field tells apart, folds whole and other numbers into one and keeps no counts; drift needs all
of that, so the tree of observations is this project's own, and schemas are made of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from conformance.formats.tables import Place, Table, ends

MOST_WORDS = 24
_LONGEST_WORD = 64
_ELIDED = "[elided"

TYPES: dict[type, str] = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}
"""JSON's types, whole numbers apart: 1 and 1.0 are not written by the same code."""

_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("uuid", re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")),
    ("date-time", re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")),
    ("date-time.3", re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")),
    ("date-time.more", re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")),
    ("date", re.compile(r"\d{4}-\d\d-\d\d")),
    ("digits", re.compile(r"\d+")),
    ("hex", re.compile(r"[0-9a-f]{16,}")),
    ("path", re.compile(r"/[^\n]*")),
    ("uri", re.compile(r"[a-z]+://[^\s]*")),
)


class Node:
    """What was seen at one place; scenarios are a set of bits.

    ``words`` is None once a string was seen that is no word of the format's.
    """

    __slots__ = (
        "by",
        "forms",
        "is_map",
        "is_opaque",
        "items",
        "members",
        "more",
        "place",
        "properties",
        "scenarios",
        "seen",
        "types",
        "variants",
        "words",
    )

    def __init__(self, place: Place, table: Table, more: tuple[str, ...] = ()) -> None:
        self.place = place
        self.more = more
        nature = table.nature(place)
        self.is_opaque = nature.opaque or (bool(more) and ends(place, more))
        self.is_map = nature.map
        self.by = nature.by
        self.words: set[str] | None = set() if nature.vocabulary else None
        self.seen = 0
        self.scenarios = 0
        self.types: Counter[str] = Counter()
        self.forms: set[str] = set()
        self.properties: dict[str, Node] = {}
        self.items: Node | None = None
        self.members: Node | None = None
        self.variants: dict[tuple[str, ...], Node] = {}


class Observer:
    """Observes the records of one kind."""

    def __init__(self, kind: str, table: Table) -> None:
        self._table = table
        self.kind = kind
        self.root = Node((), table, table.opaque_under(kind.rpartition(":")[2]))

    def see(self, value: Any, scenario: int) -> None:
        """Take in one record; ``scenario`` is the bit of the scenario that left it."""
        self._see(self.root, value, scenario)

    def _see(self, node: Node, value: Any, scenario: int) -> None:
        node.seen += 1
        node.scenarios |= scenario
        if node.is_opaque:
            return
        name = TYPES[type(value)]
        node.types[name] += 1
        if name == "string":
            self._string(node, value)
        elif name == "object":
            self._object(node, value, scenario)
        elif name == "array":
            if node.items is None:
                node.items = Node(node.place, self._table, node.more)
            for item in value:
                self._see(node.items, item, scenario)

    def _object(self, node: Node, value: dict[str, Any], scenario: int) -> None:
        if node.is_map:
            if node.members is None:
                # Its own place is a map's; what is in it is looked up one step further.
                node.members = Node((*node.place, "*"), self._table, node.more)
            for member in value.values():
                self._see(node.members, member, scenario)
            return
        if node.by:
            labels = labels_of(value, node.by, self._table)
            variant = node.variants.get(labels)
            if variant is None:
                more = (*node.more, *self._opaque(labels))
                variant = node.variants[labels] = _plain(node.place, self._table, more)
            variant.seen += 1
            variant.scenarios |= scenario
            variant.types["object"] += 1
            self._fields(variant, value, scenario)
            return
        self._fields(node, value, scenario)

    def _fields(self, node: Node, value: dict[str, Any], scenario: int) -> None:
        properties = node.properties
        for key, member in value.items():
            child = properties.get(key)
            if child is None:
                child = properties[key] = Node((*node.place, key), self._table, node.more)
            self._see(child, member, scenario)

    def _opaque(self, labels: Iterable[str]) -> Iterable[str]:
        return (place for label in labels for place in self._table.opaque_under(label))

    def _string(self, node: Node, value: str) -> None:
        node.forms.add(form_of(value))
        if node.words is None:
            return
        if len(value) > _LONGEST_WORD or "\n" in value or _ELIDED in value:
            node.words = None
        else:
            node.words.add(value)
            if len(node.words) > MOST_WORDS:
                node.words = None


def _plain(place: Place, table: Table, more: tuple[str, ...]) -> Node:
    """Return a node for the fields of a variant: told apart already."""
    node = Node(place, table, more)
    node.by = ()
    return node


def labels_of(value: dict[str, Any], by: Iterable[str], table: Table) -> tuple[str, ...]:
    """Return what tells an object's shape: the label of each discriminator that it has."""
    found: list[str] = []
    for key in by:
        member = value.get(key)
        if not isinstance(member, str):
            break
        found.append(table.label(member, value))
    return tuple(found)


def form_of(text: str) -> str:
    """Return how a string is written: an id, a time of a precision, a path, text of lines."""
    if not text:
        return "empty"
    for name, pattern in _FORMS:
        if pattern.fullmatch(text):
            return name
    return "lines" if "\n" in text else "text"


def observe(records: Iterable[tuple[str, Any, int]], table: Table) -> dict[str, Observer]:
    """Observe records, each given with its kind and its scenario's bit; one observer a kind."""
    observers: dict[str, Observer] = {}
    for kind, value, scenario in records:
        observer = observers.get(kind)
        if observer is None:
            observer = observers[kind] = Observer(kind, table)
        observer.see(value, scenario)
    return observers
