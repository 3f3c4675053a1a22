"""Fields, their types and their words: what differs inside of records of one kind.

What is gone is told once: nothing is said of what stood inside of it. What is gone here and new
there may be the same field under another name or in another place; :mod:`.kinds`, which sees all
kinds, decides that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from conformance.drift.findings import Change
from conformance.formats.observing import Node

Names = Callable[[int], tuple[str, ...]]
"""The scenarios of a set of bits."""

_ENCODINGS = frozenset(("uuid", "date-time", "date-time.3", "date-time.more", "date", "hex", "uri"))
"""Ways of writing that are no free text, as a path or a number may be."""


class Gone(NamedTuple):
    """A field of one side only: where it stands, how it is called, and what was seen there."""

    parent: str
    key: str
    node: Node
    always: bool

    @property
    def place(self) -> str:
        """The field's own place."""
        return f"{self.parent}/{self.key}"


class Fields(NamedTuple):
    """What differs in a kind: changes that are decided, and the fields of one side only."""

    changes: list[Change]
    removed: list[Gone]
    added: list[Gone]


def compare_fields(place: str, before: Node, after: Node, names: Names) -> Fields:
    """Compare what two sides have at a place, such as ``kind#`` for the whole of a record."""
    found = Fields([], [], [])
    _Comparison(names, found).node(place, before, after)
    return found


def types_of(node: Node) -> str:
    """Return the types seen at a place, null among them, as text."""
    return " or ".join(sorted(node.types)) or "opaque"


def removal(gone: Gone, names: Names) -> Change:
    """Return the change that a field is gone."""
    return Change("field-removed", gone.place, types_of(gone.node), "", names(gone.node.scenarios))


def addition(come: Gone, names: Names) -> Change:
    """Return the change that a field is new."""
    return Change("field-added", come.place, "", types_of(come.node), names(come.node.scenarios))


class _Comparison:
    def __init__(self, names: Names, found: Fields) -> None:
        self._names = names
        self._found = found

    def node(self, place: str, before: Node, after: Node) -> None:
        if before.is_opaque or after.is_opaque:
            return
        self._types(place, before, after)
        self._strings(place, before, after)
        if before.types["object"] and after.types["object"]:
            self._objects(place, before, after)
        if before.items and after.items and before.items.seen and after.items.seen:
            self.node(f"{place}/*", before.items, after.items)

    def _change(self, rule: str, place: str, before: str, after: str, bits: int) -> None:
        self._found.changes.append(Change(rule, place, before, after, self._names(bits)))

    # -------------------------------------------------------------- types

    def _types(self, place: str, before: Node, after: Node) -> None:
        both = before.scenarios | after.scenarios
        null, now_null = "null" in before.types, "null" in after.types
        old, new = set(before.types) - {"null"}, set(after.types) - {"null"}
        if now_null and not null:
            self._change("became-nullable", place, types_of(before), types_of(after), both)
        if null and not now_null:
            self._change("no-longer-null", place, types_of(before), types_of(after), both)
        # Where only null was ever seen, nobody knows the type.
        if not old or not new or old == new:
            return
        rule = "type-widened" if old < new else "type-narrowed" if new < old else "type-changed"
        self._change(rule, place, " or ".join(sorted(old)), " or ".join(sorted(new)), both)

    def _strings(self, place: str, before: Node, after: Node) -> None:
        if not before.types["string"] or not after.types["string"]:
            return
        if before.words is not None and after.words is not None:
            for word in sorted(after.words - before.words):
                self._change("word-added", place, "", word, after.scenarios)
            for word in sorted(before.words - after.words):
                self._change("word-removed", place, word, "", before.scenarios)
            return
        old, new = before.forms - {"empty"}, after.forms - {"empty"}
        if old and new and old != new and (old <= _ENCODINGS or new <= _ENCODINGS):
            both = before.scenarios | after.scenarios
            said, now = " or ".join(sorted(old)), " or ".join(sorted(new))
            self._change("encoding-changed", place, said, now, both)

    # -------------------------------------------------------------- objects

    def _objects(self, place: str, before: Node, after: Node) -> None:
        if before.is_map:
            if before.members and after.members:
                self.node(f"{place}/*", before.members, after.members)
            return
        if before.variants or after.variants:
            self._shapes(place, before, after)
            return
        self._properties(place, before, after, before.types["object"], after.types["object"])

    def _shapes(self, place: str, before: Node, after: Node) -> None:
        for labels in sorted({*before.variants, *after.variants}):
            shape = "/".join(labels) or "(none)"
            one, other = before.variants.get(labels), after.variants.get(labels)
            if one is None and other is not None:
                self._change("shape-added", place, "", shape, other.scenarios)
            elif one is not None and other is None:
                self._change("shape-removed", place, shape, "", one.scenarios)
            elif one is not None and other is not None:
                self._properties(f"{place}[{shape}]", one, other, one.seen, other.seen)

    def _properties(
        self, place: str, before: Node, after: Node, objects: int, now_objects: int
    ) -> None:
        for key in sorted({*before.properties, *after.properties}):
            one, other = before.properties.get(key), after.properties.get(key)
            if one is None and other is not None:
                self._found.added.append(Gone(place, key, other, other.seen == now_objects))
            elif one is not None and other is None:
                self._found.removed.append(Gone(place, key, one, one.seen == objects))
            elif one is not None and other is not None:
                self._presence(f"{place}/{key}", one, other, objects, now_objects)
                self.node(f"{place}/{key}", one, other)

    def _presence(
        self, place: str, before: Node, after: Node, objects: int, now_objects: int
    ) -> None:
        always, now_always = before.seen == objects, after.seen == now_objects
        both = before.scenarios | after.scenarios
        if always and not now_always:
            self._change("field-became-optional", place, "always", "sometimes", both)
        if now_always and not always:
            self._change("field-became-required", place, "sometimes", "always", both)
