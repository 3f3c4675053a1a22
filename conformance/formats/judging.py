"""Records judged by the snapshots of the release that wrote them: what is new, what is missing.

A finding holds a place, types and words of the snapshot's own; never a value of the records,
which are a person's. Both views are asked: what the lenient one refuses breaks readers, what
only the strict one refuses is news.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator

from conformance.corpus import CorpusError, version_key
from conformance.formats.naming import word
from conformance.formats.observing import TYPES
from conformance.formats.records import Gathered, Named
from conformance.formats.schema import lenient, strict
from conformance.formats.snapshots import directories, kept, kept_releases
from conformance.formats.tables import Place, Table, table
from transcripts.errors import DamagedRecord

What = Literal[
    "unknown-kind", "unknown-shape", "unknown-field", "new-word", "type-changed", "missing-field"
]
Nearness = Literal["same", "below", "nearest"]


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
    snapshot's types, or its words; ``found`` the types that stand there. ``breaks`` says that
    the lenient view refuses it too.
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

    ``nearness``: the same, the nearest ``below``, or (none being below) the ``nearest``.
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


def nearest(schemas: Path, agent: str, named: str | None) -> tuple[str, Nearness]:
    """Return the recorded release to judge a named one by, and how near it is.

    The same, else the nearest below, else the oldest of all; the newest for none named.
    """
    recorded = kept_releases(schemas, agent)
    if not recorded:
        raise CorpusError(
            f"{schemas}: holds no schemas of {agent}; run conformance schema --update"
        )
    if named is None:
        return recorded[-1], "nearest"
    if named in recorded:
        return named, "same"
    below = [one for one in recorded if version_key(one) <= version_key(named)]
    return (below[-1], "below") if below else (recorded[0], "nearest")


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
        pointer = _pointer(error.absolute_path, rules)
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
                yield Found("unknown-shape", pointer, (), (), breaks)
            case _:
                yield Found("new-word", pointer, tuple(schema.get("x-words", ())), (), breaks)


def _pointer(steps: Iterable[str | int], rules: Table) -> str:
    """Return a pointer without what is data in it: indices and the keys of maps."""
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
    return pointer


# ------------------------------------------------------------------ all records


def judge(
    agent: str, gathered: Gathered, schemas: Path, version: str | None = None
) -> FormatDocument:
    """Judge everything that was gathered; ``version`` overrules what the records say."""
    try:
        return _judged_all(agent, gathered, schemas, version)
    except RecursionError as error:
        raise DamagedRecord(
            "a record is nested too deeply to be judged", next_step="leave it out"
        ) from error


def _judged_all(
    agent: str, gathered: Gathered, schemas: Path, version: str | None
) -> FormatDocument:
    by_release: dict[str | None, list[Named]] = {}
    for record, release in _with_release(gathered.records):
        by_release.setdefault(release, []).append(record)
    releases: list[JudgedRelease] = []
    kinds: list[JudgedKind] = []
    judges: dict[str, Judge] = {}
    for named, records in by_release.items():
        judged_by, nearness = nearest(schemas, agent, version or named)
        if judged_by not in judges:
            judges[judged_by] = Judge(agent, directories(schemas, agent, judged_by))
        releases.append(
            JudgedRelease(
                named=_version(named),
                asked=version,
                judged_by=judged_by,
                nearness=nearness,
                records=len(records),
            )
        )
        kinds += _judged_kinds(judges[judged_by], judged_by, records)
    findings = [finding for kind in kinds for finding in kind.findings]
    whole = not gathered.damage
    return FormatDocument(
        agent=agent,
        records=len(gathered.records),
        releases=tuple(releases),
        kinds=tuple(kinds),
        unknown_files=tuple(gathered.unknown),
        damage=tuple(
            DamagedPlace(kind=one.kind, file=one.source, line=one.line, offset=one.offset)
            for one in gathered.damage
        ),
        lenient_ok=whole and not any(finding.breaks for finding in findings),
        strict_ok=whole and not findings and not gathered.unknown,
    )


def _with_release(records: Sequence[Named]) -> Iterator[tuple[Named, str | None]]:
    """Yield records with the release in force: their own, else the file's first, else any."""
    first: dict[str, str] = {}
    for record in records:
        if record.release is not None:
            first.setdefault(record.file, record.release)
    anywhere = next(iter(first.values()), None)
    for record in records:
        yield record, record.release or first.get(record.file) or anywhere


def _judged_kinds(judge_of: Judge, release: str, records: Sequence[Named]) -> list[JudgedKind]:
    by_kind: dict[str, list[Named]] = {}
    for record in records:
        by_kind.setdefault(record.kind, []).append(record)
    return [
        JudgedKind(
            kind=kind,
            release=release,
            records=len(by_kind[kind]),
            samples=judge_of.samples(kind),
            findings=_together(judge_of, by_kind[kind]),
        )
        for kind in sorted(by_kind)
    ]


def _together(judge_of: Judge, records: Sequence[Named]) -> tuple[Finding, ...]:
    counts: dict[Found, int] = {}
    first: dict[Found, Named] = {}
    for record in records:
        for found in judge_of.judge(record.kind, record.value):
            counts[found] = counts.get(found, 0) + 1
            first.setdefault(found, record)
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
    return named if named is None or (len(named) < 40 and named[:1].isdigit()) else "(odd)"
