"""Epochs: runs of releases of one shape, and what changed where one gives way to the next.

Between two looks that differ and have releases between them the edge is only known to lie there;
between two that are equal nothing else was seen, which is all that can be said of what lies
between.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from conformance.drift.timeline_data import (
    Change,
    Known,
    Look,
    TimelineFile,
    changes,
    known_of,
)


class Epoch(NamedTuple):
    """Releases of one shape: those looked at, from the oldest, and all that lie between them."""

    looks: tuple[Look, ...]
    digest: str
    places: int
    releases: int

    @property
    def name(self) -> str:
        """The first and the last release that are known to have the shape."""
        first, last = self.looks[0].version, self.looks[-1].version
        return first if first == last else f"{first} – {last}"

    @property
    def driven(self) -> bool:
        """Whether anything was recorded."""
        return any(seen.why is None for seen in self.looks[0].seen.values())


class Edge(NamedTuple):
    """Where one epoch gives way to the next.

    ``between`` are the releases that lie between the two looks and were not looked at.
    ``changes`` are told of the scenarios that the later side has, against the last look before it
    that has them; ``lost`` and ``won`` are those that only one side has, with why, and
    ``compared`` which older look a won one is held against. ``driven_otherwise`` says what our own
    driver does otherwise, which may be what is seen.
    """

    before: Look
    after: Look
    between: tuple[str, ...]
    changes: tuple[Change, ...]
    lost: Mapping[str, str]
    won: Mapping[str, str]
    compared: Mapping[str, str]
    driven_otherwise: tuple[str, ...]


class Timeline(NamedTuple):
    """A committed timeline, understood."""

    file: TimelineFile
    epochs: tuple[Epoch, ...]
    edges: tuple[Edge, ...]
    unlooked: int


def timeline(found: TimelineFile) -> Timeline:
    """Return the epochs and edges of a timeline."""
    known = list(known_of(found).values())
    versions = [release.version for release in found.releases]
    at = {version: place for place, version in enumerate(versions)}
    known = [one for one in known if one.look.version in at]
    epochs: list[Epoch] = []
    edges: list[Edge] = []
    for run in _runs(known):
        looks = tuple(one.look for one in run)
        span = at[looks[-1].version] - at[looks[0].version] + 1
        places = {place for shape in run[0].shapes.values() for place in shape or {}}
        epochs.append(Epoch(looks, run[0].digest, len(places), span))
    runs = list(_runs(known))
    driven = {look.version: look.driven_otherwise for look in found.looks}
    seen: dict[str, Known] = {}
    for one, two in pairwise(runs):
        before, after = one[-1], two[0]
        seen |= {name: before for name, shape in before.shapes.items() if shape}
        skipped = versions[at[before.look.version] + 1 : at[after.look.version]]
        otherwise = driven[after.look.version]
        edges.append(_edge(before, after, seen, tuple(skipped), otherwise))
    return Timeline(found, tuple(epochs), tuple(edges), len(versions) - len(known))


def _runs(known: Sequence[Known]) -> Iterator[list[Known]]:
    run: list[Known] = []
    for one in known:
        if run and run[-1].digest != one.digest:
            yield run
            run = []
        run.append(one)
    if run:
        yield run


def _edge(
    before: Known,
    after: Known,
    seen: Mapping[str, Known],
    between: tuple[str, ...],
    driven_otherwise: tuple[str, ...],
) -> Edge:
    """Return an edge; ``seen`` are the last looks before it that have each scenario."""
    new = {name: shape for name, shape in after.shapes.items() if shape and name in seen}
    old = {name: shape for name in new if (shape := seen[name].shapes[name]) is not None}
    done = [{name for name, shape in one.shapes.items() if shape} for one in (before, after)]
    won = sorted(done[1] - done[0])
    return Edge(
        before=before.look,
        after=after.look,
        between=between,
        changes=tuple(changes(old, new)),
        lost={name: _why(after.look, name) for name in sorted(done[0] - done[1])},
        won={name: _why(before.look, name) for name in won},
        compared={name: seen[name].look.version for name in won if name in seen},
        driven_otherwise=driven_otherwise,
    )


def _why(look: Look, scenario: str) -> str:
    seen = look.seen.get(scenario)
    return (seen.why if seen else look.why) or ""


# ------------------------------------------------------------------ in words


class Remark(NamedTuple):
    """Changes of one sort, the same in some kinds of record."""

    kinds: tuple[str, ...]
    sort: str
    places: tuple[str, ...]


def remarks(found: Iterable[Change]) -> list[Remark]:
    """Return changes gathered by what they are about, the outermost ones alone."""
    by: defaultdict[tuple[str, str], list[Change]] = defaultdict(list)
    for change in outermost(found):
        by[split(change.place)[0], _sort(change)].append(change)
    alike: defaultdict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for (kind, sort), group in sorted(by.items()):
        places = _without_doubles(_told(change) for change in group)
        alike[sort, tuple(places)].append(kind)
    return [Remark(tuple(kinds), sort, places) for (sort, places), kinds in alike.items()]


def outermost(found: Iterable[Change]) -> list[Change]:
    """Return changes without those that others cover: a kind that comes or goes covers its
    places, and a place those under it."""
    listed = list(found)
    whole = {
        (change.place, _sort(change))
        for change in listed
        if "record" in (change.before, change.after)
    }
    left = [
        change
        for change in listed
        if "record" in (change.before, change.after)
        or (split(change.place)[0], _sort(change)) not in whole
    ]
    gone = [
        change.place
        for change in left
        if _sort(change) != "changed" and "record" not in (change.before, change.after)
    ]
    inside = tuple(f"{place}{step}" for place in gone for step in "/[<")
    return [change for change in left if not change.place.startswith(inside)]


def _without_doubles(places: Iterable[str]) -> list[str]:
    """Return places, each once: not again as what is not always there in some scenario."""
    told = list(dict.fromkeys(places))
    always = [place.replace(", not always)", ")") for place in told]
    return [
        one for one, other in zip(told, always, strict=True) if one == other or other not in told
    ]


def _sort(change: Change) -> str:
    if change.before is None:
        return "added"
    return "removed" if change.after is None else "changed"


def split(place: str) -> tuple[str, str]:
    """Return what a place is of, and where in it: ``assistant[text]`` and ``/message/id``."""
    for start in ("tool offered: ", "file "):
        if place.startswith(start):
            return start.strip(": "), place.removeprefix(start)
    kind, _, pointer = place.removeprefix("wording in ").partition(" ")
    return kind, f"wording of {pointer}" if place.startswith("wording in ") else pointer


def _told(change: Change) -> str:
    _, pointer = split(change.place)
    if change.before is None or change.after is None:
        said = change.after or change.before
        return pointer if said in ("yes", "record", None) else f"{pointer} ({said})"
    return f"{pointer}: {change.before} → {change.after}"
