"""Equal scenarios of several releases of one agent, held against each other as a reader sees them.

Formats change, conversations don't: what a person asked and a model said, which commands ran and
what came of them is the same in every generation. Where it is not, either a case proves that its
CLI did not keep it (``unrecorded``), or the CLI itself did another thing: such differences are
named, each with its reason, in ``generations.toml``, and none is waved through.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from conformance.corpus import Case, cases, version_key
from conformance.truth import recorded_pairs, shown
from transcripts.model import Transcript

_COMPARED = ("text", "command", "exit_code", "output", "changes", "items", "report")
_ELIDED = re.compile(r"(?:\[elided: [^\]]*\]\s*)+")
_NAMES_OF_A_RUN = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_EDIT = ("path", "operation", "before", "after", "moved_to")


class Key(NamedTuple):
    """What a message is in the script, whatever release it was recorded from."""

    thread: str | None
    turn: int
    response: str | None
    kind: str
    number: int


class ByDesign(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A difference that is the CLI's own doing: where, in which value, and why.

    ``releases`` and ``scenarios`` are patterns with ``*``; a difference is covered if one of the
    two releases is. ``field`` is a value's name, or ``message`` where one side has none.
    """

    agent: str
    releases: tuple[str, ...]
    scenarios: tuple[str, ...] = ("*",)
    kind: str
    field: str
    why: str


class Difference(NamedTuple):
    """One value, or one whole message, that is not the same in two releases."""

    agent: str
    scenario: str
    releases: tuple[str, str]
    key: Key
    field: str
    values: tuple[Any, Any]

    def __str__(self) -> str:
        one, two = (repr(value)[:160] for value in self.values)
        first, second = self.releases
        place = f"{self.scenario}, {self.key.kind} {self.key.number} of {self.key.response}"
        return f"{place}: {self.field} is {one} in {first} and {two} in {second}"


def by_design() -> tuple[ByDesign, ...]:
    """Read the table of differences that are the CLIs' own."""
    text = (files("conformance") / "generations.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text)["difference"], tuple[ByDesign, ...])


def generations(corpus: Path) -> dict[tuple[str, str], list[Case]]:
    """Return the cases that several releases have of one scenario in one dialect."""
    found: defaultdict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in cases(corpus):
        found[case.facts.agent, case.directory.name].append(case)
    for one in found.values():
        one.sort(key=lambda case: version_key(case.facts.release))
    return {place: ones for place, ones in found.items() if len(ones) > 1}


class Reading(NamedTuple):
    """One case's messages by what they are in the script, and what its CLI did not keep."""

    case: Case
    messages: Mapping[Key, Mapping[str, Any]]
    gone: Mapping[Key, frozenset[str] | None]


def reading(case: Case, transcript: Transcript) -> Reading:
    """Line a reader's messages up with the script; what cannot be lined up is left out."""
    keys = _keys(case.truth.messages)
    gone: dict[Key, frozenset[str] | None] = {}
    for entry in case.facts.unrecorded:
        key = keys[entry.message]
        before = gone.get(key, frozenset[str]())
        if entry.fields is None or before is None:
            gone[key] = None
        else:
            gone[key] = before | frozenset(entry.fields)
    messages = {
        keys[index]: {"author": found.author, "status": found.status, **_values(shown(found))}
        for index, found in recorded_pairs(case, transcript)
    }
    return Reading(case, messages, gone)


def compare(one: Reading, two: Reading) -> Iterator[Difference]:
    """Yield every difference between two releases that neither case proves unrecorded."""
    facts = one.case.facts
    place = (facts.agent, facts.scenario, (facts.release, two.case.facts.release))
    for key in sorted({*one.messages, *two.messages}, key=str):
        mine, theirs = one.messages.get(key), two.messages.get(key)
        missing = one.gone.get(key, frozenset[str]()), two.gone.get(key, frozenset[str]())
        if None in missing:
            continue
        if mine is None or theirs is None:
            sides = (mine is not None, theirs is not None)
            yield Difference(*place, key, "message", sides)
            continue
        skipped = frozenset[str]().union(*(fields or () for fields in missing))
        for name in sorted({*mine, *theirs} - skipped):
            if mine.get(name) != theirs.get(name):
                yield Difference(*place, key, name, (mine.get(name), theirs.get(name)))


def is_by_design(difference: Difference, table: Sequence[ByDesign]) -> ByDesign | None:
    """Return the entry of the table that covers a difference, None if there is none."""
    for entry in table:
        if (
            entry.agent == difference.agent
            and entry.kind == difference.key.kind
            and entry.field == difference.field
            and any(fnmatchcase(difference.scenario, one) for one in entry.scenarios)
            and any(
                fnmatchcase(release, one)
                for release in difference.releases
                for one in entry.releases
            )
        ):
            return entry
    return None


def _keys(messages: Sequence[Mapping[str, Any]]) -> list[Key]:
    counted: defaultdict[tuple[Any, ...], int] = defaultdict(int)
    keys: list[Key] = []
    for message in messages:
        place = (message["thread"], message["turn"], message["response"], message["kind"])
        keys.append(Key(*place, counted[place]))
        counted[place] += 1
    return keys


def _values(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(name, values[name]) for name in _COMPARED if name in values}


def _plain(name: str, value: Any) -> Any:
    """Return a value without its last line's end, foreign words and the ids of one run."""
    if name == "changes":
        return [{key: _trimmed(edit.get(key)) for key in _EDIT} for edit in value]
    return _trimmed(value)


def _trimmed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return _NAMES_OF_A_RUN.sub("…", _ELIDED.sub("…", value)).rstrip("\r\n")
