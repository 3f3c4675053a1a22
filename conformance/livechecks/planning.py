"""Which checks are run in which directions and at which releases, and all of them run."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from conformance.corpus import CorpusError, cases, releases
from conformance.livechecks.limits import Limit, limited, limits
from conformance.livechecks.moving import AdapterMover, StoreMover
from conformance.livechecks.results import Result
from conformance.livechecks.running import Bench, run_check, run_control
from conformance.matrix import Tick
from live.checks import load
from transcripts.stores.base import agents

AGENTS = agents()

ARRIVAL = "t0"
"""The case that is moved into every release, where all of them are asked."""

Releases = Mapping[str, Sequence[str]]
"""By agent: those that are asked, the newest last."""


class Planned(NamedTuple):
    """A check to be run. Without a ``target`` it is the source's control.

    ``releases`` says of the agents that take part which of theirs is meant, where that is not
    the one that the bench has for them.
    """

    case: str
    source: str
    target: str | None
    releases: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The check and its direction in one word, with the releases where they are chosen."""
        at = dict(self.releases)
        source, target = (
            agent + (f"@{at[agent]}" if agent in at else "")
            for agent in (self.source, self.target or self.source)
        )
        return f"{self.case}-{source}-{'own' if self.target is None else target}"


def newest(corpus: Path) -> dict[str, str]:
    """Return the newest recorded release of every agent; CorpusError if one has none."""
    recorded = {agent: releases(corpus, agent) for agent in AGENTS}
    for agent, found in recorded.items():
        if not found:
            raise CorpusError(f"{corpus}: no release of {agent} is recorded there")
    return {agent: found[-1] for agent, found in recorded.items()}


def resuming(corpus: Path) -> dict[str, tuple[str, ...]]:
    """Return every agent's recorded releases that resume a session, oldest first."""
    return {
        agent: tuple(
            release
            for release in releases(corpus, agent)
            if any(case.facts.resumed for case in cases(corpus, agent, release))
        )
        for agent in AGENTS
    }


def plan(
    names: Sequence[str],
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    control: bool,
    chosen: Releases | None = None,
) -> Iterator[Planned]:
    """Yield every check in every direction, and the controls of the targets.

    Of an agent for which releases are ``chosen`` each of them takes its turn; within one agent a
    session stays with its release.
    """
    at: dict[str, Sequence[str | None]] = dict.fromkeys((*sources, *targets), (None,))
    at.update({agent: tuple(found) for agent, found in (chosen or {}).items() if found})
    for name in names:
        for source, target in product(sources, targets):
            for one, other in product(at[source], at[target]):
                if source != target or one == other:
                    yield Planned(name, source, target, _chosen((source, one), (target, other)))
        for target in targets if control else ():
            for one in at[target]:
                yield Planned(name, target, None, _chosen((target, one)))


def plan_every(
    names: Sequence[str], every: Releases, targets: Sequence[str] = AGENTS
) -> Iterator[Planned]:
    """Yield what every release is asked: one session moved to it, and its own of every case."""
    for target in targets:
        source = AGENTS[AGENTS.index(target) - 1]
        for release in every[target]:
            yield Planned(ARRIVAL, source, target, ((target, release),))
            for name in names:
                yield Planned(name, target, None, ((target, release),))


def _chosen(*pairs: tuple[str, str | None]) -> tuple[tuple[str, str], ...]:
    return tuple({agent: release for agent, release in pairs if release is not None}.items())


def run_all(planned: Sequence[Planned], bench: Bench, jobs: int, tick: Tick) -> list[Result]:
    """Run checks, some at a time; return their results in the order of the plan."""
    results: dict[int, Result] = {}
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {
            pool.submit(run_planned, one, bench): number for number, one in enumerate(planned)
        }
        try:
            for done in as_completed(waiting):
                number = waiting[done]
                one = results[number] = done.result()
                tick(f"{len(results)} of {len(planned)}: {one.name}: {one.verdict}")
        except BaseException:
            with _undisturbed():
                if isinstance(bench.mover, AdapterMover):
                    bench.mover.abandon()
                tick("stopping: what still runs is seen to its end")
                pool.shutdown(cancel_futures=True)
            raise
    return [results[number] for number in range(len(planned))]


@contextmanager
def _undisturbed() -> Generator[None, None, None]:
    """Let nobody who presses Ctrl-C once more end what removes directories and ends CLIs."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.signal(one, signal.SIG_IGN) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _broken(one: Planned, bench: Bench, error: Exception) -> Result:
    target = one.target or one.source
    return Result(
        case=one.case,
        source=one.source,
        target=target,
        releases={agent: bench.releases[agent] for agent in (one.source, target)},
        verdict="failed",
        why=f"the check itself broke: {type(error).__name__}: {error}",
        moved=one.target is not None,
    )


def run_planned(one: Planned, bench: Bench, known: Sequence[Limit] | None = None) -> Result:
    """Run one check; what is known to be impossible is said in its result."""
    check = load(one.case)
    chosen = replace(bench, releases={**bench.releases, **dict(one.releases)})
    run: Callable[[], Result] = (
        (lambda: run_control(check, one.source, chosen))
        if one.target is None
        else (lambda target=one.target: run_check(check, one.source, target, chosen))
    )
    try:
        result = run()
    except Exception as error:  # the others are to be run all the same, and this is seen
        result = _broken(one, chosen, error)
    # A limit is the reference's claim: it is no fault of somebody else's to do better.
    if isinstance(bench.mover, StoreMover) or result.verdict != "passed":
        result = limited(result, limits() if known is None else known)
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return replace(result, checked_at=now)
