"""Which checks are run in which directions, and all of them run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import NamedTuple

from conformance.livechecks.results import Result
from conformance.livechecks.running import Bench, run_check, run_control
from conformance.matrix import Tick
from live.checks import load

AGENTS = ("claude", "codex", "copilot")


class Planned(NamedTuple):
    """A check to be run. Without a ``target`` it is the source's control."""

    case: str
    source: str
    target: str | None


def plan(
    cases: Sequence[str], sources: Sequence[str], targets: Sequence[str], *, control: bool
) -> Iterator[Planned]:
    """Yield every check in every direction, and the controls of the targets."""
    for case in cases:
        for source in sources:
            for target in targets:
                yield Planned(case, source, target)
        for target in targets if control else ():
            yield Planned(case, target, None)


def run_all(planned: Sequence[Planned], bench: Bench, jobs: int, tick: Tick) -> list[Result]:
    """Run checks, some at a time; return their results in the order of the plan."""
    results: dict[int, Result] = {}
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(_work(one, bench)): number for number, one in enumerate(planned)}
        for done in as_completed(waiting):
            number = waiting[done]
            results[number] = done.result()
            one = results[number]
            tick(f"{len(results)} of {len(planned)}: {one.case} {one.source} to {one.target}")
    return [results[number] for number in range(len(planned))]


def _work(one: Planned, bench: Bench) -> Callable[[], Result]:
    check = load(one.case)
    if one.target is None:
        return partial(run_control, check, one.source, bench)
    return partial(run_check, check, one.source, one.target, bench)
