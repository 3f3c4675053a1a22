"""What a writer is checked for, by its bytes: never by a reader, its own or ours.

Each made conversation is written into a home in which another session lies. What must be found of
it are words planted in each message; what the files must look like is what releases were seen to
write.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from conformance.adapters import Adapter, Failed, Offer, Written
from conformance.checks.check import Lost, Place, Probe, Subject, Told
from conformance.checks.homes import laid
from conformance.checks.reading import fingerprint, newest
from conformance.essence import TOKEN, atoms, essence
from conformance.formats.judging import Finding, JudgedKind, judge
from conformance.formats.records import Gathering
from conformance.formats.snapshots import kept_releases
from conformance.kinds import CWD, Variant, conversation, variants
from conformance.verdicts import in_order
from transcripts.errors import TranscriptError
from transcripts.ids import derive
from transcripts.losses import Loss, LossId
from transcripts.model import Transcript

_TAKES_AWAY: frozenset[LossId] = frozenset(
    {
        "withheld-error",
        "reasoning-opaque-dropped",
        "asset-dropped",
        "thread-flattened",
        "superseded-dropped",
        "harness-dropped",
        "empty-dropped",
    }
)
"""Losses by which words of a message do not cross; with any other they must be there."""


class WritesASession(Probe):
    """A conversation becomes a new session, whole, and touches nothing that was there."""

    answers: ClassVar[str] = "write.answers"
    checks: ClassVar[Mapping[str, str]] = {
        "write.answers": "a conversation is written, without an error",
        "write.words": "every planted word is in the files, unless its loss was declared",
        "write.order": "words stand in the files in the order in which they were said",
        "write.records": "every record is of a shape that a release was seen to write",
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
            yield Subject(name_of(variant, agent), agent, self.checks)

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told | Lost]:
        """Write twice, each time beside another session, then once more under the same id."""
        transcript = conversation([variant_of(subject.name)])
        homes = [place.scratch / name for name in ("first", "second")]
        written: list[Mapping[str, bytes]] = []
        answer = None
        for home in homes:
            laid(next(newest(place.corpus, subject.agent)), home, renamed=True)
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
        yield from _words(transcript, written[0], losses)
        yield from _records(subject.agent, homes[0], written[0], place)
        before = fingerprint(homes[0])
        try:
            _write(adapter, subject, homes[0], transcript)
        except Failed:
            pass
        else:
            yield Told("write.occupied", "a second session was written under the same id")
        if {name: before[name] for name in before} != fingerprint(homes[0]):
            yield Told("write.occupied", "the session that has the id is not as it was")


def made(place: Place) -> list[Variant]:
    """Return the made conversations that are asked about, less those that cross another store."""
    return [
        variant
        for variant in variants()
        if not variant.crosses
        and (not place.made or f"{variant.kind}/{variant.name}" in place.made)
    ]


def name_of(variant: Variant, agent: str) -> str:
    """Return the name under which results tell of a made conversation."""
    return f"made/{agent}/{variant.kind}/{variant.name}"


def variant_of(name: str) -> Variant:
    """Return the made conversation of that name."""
    kind, _, variant = name.split("/", 2)[2].partition("/")
    return next(one for one in variants() if (one.kind, one.name) == (kind, variant))


def declared_losses(subject: Subject, transcript: Transcript) -> list[Loss]:
    """Return what an adapter's file declares lost: of every message that the subject is about."""
    about = variant_of(subject.name).kind
    return [
        Loss(loss=loss, message=message.id)
        for message in transcript.messages
        if message.kind == about
        for loss in subject.losses
    ]


def lost_of(subject: Subject, transcript: Transcript, losses: Iterable[Loss]) -> tuple[LossId, ...]:
    """Return what losses there are of the messages that a subject is about, or of all."""
    about = variant_of(subject.name).kind
    meant = {message.id for message in transcript.messages if message.kind == about}
    return in_order(loss.loss for loss in losses if loss.message is None or loss.message in meant)


def _write(adapter: Adapter, subject: Subject, home: Path, transcript: Transcript) -> Written:
    return adapter.write(
        subject.agent,
        home,
        transcript,
        session_id=derive("conformance-check", subject.agent, subject.name),
        cwd=CWD,
    )


def _words(
    transcript: Transcript, files: Mapping[str, bytes], losses: Sequence[Loss]
) -> Iterator[Told]:
    """Look for the planted words of each message in everything that was written."""
    lines = list(_lines(files))
    excused = {loss.message for loss in losses if loss.loss in _TAKES_AWAY}
    last = (0, "")
    for atom in atoms(transcript.messages):
        if atom.message.id in excused or None in excused:
            continue
        words = [word for piece in essence(atom) for word in TOKEN.findall(piece)]
        for word in words:
            if not any(word in line for line in lines):
                yield Told("write.words", f"{word} of the {atom.kind} is in no file")
        if words and atom.kind in ("UserMessage", "AgentMessage"):
            place = next((n for n in range(last[0], len(lines)) if words[0] in lines[n]), None)
            if place is None:
                yield Told("write.order", f"{words[0]} does not stand behind {last[1]}")
            else:
                last = (place, words[0])


def _lines(files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield every line as what it says: JSON by its strings, other text as it is."""
    for name in sorted(files):
        for line in files[name].decode("utf-8", errors="replace").split("\n"):
            try:
                value = json.loads(line)
            except ValueError:
                yield line
            else:
                yield "\n".join(_strings(value))


def _strings(value: Any) -> Iterator[str]:
    """Yield every string in a value, and what JSON in a string says."""
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "["):
            try:
                yield from _strings(json.loads(value))
            except ValueError:
                return
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


def _records(agent: str, home: Path, files: Mapping[str, bytes], place: Place) -> Iterator[Told]:
    """Hold what was written against the snapshots: whatever no release was seen to write."""
    for name in files:
        if not name.endswith(".jsonl"):
            continue
        try:
            judged = _odd_everywhere(agent, home / name, place.schemas)
        except TranscriptError as error:
            yield Told("write.records", f"{name}: {error.why}")
            continue
        for (kind, pointer), why in judged.items():
            yield Told("write.records", f"{kind} {pointer}: {why}")


def _odd_everywhere(agent: str, path: Path, schemas: Path) -> dict[tuple[str, str], str]:
    """Return what is of a shape that no release was seen to write: its place, and what is wrong.

    A kind is judged by the newest release that knows it, and cleared by any other that writes it
    so. What a writer leaves out, or null, is no matter of shape: whether a CLI minds, its resuming
    tells.
    """
    odd: dict[tuple[str, str], str] = {}
    judged: set[str] = set()
    for release in reversed(kept_releases(schemas, agent)):
        document = judge(agent, Gathering(agent, path), schemas, release)
        known = {kind.kind: kind.findings for kind in document.kinds if not _is_unknown(kind)}
        for kind, findings in known.items():
            shapes = {one.pointer: one for one in findings if one.finding != "missing-field"}
            if kind not in judged:
                odd |= {
                    (kind, pointer): _told(one) for pointer, one in shapes.items() if _breaks(one)
                }
            else:
                odd = {at: why for at, why in odd.items() if at[0] != kind or at[1] in shapes}
        judged |= known.keys()
        if not odd and judged >= {kind.kind for kind in document.kinds}:
            break
    return odd


def _is_unknown(kind: JudgedKind) -> bool:
    return any(one.finding == "unknown-kind" for one in kind.findings)


def _breaks(finding: Finding) -> bool:
    return finding.breaks and finding.found != ("null",)


def _told(finding: Finding) -> str:
    expected, found = ("|".join(one) or "nothing" for one in (finding.expected, finding.found))
    return f"{finding.finding}, expected {expected}, found {found}"
