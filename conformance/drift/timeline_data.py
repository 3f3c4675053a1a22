"""What is known of an agent's releases, as it is committed: every look, and what changed from each
to the next.

The shapes of all looks follow from the changes, so pages and later searches need no cache, and a
diff of the file shows what a release brought.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from conformance.drift.timeline_search import SEED, SHARE, STRIDE

FORMAT = 1

Shape = dict[str, str]
"""Places, and what was seen there."""

SHAPES_REVISION = 3
"""Of what a shape is made of: shapes of different revisions can't be compared."""

CORE = ("command-fails", "file-edits", "subagent", "failure-auth")
"""The scenarios of a look. Between them they show how calls, their results and their failures are
written, which tools there are, a file read and changed, another agent's thread, and a turn that
the provider ended."""


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """A release as npm lists it. ``on`` is the day that npm says, which is not always the order."""

    version: str
    on: str


class Seen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of one scenario: which tools the model was offered, or why it could not be done.

    ``by_design`` says that the release has no way to do it; else a driver is wanting, or the CLI
    did something else than the script says.
    """

    revision: int
    offered: tuple[str, ...] = ()
    why: str | None = None
    by_design: bool = False


class Look(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One release, looked at. ``why`` says why it could not even be installed or started."""

    agent: str
    version: str
    on: str
    seconds: int
    integrity: str | None = None
    why: str | None = None
    seen: dict[str, Seen] = {}

    @property
    def wanting(self) -> bool:
        """Whether something could not be recorded that the release may well be able to do."""
        seen = self.seen.values()
        return self.why is not None or any(one.why and not one.by_design for one in seen)


class TimelineError(Exception):
    """A file of a timeline can't be used; the message says which, why and what to do."""


class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A place that came (no ``before``), went (no ``after``) or changed in some scenarios."""

    place: str
    before: str | None = None
    after: str | None = None
    scenarios: tuple[str, ...]


class Looked(Look, frozen=True, kw_only=True, omit_defaults=True):
    """A look and what had changed: against the last look before that has the scenario.

    ``driven_otherwise`` names what our own driver does otherwise than at the look before.
    """

    driven_otherwise: tuple[str, ...] = ()
    changed: tuple[Change, ...] = ()


class TimelineFile(msgspec.Struct, frozen=True, kw_only=True):
    """``docs/drift/<agent>.json``. ``releases`` are those that npm listed when it was written."""

    format: int
    shape: int
    agent: str
    package: str
    listed: str
    stride: int = STRIDE
    share: float = SHARE
    seed: str = SEED
    scenarios: tuple[str, ...] = CORE
    releases: tuple[Published, ...]
    looks: tuple[Looked, ...]


class Known(NamedTuple):
    """A look at a release and the shapes of its scenarios."""

    look: Look
    shapes: Mapping[str, Shape | None]

    @property
    def digest(self) -> str:
        """What two looks have in common where nothing changed between them."""
        return digest(self.shapes)


def load(path: Path) -> TimelineFile:
    """Read a committed timeline; :class:`TimelineError` if it is none of this format."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=TimelineFile)
    except OSError as error:
        raise TimelineError(f"{path}: {error.strerror}; give the file of a timeline") from None
    except msgspec.MsgspecError as error:
        raise TimelineError(f"{path}: no timeline: {error}; make it anew") from None
    if found.format != FORMAT:
        raise TimelineError(f"{path}: of format {found.format}, not {FORMAT}; make it anew")
    return found


def known_of(found: TimelineFile) -> dict[str, Known]:
    """Return the looks of a committed timeline with their shapes, by version."""
    state: dict[str, Shape] = {}
    known: dict[str, Known] = {}
    for looked in found.looks:
        made: dict[str, Shape | None] = dict.fromkeys(found.scenarios)
        for name in _done(looked):
            made[name] = state[name] = _after(state.get(name, {}), name, looked.changed)
        fields = {field: getattr(looked, field) for field in Look.__struct_fields__}
        known[looked.version] = Known(Look(**fields), made)
    return known


def timeline_file(
    agent: str,
    package: str,
    listed: str,
    releases: Sequence[Published],
    known: Mapping[str, Known],
    driven_otherwise: Callable[[str, str], Iterable[str]],
) -> TimelineFile:
    """Return what is committed of an agent's releases, which are given from the oldest on.

    ``driven_otherwise`` tells what our driver does otherwise for one release than for another.
    """
    state: dict[str, Shape] = {}
    looks: list[Looked] = []
    for release in releases:
        one = known.get(release.version)
        if one is None:
            continue
        changed = tuple(changes(state, one.shapes))
        state |= {name: shape for name, shape in one.shapes.items() if shape is not None}
        otherwise = driven_otherwise(looks[-1].version, release.version) if looks else ()
        fields = {field: getattr(one.look, field) for field in Look.__struct_fields__}
        looks.append(Looked(**fields, driven_otherwise=tuple(otherwise), changed=changed))
    return TimelineFile(
        format=FORMAT,
        shape=SHAPES_REVISION,
        agent=agent,
        package=package,
        listed=listed,
        releases=tuple(releases),
        looks=tuple(looks),
    )


def text(found: TimelineFile) -> str:
    """Return the text of a timeline's file: a line for each release, look and change."""
    document: dict[str, Any] = msgspec.to_builtins(found)
    releases, looks = document.pop("releases"), document.pop("looks")
    lines = [f"{_spelt(name)}: {_spelt(value)}" for name, value in document.items()]
    lines.append(f'"releases": {_listed(map(_spelt, releases), " ")}')
    lines.append(f'"looks": {_listed(map(_look_text, looks), " ")}')
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def _look_text(look: dict[str, Any]) -> str:
    changed = look.pop("changed", [])
    said = _spelt(look)
    if not changed:
        return said
    return f'{said[:-1]}, "changed": {_listed(map(_spelt, changed), "  ")}}}'


def _listed(lines: Iterable[str], indentation: str) -> str:
    body = ",\n".join(f"{indentation} {line}" for line in lines)
    return f"[\n{body}\n{indentation}]" if body else "[]"


def _spelt(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def digest(shapes: Mapping[str, Shape | None]) -> str:
    """Return the digest of a release's shapes by scenario; None is one that it could not do."""
    text = json.dumps(shapes, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _done(look: Look) -> list[str]:
    return [name for name, seen in look.seen.items() if seen.why is None]


def changes(state: Mapping[str, Shape], shapes: Mapping[str, Shape | None]) -> Iterator[Change]:
    """Yield what differs from one release's shapes to another's, in the scenarios of the other."""
    where: defaultdict[tuple[str, str | None, str | None], list[str]] = defaultdict(list)
    for name, shape in shapes.items():
        if shape is None:
            continue
        before = state.get(name, {})
        for place in {*before, *shape}:
            if before.get(place) != shape.get(place):
                where[place, before.get(place), shape.get(place)].append(name)
    for place, before, after in sorted(where, key=lambda key: (key[0], key[1] or "", key[2] or "")):
        scenarios = tuple(sorted(where[place, before, after]))
        yield Change(place=place, before=before, after=after, scenarios=scenarios)


def _after(before: Shape, scenario: str, changed: Iterable[Change]) -> Shape:
    shape = dict(before)
    for change in changed:
        if scenario in change.scenarios:
            if change.after is None:
                shape.pop(change.place, None)
            else:
                shape[change.place] = change.after
    return shape
