"""``conformance timeline``: when a format changed, release by release."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from conformance.commands.options import format_option
from conformance.commands.running import progress, without_extra
from conformance.corpus import find_corpus
from conformance.drift import epochs, timeline_data
from conformance.drift.timeline import Part, Progress, search, shard
from conformance.drift.timeline_search import wanted
from conformance.drift.timeline_workers import workers
from conformance.generated import ROOT, is_checkout
from conformance.report.timeline_page import show, timeline_pages
from transcripts.stores.base import agents

if TYPE_CHECKING:
    from conformance.drift.timeline_known import Listed

_PIECE = re.compile(r"([1-9]\d*)/([1-9]\d*)")


@click.command("timeline")
@click.argument("agent", type=click.Choice(agents()))
@click.option("--at-most", type=click.IntRange(0), help="Look at no more releases than these.")
@click.option("--minutes", type=click.FloatRange(0), help="Begin no look after so many minutes.")
@click.option("--again", is_flag=True, help="Try anew what could not be driven.")
@click.option(
    "--shard", "piece", metavar="I/N", default="1/1", help="Look at the I-th of N pieces only."
)
@click.option(
    "--merge",
    "others",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Take in what another run wrote, and look at nothing; may be given several times.",
)
@click.option(
    "--plan", type=click.Choice(["json"]), help="Print the pieces for a job matrix, and do nothing."
)
@click.option("--pieces", type=click.IntRange(1), default=4, help="How many pieces a plan has.")
@click.option("--dask", metavar="ADDRESS", help="A Dask scheduler that has it done, or local.")
@click.option("--workers", "count", type=click.IntRange(1), default=2, help="Of a local cluster.")
@click.option(
    "--write",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to keep what is known; else docs/drift/AGENT.json, with its pages.",
)
@format_option("json")
def timeline(
    agent: str,
    at_most: int | None,
    minutes: float | None,
    again: bool,
    piece: str,
    others: tuple[Path, ...],
    plan: str | None,
    pieces: int,
    dask: str | None,
    count: int,
    write: Path | None,
    form: str,
) -> None:
    """Find when an agent's format changed: install and record releases, as few as tell.

    Of Claude Code the newest 150 releases are asked about, of the others every stable one. It may
    be ended at any time: what was looked at is kept, and the next run goes on from there. A
    release that was installed for it is removed again.
    """
    if write is None and not is_checkout():
        raise click.UsageError("outside a checkout, say with --write where to keep what is known")
    try:
        from conformance.drift import timeline_known  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise without_extra("a timeline", error) from error
    committed = ROOT / "docs" / "drift" / f"{agent}.json"
    kept = write or committed
    with progress(lines=plan is None) as tick:
        tick(f"{agent}: gathering what is known")
        about = timeline_known.listed(agent)
        found = timeline_known.known(agent, committed, kept, again=again)
        for other in others:
            found |= timeline_known.merged(other)
        if plan is not None:
            click.echo(_plan(about, pieces, {name: one.digest for name, one in found.items()}))
            return

        def keep(version: str, one: timeline_data.Known) -> None:
            found[version] = one
            kept.parent.mkdir(parents=True, exist_ok=True)
            text = timeline_data.text(timeline_known.document(about, found))
            kept.write_text(text, encoding="utf-8")

        if not others:
            tick(f"{agent}: {len(about.releases)} releases listed, {len(found)} looked at before")
            try:
                with workers(dask, count) as (executor, at_once):
                    search(
                        _part(about, piece),
                        found,
                        partial(timeline_known.look_at, agent, again),
                        executor,
                        tell=lambda one: tick(_said(agent, one)),
                        keep=keep,
                        until=_until(at_most, minutes),
                        at_once=at_once,
                    )
            except ModuleNotFoundError as error:
                raise without_extra("--dask", error, "dask") from error
    document = timeline_known.document(about, timeline_known.known(agent, committed, kept) | found)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(timeline_data.text(document), encoding="utf-8")
    if write is None:
        for path, text in timeline_pages(find_corpus(), kept).items():
            path.write_text(text, encoding="utf-8")
    if form == "json":
        click.echo(timeline_data.text(document), nl=False)
    else:
        show(epochs.timeline(document), Console())
        click.echo(f"kept in {kept}")


def _part(about: Listed, piece: str) -> Part:
    given = _PIECE.fullmatch(piece)
    number, of = (int(given[1]), int(given[2])) if given else (0, 0)
    if not 1 <= number <= of:
        raise click.BadParameter(f"{piece!r} is no piece such as 2/4", param_hint="--shard")
    return shard(about.versions, number, of, about.offset)


def _plan(about: Listed, pieces: int, known: dict[str, str]) -> str:
    """Return the matrix of a workflow: a row for each piece that has something to look at."""
    rows: list[dict[str, object]] = []
    for number in range(1, pieces + 1):
        part = shard(about.versions, number, pieces, about.offset)
        seen = {at: known[name] for at, name in enumerate(part.versions) if name in known}
        ahead = wanted(len(part.versions), seen, offset=part.offset, names=part.versions)
        if ahead:
            rows.append(
                {
                    "agent": about.agent,
                    "shard": f"{number}/{pieces}",
                    "releases": len(part.versions),
                    "looks": len(ahead),
                }
            )
    return json.dumps({"include": rows})


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
