"""``conformance drift``: two releases of a CLI compared, and whom the difference breaks."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console

from conformance.commands.options import corpus_option, format_option
from conformance.commands.running import FAILED, CouldNotRun, progress, without_extra
from conformance.corpus import find_corpus, find_schemas, releases
from conformance.drift.accepting import BadAcceptance
from conformance.drift.findings import POLICIES, DriftReport, Policy
from conformance.drift.obtaining import NotRecorded, baseline
from conformance.drift.running import drift, is_bad
from conformance.matrix import Tick
from conformance.report import drift_junit, drift_markdown
from conformance.report.drift_terminal import show_drift
from transcripts.serialise import to_json
from transcripts.stores.base import agents


@click.command("drift")
@click.argument("release", metavar="AGENT[@VERSION]")
@click.option("--against", metavar="VERSION", help="The older side; the newest recorded before it.")
@click.option(
    "--policy",
    type=click.Choice(POLICIES),
    default="reader",
    show_default=True,
    help="What exit 1 is for: errors of readers; of readers or writers; warnings too; nothing.",
)
@click.option(
    "--accepted",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Changes that you have looked at and accept, beside those that come with the schemas.",
)
@format_option("json", "markdown", "junit")
@click.option("--all", "every", is_flag=True, help="Show each finding for information, not counts.")
@corpus_option
def drift_command(
    release: str,
    against: str | None,
    policy: Policy,
    accepted: Path | None,
    form: str,
    every: bool,
    corpus_directory: Path | None,
) -> None:
    """Tell what changed in the files of a release, and what that breaks.

    Without a version it is the newest one published. A release that is not in the corpus is
    installed and recorded first, in the scenarios that every release has; of two that are, nothing
    is installed. Exit 1 for what the policy names, for what broke, and for accepted changes that
    are not there any more.
    """
    agent, _, version = release.partition("@")
    if agent not in agents():
        raise click.BadParameter(f"no driver for {agent!r}: use one of {', '.join(agents())}")
    corpus, schemas = find_corpus(corpus_directory), find_schemas()
    with progress(lines=form != "json") as tick:
        try:
            exact = _exact(agent, version or "latest", corpus, tick)
            before = (
                _exact(agent, against, corpus, tick) if against else baseline(corpus, agent, exact)
            )
            report = drift(
                agent, before, exact, corpus, schemas, own=accepted, policy=policy, tick=tick
            )
        except BadAcceptance as error:
            raise click.UsageError(str(error)) from error
        except NotRecorded as error:
            raise CouldNotRun(str(error)) from error
        except ModuleNotFoundError as error:
            raise without_extra("recording", error) from error
    _print(report, form, every)
    if is_bad(report):
        sys.exit(FAILED)


def _print(report: DriftReport, form: str, every: bool) -> None:
    if form == "json":
        click.echo(to_json(report))
    elif form == "markdown":
        click.echo(drift_markdown.issue(report), nl=False)
    elif form == "junit":
        click.echo(drift_junit.document(report), nl=False)
    else:
        show_drift(report, Console(), every=every)


def _exact(agent: str, version: str, corpus: Path, tick: Tick) -> str:
    """Return an exact version, asking the registry only about one that is not recorded."""
    if version in releases(corpus, agent):
        return version
    from live.agents.base import driver_class  # noqa: PLC0415 - a recorded pair needs no driver
    from live.releases import resolve  # noqa: PLC0415

    tick(f"{agent}: looking for release {version}")
    return resolve(driver_class(agent).package, version)
