"""``conformance timeline``: when a format changed, release by release."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import click

from conformance.commands.running import progress
from conformance.drift import timeline_data
from conformance.drift.timeline import Part, Progress, search, shard
from conformance.drift.timeline_known import document, known, listed, look_at
from conformance.generated import ROOT
from transcripts.stores.base import agents


@click.command("timeline")
@click.argument("agent", type=click.Choice(agents()))
@click.option("--at-most", type=click.IntRange(0), help="Look at no more releases than these.")
@click.option("--minutes", type=click.FloatRange(0), help="Begin no look after so many minutes.")
@click.option("--again", is_flag=True, help="Try anew what could not be driven.")
@click.option(
    "--shard",
    "piece",
    metavar="I/N",
    default="1/1",
    help="Look at the I-th of N pieces of the list only.",
)
@click.option(
    "--write",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to keep what is known; else docs/drift/AGENT.json.",
)
def timeline(
    agent: str,
    at_most: int | None,
    minutes: float | None,
    again: bool,
    piece: str,
    write: Path | None,
) -> None:
    """Find when an agent's format changed: install and record releases, as few as tell.

    May be ended at any time; what was looked at is kept and the next run goes on from there.
    """
    kept = write or ROOT / "docs" / "drift" / f"{agent}.json"
    about = listed(agent)
    with progress(lines=True) as tick:
        tick(f"{agent}: {len(about.releases)} releases listed; gathering what is known")
        found = known(agent, kept, again=again)
        tick(f"{agent}: {len(found)} looks known")
        search(
            _part(piece, about.versions, about.offset),
            found,
            partial(look_at, agent),
            _threads(),
            tell=lambda one: tick(_said(agent, one)),
            until=_until(at_most, minutes),
        )
    found = known(agent, kept)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(timeline_data.text(document(about, found)), encoding="utf-8")
    click.echo(f"{kept.name}: {len(found)} releases looked at")


def _threads() -> Executor:
    """Return two workers: while one records, the other installs the next release."""
    return ThreadPoolExecutor(2)


def _part(piece: str, versions: list[str], offset: int) -> Part:
    number, _, of = piece.partition("/")
    return shard(versions, int(number), int(of), offset)


def _until(at_most: int | None, minutes: float | None) -> Callable[[int], bool]:
    end = None if minutes is None else time.monotonic() + 60 * minutes
    return lambda looks: (
        (at_most is not None and looks >= at_most) or (end is not None and time.monotonic() >= end)
    )


def _said(agent: str, one: Progress) -> str:
    each = one.seconds / max(1, one.looked)
    left = one.ahead * each / 60
    return (
        f"{agent} {one.version}: shape {one.shape}; {one.looked} looked at, {one.ahead} ahead, "
        f"{each:.0f} s each, {left:.0f} min for those"
    )
