"""What a reader is checked for in words and numbers that no scenario says.

What a model or a person may well say, and readers are seen to spoil, is planted in a copy of a
recording: wherever a word of the script stood, another stands, in the CLI's own frame around it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from conformance.adapters import Adapter, Offer
from conformance.checks.check import Place, Probe, Subject, Told
from conformance.checks.homes import laid, session_file
from conformance.checks.reading import newest
from conformance.corpus import Case, load_case
from conformance.essence import leaves
from conformance.truth import shown
from transcripts.model import AnyMessage, Call, Text, Transcript

_SCENARIOS = frozenset({"command-ok", "mcp-call"})
"""Recordings with words of a person and a model, and with results of calls of either form."""

_SECOND = "and one thing more, token SECOND-7781"
_OPEN = ("{", "[")
_PLANTED = "(numbers)"
_NUMBERS = "[1,1.0,-0.0,0.1,18446744073709551616,123456789012345678901234567890]"
_BEYOND = "1e400"
"""A number of JSON's that no double holds."""


class ReadsEveryCharacter(Probe):
    """Words and numbers are read as they stand in the file, to the last character."""

    answers: ClassVar[str] = "read.planted"
    checks: ClassVar[Mapping[str, str]] = {
        "read.planted": "a session in which uncommon words and numbers are said is read",
        "read.edges": "white space around words belongs to the words",
        "read.output-edges": "white space around a result belongs to the result",
        "read.half-pairs": "half a surrogate pair in words or arguments is kept as it is",
        "read.parts": "two texts in one message stay two",
        "read.numbers": "numbers in arguments keep their type and their digits",
    }

    def offered(self, offer: Offer) -> bool:
        """Reading is enough."""
        return offer.read

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield what can be planted, for a recording of the newest release."""
        for case in newest(place.corpus, agent):
            if case.facts.scenario in _SCENARIOS:
                for kind in _planted_in(place.corpus, case.name):
                    at_stake = (f"read.{kind}", self.answers)
                    yield Subject(f"{case.name}/{kind}", agent, at_stake)

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """Plant in a copy and look for it in what is read."""
        name, _, kind = subject.name.rpartition("/")
        case = load_case(place.corpus / name, place.corpus)
        home = laid(case, place.scratch / "planted")
        path = session_file(home, case.facts.session_path)
        path.write_bytes(_PLANTS[kind](case, path.read_bytes()))
        transcript = adapter.read(subject.agent, home, case.facts.session_id)
        for why in _LOOKS[kind](case, transcript):
            yield Told(f"read.{kind}", why)


@cache
def _planted_in(corpus: Path, name: str) -> Sequence[str]:
    """Return what changes anything in a recording: not every format has parts, or results."""
    case = load_case(corpus / name, corpus)
    recorded = session_file(case.home, case.facts.session_path).read_bytes()
    same = (_lines(recorded, lambda record: record), _strings(recorded, lambda text: text))
    return [kind for kind, plant in _PLANTS.items() if plant(case, recorded) not in same]


# ------------------------------------------------------------------ planted


def _edged(text: str) -> str:
    return f"\n  {text} \t\n\n"


def _halved(text: str) -> str:
    return f"{text[:3]}\ud83c{text[3:]}"


def _said(case: Case, *authors: str) -> list[str]:
    """Return the words that the script has people and models say, or one of them."""
    kinds = ("UserMessage", "AgentMessage")
    said = (one for one in case.truth.messages if one["kind"] in kinds)
    return [one["text"] for one in said if not authors or one["author"] in authors]


def _results(case: Case) -> list[str]:
    """Return the results of the script's calls, as much of each as every CLI keeps."""
    found = [one.get("output") for one in case.truth.messages]
    return [one.rstrip("\r\n") for one in found if isinstance(one, str) and one.strip()]


def _plant_edges(case: Case, recorded: bytes) -> bytes:
    said = set(_said(case))
    return _strings(recorded, lambda text: _edged(text) if text in said else text)


def _plant_output_edges(case: Case, recorded: bytes) -> bytes:
    def planted(text: str) -> str:
        for result in _results(case):
            text = text.replace(result, _edged(result))
        return text

    return _strings(recorded, planted)


def _plant_half_pairs(case: Case, recorded: bytes) -> bytes:
    words = {*_said(case), *_arguments(case)}
    return _strings(recorded, lambda text: _halved(text) if text in words else text)


def _plant_parts(case: Case, recorded: bytes) -> bytes:
    return _doubled(recorded, set(_partable(case)))


def _partable(case: Case) -> list[str]:
    """Return the words that may have others of their own beside them.

    A prompt is one text wherever it was typed, and so is what a script printed: its truth says so,
    in however many pieces it was shown.
    """
    return [] if case.facts.dialect == "code-mode" else [*_said(case, "model"), *_results(case)]


def _doubled(recorded: bytes, words: Set[str]) -> bytes:
    """Put behind every part of a list that is one of some words another one like it."""

    def doubled(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: doubled(one) for key, one in value.items()}
        if not isinstance(value, list):
            return value
        found: list[Any] = []
        for one in value:
            found.append(doubled(one))
            if isinstance(one, dict) and one.get("text") in words:
                found.append({**one, "text": _SECOND})
        return found

    return _lines(recorded, doubled)


def _plant_numbers(case: Case, recorded: bytes) -> bytes:
    """Add numbers to the arguments of calls, spelled as no encoder of JSON would."""
    words = set(_arguments(case))

    def added(value: Any) -> Any:
        if isinstance(value, str):
            return _nested(value, added)
        if isinstance(value, list):
            return [added(one) for one in value]
        if not isinstance(value, dict):
            return value
        within = {key: added(one) for key, one in value.items()}
        is_call = any(isinstance(one, str) and one in words for one in value.values())
        return {**within, "numbers": _PLANTED} if is_call and "type" not in value else within

    planted = _lines(recorded, added).decode()
    spelled = f"[{_NUMBERS},{_BEYOND}]"
    for quote in ('\\"', '"'):
        planted = planted.replace(f"{quote}{_PLANTED}{quote}", spelled)
    return planted.encode()


def _arguments(case: Case) -> list[str]:
    return [text for one in case.truth.messages for text in leaves(one.get("arguments"))]


def _strings(recorded: bytes, change: Callable[[str], str]) -> bytes:
    """Return the records with every string in them changed, those in JSON in a string too."""

    def changed(value: Any) -> Any:
        if isinstance(value, str):
            return change(_nested(value, changed))
        if isinstance(value, list):
            return [changed(one) for one in value]
        if isinstance(value, dict):
            return {key: changed(one) for key, one in value.items()}
        return value

    return _lines(recorded, changed)


def _nested(text: str, change: Callable[[Any], Any]) -> str:
    """Return a string with what it holds changed, if it holds JSON."""
    if text[:1] not in _OPEN:
        return text
    try:
        return json.dumps(change(json.loads(text)))
    except ValueError:
        return text


def _lines(recorded: bytes, change: Callable[[Any], Any]) -> bytes:
    lines = (json.dumps(change(json.loads(line))) for line in recorded.splitlines())
    return "".join(f"{line}\n" for line in lines).encode()


# ------------------------------------------------------------------ found


def _look_for_edges(case: Case, transcript: Transcript) -> Iterator[str]:
    yield from _unread(map(_edged, _said(case)), _texts(transcript))


def _look_for_output_edges(case: Case, transcript: Transcript) -> Iterator[str]:
    outputs = [shown(one).get("output") for one in transcript.messages]
    for result in map(_edged, _results(case)):
        if not any(isinstance(one, str) and result in one for one in outputs):
            yield f"{result!r} is in no result"


def _look_for_half_pairs(case: Case, transcript: Transcript) -> Iterator[str]:
    arguments = [
        text
        for message in transcript.messages
        for text in leaves(getattr(message, "arguments", None))
    ]
    yield from _unread(map(_halved, _said(case)), _texts(transcript))
    yield from _unread(map(_halved, _arguments(case)), arguments)


def _look_for_parts(case: Case, transcript: Transcript) -> Iterator[str]:
    parts = [
        part.text
        for message in transcript.messages
        for part in _content(message)
        if isinstance(part, Text)
    ]
    behind = set(pairwise(parts))
    for text in _parted(case):
        if (text, _SECOND) not in behind:
            yield f"behind {text!r} there is no {_SECOND!r}"
        if f"{text}\n{_SECOND}" in parts or f"{text}{_SECOND}" in parts:
            yield f"{text!r} and {_SECOND!r} are one"


def _parted(case: Case) -> Iterator[str]:
    """Yield the words of the script's that stand in the file as a part of a list."""
    recorded = session_file(case.home, case.facts.session_path).read_bytes()
    for text in _partable(case):
        if _doubled(recorded, {text}) != _doubled(recorded, set()):
            yield text


def _look_for_numbers(case: Case, transcript: Transcript) -> Iterator[str]:
    wanted = json.loads(_NUMBERS)
    calls = [one for one in transcript.messages if isinstance(one, Call)]
    found = [
        one.arguments["numbers"]
        for one in calls
        if isinstance(one.arguments, Mapping) and "numbers" in one.arguments
    ]
    if not found:
        yield "no call has the arguments that it was called with"
    for numbers, beyond in found:
        for number, one in zip(wanted, numbers, strict=False):
            if type(one) is not type(number) or repr(one) != repr(number):
                yield f"{number!r} is read as {one!r}"
        if not _is_beyond(beyond):
            yield f"{_BEYOND} is read as {beyond!r}"


def _is_beyond(value: Any) -> bool:
    """Whether it says the number that is too large for a float, as it likes, but no infinity."""
    try:
        return Decimal(str(value)) == Decimal(_BEYOND)
    except InvalidOperation:
        return False


def _content(message: AnyMessage) -> Sequence[Any]:
    values = msgspec.structs.asdict(message)
    return (*(values.get("content") or ()), *(values.get("output") or ()))


def _texts(transcript: Transcript) -> list[Any]:
    return [shown(one).get("text") for one in transcript.messages]


def _unread(wanted: Iterator[str], found: Sequence[Any]) -> Iterator[str]:
    for text in wanted:
        if text not in found:
            yield f"{text!r} is read nowhere"


_PLANTS: Mapping[str, Callable[[Case, bytes], bytes]] = {
    "edges": _plant_edges,
    "output-edges": _plant_output_edges,
    "half-pairs": _plant_half_pairs,
    "parts": _plant_parts,
    "numbers": _plant_numbers,
}

_LOOKS: Mapping[str, Callable[[Case, Transcript], Iterator[str]]] = {
    "edges": _look_for_edges,
    "output-edges": _look_for_output_edges,
    "half-pairs": _look_for_half_pairs,
    "parts": _look_for_parts,
    "numbers": _look_for_numbers,
}
