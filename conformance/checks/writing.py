"""What a writer is checked for, by its bytes: never by a reader, its own or ours.

Each made conversation is written into a home in which another session lies. What must be found of
it are words planted in each message; what the files must look like is what releases were seen to
write, and what they were seen to resume.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from conformance.adapters import Adapter, Failed, Offer, Written
from conformance.checks.calling import called_natively, told_calls
from conformance.checks.calls import native_calls
from conformance.checks.check import Lost, Place, Probe, Subject, Told
from conformance.checks.leaves import lines
from conformance.checks.made import declared_losses, lost_of, made, name_of, variant_of
from conformance.checks.reading import fingerprint, inhabited
from conformance.checks.resuming import main_file, takes_back, told_defects
from conformance.checks.saying import crossing, told_seals, told_texts, told_words
from conformance.checks.shaping import odd_records
from conformance.defects import Laid
from conformance.essence import atoms
from conformance.kinds import CWD, Variant, conversation
from transcripts.ids import derive
from transcripts.losses import Loss
from transcripts.model import (
    AgentMessage,
    CommandExecution,
    Opaque,
    Reasoning,
    ToolCall,
    Transcript,
    UserMessage,
)


class WritesASession(Probe):
    """A conversation becomes a new session, whole, and touches nothing that was there."""

    answers: ClassVar[str] = "write.answers"
    checks: ClassVar[Mapping[str, str]] = {
        "write.answers": "a conversation is written, without an error",
        "write.words": "every planted word is in the files, unless its loss was declared",
        "write.order": "words stand in the files in the order in which they were said",
        "write.texts": "what was said stands there as it was said, to the last character",
        "write.apart": "what was said by itself is a text of its own, not part of another",
        "write.native": "a call is the target's own record of a call, not prose about one",
        "write.arguments": "a call's arguments are what they were: numbers, nulls, order of lists",
        "write.results": "a call's result stands with the call, as it was, line ends too",
        "write.exit-codes": "a command's exit status stands with its result",
        "write.parallel": "calls that were made at once are calls of one answer",
        "write.seals": "what only its own provider can read is handed to no other",
        "write.records": "every record is of a shape that a release was seen to write",
        "write.resumes": "nothing is wrong that the newest release refuses or resumes with loss",
        "write.new": "a new session is made, and no file that was there is touched",
        "write.repeatable": "equal arguments give equal bytes",
        "write.occupied": "an id that is taken is refused, and its session stays as it was",
    }

    def offered(self, offer: Offer) -> bool:
        """Writing is enough."""
        return offer.write

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield every made conversation."""
        for variant in made(place):
            yield Subject(name_of(variant, agent), agent, self.checks.keys() - _off(variant, agent))

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told | Lost]:
        """Write twice, each time beside another session, then once more under the same id."""
        transcript = conversation([variant_of(subject.name)])
        homes = [place.scratch / name for name in ("first", "second")]
        written: list[Mapping[str, bytes]] = []
        answer = None
        for home in homes:
            inhabited(place.corpus, subject.agent, home)
            before = fingerprint(home)
            answer = _write(adapter, subject, home, transcript)
            after = fingerprint(home)
            for name in before:
                if before[name] != after.get(name):
                    yield Told("write.new", f"{name}, which is another session's, was touched")
            new = [name for name in after if name not in before]
            if not new:
                yield Told("write.new", "no file was added")
            written.append({name: (home / name).read_bytes() for name in new})
        assert answer is not None
        if written[0] != written[1]:
            names = sorted({*written[0], *written[1]})
            odd = next(n for n in names if written[0].get(n) != written[1].get(n))
            yield Told("write.repeatable", f"{odd} is another the second time")
        losses = (*answer.losses, *declared_losses(subject, transcript))
        yield Lost(self.answers, lost_of(subject, transcript, answer.losses))
        yield from _files(subject.agent, homes[0], written[0], transcript, losses, place)
        before = fingerprint(homes[0])
        try:
            _write(adapter, subject, homes[0], transcript)
        except Failed:
            pass
        else:
            yield Told("write.occupied", "a second session was written under the same id")
        if {name: before[name] for name in before} != fingerprint(homes[0]):
            yield Told("write.occupied", "the session that has the id is not as it was")


def _off(variant: Variant, agent: str) -> set[str]:
    """Return the checks that a made conversation can't fail: it has nothing that they ask for."""
    whole = atoms(variant.messages)
    calls = [
        one.message
        for one in whole
        if isinstance(one.message, CommandExecution | ToolCall) and called_natively(agent, one)
    ]
    answers = [one.response for one in calls if one.response is not None]
    spoken = [one for one in whole if isinstance(one.message, UserMessage | AgentMessage)]
    at_stake = {
        "write.texts": bool(spoken),
        "write.apart": len(spoken) > 1,
        "write.native": bool(calls),
        "write.arguments": any(
            isinstance(one, ToolCall) and isinstance(one.arguments, dict) for one in calls
        ),
        "write.results": any(one.output for one in calls),
        "write.exit-codes": any(
            isinstance(one, CommandExecution) and one.exit_code for one in calls
        ),
        "write.parallel": len(answers) > len(set(answers)),
        "write.seals": any(
            isinstance(part, Opaque)
            for one in variant.messages
            if isinstance(one, Reasoning)
            for part in one.content
        ),
    }
    return {check for check, can in at_stake.items() if not can}


def _write(adapter: Adapter, subject: Subject, home: Path, transcript: Transcript) -> Written:
    return adapter.write(
        subject.agent,
        home,
        transcript,
        session_id=derive("conformance-check", subject.agent, subject.name),
        cwd=CWD,
    )


def _files(
    agent: str,
    home: Path,
    files: Mapping[str, bytes],
    transcript: Transcript,
    losses: Sequence[Loss],
    place: Place,
) -> Iterator[Told]:
    """Hold the files against the conversation that they are of, and against the releases."""
    crossed = crossing(transcript, losses)
    said = list(lines(files))
    leaves = {leaf for line in said for leaf in line}
    yield from told_words(crossed, said)
    yield from told_texts(crossed, leaves)
    yield from told_seals(transcript, leaves)
    for name in files:
        if name.endswith(".jsonl"):
            for odd in odd_records(agent, home / name, place.schemas):
                yield Told("write.records", odd)
    main = main_file(agent, files)
    if main is None:
        yield Told("write.resumes", "there is no file where the agent looks for sessions")
        return
    lying = Laid(files, main, CWD)
    wanted = [atom for atom in crossed if called_natively(agent, atom)]
    yield from told_calls(wanted, native_calls(agent, lying.rows))
    yield from told_defects(
        "write.resumes", agent, lying, place.schemas, taken_back=takes_back(transcript)
    )
