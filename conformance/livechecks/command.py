"""What ``conformance live`` does: choose, run, show."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from conformance.corpus import find_corpus, releases
from conformance.livechecks.moving import StoreMover
from conformance.livechecks.planning import AGENTS, plan, run_all
from conformance.livechecks.results import LiveReport, Result
from conformance.livechecks.running import Bench
from conformance.livechecks.sources import Sources
from conformance.matrix import Tick
from live.checks import CheckError, selected
from transcripts.serialise import to_json

PASSED, FAILED, NOTHING_RAN = 0, 1, 3


class Misuse(Exception):
    """What was asked for is not there; the message says what is."""


def run(
    cases: Sequence[str],
    sources: Sequence[str],
    targets: Sequence[str],
    chosen: Mapping[str, str],
    control: bool,
    jobs: int,
    tick: Tick,
) -> list[Result]:
    """Run checks with the reference stores."""
    try:
        names = selected(cases)
    except CheckError as error:
        raise Misuse(str(error)) from error
    with tempfile.TemporaryDirectory(prefix="live-sources-") as directory:
        bench = Bench(
            mover=StoreMover(),
            releases={**newest(), **chosen},
            sources=Sources(Path(directory)),
        )
        planned = list(plan(names, sources or AGENTS, targets or AGENTS, control=control))
        return run_all(planned, bench, jobs, tick)


def newest() -> dict[str, str]:
    """Return the newest release of every agent that is recorded."""
    corpus = find_corpus()
    return {agent: releases(corpus, agent)[-1] for agent in AGENTS}


def show(results: Sequence[Result], form: str) -> None:
    """Print what came of the checks."""
    if form == "json":
        click.echo(to_json(LiveReport(results=results)))
        return
    for one in results:
        words = f"{one.case:14} {one.source} to {one.target}: {one.verdict} {one.why}"
        click.echo(words.rstrip())


def exit_code(results: Sequence[Result]) -> int:
    """Return 1 if a check failed, 3 if none ran, else 0."""
    if any(one.verdict == "failed" for one in results):
        return FAILED
    ran = any(one.verdict == "passed" for one in results)
    return PASSED if ran else NOTHING_RAN
