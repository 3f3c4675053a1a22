"""What a store is checked for when there are many sessions: each is as it would be alone.

A few lives are led in a home, each a longer one, by steps that a seed chooses: the same in every
run, everywhere. :mod:`conformance.suite.stateful` leads as many as are wanted, and makes what fails
small.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from conformance.adapters import Adapter, Offer
from conformance.checks.check import Place, Probe, Subject, Told
from conformance.checks.lives import DIRECTORIES, Broken, Life, conversed
from conformance.choices import Choices, Seeded
from conformance.kinds import Variant, variants
from transcripts.model import Transcript

LENGTHS = (2, 3, 4, 6, 8, 10)
"""How many steps each life has, shortest first: what fails first is told with the fewest."""

TURNS = (("How many gates?", "Three."), ("And doors?", "None."), ("Übrigens:\n\t«so»?", "Ja. 😀"))


class _ManySessions(Probe):
    """Lives in a home of one's own; ``reads`` and ``lists`` is what is done in them besides."""

    reads: ClassVar[bool] = False
    lists: ClassVar[bool] = False

    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield the one home in which all lives are led."""
        del place
        yield Subject(f"many/{agent}/sessions", agent, self.checks)

    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told]:
        """Lead some lives; of each the first that does not hold is told."""
        for seed, length in enumerate(LENGTHS):
            choices = Choices(Seeded(seed))
            scratch = place.scratch / f"{type(self).__name__}-{seed}"
            life = Life(adapter, subject.agent, scratch, self.checks)
            try:
                life.write(_conversation(choices), choices.among(DIRECTORIES))
                for _ in range(length):
                    self._step(life, choices)
                life.look_at_everything(reads=self.reads, lists=self.lists)
            except Broken as broken:
                yield Told(broken.check, broken.why)

    def _step(self, life: Life, choices: Choices) -> None:
        """Do any of what can be done."""
        can = ["write", "write", "write again", "reopen"]
        can += ["read", "go on"] * self.reads + ["list", "list one directory"] * self.lists
        which = choices.below(life.count)
        match choices.among(can):
            case "write":
                life.write(_conversation(choices), choices.among(DIRECTORIES))
            case "write again":
                life.write_again(which, _conversation(choices), choices.among(DIRECTORIES))
            case "reopen":
                life.reopen()
            case "read":
                life.read(which)
            case "go on":
                life.go_on(which, choices.among(TURNS))
            case "list":
                life.list()
            case _:
                life.list(choices.among(DIRECTORIES))


class KeepsManySessions(_ManySessions):
    """Every session is read as it would be alone, whatever was written beside it."""

    reads = True
    answers: ClassVar[str] = "stateful.answers"
    checks: ClassVar[Mapping[str, str]] = {
        "stateful.answers": "sessions are written and read, however many there are",
        "stateful.kept": "a session loses nothing to others that are written after it",
        "stateful.own": "a session holds nothing of others, however alike they are",
        "stateful.ids": "each session has an id of its own, and says so when it is read",
        "stateful.untouched": "no write touches what another one wrote",
    }

    def offered(self, offer: Offer) -> bool:
        """Reading and writing are needed."""
        return offer.read and offer.write


class ListsManySessions(_ManySessions):
    """Every session is listed once, whatever was written beside it."""

    lists = True
    answers: ClassVar[str] = "stateful.listing"
    checks: ClassVar[Mapping[str, str]] = {
        "stateful.listing": "a home is listed, however many sessions were written into it",
        "stateful.listed": "all that was written is listed, each session once, and nothing else",
        "stateful.directories": "of one directory exactly the sessions written there are listed",
    }

    def offered(self, offer: Offer) -> bool:
        """Listing and writing are needed."""
        return offer.list and offer.write


def _conversation(choices: Choices) -> Transcript:
    """Return a small conversation; few differ, so that sessions come to be alike."""
    chosen = {choices.below(len(SMALL)) for _ in range(choices.between(1, 2))}
    turns = [choices.among(TURNS) for _ in range(choices.below(2))]
    return conversed([SMALL[index] for index in sorted(chosen)], *turns)


def _small() -> tuple[Variant, ...]:
    """Return the first conversation of each kind, the plainest."""
    first: dict[str, Variant] = {}
    for variant in variants():
        first.setdefault(variant.kind, variant)
    return tuple(first.values())


SMALL = _small()
