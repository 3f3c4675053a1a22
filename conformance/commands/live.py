"""``conformance live``: the real CLIs, driven on loopback or with a person's own logins."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console

from conformance.commands.options import format_option
from conformance.commands.running import (
    FAILED,
    CouldNotRun,
    progress,
    release_named,
    without_extra,
)
from conformance.corpus import find_schemas
from conformance.generated import is_checkout, write
from conformance.livechecks import LiveReport, stored
from conformance.report import live_page
from conformance.report.live_terminal import show_live
from live.checks import names
from transcripts.serialise import to_json
from transcripts.stores.base import agents


@click.command("live")
@click.argument("cases", metavar="[CASE]...", nargs=-1)
@click.option("--from", "sources", multiple=True, type=click.Choice(agents()), help="Only from it.")
@click.option("--to", "targets", multiple=True, type=click.Choice(agents()), help="Only to it.")
@click.option(
    "--release",
    "releases",
    metavar="AGENT@VERSION",
    multiple=True,
    help="Another release of an agent than the newest one recorded.",
)
@click.option("--control", is_flag=True, help="Also resume what each CLI wrote itself, unmoved.")
@click.option(
    "--every-release",
    "every",
    is_flag=True,
    help="Ask instead every recorded release that resumes: t0 moved into it, and of each CASE its "
    "own session, unmoved.",
)
@click.option(
    "--adapter",
    metavar="ADAPTER",
    help="Who moves the sessions, instead of the reference: entry:NAME, py:package.module:Store "
    "or exec:COMMAND.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="How many CLIs run at a time.",
)
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the recordings of failed runs at a terminal go.",
)
@click.option(
    "--write",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Add the results to those kept beside a page, such as docs/live.md, and write it anew.",
)
@click.option(
    "--real",
    is_flag=True,
    help="Ask your own CLIs, with your logins and a real model; says what that spends, and asks "
    "first.",
)
@click.option("--yes", "agreed", is_flag=True, help="With --real: spend it without being asked.")
@click.option("--clean", is_flag=True, help="With --real: remove the sessions that it made.")
@click.option(
    "--defects",
    "measured",
    metavar="AGENT@VERSION",
    help="Measure instead how a release resumes files with one defect each; kept beside the "
    "schemas.",
)
@click.option(
    "--offered",
    "offering",
    metavar="AGENT@VERSION",
    help="Measure instead which tools a release offers its model; kept beside the schemas.",
)
@format_option("json", "markdown")
def live(
    cases: tuple[str, ...],
    sources: tuple[str, ...],
    targets: tuple[str, ...],
    releases: tuple[str, ...],
    control: bool,
    every: bool,
    adapter: str | None,
    jobs: int,
    keep: Path | None,
    page: Path | None,
    real: bool,
    agreed: bool,
    clean: bool,
    measured: str | None,
    offering: str | None,
    form: str,
) -> None:
    """Drive the real CLIs, on loopback, against a scripted model.

    Moves a conversation from each CLI to each and sees whether it is gone on with and what the
    model was shown of it: all checks if no CASE is named; t6 means t6-batch and t6-midstream too.

    Exit 0 if all that ran passed, 1 if a check failed, also one that was listed as impossible and
    passes, 3 if none ran: what was skipped counts as neither.
    """
    if real:
        if (
            releases
            or control
            or every
            or keep
            or page
            or measured
            or offering
            or form == "markdown"
        ):
            raise click.UsageError("--real takes your own CLIs as they are, and keeps no results")
        _live_really(cases, sources, targets, adapter, agreed, clean, form)
    if agreed or clean:
        raise click.UsageError("--yes and --clean go with --real")
    if measured is not None:
        _measure(measured, form)
        return
    if offering is not None:
        _ask_offered(offering, form)
        return
    if every and (releases or sources):
        raise click.UsageError("--every-release chooses the releases and the sources by itself")
    try:
        from conformance.livechecks import command  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise without_extra("driving a CLI", error) from error
    try:
        checks = command.planned(
            cases, sources, targets, map(release_named, releases), control=control, every=every
        )
        command.ready(keep, page, adapter)
    except command.Misuse as error:
        raise click.UsageError(str(error)) from error
    with progress(lines=True) as tick:
        report = command.run(checks, adapter, keep, jobs, tick)
    if form == "json":
        click.echo(to_json(report))
    elif form == "markdown":
        click.echo(live_page.page(report), nl=False)
    else:
        show_live(report, Console(), None if keep is None else str(keep))
    if page is not None:
        _write_live(page, report)
    sys.exit(command.exit_code(report.results))


def _write_live(page: Path, report: LiveReport) -> None:
    """Keep the results beside their page, and make the page of all that is kept."""
    kept = page.with_suffix(".json")
    together = stored.added(stored.only(stored.load(kept), names()), report)
    for path in write({kept: stored.text(together), page: live_page.page(together)}):
        click.echo(f"{path} written", err=True)


def _live_really(
    cases: Sequence[str],
    sources: Sequence[str],
    targets: Sequence[str],
    adapter: str | None,
    agreed: bool,
    clean: bool,
    form: str,
) -> NoReturn:
    try:
        from conformance.livechecks import command  # noqa: PLC0415
        from conformance.livechecks.real import command as real  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise without_extra("driving a CLI", error) from error
    try:
        with command.moved_by(adapter) as mover:
            wanted = real.wanted(cases, sources, targets)
            real.agree(wanted, agreed)
            outcome = real.run(wanted, mover, partial(progress, lines=True), clean=clean)
    except command.Misuse as error:
        raise click.UsageError(str(error)) from error
    except real.NotAgreed as error:
        raise CouldNotRun(str(error)) from error
    if form == "json":
        click.echo(to_json(outcome.report))
    else:
        real.show(outcome.report)
    sys.exit(FAILED if outcome.harmed else command.exit_code(outcome.report.results))


def _ask_offered(release: str, form: str) -> None:
    agent, version = release_named(release)
    if not is_checkout():
        raise CouldNotRun("what is measured is kept in a checkout of the source only")
    try:
        from conformance import offered  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise without_extra("driving a CLI", error) from error
    with progress() as tick:
        tools, path = offered.renew(agent, version, find_schemas(), tick)
    if form == "json":
        click.echo(offered.text(tools).decode(), nl=False)
    else:
        click.echo("\n".join(tools.tools))
        click.echo(f"{path} written", err=True)


def _measure(release: str, form: str) -> None:
    """Take a few minutes: the CLI is started once for each defect."""
    agent, version = release_named(release)
    if not is_checkout():
        raise CouldNotRun("what is measured is kept in a checkout of the source only")
    try:
        from conformance import resuming  # noqa: PLC0415
        from live.agents.base import exact_release  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise without_extra("driving a CLI", error) from error
    version = exact_release(agent, version)
    with progress() as tick:
        rules, path = resuming.renew(agent, version, find_schemas(), tick)
    if form == "json":
        click.echo(resuming.text(rules).decode(), nl=False)
    else:
        resuming.show(rules, Console())
        click.echo(f"{path} written", err=True)
