"""Records judged by the snapshots of the release that wrote them: what is new, what is missing.

A finding holds a place, types and words of the snapshot's own; never a value of the records,
which are a person's. Both views are asked: what the lenient one refuses breaks readers, what
only the strict one refuses is news.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator

from conformance.corpus import CorpusError, version_key
from conformance.formats.naming import word
from conformance.formats.observing import TYPES, labels_of
from conformance.formats.records import Gathering, Named
from conformance.formats.schema import lenient, strict
from conformance.formats.snapshots import directories, kept, kept_releases
from conformance.formats.tables import Place, Table, table
from transcripts.errors import DamagedRecord

What = Literal[
    "unknown-kind", "unknown-shape", "unknown-field", "new-word", "type-changed", "missing-field"
]
Nearness = Literal["same", "below", "nearest", "likest"]

_VERSION = re.compile(r"[0-9]{1,4}(\.[0-9]{1,6}){1,3}([-+][a-z0-9.-]{1,24})?")


class Found(NamedTuple):
    """One disagreement of one record with its snapshot."""

    what: What
    pointer: str
    expected: tuple[str, ...]
    found: tuple[str, ...]
    breaks: bool


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What disagrees in the records of a kind, and the first place where it does.

    ``pointer`` has ``*`` for every item and for every key that is data. ``expected`` are the
    snapshot's types, or its words; ``found`` the types that stand there, or what a shape is told
    by. ``breaks`` says that the lenient view refuses it too.
    """

    finding: What
    pointer: str
    expected: tuple[str, ...]
    found: tuple[str, ...]
    breaks: bool
    count: int
    file: str
    line: int | None


class JudgedKind(msgspec.Struct, frozen=True, kw_only=True):
    """The records of one kind and release; ``samples`` is how many its snapshot was made from."""

    kind: str
    release: str
    records: int
    samples: int
    findings: tuple[Finding, ...]


class JudgedRelease(msgspec.Struct, frozen=True, kw_only=True):
    """Which recorded release stood for the one that the records name, or that was asked for.

    ``nearness``: the same, the nearest ``below``, or (none being below) the ``nearest``; the
    ``likest``, which knows most of the records' kinds, where no release is named at all.
    """

    named: str | None
    asked: str | None
    judged_by: str
    nearness: Nearness
    records: int


class DamagedPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A record that is not whole, and so was not judged."""

    kind: str
    file: str
    line: int | None
    offset: int | None


class FormatDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What ``conformance schema FILE --format json`` prints."""

    agent: str
    records: int
    releases: tuple[JudgedRelease, ...]
    kinds: tuple[JudgedKind, ...]
    unknown_files: tuple[str, ...]
    damage: tuple[DamagedPlace, ...]
    lenient_ok: bool
    strict_ok: bool


# ------------------------------------------------------------------ releases


def nearest(schemas: Path, agent: str, named: str) -> tuple[str, Nearness]:
    """Return the recorded release to judge a named one by, and how near it is.

    The same, else the nearest below, else the oldest of all.
    """
    recorded = _recorded(schemas, agent)
    if named in recorded:
        return named, "same"
    below = [one for one in recorded if version_key(one) <= version_key(named)]
    return (below[-1], "below") if below else (recorded[0], "nearest")


def likest(schemas: Path, agent: str, kinds: Mapping[str, int]) -> str:
    """Return the recorded release that knows most records, given how many there are of a kind.

    The newest of those that know as many.
    """

    def known(release: str) -> int:
        places = directories(schemas, agent, release)
        return sum(kinds[kind] for kind in kinds if any(kind in kept(place) for place in places))

    return max(reversed(_recorded(schemas, agent)), key=known)


def _recorded(schemas: Path, agent: str) -> list[str]:
    recorded = kept_releases(schemas, agent)
    if not recorded:
        raise CorpusError(f"{schemas}: holds no schemas of {agent}; run conformance review")
    return recorded


# ------------------------------------------------------------------ one record


class Judge:
    """Judges records by the snapshots of some directories: one release, each dialect of it.

    Equal shapes are judged once: a validator only looks at types, keys and the format's words.
    """

    def __init__(self, agent: str, places: Sequence[Path]) -> None:
        self._table = table(agent)
        self._places = tuple(places)
        self._known: dict[tuple[str, Any], tuple[Found, ...]] = {}

    def samples(self, kind: str) -> int:
        """Return how many records of a kind the snapshots were made from."""
        return sum(kept(place)[kind]["x-seen"] for place in self._places if kind in kept(place))

    def judge(self, kind: str, value: Any) -> tuple[Found, ...]:
        """Return what disagrees with the dialect that the record agrees best with."""
        key = (kind, shape(value, (), self._table))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._judged(kind, value)
        return found

    def _judged(self, kind: str, value: Any) -> tuple[Found, ...]:
        places = [place for place in self._places if kind in kept(place)]
        if not places:
            return (Found("unknown-kind", "", (), (), breaks=False),)
        each = [self._by(place, kind, value) for place in places]
        return min(each, key=lambda found: (sum(one.breaks for one in found), len(found)))

    def _by(self, place: Path, kind: str, value: Any) -> tuple[Found, ...]:
        views = validators(place, kind)
        breaking = {
            (one.what, one.pointer) for one in _findings(views[0], value, self._table, True)
        }
        return tuple(
            one._replace(breaks=(one.what, one.pointer) in breaking)
            for one in dict.fromkeys(_findings(views[1], value, self._table, False))
        )


@cache
def validators(place: Path, kind: str) -> tuple[Validator, Validator]:
    """Return the validators of a kept snapshot: the lenient view's and the strict one's."""
    schema = kept(place)[kind]
    return Draft202012Validator(lenient(schema)), Draft202012Validator(strict(schema))


def shape(value: Any, place: Place, rules: Table, by: Sequence[str] = ()) -> Any:
    """Return a record's shape: all that a validator looks at, equal for equal shapes."""
    kind = type(value)
    if kind is dict:
        nature = rules.nature(place)
        if nature.map:
            inner = (*place, "*")
            return ("map", frozenset(shape(one, inner, rules) for one in value.values()))
        return frozenset(
            (
                key,
                one if key in nature.by and type(one) is str else shape(one, (*place, key), rules),
            )
            for key, one in value.items()
        )
    if kind is list:
        return ("list", frozenset(shape(one, place, rules) for one in value))
    if kind is str:
        return ("word", value) if rules.nature(place).vocabulary else "string"
    return TYPES[kind]


def _findings(validator: Validator, value: Any, rules: Table, breaks: bool) -> Iterator[Found]:
    for error in validator.iter_errors(value):
        pointer, place = _pointer(error.absolute_path, rules)
        instance: Any = error.instance
        value_of: Any = error.validator_value
        schema: Any = error.schema
        match error.validator:
            case "type":
                expected = (value_of,) if isinstance(value_of, str) else tuple(value_of)
                yield Found("type-changed", pointer, expected, (TYPES[type(instance)],), breaks)
            case "required":
                for key in value_of:
                    if key not in instance:
                        yield Found("missing-field", f"{pointer}/{key}", (), (), breaks)
            case "additionalProperties":
                for key in sorted(instance.keys() - schema["properties"].keys()):
                    found = (TYPES[type(instance[key])],)
                    yield Found("unknown-field", f"{pointer}/{word(key)}", (), found, breaks)
            case "anyOf" if "x-words" not in schema:
                labels = labels_of(instance, rules.nature(place).by, rules)
                told = "/".join(map(word, labels)) or "(none)"
                yield Found("unknown-shape", pointer, (), (told,), breaks)
            case _:
                yield Found("new-word", pointer, tuple(schema.get("x-words", ())), (), breaks)


def _pointer(steps: Iterable[str | int], rules: Table) -> tuple[str, Place]:
    """Return a pointer without what is data in it (indices, the keys of maps), and its place."""
    pointer = ""
    place: Place = ()
    for step in steps:
        if isinstance(step, int):
            pointer += "/*"
        elif rules.nature(place).map:
            pointer, place = f"{pointer}/*", (*place, "*")
        else:
            escaped = step.replace("~", "~0").replace("/", "~1")
            pointer, place = f"{pointer}/{escaped}", (*place, step)
    return pointer, place


# ------------------------------------------------------------------ all records


class _Alike(msgspec.Struct):
    """Records of one kind and shape: the first of them, and how many."""

    first: Named
    count: int = 0


def judge(
    agent: str, gathering: Gathering, schemas: Path, version: str | None = None
) -> FormatDocument:
    """Judge everything that is gathered; ``version`` overrules what the records say.

    No more is held than one record of each shape, so that a file may be of any size.
    """
    try:
        by_release = _by_release(gathering, table(agent))
    except RecursionError as error:
        raise DamagedRecord(
            "a record is nested too deeply to be judged", next_step="leave it out"
        ) from error
    releases: list[JudgedRelease] = []
    judged_by: dict[str, list[_Alike]] = {}
    for named, alike in by_release.items():
        release, nearness = _judging(schemas, agent, version or named, alike)
        judged_by.setdefault(release, []).extend(alike)
        releases.append(
            JudgedRelease(
                named=_version(named),
                asked=version,
                judged_by=release,
                nearness=nearness,
                records=sum(one.count for one in alike),
            )
        )
    kinds = [
        kind
        for release, alike in judged_by.items()
        for kind in _kinds(Judge(agent, directories(schemas, agent, release)), release, alike)
    ]
    findings = [finding for kind in kinds for finding in kind.findings]
    whole = not gathering.damage
    return FormatDocument(
        agent=agent,
        records=sum(one.records for one in releases),
        releases=tuple(releases),
        kinds=tuple(kinds),
        unknown_files=tuple(gathering.unknown),
        damage=tuple(
            DamagedPlace(kind=one.kind, file=one.source, line=one.line, offset=one.offset)
            for one in gathering.damage
        ),
        lenient_ok=whole and not any(finding.breaks for finding in findings),
        strict_ok=whole and not findings and not gathering.unknown,
    )


def _judging(
    schemas: Path, agent: str, named: str | None, alike: Sequence[_Alike]
) -> tuple[str, Nearness]:
    if named is not None:
        return nearest(schemas, agent, named)
    kinds: Counter[str] = Counter()
    for one in alike:
        kinds[one.first.kind] += one.count
    return likest(schemas, agent, kinds), "likest"


def _by_release(gathering: Gathering, rules: Table) -> dict[str | None, list[_Alike]]:
    """Return what is alike by the release in force: its own, the file's first, or any."""
    found: dict[tuple[str | None, str, str, Any], _Alike] = {}
    first: dict[str, str] = {}
    for record in gathering:
        if record.release is not None:
            first.setdefault(record.file, record.release)
        key = (record.release, record.file, record.kind, shape(record.value, (), rules))
        if key not in found:
            found[key] = _Alike(first=record)
        found[key].count += 1
    anywhere = next(iter(first.values()), None)
    by_release: dict[str | None, list[_Alike]] = {}
    for (named, file, _, _), alike in found.items():
        by_release.setdefault(named or first.get(file) or anywhere, []).append(alike)
    return by_release


def _kinds(judge_of: Judge, release: str, alike: Sequence[_Alike]) -> Iterator[JudgedKind]:
    by_kind: dict[str, list[_Alike]] = {}
    for one in alike:
        by_kind.setdefault(one.first.kind, []).append(one)
    for kind in sorted(by_kind):
        yield JudgedKind(
            kind=kind,
            release=release,
            records=sum(one.count for one in by_kind[kind]),
            samples=judge_of.samples(kind),
            findings=_together(judge_of, by_kind[kind]),
        )


def _together(judge_of: Judge, alike: Sequence[_Alike]) -> tuple[Finding, ...]:
    counts: dict[Found, int] = {}
    first: dict[Found, Named] = {}
    for one in alike:
        for found in judge_of.judge(one.first.kind, one.first.value):
            counts[found] = counts.get(found, 0) + one.count
            first.setdefault(found, one.first)
    return tuple(
        Finding(
            finding=found.what,
            pointer=found.pointer,
            expected=found.expected,
            found=found.found,
            breaks=found.breaks,
            count=counts[found],
            file=first[found].file,
            line=first[found].line,
        )
        for found in sorted(counts, key=lambda one: (not one.breaks, one.what, one.pointer))
    )


def _version(named: str | None) -> str | None:
    """Return a version as the records spell it, if it is one: a person's file may hold anything."""
    return named if named is None or _VERSION.fullmatch(named) else "(odd)"
