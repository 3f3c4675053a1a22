"""Checks, the probes that decide them, and what came of each.

A *check* is one claim about an adapter, with an id that never changes its meaning. A *probe* asks
the adapter something about one subject (a recorded case, a made conversation, a damaged copy) and
decides every check that the answer bears on: the answer is asked for once, however many claims
rest on it. Which checks a subject can fail the probe says beforehand, so that nothing counts as
passed that was never at stake.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import msgspec

from conformance.adapters import About, Adapter, Offer
from transcripts.losses import LossId

Verdict = Literal["passed", "failed", "known", "flaky", "skipped"]
"""``known`` is a failure that is listed beforehand, ``flaky`` what is listed to pass or fail as it
likes; ``skipped`` always has a reason."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What one check says of one subject. ``why`` is empty for what passed.

    ``losses`` is what the answer shows, or says, to be lost of the subject.
    """

    check: str
    case: str
    verdict: Verdict
    why: str = ""
    losses: tuple[LossId, ...] = ()


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """How many results there are of each verdict."""

    passed: int
    failed: int
    known: int
    flaky: int = 0
    skipped: int


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """What ``conformance check`` prints: what the adapter offers, and every result.

    ``offers`` are ``agent.verb``, a conversion ``agent.convert.target``. ``about`` is who the
    adapter says it is. Version 1 had no ``about``, nothing ``flaky``, and no version.
    """

    schema_version: int = 2
    adapter: str
    about: About | None = None
    offers: Sequence[str]
    summary: Summary
    results: Sequence[Result]


class Told(NamedTuple):
    """A check that failed on a subject, and why, in a sentence without the subject's name."""

    check: str
    why: str


class Lost(NamedTuple):
    """What was lost of a subject, as far as a check's answer lets it be seen."""

    check: str
    losses: tuple[LossId, ...]


class Subject(NamedTuple):
    """What a probe asks about. ``at_stake`` are the checks that it decides.

    Of those ``by_design`` names each that is not asked, with the reason; ``losses`` is what is
    declared to be lost of the subject, whatever the answer says of itself.
    """

    name: str
    agent: str
    at_stake: Collection[str]
    by_design: tuple[tuple[str, str], ...] = ()
    losses: tuple[LossId, ...] = ()


class Place(NamedTuple):
    """What checks are taken from: the recordings, the formats' schemas, and a scratch directory.

    ``made`` names the made conversations (``UserMessage/plain``) that are asked about, all if none
    is named.
    """

    corpus: Path
    schemas: Path
    scratch: Path
    made: Collection[str] = ()


class Probe(ABC):
    """One question to an adapter and the checks that its answer decides.

    ``checks`` maps ids to the claim in words, ``answers`` is the check that there is an answer
    at all: where there is none, the others are skipped for want of it.
    """

    checks: ClassVar[Mapping[str, str]]
    answers: ClassVar[str]

    @abstractmethod
    def offered(self, offer: Offer) -> bool:
        """Whether what an adapter offers of a store lets the question be asked."""

    def meant(self, offer: Offer, subject: Subject) -> bool:
        """Whether what is offered covers this subject too."""
        del offer, subject
        return True

    @abstractmethod
    def subjects(self, place: Place, agent: str) -> Iterator[Subject]:
        """Yield what is asked about, of one agent's store."""

    @abstractmethod
    def ask(self, adapter: Adapter, subject: Subject, place: Place) -> Iterator[Told | Lost]:
        """Ask about a subject and yield every check that fails, and what is seen to be lost.

        What the adapter raises is left to the caller: it is no answer.
        """
