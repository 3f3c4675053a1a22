"""Kinds of record: which came, went, were renamed or put inside of another; then their fields.

A record that is gone beside one that is new with the same fields is one record renamed, and is
told once; so is a field. To be taken for the same, two must be each other's only likely match:
what is merely alike stays gone and new.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from conformance.drift.fields import (
    Gone,
    Names,
    addition,
    compare_fields,
    removal,
    types_of,
)
from conformance.drift.findings import Change
from conformance.formats.observing import Node, Observer

_ALIKE = 0.8
"""The share of fields that two kinds must have in common to be one renamed."""
_INSIDE = 0.6
"""The same for a kind and what stands inside of another: an envelope takes some fields over."""
_FEWEST = 3
"""Kinds of fewer fields are too poor to be known by them."""
_NAMED_ALIKE = 0.5
_WORDS = re.compile(r"[/:+\[\]!]")
"""What stands between the words of a kind's name."""


def compare_kinds(
    before: Mapping[str, Observer], after: Mapping[str, Observer], names: Names
) -> Iterator[Change]:
    """Yield every change of records, given what was seen of each kind on both sides."""
    gone = {kind: before[kind].root for kind in sorted(before.keys() - after.keys())}
    come = {kind: after[kind].root for kind in sorted(after.keys() - before.keys())}
    shared = _shared([one.root for one in (*before.values(), *after.values())])
    same = _same(gone, come, shared)
    for one in same:
        yield Change(one.rule, one.before, one.before, one.after, names(one.bits))
    kept = sorted(before.keys() & after.keys())
    compared = [
        *(compare_fields(f"{kind}#", before[kind].root, after[kind].root, names) for kind in kept),
        *(compare_fields(one.place, one.old, one.new, names) for one in same),
    ]
    names_of_kinds = {one.before for one in same} | {one.after for one in same}
    for fields in compared:
        yield from (one for one in fields.changes if not _tells(one, names_of_kinds))
    for kind in {_kind(one.before) for one in same}:
        gone.pop(kind, None)
    for kind in {_kind(one.after) for one in same}:
        come.pop(kind, None)
    yield from _fields(
        [one for fields in compared for one in fields.removed],
        [one for fields in compared for one in fields.added],
        come,
        names,
    )
    for kind, node in gone.items():
        yield Change("kind-removed", kind, kind, "", names(node.scenarios))
    for kind, node in come.items():
        yield Change("kind-added", kind, "", kind, names(node.scenarios))


# ------------------------------------------------------------------ kinds


class _Same(NamedTuple):
    """A kind and what it is now, or a kind and what it stands in: ``old`` and ``new`` are compared.

    ``before`` and ``after`` are kinds, or places in one (``kind#/payload``).
    """

    rule: str
    before: str
    after: str
    old: Node
    new: Node

    @property
    def bits(self) -> int:
        """The scenarios that show it."""
        return self.old.scenarios | self.new.scenarios

    @property
    def place(self) -> str:
        """Where its fields stand now."""
        return self.after if "#" in self.after else f"{self.after}#"


def _same(
    gone: Mapping[str, Node], come: Mapping[str, Node], shared: frozenset[str]
) -> list[_Same]:
    """Return the kinds that are one: renamed, put into another, or taken out of one."""
    found: list[_Same] = []
    for rule, olds, news, least, beside in (
        ("kind-renamed", gone, come, _ALIKE, shared),
        ("kind-wrapped", gone, _insides(come), _INSIDE, frozenset[str]()),
        ("kind-unwrapped", _insides(gone), come, _INSIDE, frozenset[str]()),
    ):
        claimed = {_kind(one.before) for one in found}, {_kind(one.after) for one in found}
        left = {place: node for place, node in olds.items() if _kind(place) not in claimed[0]}
        new = {place: node for place, node in news.items() if _kind(place) not in claimed[1]}
        found += [_Same(rule, a, b, left[a], new[b]) for a, b in _matched(left, new, least, beside)]
    return found


def _tells(change: Change, kinds: Iterable[str]) -> bool:
    """Whether a change of a word is that of the kind's own name, which was told already."""
    if change.rule not in ("word-added", "word-removed"):
        return False
    return any(change.before + change.after in _WORDS.split(_kind(kind)) for kind in kinds)


def _kind(place: str) -> str:
    return place.partition("#")[0]


def _insides(kinds: Mapping[str, Node]) -> dict[str, Node]:
    """Return the objects right inside of records, by kind and pointer."""
    return {
        f"{kind}#/{key}": node
        for kind, root in kinds.items()
        for key, node in root.properties.items()
        if node.types["object"] and not node.is_map
    }


def _shared(kinds: Sequence[Node]) -> frozenset[str]:
    """Return the fields that most records have: by an envelope no kind is known."""
    counts = Counter(field for kind in kinds for field in set(_outline(kind)))
    return frozenset(field for field, count in counts.items() if 2 < len(kinds) < 2 * count)


def _matched(
    olds: Mapping[str, Node], news: Mapping[str, Node], least: float, shared: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Yield the pairs that are each other's best match; a tie is none, unless a name decides."""
    scores = {
        (old, new): score
        for old in olds
        for new in news
        if (score := _likeness(olds[old], news[new], shared)) >= least
    }
    for (old, new), score in scores.items():
        rivals = [
            other for (one, another), other in scores.items() if (one == old) != (another == new)
        ]
        if all(other < score for other in rivals) or (
            all(other <= score for other in rivals) and _last(old) == _last(new)
        ):
            yield old, new


def _last(kind: str) -> str:
    """Return the end of a kind's name, by which ``flat/message:user`` and
    ``response_item/message:user`` are alike."""
    return _kind(kind).rpartition("/")[2]


def _likeness(old: Node, new: Node, shared: frozenset[str]) -> float:
    one, other = set(_outline(old)) - shared, set(_outline(new)) - shared
    if min(len(one), len(other)) < _FEWEST:
        return 0.0
    return len(one & other) / len(one | other)


def _outline(node: Node, place: str = "", depth: int = 2) -> Iterator[str]:
    """Yield a node's fields and their types, as deep as tells a record by."""
    for key, inner in node.properties.items():
        yield f"{place}/{key}:{types_of(inner)}"
        if depth > 1:
            yield from _outline(inner, f"{place}/{key}", depth - 1)


# ------------------------------------------------------------------ fields


def _fields(
    removed: Sequence[Gone], added: Sequence[Gone], come: Mapping[str, Node], names: Names
) -> Iterator[Change]:
    """Yield what came of the fields of one side only: renamed, moved, gone or new."""
    left, found = list(removed), list(added)
    anywhere = [*added, *(one for kind, node in come.items() for one in _inner(f"{kind}#", node))]
    for gone in removed:
        new = _only(come for come in found if _is_renamed(gone, come, removed, added))
        if new is not None:
            bits = gone.node.scenarios | new.node.scenarios
            yield Change("field-renamed", gone.place, gone.key, new.key, names(bits))
            left.remove(gone)
            found.remove(new)
            continue
        new = _only(come for come in anywhere if come.key == gone.key and _is_moved(gone, come))
        if new is not None and sum(gone.key == one.key for one in removed) == 1:
            bits = gone.node.scenarios | new.node.scenarios
            yield Change("field-moved", gone.place, gone.place, new.place, names(bits))
            left.remove(gone)
            if new in found:
                found.remove(new)
    for gone in left:
        yield removal(gone, names)
    for new in found:
        yield addition(new, names)


def _inner(place: str, node: Node) -> Iterator[Gone]:
    for key, inner in node.properties.items():
        yield Gone(place, key, inner, always=False)
        yield from _inner(f"{place}/{key}", inner)


def _is_renamed(gone: Gone, come: Gone, removed: Iterable[Gone], added: Iterable[Gone]) -> bool:
    """Whether two fields are one: alike in what they hold, and in name unless nothing else is."""
    if gone.parent != come.parent or _held(gone.node) != _held(come.node):
        return False
    if gone.always != come.always or gone.node.scenarios != come.node.scenarios:
        return False
    alone = (
        sum(one.parent == gone.parent for one in removed)
        == 1
        == sum(one.parent == gone.parent for one in added)
    )
    telling = bool(gone.node.properties or gone.node.words)
    alike = SequenceMatcher(None, gone.key.lower(), come.key.lower()).ratio() >= _NAMED_ALIKE
    return alike or (alone and telling)


def _is_moved(gone: Gone, come: Gone) -> bool:
    """Whether two fields of one name are one: alike in what they hold and in what shows them."""
    shown = gone.node.scenarios & ~come.node.scenarios == 0
    return shown and _held(gone.node) == _held(come.node) and gone.place != come.place


def _held(node: Node) -> tuple[object, ...]:
    """Return what a field holds: types, forms or words, and the names of an object's fields."""
    words = None if node.words is None else frozenset(node.words)
    return (frozenset(node.types), words, frozenset(node.forms), frozenset(node.properties))


def _only(found: Iterable[Gone]) -> Gone | None:
    one, *others = [*found, None, None][:3]
    return one if others[0] is None else None
