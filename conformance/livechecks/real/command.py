"""What ``conformance live --real`` does: find, say, ask, run, show what was made."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import click
from msgspec.structs import replace

from conformance.livechecks.command import Misuse
from conformance.livechecks.moving import Mover
from conformance.livechecks.real.belongings import Belongings
from conformance.livechecks.real.running import (
    InProject,
    Real,
    Sources,
    outside_projects,
    run_check,
)
from conformance.livechecks.real.spending import Planned, Spending, plan, spending
from conformance.livechecks.results import LiveReport, Result
from conformance.matrix import Tick
from live.checks import CheckError
from live.real import NotHere, OwnCli, agents, find, load, selected


class NotAgreed(Exception):
    """The person does not want it; nothing was asked of any CLI."""


class Outcome(NamedTuple):
    """What came of the checks; ``harmed`` are sessions of the person's that they changed."""

    report: LiveReport
    harmed: Sequence[str]


class Wanted(NamedTuple):
    """Checks in directions, and the person's CLIs that they need and that are here."""

    checks: Sequence[Planned]
    clis: Mapping[str, OwnCli]


def wanted(cases: Sequence[str], sources: Sequence[str], targets: Sequence[str]) -> Wanted:
    """Return what is meant; :class:`Misuse` if a case is not there, or this is no place for it."""
    try:
        chosen = [load(name) for name in selected(cases)]
        outside_projects()
    except (CheckError, InProject) as error:
        raise Misuse(str(error)) from error
    directions = (sources or agents(), targets or agents())
    clis, missing = _found(sorted({*directions[0], *directions[1]}))
    return Wanted(list(plan(chosen, *directions, missing)), clis)


def agree(wanted: Wanted, agreed: bool) -> None:
    """Say what will be spent, and ask unless it is ``agreed`` to; :class:`NotAgreed` if not."""
    spent = spending(wanted.checks, wanted.clis)
    if not spent:
        return
    for line in statement(spent, wanted.clis):
        click.echo(line, err=True)
    if agreed:
        return
    if not sys.stdin.isatty():
        raise Misuse("nobody is there to be asked: say --yes to agree beforehand")
    if not click.confirm("Go on?", err=True):
        raise NotAgreed("not agreed to; nothing was asked of any CLI")


def run(
    wanted: Wanted,
    mover: Mover,
    progress: Callable[[], AbstractContextManager[Tick]],
    *,
    clean: bool,
) -> Outcome:
    """Run checks by the person's own CLIs; tell what was made, or remove it."""
    real = Real(
        mover=mover,
        clis=wanted.clis,
        belongings=Belongings(wanted.clis.values(), os.environ),
        environment=os.environ,
    )
    made = Sources(real)
    harmed: list[str] = []
    try:
        with progress() as tick:
            results = _all(wanted.checks, real, made, tick)
    finally:
        harmed += _tell_changes(real.belongings)
        _tell_made(real.belongings, made.workspaces, clean)
    titles = {one.case.name: one.case.title for one in wanted.checks}
    return Outcome(LiveReport(mover=mover.name, titles=titles, results=results), harmed)


def show(report: LiveReport) -> None:
    """Print a line for every check and direction."""
    for one in report.results:
        line = f"{one.case:13} {one.source} to {one.target}: {one.verdict}  {one.why}"
        click.echo(line.rstrip())


def _found(wanted: Sequence[str]) -> tuple[dict[str, OwnCli], dict[str, str]]:
    clis: dict[str, OwnCli] = {}
    missing: dict[str, str] = {}
    for agent in wanted:
        try:
            clis[agent] = find(agent)
        except NotHere as error:
            missing[agent] = str(error)
    return clis, missing


def statement(spent: Mapping[str, Spending], clis: Mapping[str, OwnCli]) -> Sequence[str]:
    """Return what a person is told before anything is asked."""
    lines = ["Your own CLIs are asked, with your logins; real models answer, and that is charged:"]
    for agent, one in sorted(spent.items()):
        cli = clis[agent]
        more = f"; if something goes wrong, up to {one.more} prompts more" if one.more else ""
        lines.append(
            f"  {cli.command} {cli.version} ({cli.program}): prompts: {one.prompts}, requests:"
            f" about {one.requests}, tokens of input: about {one.tokens:,}{more}"
        )
    kept = ", ".join(str(clis[agent].root(os.environ)) for agent in sorted(spent))
    lines.append(f"New sessions are made in {kept}; nothing that is there is changed.")
    return lines


def _all(planned: Sequence[Planned], real: Real, made: Sources, tick: Tick) -> Sequence[Result]:
    results: list[Result] = []
    for number, one in enumerate(planned, 1):
        tick(f"{number} of {len(planned)}: {one.case.name} {one.source} to {one.target}")
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        results.append(replace(run_check(one, real, made), checked_at=now))
    return results


def _tell_made(belongings: Belongings, workspaces: Sequence[Path], clean: bool) -> None:
    if clean:
        count = len(belongings.made())
        left = belongings.clean()
        for workspace in workspaces:
            shutil.rmtree(workspace, ignore_errors=True)
        click.echo(f"of {count} session files that were made here {len(left)} are left", err=True)
    places = [*belongings.made_places(), *(one for one in workspaces if one.exists())]
    if places:
        words = " \\\n    ".join(shlex.quote(str(one)) for one in places)
        click.echo(f"made here; this removes it:\n  rm -r -- {words}", err=True)


def _tell_changes(belongings: Belongings) -> Sequence[str]:
    changes = list(belongings.changes())
    for one in changes:
        if not one.ours:
            click.echo(f"in the meantime, and not by these checks: {one}", err=True)
    harmed = [str(one) for one in changes if one.ours]
    for one in harmed:
        click.echo(f"by these checks, which must not be: {one}", err=True)
    return harmed
