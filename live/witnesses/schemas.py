"""Records judged by a schema that a vendor ships, branch by branch.

Such a schema is one choice of many shapes, told apart by a constant ``type``. Judging a record
by the whole choice would say that it is none of a hundred; judging it by the branch of its own
type says what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jsonschema import Draft7Validator
from jsonschema.exceptions import ValidationError, best_match

from live.witnesses.base import Disagreement

_LONGEST = 160


class Choice:
    """The branches of a schema's choice by the ``type`` that each is for."""

    def __init__(self, document: Mapping[str, Any], name: str) -> None:
        self._definitions: Mapping[str, Any] = document["definitions"]
        found: dict[str, list[Mapping[str, Any]]] = {}
        for branch in self._branches({"$ref": f"#/definitions/{name}"}):
            kinds = self._followed(branch.get("properties", {}).get("type", {}))
            for kind in [kinds["const"]] if "const" in kinds else kinds.get("enum", ()):
                found.setdefault(kind, []).append(branch)
        self._validators = {
            kind: Draft7Validator(
                {
                    **(branches[0] if len(branches) == 1 else {"anyOf": branches}),
                    "definitions": self._definitions,
                }
            )
            for kind, branches in found.items()
        }

    @property
    def kinds(self) -> frozenset[str]:
        """The types that the schema knows."""
        return frozenset(self._validators)

    def disagreements(self, record: Any, line: int) -> Iterator[Disagreement]:
        """Yield where a record is not as the branch of its type has it."""
        kind = record.get("type") if isinstance(record, Mapping) else None
        validator = self._validators.get(str(kind))
        if validator is None:
            yield Disagreement(
                kind=str(kind),
                pointer="/type",
                rule="unknown",
                line=line,
                why="the schema knows no record of this type",
            )
            return
        for error in validator.iter_errors(record):
            nearest = _nearest(error)
            yield Disagreement(
                kind=str(kind),
                pointer=_pointer(nearest),
                rule=str(nearest.validator),
                line=line,
                why=_shortened(nearest.message),
            )

    def _branches(self, schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        schema = self._followed(schema)
        choices = schema.get("oneOf") or schema.get("anyOf")
        if choices is None:
            yield schema
        for choice in choices or ():
            yield from self._branches(choice)

    def _followed(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in schema:
            schema = self._definitions[schema["$ref"].rpartition("/")[2]]
        return schema


def each_place_once(found: Iterable[Disagreement]) -> tuple[Disagreement, ...]:
    """Return the first disagreement of every place."""
    kept: dict[tuple[str, str, str], Disagreement] = {}
    for one in found:
        kept.setdefault(one.place, one)
    return tuple(kept.values())


def in_words(found: Iterable[Disagreement], most: int = 3) -> str:
    """Return disagreements as one sentence."""
    said = [f"line {one.line}: {one.kind} {one.pointer}: {one.why}" for one in found]
    more = [f"and {len(said) - most} more"] if len(said) > most else []
    return "; ".join([*said[:most], *more])


def _nearest(error: ValidationError) -> ValidationError:
    """Return the error in the branch that a nested choice means, the deepest there is."""
    return best_match([error]) or error


def _pointer(error: ValidationError) -> str:
    steps = ["*" if isinstance(step, int) else str(step) for step in error.absolute_path]
    return "/" + "/".join(steps)


def _shortened(text: str) -> str:
    text = re.sub(r"\s+", " ", text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
