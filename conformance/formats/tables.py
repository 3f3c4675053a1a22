"""What can't be learnt from samples: an agent's small table of what in its records is data.

Whether an object's keys are fields or data (paths, ids), and whether a string is a word of the
format's or of a person's, no number of samples tells. ``<agent>.toml`` says so, by the ends of
pointers: ``message.usage`` is every ``usage`` in a ``message``; steps into lists are left out.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import msgspec

Place = tuple[str, ...]
"""The keys on the way to a value, steps into lists and data's own keys left out."""

Form = Literal["records", "stream", "document", "yaml", "database", "opaque"]


class Nature(NamedTuple):
    """What a table says of a place.

    ``vocabulary``: its strings are the format's own words; ``map``: the keys of its objects are
    data; ``opaque``: what stands there is no business of the format's; ``by``: the fields that
    tell the shapes of its objects apart.
    """

    vocabulary: bool
    map: bool
    opaque: bool
    by: tuple[str, ...]


class FileRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the files of a pattern hold; ``kind`` names a file that is one record."""

    glob: str
    form: Form
    kind: str | None = None


class VariantRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An object that is of one shape or another, told apart by some of its own fields."""

    at: str
    by: tuple[str, ...]


class Alias(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """Names that are data (a server's tools), under one label.

    They are told by a pattern, or in objects that have a certain field; ``opaque`` are the
    places in such objects that are not the format's.
    """

    label: str
    opaque: tuple[str, ...] = ()
    pattern: str | None = None
    present: str | None = None

    @cached_property
    def expression(self) -> re.Pattern[str] | None:
        """The pattern, ready to be searched for."""
        return re.compile(self.pattern) if self.pattern else None


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """One agent's table; see the comments in the files.

    ``roots`` are the directories of a home that hold sessions; ``files`` is searched from the
    first on; ``vocabulary`` are strings of the format's own, ``maps`` objects whose keys are
    data, ``opaque`` values that a person, a model or a server shapes. ``identity`` and ``parent``
    are the fields by which records point to each other, ``response`` names the model's response
    that a record is part of; None where the format has none.
    """

    roots: tuple[str, ...]
    files: tuple[FileRule, ...]
    vocabulary: tuple[str, ...]
    maps: tuple[str, ...]
    opaque: tuple[str, ...]
    variants: tuple[VariantRule, ...]
    aliases: tuple[Alias, ...]
    identity: str | None = None
    parent: str | None = None
    response: str | None = None

    def rule_of(self, path: str) -> FileRule | None:
        """Return what a file holds, by its path with ``/``; None for one of no known kind."""
        return next((rule for rule in self.files if fnmatchcase(path, rule.glob)), None)

    @cached_property
    def _nature(self) -> dict[Place, Nature]:
        return {}

    def nature(self, place: Place) -> Nature:
        """Return what the table says of a place."""
        known = self._nature.get(place)
        if known is None:
            by = next((rule.by for rule in self.variants if ends(place, (rule.at,))), ())
            known = self._nature[place] = Nature(
                vocabulary=ends(place, self.vocabulary),
                map=ends(place, self.maps),
                opaque=ends(place, self.opaque),
                by=by,
            )
        return known

    def opaque_under(self, label: str) -> tuple[str, ...]:
        """Return the places that are opaque in what has a label."""
        return tuple(place for alias in self.aliased(label) for place in alias.opaque)

    def label(self, name: str, beside: dict[str, Any] | None = None) -> str:
        """Return the label under which a name is kept: its own, or the alias that it falls under.

        ``beside`` is the object that holds it.
        """
        for alias in self.aliases:
            if alias.expression is not None and alias.expression.search(name):
                return alias.label
            if alias.present is not None and beside is not None and alias.present in beside:
                return alias.label
        return name

    def aliased(self, label: str) -> tuple[Alias, ...]:
        """Return the aliases of a label, none for a name's own."""
        return tuple(alias for alias in self.aliases if alias.label == label)


def ends(place: Place, rules: Iterable[str]) -> bool:
    """Whether a place ends as one of some rules says; one that opens with ``/`` is whole."""
    for rule in rules:
        whole = rule.startswith("/")
        parts = rule.removeprefix("/").split(".")
        if len(parts) > len(place) or (whole and len(parts) < len(place)):
            continue
        if all(part in ("*", key) for key, part in zip(place[-len(parts) :], parts, strict=True)):
            return True
    return False


@cache
def table(agent: str) -> Table:
    """Return the table of an agent."""
    text = (files(__package__ or "") / f"{agent}.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Table)
