"""What ``conformance live`` does: choose, run, keep, show."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from conformance.adapters import open_adapter
from conformance.corpus import find_corpus
from conformance.livechecks import stored
from conformance.livechecks.moving import AdapterMover, Mover, StoreMover
from conformance.livechecks.planning import (
    AGENTS,
    Planned,
    newest,
    plan,
    plan_every,
    resuming,
    run_all,
)
from conformance.livechecks.results import REFERENCE, LiveReport, Result
from conformance.livechecks.running import Bench
from conformance.livechecks.sources import Sources
from conformance.matrix import Tick
from live.agents.base import exact_release
from live.checks import CheckError, load, selected

PASSED, FAILED, NOTHING_RAN = 0, 1, 3


class Misuse(Exception):
    """What was asked for is not there; the message says what is."""


def planned(
    cases: Sequence[str],
    sources: Sequence[str],
    targets: Sequence[str],
    chosen: Iterable[tuple[str, str]],
    *,
    control: bool,
    every: bool = False,
) -> list[Planned]:
    """Return the checks that are meant; :class:`Misuse` if a case is not there.

    A release may be named by a dist-tag, such as ``latest``: what that is now is asked of npm.
    """
    try:
        names = selected(cases)
    except CheckError as error:
        raise Misuse(str(error)) from error
    if every:
        return list(plan_every(names, resuming(find_corpus()), targets or AGENTS))
    by_agent: dict[str, list[str]] = {}
    for agent, release in chosen:
        exact = exact_release(agent, release)
        if exact not in by_agent.setdefault(agent, []):
            by_agent[agent].append(exact)
    asked = (list(dict.fromkeys(some or AGENTS)) for some in (sources, targets))
    return list(plan(names, *asked, control=control, chosen=by_agent))


def ready(keep: Path | None, page: Path | None = None, adapter: str | None = None) -> None:
    """See that what comes of a run can be kept, before it is run; :class:`Misuse` if it can't."""
    if page is not None:
        kept = page.with_suffix(".json")
        if kept == page:
            raise Misuse(f"--write {page}: the results lie there; name the page, {page.stem}.md")
        there = stored.load(kept)
        if there.results and there.mover != (adapter or REFERENCE):
            raise Misuse(f"{kept} holds what {there.mover} moved; name a page of its own")
    for directory in (keep, page and page.parent):
        if directory is None:
            continue
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Misuse(f"{directory} can't be made: {error.strerror}") from error
        if not os.access(directory, os.W_OK):
            raise Misuse(f"{directory} can't be written to; name another directory")


def run(
    checks: Sequence[Planned], adapter: str | None, keep: Path | None, jobs: int, tick: Tick
) -> LiveReport:
    """Run checks, moved by the reference stores unless an adapter is named."""
    with (
        moved_by(adapter) as mover,
        tempfile.TemporaryDirectory(prefix="live-sources-") as directory,
    ):
        bench = Bench(
            mover=mover,
            releases=newest(find_corpus()),
            sources=Sources(Path(directory)),
            keep=keep,
        )
        results = run_all(checks, bench, jobs, tick)
    return LiveReport(mover=mover.name, titles=titles(results), results=results)


@contextmanager
def moved_by(adapter: str | None) -> Generator[Mover, None, None]:
    """Lend who moves sessions: the reference stores, or the adapter of a name."""
    if adapter is None:
        yield StoreMover()
        return
    with open_adapter(adapter) as opened:
        yield AdapterMover(opened)


def titles(results: Iterable[Result]) -> Mapping[str, str]:
    """Return what each case that was run is about."""
    return {name: load(name).title for name in dict.fromkeys(one.case for one in results)}


def exit_code(results: Sequence[Result]) -> int:
    """Return 1 if a check failed, 3 if none ran, else 0.

    What was skipped did not run, and neither did what a driver has no way to do; what is known
    to be impossible, and was tried, did.
    """
    if any(one.verdict == "failed" or disagrees(one) for one in results):
        return FAILED
    ran = any(one.verdict == "passed" or one.measured is not None for one in results)
    return PASSED if ran else NOTHING_RAN


def disagrees(result: Result) -> bool:
    """Whether the vendor's own software says otherwise of a moved session than was written."""
    return any(one.verdict in ("differs", "refuses") for one in result.model_free)
