"""What is known of an agent's releases already: committed looks, and those kept in the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import msgspec
from semver import Version

from conformance.drift.timeline_data import (
    CORE,
    SHAPES_REVISION,
    Known,
    Look,
    Published,
    Shape,
    TimelineError,
    TimelineFile,
    known_of,
    load,
    timeline_file,
)
from conformance.drift.timeline_looks import kept_look, look, look_place, shapes
from live.agents.base import driver_class
from live.releases import cache_root, listing

NEWEST = {"claude": 150}
"""How many releases are of interest, where it is not all."""

_SOURCES = ("drift/timeline_shapes.py", "formats/observing.py", "formats/naming.py")


class Listed(NamedTuple):
    """The releases of an agent that a timeline is about, and how many older ones there are."""

    agent: str
    package: str
    on: str
    releases: tuple[Published, ...]
    offset: int

    @property
    def versions(self) -> Sequence[str]:
        """The versions alone."""
        return [release.version for release in self.releases]


def listed(agent: str) -> Listed:
    """Return what npm lists today."""
    package = driver_class(agent).package
    found = listing(package)
    stable = sorted(one for one in map(Version.parse, found) if one.prerelease is None)
    every = tuple(Published(version=str(one), on=found[str(one)]) for one in stable)
    newest = every[-NEWEST.get(agent, len(every)) :]
    today = datetime.now(UTC).date().isoformat()
    return Listed(agent, package, today, newest, len(every) - len(newest))


def look_at(agent: str, again: bool, version: str) -> Known:
    """Look at a release; what it showed is kept beside what it left."""
    found = look(agent, version, again=again)
    return Known(found, _shapes(found))


def known(agent: str, *files: Path, again: bool = False) -> dict[str, Known]:
    """Return all that is known: of the files that there are, and before these from the cache.

    With ``again`` releases that could not be driven are taken for unknown.
    """
    found: dict[str, Known] = {}
    for path in files:
        if path.is_file():
            found |= _committed(path)
    for place in sorted((cache_root() / "timeline" / "looks" / agent).glob("[!.]*")):
        kept = kept_look(agent, place.name)
        if kept is not None:
            found[place.name] = Known(kept, _shapes(kept))
    if not again:
        return found
    return {version: one for version, one in found.items() if not one.look.wanting}


def document(about: Listed, found: Mapping[str, Known]) -> TimelineFile:
    """Return what is committed, of all that is known of the listed releases."""
    return timeline_file(
        about.agent,
        about.package,
        about.on,
        about.releases,
        found,
        partial(_driven_otherwise, about.agent),
    )


def _driven_otherwise(agent: str, one: str, other: str) -> list[str]:
    """Return the traits in which two releases are driven differently."""
    traits = import_module(f"live.agents.{agent}.traits").traits
    mine, theirs = (msgspec.structs.asdict(traits(version)) for version in (one, other))
    return [name for name in mine if mine[name] != theirs[name]]


def merged(path: Path) -> dict[str, Known]:
    """Return what another run wrote; :class:`TimelineError` if it can't be compared with ours."""
    found = load(path)
    if (found.shape, found.scenarios) != (SHAPES_REVISION, CORE):
        raise TimelineError(
            f"{path}: its shapes are of revision {found.shape}, not {SHAPES_REVISION}, or of other"
            " scenarios; have that piece looked at anew"
        )
    return known_of(found)


def _committed(path: Path) -> dict[str, Known]:
    """Return the looks of a file whose shapes are made of what today's are made of."""
    found = load(path)
    return known_of(found) if (found.shape, found.scenarios) == (SHAPES_REVISION, CORE) else {}


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """Shapes as they are kept: ``made_by`` is what made them."""

    made_by: str
    shapes: dict[str, Shape | None]


def _shapes(found: Look) -> dict[str, Shape | None]:
    """Return the shapes of a look that is kept, made anew if what makes them has changed."""
    path = look_place(found.agent, found.version) / "shapes.json"
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=_Kept)
        if kept.made_by == _made_by(found.agent):
            return kept.shapes
    except (OSError, msgspec.MsgspecError):
        pass
    made = dict(shapes(found))
    path.write_bytes(msgspec.json.encode(_Kept(made_by=_made_by(found.agent), shapes=made)))
    return made


@cache
def _made_by(agent: str) -> str:
    """Return the digest of the code and the table that shapes are made by."""
    sources = [files("conformance") / name for name in (*_SOURCES, f"formats/{agent}.toml")]
    sources.append(files(f"live.agents.{agent}") / "sanitise.toml")
    content = b"".join(source.read_bytes() for source in sources)
    return hashlib.sha256(content).hexdigest()[:16]
