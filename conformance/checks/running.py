"""An adapter, asked everything that it offers an answer to."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from conformance.adapters import (
    About,
    Adapter,
    AdapterError,
    NotOffered,
    Skipped,
    open_adapter,
)
from conformance.adapters.declaration import BadDeclaration, Declaration
from conformance.checks.catalogue import ASKED, PROBES
from conformance.checks.check import (
    CheckReport,
    Lost,
    Place,
    Probe,
    Result,
    Subject,
    Summary,
    Verdict,
)
from conformance.checks.declared import declaration_of, held
from conformance.checks.known import Known, judged
from conformance.matrix import Tick
from transcripts.losses import LossId

_LONGEST_WHY = 2000
"""So many characters of a reason are kept: an adapter may answer with a whole file."""


class Unusable(Exception):
    """The adapter could not be asked at all, which says nothing of what it would answer."""


class Question(NamedTuple):
    """A probe's question about a subject."""

    probe: int
    subject: Subject


def check_adapter(
    name: str,
    corpus: Path,
    schemas: Path,
    *,
    stores: Collection[str] = (),
    only: Collection[str] = (),
    known: Known | None = None,
    live: bool = False,
    jobs: int = 1,
    tick: Tick = lambda _: None,
) -> CheckReport:
    """Ask an adapter everything that it offers, and return every result in the order of asking.

    ``stores`` are the agents and ``only`` patterns of the checks (``read.*``) that are asked for,
    all if none is named. ``known`` are failures that are known beforehand. With ``live`` the
    real CLIs are asked besides.
    :class:`Unusable` if it can't be opened, ends at once or offers nothing: a broken harness is
    no failure of the adapter's.
    """
    try:
        opened = open_adapter(name)
        about, offers, questions = _planned(
            opened, stores, only, Place(corpus, schemas, Path()), live=live
        )
    except BadDeclaration:
        raise
    except AdapterError as error:
        raise Unusable(str(error)) from error
    if not questions:
        asked_of = f" of {', '.join(stores)}" if stores else ""
        raise Unusable(f"{name} offers nothing{asked_of} that can be checked")
    results = _asked(name, corpus, schemas, questions, jobs, tick)
    whole = not (stores or only)
    declared = declaration_of(name)
    if declared is not None:
        results += held(results, offers, declared, stores=stores, whole=whole)
    if known is not None:
        results = judged(results, known, whole=whole)
    return CheckReport(
        adapter=name, about=about, offers=offers, summary=summary_of(results), results=results
    )


def summary_of(results: Sequence[Result]) -> Summary:
    """Count results by their verdicts."""
    counts = Counter(result.verdict for result in results)
    return Summary(
        passed=counts["passed"],
        failed=counts["failed"],
        known=counts["known"],
        flaky=counts["flaky"],
        skipped=counts["skipped"],
    )


def _planned(
    opened: AbstractContextManager[Adapter],
    stores: Collection[str],
    only: Collection[str],
    place: Place,
    *,
    live: bool,
) -> tuple[About, list[str], list[Question]]:
    with opened as adapter:
        agents = [agent for agent in adapter.agents() if not stores or agent in stores]
        offers = [offer for agent in agents for offer in _offers(adapter, agent)]
        return adapter.about, offers, list(questions(adapter, agents, only, place, live=live))


def _offers(adapter: Adapter, agent: str) -> Iterator[str]:
    offer = adapter.offers(agent)
    for verb in ("read", "write", "list"):
        if getattr(offer, verb):
            yield f"{agent}.{verb}"
    for target in offer.convert:
        yield f"{agent}.convert.{target}"


def questions(
    adapter: Adapter,
    agents: Sequence[str],
    only: Collection[str],
    place: Place,
    *,
    live: bool = False,
) -> Iterator[Question]:
    """Yield what an adapter is asked of these agents' stores, in the order of asking.

    Of an adapter with a file of its own, what that declares goes with each subject.
    """
    declared = declaration_of(adapter.name)
    for number, probe in enumerate(ASKED if live else PROBES):
        for agent in agents:
            if not probe.offered(adapter.offers(agent)):
                continue
            for subject in probe.subjects(place, agent):
                wanted = [check for check in subject.at_stake if _is_wanted(check, only)]
                if wanted and probe.meant(adapter.offers(agent), subject):
                    asked = subject._replace(at_stake=frozenset(wanted))
                    yield Question(number, _designed(asked, declared))


def _designed(subject: Subject, declared: Declaration | None) -> Subject:
    """Return a subject with what is declared of it."""
    if declared is None:
        return subject
    reasons = ((check, declared.by_design(check, subject.name)) for check in _at_stake(subject))
    _, _, made = subject.name.partition(f"made/{subject.agent}/")
    return subject._replace(
        by_design=tuple((check, why) for check, why in reasons if why is not None),
        losses=declared.losses(subject.agent, made) if made else (),
    )


def _is_wanted(check: str, only: Collection[str]) -> bool:
    return not only or any(fnmatchcase(check, pattern) for pattern in only)


def _asked(
    name: str, corpus: Path, schemas: Path, questions: Sequence[Question], jobs: int, tick: Tick
) -> list[Result]:
    """Ask in as many processes as wanted, each with an adapter of its own."""
    if jobs < 2 or len(questions) < jobs:
        return [one for part in _ask_all(name, corpus, schemas, questions, tick) for one in part]
    # Neighbours are alike: dealt out in turn, every process gets its share of the long ones.
    shares = [questions[number::jobs] for number in range(jobs)]
    results: dict[int, Sequence[Result]] = {}
    with ProcessPoolExecutor(jobs, initializer=_be_ended) as pool:
        waiting = {
            pool.submit(_share, name, corpus, schemas, share): number
            for number, share in enumerate(shares)
        }
        try:
            for done in as_completed(waiting):
                number = waiting[done]
                for place, part in enumerate(done.result()):
                    results[number + place * jobs] = part
                tick(f"{len(results)} of {len(questions)}")
        except BaseException:
            # Leaving the pool waits for what is under way: every other question of a share.
            for child in multiprocessing.active_children():
                child.terminate()
            raise
    return [one for number in range(len(questions)) for one in results[number]]


def _be_ended() -> None:
    """Have this process end what it asks, with its adapter and scratch, when it is told to.

    An interrupt at the terminal reaches it too: whoever started it tells it, once.
    """

    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, _pass_over)
        sys.exit(1)

    signal.signal(signal.SIGINT, _pass_over)
    signal.signal(signal.SIGTERM, end)


def _pass_over(*_: object) -> None:
    """Do nothing, and still be no ignored signal, which an adapter's process would inherit."""


def _share(
    name: str, corpus: Path, schemas: Path, questions: Sequence[Question]
) -> list[list[Result]]:
    return list(_ask_all(name, corpus, schemas, questions, lambda _: None))


def _ask_all(
    name: str,
    corpus: Path,
    schemas: Path,
    questions: Sequence[Question],
    tick: Callable[[str], None],
) -> Iterator[list[Result]]:
    with (
        tempfile.TemporaryDirectory(prefix="conformance-check-") as scratch,
        open_adapter(name) as adapter,
    ):
        place = Place(corpus, schemas, Path(scratch))
        for question in questions:
            tick(f"{question.subject.name}")
            yield results_of(ASKED[question.probe], adapter, question.subject, place)


def results_of(probe: Probe, adapter: Adapter, subject: Subject, place: Place) -> list[Result]:
    """Ask one question; every check at stake has one result, failed with its first reason.

    What is not done by design is not asked, and skipped.
    """
    not_done = dict(subject.by_design)
    asked = subject._replace(at_stake=frozenset(subject.at_stake) - not_done.keys())
    results = [
        _result(check, subject, "skipped", f"by design: {why}") for check, why in not_done.items()
    ]
    if asked.at_stake:
        results += _results(probe, adapter, asked, place)
    return sorted(results, key=lambda one: one.check)


def _results(probe: Probe, adapter: Adapter, subject: Subject, place: Place) -> list[Result]:
    failed: dict[str, str] = {}
    lost: dict[str, tuple[LossId, ...]] = {}
    try:
        for told in probe.ask(adapter, subject, place):
            if isinstance(told, Lost):
                lost[told.check] = told.losses
            else:
                failed.setdefault(told.check, told.why)
    except (NotOffered, Skipped) as error:
        return [_result(check, subject, "skipped", str(error)) for check in _at_stake(subject)]
    except AdapterError as error:
        if probe.answers in subject.at_stake:
            failed = {probe.answers: str(error)}
        return [
            _result(check, subject, "failed", failed[check])
            if check in failed
            else _result(check, subject, "skipped", f"there is no answer ({probe.answers} failed)")
            for check in _at_stake(subject)
        ]
    return [
        replace(
            _result(check, subject, "failed", failed[check])
            if check in failed
            else _result(check, subject, "passed", ""),
            losses=lost.get(check, ()),
        )
        for check in _at_stake(subject)
    ]


def _at_stake(subject: Subject) -> list[str]:
    return sorted(subject.at_stake)


def _result(check: str, subject: Subject, verdict: Verdict, why: str) -> Result:
    short = why if len(why) <= _LONGEST_WHY else f"{why[:_LONGEST_WHY]}…"
    return Result(check=check, case=subject.name, verdict=verdict, why=short)
