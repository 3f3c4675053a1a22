"""What is left of a conversation that an adapter wrote and reads back after it was opened anew."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from typing import ClassVar

from conformance.adapters import Adapter, Offer
from conformance.checks.check import Lost, Place, Probe, Subject, Told
from conformance.checks.made import declared_losses, made, name_of, variant_of
from conformance.fidelity import compare
from conformance.kinds import CWD, conversation
from conformance.verdicts import in_order
from transcripts.ids import derive


class ReadsWhatItWrote(Probe):
    """What an adapter wrote it reads again, less what it declared lost."""

    answers: ClassVar[str] = "round-trip.answers"
    checks: ClassVar[Mapping[str, str]] = {
        "round-trip.answers": "what was written is read, after the adapter was opened anew",
        "round-trip.kept": "every message comes back, less what was declared lost",
        "round-trip.nothing-added": "nothing comes back that was not written",
        "round-trip.session": "it comes back under its id, from its directory",
    }

    def offered(self, offer: Offer) -> bool:
        """Reading and writing are needed."""
        return offer.read and offer.write

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield every made conversation."""
        for variant in made(place):
            yield Subject(name_of(variant, agent), agent, self.checks)

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told | Lost]:
        """Write, open anew, read, compare."""
        variant = variant_of(subject.name)
        sent = conversation([variant])
        home = place.scratch / "round-trip"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        wanted = derive("conformance-check", subject.agent, subject.name)
        answer = adapter.write(subject.agent, home, sent, session_id=wanted, cwd=CWD)
        adapter.reopen()
        back = adapter.read(subject.agent, home, answer.session_id)
        losses = (*answer.losses, *declared_losses(subject, sent))
        fidelity = compare(sent.messages, back.messages, losses, back.cwd)
        meant = [one for one in sent.messages if one.kind == variant.kind]
        lost = in_order(loss for one in meant for loss in fidelity.judged[one.id].losses)
        yield Lost("round-trip.kept", lost)
        for message in sent.messages:
            judgement = fidelity.judged[message.id]
            if judgement.verdict == "lost":
                yield Told("round-trip.kept", f"{message.kind}: {judgement.why}")
        for _, stray in fidelity.strays:
            yield Told("round-trip.nothing-added", f"a {stray.kind} came back")
        if back.session_id != answer.session_id or back.cwd != CWD:
            yield Told("round-trip.session", f"it is {back.session_id} in {back.cwd}")
