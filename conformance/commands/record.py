"""``conformance record``: a release of a CLI, recorded in scenarios."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from conformance.commands.running import FAILED, progress, release_named, without_extra
from conformance.corpus import find_corpus
from conformance.generated import ROOT, is_checkout
from conformance.review.recordings import WAITING


@click.command("record")
@click.argument("release", metavar="AGENT@VERSION")
@click.argument("scenarios", metavar="[SCENARIO]...", nargs=-1)
@click.option("--dialect", help="How this release talks to another kind of model.")
@click.option("--verify", is_flag=True, help="Record twice and compare the bytes.")
@click.option(
    "--hooked",
    is_flag=True,
    help="Run recorded scenarios again with every hook that the release knows, and put what the "
    "hooks were told beside the recordings.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the cases go; the checkout's corpus if not given.",
)
@click.option("--pending", "waits", is_flag=True, help="Let the cases wait for conformance review.")
def record(
    release: str,
    scenarios: tuple[str, ...],
    dialect: str | None,
    verify: bool,
    hooked: bool,
    out: Path | None,
    waits: bool,
) -> None:
    """Record a release of a CLI in scenarios, all if none is named.

    The CLI is installed from npm and driven against a scripted model on loopback.
    """
    agent, version = release_named(release)
    if waits and (out is not None or hooked):
        raise click.UsageError("--pending says where the cases go, and is about new ones")
    if waits and is_checkout():
        out = ROOT / WAITING
    if out is None and not is_checkout():
        raise click.UsageError("outside a checkout, say with --out where the cases go")
    try:
        from conformance import recording  # noqa: PLC0415
        from live.agents.base import exact_release  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise without_extra("recording", error) from error
    version = exact_release(agent, version)
    with progress() as tick:
        try:
            outcomes = recording.record_all(
                agent,
                version,
                scenarios,
                dialect,
                out or find_corpus(),
                verify=verify,
                hooked=hooked,
                tick=tick,
            )
        except recording.UnknownName as error:
            raise click.BadParameter(str(error)) from error
    for outcome in outcomes:
        click.echo(f"{outcome.scenario}: {outcome.what}")
    if any(outcome.failed for outcome in outcomes):
        sys.exit(FAILED)
