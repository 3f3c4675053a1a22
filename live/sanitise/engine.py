"""A run's files with everything personal, measured or of the vendor's taken out.

Two passes: the first takes note of every id and every time in all files, the second rewrites
every decoded value. What the provenance of a string does not explain is replaced by a
placeholder, so a recording is clean because nothing else can get in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from live.sanitise import renaming
from live.sanitise.derived import with_all_offsets, with_reaches
from live.sanitise.documents import Document, dumps
from live.sanitise.ordering import as_filed, floated, in_order
from live.sanitise.provenance import TOKEN, Provenance, placeholder
from live.sanitise.rules import TIED_SECONDS, Rules, named

REVISION = 1
"""Raised with every change of the rewriting itself; the tables have a revision of their own."""

_MEASURED_INTEGER = 100
_MEASURED_FRACTION = 0.5

_JITTER_SECONDS = 0.25
"""A record this little earlier than the one before it is so by chance: its clock was read
before the other's, and in the next run after it. Answers are further apart than that."""

_BEGUN_SECONDS = 3.0
_ECHO_SECONDS = 0.05

Place = tuple[str, int]
"""A document's path and a record's index in it."""

_FIELD = re.compile(r"(\s*(?:- )?)([A-Za-z_][\w-]*)(: ?)(.*)", re.DOTALL)


def labelled(line: str, name: str) -> tuple[str, str, tuple[str, ...]]:
    """Return a line of plain text in two: what is the format's own, and the value with its path.

    Of ``key: value`` the key is a word of the format; other lines are values throughout.
    """
    label = name.rpartition("/")[2]
    match = _FIELD.fullmatch(line)
    if match is None:
        return "", line, (label,)
    return match[1] + match[2] + match[3], match[4], (label, match[2])


class Sanitiser:
    """One run's renaming and cleaning; also good for what the model was asked in it."""

    def __init__(self, rules: Rules, provenance: Provenance, clock: renaming.Clock) -> None:
        self._rules = rules
        self._provenance = provenance
        self._clock = clock
        self._uuids: dict[str, str] = {}
        self._timed: list[str] = []
        self._ids: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._known = re.compile(r"(?!)")
        self._instants: dict[tuple[Place, float], tuple[float, int]] = {}
        self._clocks: dict[str, renaming.Clock] = {}
        self._places: dict[str, Place] = {}
        self._files: list[tuple[Document, Document]] = []
        self._dated: dict[str, str] = {}

    def documents(self, documents: Sequence[Document]) -> list[Document]:
        """Return all files of a run, sanitised, in an order that no chance decides."""
        self._files = [(one, in_order(one, self._rules)) for one in documents]
        ordered = sorted((one for _, one in self._files), key=_masked)
        for document in ordered:
            self._learn(document)
        self._settle()
        clean = [self._document(document) for document in ordered]
        self._dated = {
            document.path: one.path
            for document, one in zip(ordered, clean, strict=True)
            if renaming.stamps(document.path, self._clock)
        }
        clean = with_all_offsets(ordered, clean, self._rules.offsets)
        return with_reaches(ordered, clean, self._rules.reaches)

    def aside(self, documents: Sequence[Document]) -> list[Document]:
        """Return what the CLI wrote beside its files, sanitised after them.

        A record that stands in a file too keeps its times; any other has that of the record
        before it, so that nothing here moves a time there.
        """
        ordered = [as_filed(one, self._files, self._rules) for one in documents]
        for document in ordered:
            self._clocks[document.path] = self._clock
            before = (0.0, -1)
            for index, record in enumerate(document.records):
                there = self._places.get(dumps(record))
                for path, value in leaves(record):
                    self._identify(path, value)
                    for seconds in self._readings(value, whole=True):
                        before = self._instants.get((there, seconds), before) if there else before
                        self._instants[(document.path, index), seconds] = before
        self._settle()
        return [self._document(document) for document in ordered]

    def logged(self, document: Document) -> Document:
        """Return the log of a run's hooks, sanitised after its files; nothing comes after it but
        what the model was asked.

        It has a clock of its own: whether a hook was told before or after a record was written
        is chance. Every time in a row is the row's: when it was told. Only a file's name bears
        the file's.
        """
        self._rules = self._rules.of_hooks()
        self._provenance.admit(self._rules.hooks.words)
        clock = self._clocks[document.path] = renaming.Clock(*self._clock.bounds)
        known = set(self._uuids)
        for index, record in enumerate(document.records):
            place = (document.path, index)
            told: tuple[float, int] | None = None
            for path, value in leaves(record):
                self._identify(path, value)
                for seconds in self._readings(value, whole=True):
                    told = told or (seconds, clock.note(seconds))
                    self._instants[place, seconds] = told
        self._timed += sorted(
            value for value in self._uuids if value not in known and value[14] == "7"
        )
        self._settle()
        return self._document(document)

    def value(self, value: Any, path: tuple[str, ...] = (), place: Place = ("", -1)) -> Any:
        """Return a value with every string, id, time and measured number rewritten."""
        for late in self._rules.late:
            if named(path, (late.key,)):
                return late.early
        if named(path, self._rules.emptied):
            value = type(value)() if isinstance(value, (dict, list)) else value
        match value:
            case dict():
                return {
                    self.text(key, (*path, "key"), place)
                    if not TOKEN.fullmatch(key)
                    else self._renamed(key, place): self.value(one, (*path, key), place)
                    for key, one in value.items()
                }
            case list() | tuple():
                return [self.value(one, path, place) for one in value]
            case str():
                return self.text(value, path, place)
            case bool():
                return value
            case int() | float():
                return self._number(value, path, place)
            case _:
                return value

    def text(self, text: str, path: tuple[str, ...], place: Place = ("", -1)) -> str:
        """Return a string: renamed, and every word of unknown origin elided."""
        text = self._reworded(text, path)
        inner = embedded(text)
        if inner is not None:
            return inner[1](self.value(inner[0], path, place))
        text = self._renamed(text, place)
        if named(path, self._rules.structural) and TOKEN.fullmatch(text):
            return text
        spans = [
            (start, end, placeholder(path, text[start:end]))
            for start, end in self._provenance.foreign(text)
        ]
        return renaming.replaced(text, spans)

    def _reworded(self, text: str, path: tuple[str, ...]) -> str:
        """Make constant what was measured and put into words."""
        if text.isdecimal() and named(path, self._rules.measured):
            return str(_MEASURED_INTEGER)
        for wording in self._rules.worded:
            text = re.sub(wording.pattern, wording.becomes, text)
        return text

    # ------------------------------------------------------------------ first pass

    def _learn(self, document: Document) -> None:
        text = "\n".join(dumps(record) for record in document.records)
        own = any(mark in text for mark in self._rules.apart)
        self._clocks[document.path] = (
            self._clock if not own else renaming.Clock(*self._clock.bounds)
        )
        known = set(self._uuids)
        before: tuple[float, int] | None = None
        for index, record in enumerate(document.records):
            place = (document.path, index)
            self._places[dumps(record)] = place
            before = self._times(record, place, before)
            for path, value in leaves(record):
                self._identify(path, value)
        self._identify((), document.path)
        self._date(document)
        # Files are written side by side: only within one is the order of minting certain.
        self._timed += sorted(
            value for value in self._uuids if value not in known and value[14] == "7"
        )

    def _date(self, document: Document) -> None:
        """Let a file's name bear the time of its first record, of which it is a coarse copy."""
        instants = [one for (place, _), one in self._instants.items() if place[0] == document.path]
        for _, seconds in renaming.stamps(document.path, self._clock):
            if instants:
                self._instants[(document.path, -1), seconds] = instants[0]

    def _times(
        self, record: Any, place: Place, before: tuple[float, int] | None
    ) -> tuple[float, int] | None:
        clock = self._clocks[place[0]]
        tied = self._rules.tied_within(_kind(record) or "")
        found = [
            (path, seconds)
            for path, value in leaves(record)
            for seconds in self._readings(value, whole=named(path, self._rules.beside))
        ]
        found.sort(key=lambda one: named(one[0], self._rules.beside))
        first = clock.noted
        keys = [path for path, _ in leaves(record)]
        begun = any(named(path, self._rules.begun) for path in keys)
        echoes = any(named(path, self._rules.echoes) for path in keys)
        jitter = _BEGUN_SECONDS if begun else _JITTER_SECONDS
        for path, seconds in found:
            key = (place, seconds)
            if key in self._instants:
                continue
            beside = named(path, self._rules.beside)
            if before and beside and before[1] >= first:
                self._instants[key] = before
                continue
            if before and abs(before[0] - seconds) < (TIED_SECONDS if beside else tied):
                self._instants[key] = before
                continue
            echoed = self._echoed(seconds, place) if echoes else None
            if echoed is not None:
                self._instants[key] = echoed
                continue
            late = before is not None and 0 < before[0] - seconds < jitter
            effective = before[0] if before and late else seconds
            self._instants[key] = before = (effective, clock.note(effective))
        return before

    def _echoed(self, seconds: float, place: Place) -> tuple[float, int] | None:
        """Return the instant of an earlier record of the file that a time repeats."""
        return next(
            (
                instant
                for (where, _), instant in self._instants.items()
                if where[0] == place[0] and abs(instant[0] - seconds) < _ECHO_SECONDS
            ),
            None,
        )

    def _readings(self, value: Any, *, whole: bool) -> Iterator[float]:
        """Yield the fine times in a value; whole seconds, which only follow, where asked for."""
        if isinstance(value, str):
            for match, seconds in renaming.stamps(value, self._clock):
                if match[9] or whole:
                    yield seconds
        elif _is_number(value) and self._clock.within(renaming.seconds_of(value)):
            seconds = renaming.seconds_of(value)
            if whole or not (isinstance(value, int) and seconds == value):
                yield seconds

    def _identify(self, path: tuple[str, ...], value: Any) -> None:
        if not isinstance(value, str):
            return
        for match in renaming.UUID.finditer(value):
            self._uuids.setdefault(match[0], "")
        for rule in self._rules.ids:
            if named(path, (rule.key,)) and value and value not in self._ids:
                count = self._counts[rule.key] = self._counts.get(rule.key, 0) + 1
                self._ids[value] = renaming.renamed_id(count, value, rule.prefix)
        if named(path, self._rules.drawn) and value and value not in self._ids:
            count = self._counts["drawn"] = self._counts.get("drawn", 0) + 1
            self._ids[value] = renaming.drawn_name(count)

    def _settle(self) -> None:
        for clock in {id(clock): clock for clock in self._clocks.values()}.values():
            clock.settle()
        self._clock.settle()
        for number, value in enumerate(self._timed, 1):
            self._uuids[value] = renaming.timed_uuid(number, renaming.variant(value))
        others = [value for value in self._uuids if value[14] != "7"]
        for number, value in enumerate(others, 1):
            self._uuids[value] = renaming.renamed_uuid(number, value[14], renaming.variant(value))
        if self._ids:
            words = sorted(self._ids, key=len, reverse=True)
            alternatives = "|".join(re.escape(word) for word in words)
            self._known = re.compile(rf"(?<![0-9A-Za-z])(?:{alternatives})(?![0-9A-Za-z])")
            self._provenance.admit(self._ids.values())

    # ------------------------------------------------------------------ second pass

    def _document(self, document: Document) -> Document:
        records: list[Any] = []
        for index, record in enumerate(document.records):
            place = (document.path, index)
            if document.form == "text":
                records.append(self._line(record, document.path, place))
            elif document.form == "database":
                records.append(self._row(record, place))
            else:
                records.append(self.value(record, (), place))
        if document.form == "lines":
            records = _settled(records, self._rules)
        return msgspec.structs.replace(
            document,
            path=self._renamed(document.path, (document.path, -1)),
            records=tuple(records),
        )

    def _line(self, line: str, name: str, place: Place) -> str:
        """Rewrite a line of plain text."""
        head, value, path = labelled(line, name)
        return head + self.text(value, path, place)

    def _row(self, record: Any, place: Place) -> Any:
        if "row" not in record:
            return record
        row = {
            name: self.value(value, (record["table"], name), place)
            for name, value in record["row"].items()
        }
        return {**record, "row": row}

    def _renamed(self, text: str, place: Place) -> str:
        spans = [
            (match.start(), match.end(), self._uuid(match[0]))
            for match in renaming.UUID.finditer(text)
        ]
        spans += [
            (match.start(), match.end(), self._ids[match[0]])
            for match in self._known.finditer(text)
        ]
        spans += [
            (text.index(name), text.index(name) + len(name), new)
            for name, new in self._dated.items()
            if name in text
        ]
        spans += [
            (match.start(), match.end(), renaming.spelt(self._moment(seconds, place), match))
            for match, seconds in renaming.stamps(text, self._clock)
        ]
        return renaming.replaced(text, [*spans, *renaming.days(text, self._clock)])

    def _uuid(self, value: str) -> str:
        if value not in self._uuids:
            if renaming.is_renamed_uuid(value):
                return value
            self._uuids[value] = renaming.renamed_uuid(
                len(self._uuids) + 1, value[14], renaming.variant(value)
            )
        return self._uuids[value]

    def _number(self, value: float, path: tuple[str, ...], place: Place) -> float:
        if named(path, self._rules.measured):
            return _MEASURED_INTEGER if isinstance(value, int) else _MEASURED_FRACTION
        seconds = renaming.seconds_of(value)
        if self._clock.within(seconds):
            return renaming.spelt_number(self._moment(seconds, place), value)
        return value

    def _moment(self, seconds: float, place: Place) -> Any:
        """Return what a time becomes; whole seconds go with the first finer one of the file."""
        clock = self._clocks.get(place[0], self._clock)
        noted = self._instants.get((place, seconds))
        if noted is None:
            finer = [
                instant
                for (where, _), instant in self._instants.items()
                if where[0] == place[0] and int(instant[0]) == int(seconds)
            ]
            # A file of whole seconds alone is as old as the run: where in it they fall is chance.
            coarse = (0.0, -1) if place[0] in self._clocks else (seconds, -1)
            noted = min(finer, default=coarse)
        return clock.moment(*noted)


def _masked(document: Document) -> tuple[str, str]:
    """Return a document's path and content without what differs from run to run."""
    text = "\n".join(dumps(record) for record in document.records)
    return _mask(document.path), _mask(text)


def _mask(text: str) -> str:
    text = renaming.UUID.sub("U", text)
    return re.sub(r"\d+", "9", re.sub(r"\b[0-9a-f]{7,}\b", "H", text))


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every value with its path, keys and what is inside embedded JSON included."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield (*path, "key"), key
            yield from leaves(one, (*path, key))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from leaves(one, path)
    else:
        yield path, value
        inner = embedded(value) if isinstance(value, str) else None
        if inner is not None:
            yield from leaves(inner[0], path)


def embedded(text: str) -> tuple[Any, Any] | None:
    """Return the JSON inside a string and how to spell it, if it can be spelt the same."""
    if text[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    for spell in (dumps, json.dumps, _spaced, _indented):
        if spell(value) == text:
            return value, spell
    return None


def _spaced(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _indented(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _kind(record: Any) -> str | None:
    kind = record.get("type") if isinstance(record, dict) else None
    return kind if isinstance(kind, str) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _settled(records: list[Any], rules: Rules) -> list[Any]:
    """Put records whose place is chance behind the ones among which it is."""
    for rule in rules.floating:
        if not rule.where:
            records = floated(records, rule)
    return records
