"""What a reader is checked for across readings: as a session grows, elsewhere, in a new process.

Whoever keeps something of a message keeps it by its id, and reads again later: then a session is
longer, its directory may have moved, and the process is another one.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

from conformance.adapters import Adapter, Offer
from conformance.adapters.wire import WireAdapter
from conformance.checks.check import Place, Probe, Subject, Told
from conformance.checks.homes import laid, session_file
from conformance.checks.reading import newest
from conformance.corpus import load_case
from conformance.essence import atoms, identity
from transcripts.model import Transcript
from transcripts.serialise import to_json

_CUTS = (1 / 3, 2 / 3)
"""After how much of a session it is read, before the rest is appended."""


class ReadsWhatGrows(Probe):
    """A session is read while it is written, and again when there is more of it."""

    answers: ClassVar[str] = "read.growing"
    checks: ClassVar[Mapping[str, str]] = {
        "read.growing": "a session is read while its CLI still writes it, and when there is more",
        "read.kept-ids": "what was read of the beginning has the same ids when there is more",
        "read.elsewhere": "the same files in another place are read the same, ids included",
    }

    def offered(self, offer: Offer) -> bool:
        """Reading is enough."""
        return offer.read

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield the recordings of the newest release."""
        for case in newest(place.corpus, agent):
            yield Subject(case.name, agent, self.checks)

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """Read a file of which the end is not written yet, then whole, then in another place."""
        case = load_case(place.corpus / subject.name, place.corpus)
        home = laid(case, place.scratch / "growing")
        path = session_file(home, case.facts.session_path)
        lines = path.read_bytes().splitlines(keepends=True)
        begun: list[Transcript] = []
        for cut in _CUTS:
            path.write_bytes(b"".join(lines[: max(int(len(lines) * cut), 1)]))
            begun.append(adapter.read(subject.agent, home, case.facts.session_id))
        path.write_bytes(b"".join(lines))
        whole = adapter.read(subject.agent, home, case.facts.session_id)
        for part in begun:
            for words in _moved(part, whole):
                yield Told("read.kept-ids", words)
        elsewhere = laid(case, place.scratch / "moved" / "to" / "another")
        again = adapter.read(subject.agent, elsewhere, case.facts.session_id)
        if to_json(whole) != to_json(again):
            yield Told("read.elsewhere", "another transcript is read there")


class ReadsAfresh(Probe):
    """A session is read in a process of its own: what only this one knows is in no answer."""

    answers: ClassVar[str] = "read.afresh"
    checks: ClassVar[Mapping[str, str]] = {
        "read.afresh": "another process reads the same, ids included",
    }

    def offered(self, offer: Offer) -> bool:
        """Reading is enough."""
        return offer.read

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield one recording of the newest release: a process for each would take minutes."""
        for case in newest(place.corpus, agent):
            if case.directory.name == "subagent":
                yield Subject(f"{case.name}/afresh", agent, self.checks)

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """Read here and there."""
        case = load_case(place.corpus / subject.name.removesuffix("/afresh"), place.corpus)
        home = laid(case, place.scratch / "afresh")
        here = adapter.read(subject.agent, home, case.facts.session_id)
        with another_process(adapter) as other:
            there = other.read(subject.agent, home, case.facts.session_id)
        if to_json(here) != to_json(there):
            yield Told("read.afresh", "another transcript is read there")


@contextmanager
def another_process(adapter: Adapter) -> Generator[Adapter, None, None]:
    """Lend the adapter in a process that has not answered anything yet."""
    if isinstance(adapter, WireAdapter):
        adapter.reopen()
        yield adapter
        return
    # Texts have another hash there, whatever this process was told.
    python = ("env", "PYTHONHASHSEED=random", sys.executable)
    serving = (*python, "-m", "conformance.adapters.serving", adapter.name)
    other = WireAdapter(adapter.name, serving)
    try:
        yield other
    finally:
        other.close()


def _moved(part: Transcript, whole: Transcript) -> Iterator[str]:
    """Yield what is the same in both, and has another id in the whole."""
    after = _ids(whole)
    for what, ids in _ids(part).items():
        kept = after.get(what)
        if kept is not None and kept[: len(ids)] != ids:
            yield f"a {what[0]} of the beginning has another id when there is more"


def _ids(transcript: Transcript) -> dict[tuple[object, ...], list[str]]:
    """Return the ids of what says the same on the same thread, in order.

    A prompt that waits is left out: when it is given, it is so in a record of its own.
    """
    found: defaultdict[tuple[object, ...], list[str]] = defaultdict(list)
    for atom in atoms(transcript.messages):
        message, what = atom.message, identity(atom)
        waits = message.delivery == "queued" and not message.in_context
        if what is not None and not waits:
            found[(atom.kind, message.author, message.agent, repr(what))].append(message.id)
    return found
