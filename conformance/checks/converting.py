"""What a conversion is checked for, by the target's bytes and by what releases resume.

The source is a recording, so what must have crossed is in its script. Reading the target back by
the reference is one check more, and no check's only witness.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from conformance.adapters import Adapter, Offer, Written
from conformance.checks.calls import native_calls
from conformance.checks.check import Place, Probe, Subject, Told
from conformance.checks.homes import laid
from conformance.checks.leaves import lines
from conformance.checks.reading import fingerprint, inhabited, newest
from conformance.checks.resuming import main_file, told_defects
from conformance.checks.saying import TAKES_AWAY
from conformance.checks.shaping import odd_records
from conformance.corpus import Case, load_case
from conformance.defects import Laid
from conformance.essence import text_of
from transcripts.errors import TranscriptError
from transcripts.ids import derive
from transcripts.model import AgentMessage, UserMessage
from transcripts.stores.base import agents, open_store

_TAKES_AWAY = TAKES_AWAY - {"harness-dropped", "reasoning-opaque-dropped"}
"""Losses by which a person's or a model's words may be gone; of no other is a message told here."""

_SCENARIOS = ("plain-exchange", "command-ok", "command-fails", "parallel-calls")
_SAID = ("UserMessage", "AgentMessage")


class Converting(Probe):
    """What is asked of conversions: recordings of the newest release, into each other store."""

    scenarios: ClassVar[Collection[str]]

    def offered(self, offer: Offer) -> bool:
        """Any conversion from the agent is enough."""
        return bool(offer.convert)

    def meant(self, offer: Offer, subject: Subject) -> bool:
        """Only into the stores that are offered."""
        return subject.name.rpartition("/to-")[2] in offer.convert

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield the recordings, named by the agent that each is to go to."""
        for case in newest(place.corpus, agent):
            if case.directory.name in self.scenarios:
                for target in agents():
                    if target != agent:
                        yield Subject(f"{case.name}/to-{target}", agent, self.at_stake(case))

    def at_stake(self, case: Case) -> Collection[str]:
        """Return the checks that a recording can fail."""
        del case
        return self.checks.keys()


class ConvertsASession(Converting):
    """A recorded session becomes a new one of another agent, and stays what it was itself."""

    answers: ClassVar[str] = "convert.answers"
    checks: ClassVar[Mapping[str, str]] = {
        "convert.answers": "a recorded session is converted, without an error",
        "convert.untouched": "the session that is converted stays as it was, to the byte",
        "convert.new": "a new session is made, named by the id that is answered; others stay",
        "convert.words": "what was said and done is in the files, less what was declared lost",
        "convert.order": "it stands there in the order in which it was said",
        "convert.native": "a command is the target's own record of a call, not prose about one",
        "convert.records": "every record is of a shape that a release was seen to write",
        "convert.resumes": "nothing is wrong that the newest release refuses or resumes with loss",
        "convert.readable": "the reference reads it whole, and every prompt and answer in it",
    }

    scenarios: ClassVar[Collection[str]] = _SCENARIOS

    def at_stake(self, case: Case) -> Collection[str]:
        """Return all but what only a command could show, where there is none."""
        commands = any(one["kind"] == "CommandExecution" for one in case.truth.messages)
        return frozenset(self.checks.keys() - (set() if commands else {"convert.native"}))

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """Convert into a home in which another session lies."""
        name, _, target = subject.name.rpartition("/to-")
        case = load_case(place.corpus / name, place.corpus)
        source, home = place.scratch / "source", place.scratch / "target"
        laid(case, source)
        inhabited(place.corpus, target, home)
        was, before = fingerprint(source), fingerprint(home)
        answer = adapter.convert(
            subject.agent,
            source,
            case.facts.session_id,
            target,
            home,
            new_session_id=derive("conformance-convert", subject.name),
            cwd=case.facts.cwd,
        )
        if fingerprint(source) != was:
            yield Told("convert.untouched", "a file of the source is not as it was")
        after = fingerprint(home)
        if any(after.get(one) != before[one] for one in before):
            yield Told("convert.new", "a file of another session was touched")
        files = {one: (home / one).read_bytes() for one in after.keys() - before.keys()}
        if not any(answer.session_id in one for one in files):
            yield Told("convert.new", f"no new file is named by {answer.session_id}")
        yield from _held(case, target, home, files, answer, place)
        yield from _read_back(case, target, home, answer)


def _held(
    case: Case,
    target: str,
    home: Path,
    files: Mapping[str, bytes],
    answer: Written,
    place: Place,
) -> Iterator[Told]:
    """Hold the files against the script, and against the target's releases."""
    said = ["\n".join(line) for line in lines(files)]
    main = main_file(target, files)
    if main is None:
        yield Told("convert.resumes", "there is no file where the agent looks for sessions")
    lying = None if main is None else Laid(files, main, case.facts.cwd)
    yield from _words(case, said, answer)
    for name in files:
        if name.endswith(".jsonl"):
            for odd in odd_records(target, home / name, place.schemas):
                yield Told("convert.records", odd)
    if lying is None:
        return
    yield from told_defects("convert.resumes", target, lying, place.schemas)
    calls = native_calls(target, lying.rows)
    for one in _main(case):
        if one["kind"] == "CommandExecution" and not any(c.asks([one["command"]]) for c in calls):
            yield Told("convert.native", f"{one['command'][:60]!r} is no call of the target's own")


def _main(case: Case) -> list[Mapping[str, Any]]:
    return [one for one in case.truth.messages if one["thread"] is None]


def _words(case: Case, said: Sequence[str], answer: Written) -> Iterator[Told]:
    """Look for every message; as many may be gone as the adapter says that are."""
    gone = [
        piece
        for one in _main(case)
        for piece in [
            next((piece for piece in _pieces(one) if not any(piece in line for line in said)), None)
        ]
        if piece is not None
    ]
    declared = sum(loss.loss in _TAKES_AWAY for loss in answer.losses)
    if len(gone) > declared:
        yield Told("convert.words", f"{gone[declared][:60]!r} is in no file")
    last = 0
    for one in _main(case):
        first = next(_pieces(one), None) if one["kind"] in _SAID else None
        if first is None or first in gone:
            continue
        place = next((n for n in range(last, len(said)) if first in said[n]), None)
        if place is None:
            yield Told("convert.order", f"{first[:60]!r} does not stand behind what came before")
        else:
            last = place


def _pieces(one: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of what was said, called for and answered."""
    for field in ("text", "command", "output"):
        for line in str(one.get(field) or "").split("\n"):
            if line.strip():
                yield line.strip()


def _read_back(case: Case, target: str, home: Path, answer: Written) -> Iterator[Told]:
    """Read it by the reference: every prompt and answer must be one there."""
    try:
        back = open_store(target, home).read(answer.session_id)
    except TranscriptError as error:
        yield Told("convert.readable", f"it can't be read: {error.why}")
        return
    if back is None:
        yield Told("convert.readable", f"there is no session {answer.session_id}")
        return
    texts = {
        kind: [text_of(one.content) for one in back.messages if isinstance(one, of)]
        for kind, of in (("UserMessage", UserMessage), ("AgentMessage", AgentMessage))
    }
    for one in _main(case):
        said = str(one.get("text") or "").strip()
        if one["kind"] in texts and not any(said in text for text in texts[one["kind"]]):
            yield Told("convert.readable", f"{said[:60]!r} is no {one['kind']} there")
