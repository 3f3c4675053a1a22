"""What a reader is checked for when a session is newer than the reader.

What a later release may add is made up here: one thing is put into a copy of a recording, which
without it is read. Where the format's own words stand in a record, the agent's table says
(:mod:`conformance.formats`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from conformance.adapters import Adapter, Offer
from conformance.checks.check import Place, Probe, Subject, Told
from conformance.checks.damage import news
from conformance.checks.homes import laid, session_file
from conformance.checks.reading import newest
from conformance.corpus import load_case
from conformance.essence import atoms, essence, leaves, unsaid
from conformance.formats import tables
from conformance.formats.naming import namer
from transcripts.model import Transcript
from transcripts.serialise import to_builtins

_TELLS_KIND = frozenset({"type", "subtype", "role"})
"""Fields that say what the object around them is: with another word in them it is unknown whole."""

_KIND_OF_RECORD = frozenset({("type",), ("payload", "type"), ("payload", "item", "type")})
"""Where a record says of what kind it is: what is of an unknown kind is asked for apart."""

_WORD = "not_yet_known"

_RECORDS: Mapping[str, Any] = {
    "claude": {"type": _WORD, "value": {"deep": [1, {"x": None}]}},
    "codex": {"type": _WORD, "payload": {"type": _WORD, "deep": [1]}},
    "copilot": {
        "type": f"session.{_WORD}",
        "id": "0badc0de-2222-4222-8222-000000000001",
        "parentId": None,
        "data": {"deep": [1, {"x": None}]},
    },
}
"""A record of an unknown kind, in the frame of each agent's records."""


class Spot(NamedTuple):
    """Where a word of the format's own stands: a line of the session file, and the way there."""

    line: int
    way: tuple[str | int, ...]
    name: str


class ReadsWhatIsNew(Probe):
    """What a later release may add costs nothing of the conversation."""

    answers: ClassVar[str] = "forward.answers"
    checks: ClassVar[Mapping[str, str]] = {
        "forward.answers": "a session with something unknown in it is read",
        "forward.record": "a record of an unknown kind costs no message",
        "forward.told": "and is told of: as a message of its own, or as what was not read",
        "forward.field": "a field that nobody knows costs no message, and no value",
        "forward.value": "an unknown word in a field costs no more than what it is a word of",
    }

    def offered(self, offer: Offer) -> bool:
        """Reading is enough."""
        return offer.read

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield each recording of the newest release with each addition."""
        for case in newest(place.corpus, agent):
            for addition, also in (("record", ("forward.told",)), ("field", ())):
                at_stake = (f"forward.{addition}", "forward.answers", *also)
                yield Subject(f"{case.name}/unknown-{addition}", agent, at_stake)
        for name in _spots(place.corpus, agent):
            yield Subject(f"{name}/unknown-value", agent, ("forward.value", "forward.answers"))

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """Put into a copy what no release has written yet."""
        name, _, addition = subject.name.rpartition("/unknown-")
        case = load_case(place.corpus / name, place.corpus)
        home = laid(case, place.scratch / "newer")
        path = session_file(home, case.facts.session_path)
        before = adapter.read(subject.agent, home, case.facts.session_id)
        if addition == "value":
            recorded = path.read_bytes()
            for spot in _spots(place.corpus, subject.agent)[name]:
                words = _put_word(path, recorded, spot)
                after = adapter.read(subject.agent, home, case.facts.session_id)
                yield from _costs(spot, words, before, after)
            return
        (_add_record if addition == "record" else _add_fields)(path, subject.agent)
        after = adapter.read(subject.agent, home, case.facts.session_id)
        for words in news(case, before, after):
            yield Told(f"forward.{addition}", words)
        if addition == "record" and not _is_told(before, after):
            yield Told("forward.told", "nothing is said of it")


def _is_told(before: Transcript, after: Transcript) -> bool:
    """Whether there is one message more, or one record more that was not read."""
    counts = [
        (len(one.messages), sum(unread.count for unread in one.unread)) for one in (before, after)
    ]
    return counts[0] != counts[1]


def _costs(spot: Spot, words: str, before: Transcript, after: Transcript) -> Iterator[Told]:
    """Say what is no longer in a transcript; what the object is unknown of may be gone itself."""
    left = "\n".join(leaves(to_builtins(after)))
    for atom in atoms(before.messages):
        gone = unsaid(essence(atom), left)
        if spot.way[-1] in _TELLS_KIND:
            gone = unsaid(gone, words)
        if gone:
            why = f"another word for {spot.name} costs {atom.kind} {gone[0][:60]!r}"
            yield Told("forward.value", why)


def _put_word(path: Path, recorded: bytes, spot: Spot) -> str:
    """Put an unknown word in its spot and nothing else; return everything that the record says."""
    lines = recorded.splitlines(keepends=True)
    record = json.loads(lines[spot.line])
    holder = record
    for step in spot.way[:-1]:
        holder = holder[step]
    holder[spot.way[-1]] = _WORD
    lines[spot.line] = json.dumps(record).encode() + b"\n"
    path.write_bytes(b"".join(lines))
    return "\n".join(leaves(record))


def _add_record(path: Path, agent: str) -> None:
    """Put a record of an unknown kind before the last line, dated as the line before it."""
    lines = path.read_bytes().splitlines(keepends=True)
    before = json.loads(lines[-2]) if len(lines) > 1 else {}
    record = {"timestamp": before.get("timestamp", "2026-01-05T09:00:00.000Z"), **_RECORDS[agent]}
    lines.insert(-1, json.dumps(record).encode() + b"\n")
    path.write_bytes(b"".join(lines))


def _add_fields(path: Path, agent: str) -> None:
    """Put a field that nobody knows first into every record, before its last brace."""
    del agent
    added = b'"notYetKnown":{"deep":[1,{"x":null}]}'
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"".join(line[:-1] + b"," + added + b"}\n" for line in lines))


@cache
def _spots(corpus: Path, agent: str) -> Mapping[str, Sequence[Spot]]:
    """Return, by case, the words that no case before has in such a place of such a record."""
    known: set[tuple[str, str]] = set()
    found: dict[str, list[Spot]] = {}
    for case in newest(corpus, agent):
        name = namer(agent, tables.table(agent)).name
        path = session_file(case.home, case.facts.session_path)
        for number, line in enumerate(path.read_bytes().splitlines()):
            record = json.loads(line)
            kind = name(record)
            for way, place in _words(record, (), (), tables.table(agent)):
                if way not in _KIND_OF_RECORD and (kind, place) not in known:
                    known.add((kind, place))
                    found.setdefault(case.name, []).append(Spot(number, way, f"{kind} {place}"))
    return found


def _words(
    value: Any, way: tuple[str | int, ...], place: tables.Place, table: tables.Table
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield where in a value words of the format's own stand."""
    nature = table.nature(place)
    if nature.opaque:
        return
    if isinstance(value, str):
        if nature.vocabulary:
            yield way, ".".join(place)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _words(one, (*way, key), (*place, "*" if nature.map else key), table)
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _words(one, (*way, number), place, table)
