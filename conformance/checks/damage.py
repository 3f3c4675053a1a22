"""What a reader is checked for when a file is not whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from conformance.adapters import Adapter, Failed, Offer
from conformance.checks.check import Place, Probe, Subject, Told
from conformance.checks.homes import laid, session_file
from conformance.checks.reading import newest
from conformance.corpus import Case, load_case
from conformance.truth import faults
from transcripts.model import Transcript

_JUNK: Mapping[str, bytes] = {
    "junk-line": b"{this is no record\n",
    "nul-line": b"\0" * 64 + b"\n",
}


class ReadsWhatIsLeft(Probe):
    """A file that is damaged is refused, and recovered on demand: nothing is skipped in silence."""

    answers: ClassVar[str] = "damage.recovered"
    checks: ClassVar[Mapping[str, str]] = {
        "damage.refused": "a damaged session is an error unless recovery is asked for",
        "damage.recovered": "asked to recover, the reader gives what is whole",
        "damage.told": "and says that there is damage, and in which line",
        "damage.rest": "and loses no record that is whole",
    }

    def offered(self, offer: Offer) -> bool:
        """Reading is enough."""
        return offer.read

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield each kind of damage in one recording of the newest release."""
        for case in newest(place.corpus, agent):
            if case.facts.scenario == "command-ok":
                for kind in ("torn-tail", *_JUNK):
                    yield Subject(f"{case.name}/{kind}", agent, self.checks)

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """Damage a copy and read it, strictly and with recovery."""
        name, _, kind = subject.name.rpartition("/")
        case = load_case(place.corpus / name, place.corpus)
        home = laid(case, place.scratch / "damaged")
        whole = adapter.read(subject.agent, home, case.facts.session_id)
        line = _damage(session_file(home, case.facts.session_path), kind)
        try:
            adapter.read(subject.agent, home, case.facts.session_id)
        except Failed:
            pass
        else:
            yield Told("damage.refused", "it was read as if it were whole")
        transcript = adapter.read(subject.agent, home, case.facts.session_id, recover=True)
        if line not in [damage.line for damage in transcript.damage]:
            told = [damage.line for damage in transcript.damage]
            yield Told("damage.told", f"line {line} is damaged, and told are lines {told}")
        for words in _lost(case, whole, transcript, torn=kind == "torn-tail"):
            yield Told("damage.rest", words)


def _damage(path: Path, kind: str) -> int:
    """Damage a file; return in which line, from 1."""
    lines = path.read_bytes().splitlines(keepends=True)
    if kind == "torn-tail":
        lines[-1] = lines[-1][: len(lines[-1]) // 2]
        number = len(lines)
    else:
        number = len(lines) // 2 + 1
        lines.insert(number - 1, _JUNK[kind])
    path.write_bytes(b"".join(lines))
    return number


def news(case: Case, before: Transcript, after: Transcript) -> Iterator[str]:
    """Yield what is not as the script says and was as it says before."""
    known = {fault.words for fault in faults(case, before)}
    for fault in faults(case, after):
        if fault.words not in known:
            yield fault.words


def _lost(case: Case, whole: Transcript, left: Transcript, *, torn: bool) -> Iterator[str]:
    """Yield what the damage cost, but for the last record where that was torn off."""
    last = max((n for n, one in enumerate(case.truth.messages) if one["thread"] is None), default=0)
    for words in news(case, whole, left):
        if not (torn and f"message {last} " in words):
            yield words
