"""Observations as JSON Schemas (2020-12), and the two views of one: lenient and strict.

In a snapshot what was always there is required, types are those seen, and what is new is
allowed. Its annotations say the rest, and the strict view asks for it: no field, no word and no
shape but those seen.

``x-seen`` is how often a value stood there, left out where that is as often as the object
around it; ``x-types`` how often each type, where there are several; ``x-forms`` how strings are
written; ``x-words`` a closed set of the format's own words; ``x-scenarios`` which scenarios
left it, left out where they are those of what is around it; ``x-keys`` that keys are data;
``x-opaque`` that what is inside is not the format's; ``x-shapes`` what tells shapes apart.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.formats.observing import Node, Observer
from conformance.formats.tables import Table

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_WIDTH = 100

Schema = dict[str, Any]


def schema_of(observer: Observer, scenarios: Sequence[str], table: Table) -> Schema:
    """Return the snapshot of a kind; ``scenarios`` are the names of the bits, from the lowest."""
    writer = _Writer(scenarios, table)
    root = observer.root
    return {
        "$schema": DIALECT,
        "title": observer.kind,
        "x-seen": root.seen,
        "x-scenarios": writer.names(root.scenarios),
        **writer.node(root, root.seen, root.scenarios),
    }


class _Writer:
    def __init__(self, scenarios: Sequence[str], table: Table) -> None:
        self._scenarios = scenarios
        self._table = table

    def names(self, bits: int) -> list[str]:
        return sorted(name for at, name in enumerate(self._scenarios) if bits >> at & 1)

    def node(self, node: Node, around: int, scenarios: int) -> Schema:
        """Return the schema of a place in what was seen ``around`` times in ``scenarios``."""
        schema: Schema = {}
        if node.seen != around:
            schema["x-seen"] = node.seen
        if node.scenarios != scenarios:
            schema["x-scenarios"] = self.names(node.scenarios)
        if node.is_opaque:
            return {**schema, "x-opaque": True}
        types = sorted(node.types)
        if not types:
            return schema
        schema["type"] = types[0] if len(types) == 1 else types
        if len(types) > 1:
            schema["x-types"] = dict(sorted(node.types.items()))
        if node.words:
            schema["x-words"] = sorted(node.words)
        elif node.forms:
            schema["x-forms"] = sorted(node.forms)
        if "object" in node.types:
            schema |= self._object(node)
        if node.items is not None and node.items.seen:
            schema["items"] = self._counted(node.items, node.scenarios)
        return schema

    def _object(self, node: Node) -> Schema:
        if node.is_map:
            members = node.members
            counted = self._counted(members, node.scenarios) if members else {}
            return {"x-keys": "data", "additionalProperties": counted}
        if node.variants:
            return {
                "x-shapes": list(node.by),
                "allOf": [
                    {"if": self._condition(node.by, labels), "then": self._variant(node, labels)}
                    for labels in sorted(node.variants)
                ],
            }
        return self._fields(node, node.types["object"])

    def _counted(self, node: Node, scenarios: int) -> Schema:
        """Return the schema of what a list or a map holds: its count says how much in all."""
        return {"x-seen": node.seen, **self.node(node, node.seen, scenarios)}

    def _variant(self, node: Node, labels: tuple[str, ...]) -> Schema:
        variant = node.variants[labels]
        schema: Schema = {"title": "/".join(labels) or "(none)", "x-seen": variant.seen}
        if variant.scenarios != node.scenarios:
            schema["x-scenarios"] = self.names(variant.scenarios)
        return {**schema, **self._fields(variant, variant.seen)}

    def _fields(self, node: Node, objects: int) -> Schema:
        properties = node.properties
        required = [key for key in sorted(properties) if properties[key].seen == objects]
        schema: Schema = {}
        if required:
            schema["required"] = required
        schema["properties"] = {
            key: self.node(properties[key], objects, node.scenarios) for key in sorted(properties)
        }
        return schema

    def _condition(self, by: Sequence[str], labels: tuple[str, ...]) -> Schema:
        """Return what is true of the objects of a shape and of no other's."""
        properties: Schema = {}
        required: list[str] = []
        alternatives: list[Schema] = []
        for key, label in zip(by, labels, strict=False):
            required.append(key)
            aliases = self._table.aliased(label)
            if not aliases:
                properties[key] = {"const": label}
            for alias in aliases:
                if alias.pattern is not None:
                    alternatives.append({"properties": {key: {"pattern": alias.pattern}}})
                else:
                    alternatives.append({"required": [alias.present]})
        condition: Schema = {}
        if required:
            condition["required"] = required
        if properties:
            condition["properties"] = properties
        if alternatives:
            condition["anyOf"] = alternatives
        if len(labels) < len(by):
            # A name is missing, or is none.
            key = by[len(labels)]
            condition["not"] = {"required": [key], "properties": {key: {"type": "string"}}}
        return condition


# ------------------------------------------------------------------ the views


def lenient(schema: Mapping[str, Any]) -> Schema:
    """Return the view that allows what is new, and any type where only null was ever seen."""
    view = dict(schema)
    if view.get("type") == "null":
        del view["type"]
    if "properties" in view:
        view["properties"] = {key: lenient(one) for key, one in view["properties"].items()}
    for key in ("additionalProperties", "items"):
        if key in view:
            view[key] = lenient(view[key])
    if "allOf" in view:
        view["allOf"] = [{"if": one["if"], "then": lenient(one["then"])} for one in view["allOf"]]
    return view


def strict(schema: Mapping[str, Any]) -> Schema:
    """Return the view that allows no field, no word and no shape but those seen."""
    if schema.get("x-opaque"):
        return dict(schema)
    view = dict(schema)
    if "x-words" in view and isinstance(view.get("type"), str):
        view["enum"] = view["x-words"]
    elif "x-words" in view:
        # Other types than strings stand beside the words.
        others = [name for name in view["type"] if name != "string"]
        view["anyOf"] = [{"enum": view["x-words"]}, {"type": others}]
    if "properties" in view:
        view["properties"] = {key: strict(one) for key, one in view["properties"].items()}
        view["additionalProperties"] = False
    elif isinstance(view.get("additionalProperties"), dict):
        view["additionalProperties"] = strict(view["additionalProperties"])
    if "items" in view:
        view["items"] = strict(view["items"])
    if "allOf" in view:
        shapes = [{"if": one["if"], "then": strict(one["then"])} for one in view["allOf"]]
        known: list[Any] = [one["if"] for one in shapes]
        if view["type"] != "object":
            known.append({"not": {"type": "object"}})
        view["allOf"] = [*shapes, {"anyOf": known}]
    return view


# ------------------------------------------------------------------ text


def schema_text(schema: Mapping[str, Any]) -> str:
    """Return a snapshot's text: what fits a line stands on one, so that a diff is short."""
    return f"{_text(schema, 0)}\n"


def _text(value: Any, depth: int, before: int = 0) -> str:
    """Return a value's text at an indentation, with so many characters before it on its line."""
    line = json.dumps(value, ensure_ascii=False)
    if depth + before + len(line) <= _WIDTH or not value or not isinstance(value, dict | list):
        return line
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return _filled(value, depth)
    inner = "\n" + " " * (depth + 1)
    end = f"\n{' ' * depth}"
    if isinstance(value, list):
        return f"[{inner}{f',{inner}'.join(_text(one, depth + 1) for one in value)}{end}]"
    keys = {key: json.dumps(key, ensure_ascii=False) for key in value}
    members = [f"{keys[key]}: {_text(value[key], depth + 1, len(keys[key]) + 3)}" for key in value]
    return f"{{{inner}{f',{inner}'.join(members)}{end}}}"


def _filled(words: Sequence[str], depth: int) -> str:
    """Return a list of words as a paragraph."""
    lines = [" " * (depth + 1)]
    for at, one in enumerate(words):
        piece = json.dumps(one, ensure_ascii=False) + ("," if at < len(words) - 1 else "")
        if lines[-1].strip() and len(lines[-1]) + 1 + len(piece) > _WIDTH:
            lines.append(" " * (depth + 1))
        lines[-1] += (" " if lines[-1].strip() else "") + piece
    return "[\n" + "\n".join(lines) + f"\n{' ' * depth}]"
