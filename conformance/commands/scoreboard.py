"""``conformance scoreboard``: real tools, installed apart, asked, and scored."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from msgspec.structs import replace
from rich.console import Console

from conformance.adapters import open_adapter
from conformance.bench.__main__ import processor
from conformance.commands.options import corpus_option, format_option
from conformance.commands.running import CouldNotRun, progress, without_extra
from conformance.corpus import CorpusError, find_corpus, load_case
from conformance.generated import ROOT, is_checkout, write
from conformance.peers import Peer, PeerError, find_peer, peers, stored
from conformance.peers.enclosing import opened_peer
from conformance.peers.installing import install
from conformance.peers.judging import Judged
from conformance.peers.reading import read_one
from conformance.peers.results import REFERENCE, PeerScores, Scoreboard
from conformance.peers.scoring import (
    RUNS,
    Carry,
    Recordings,
    Tick,
    score_peer,
    score_reference,
    time_all,
)
from conformance.report.scoreboard import markdown, page, terminal
from conformance.report.scoreboard.files import all_files
from live.sandbox import sealing
from transcripts.serialise import to_json
from transcripts.stores.base import agents

KEPT = ROOT / "docs" / "scoreboard.json"
_OURS = "transcripts, whole"


@click.command("scoreboard")
@click.argument("names", metavar="[PEER]...", nargs=-1)
@click.option("--install", "installs", is_flag=True, help="Install them first, each apart.")
@click.option("--live", "lives", is_flag=True, help="Also carry sessions to the real CLIs.")
@click.option("--speed", "times", is_flag=True, help="Also time each on one larger session.")
@click.option(
    "--write",
    "writes",
    is_flag=True,
    help="Score all of that, keep the results in docs/scoreboard.json, and write its pages.",
)
@click.option("--case", "case_name", metavar="CASE", help="Show one PEER's messages of one case.")
@click.option("--to", "target", type=click.Choice(agents()), help="With --case: carried to it.")
@format_option("json", "markdown", "html")
@corpus_option
def scoreboard(
    names: tuple[str, ...],
    installs: bool,
    lives: bool,
    times: bool,
    writes: bool,
    case_name: str | None,
    target: str | None,
    form: str,
    corpus_directory: Path | None,
) -> None:
    """Score real tools by what they keep of recorded sessions.

    PEER is one of conformance/peers, or reference for this project's own stores; all of them if
    none is named. Each runs in an environment and a home of its own, without a network.
    """
    corpus = find_corpus(corpus_directory)
    chosen = [find_peer(name) for name in names if name != REFERENCE] if names else list(peers())
    ours = not names or REFERENCE in names
    if writes and not is_checkout():
        raise CouldNotRun("a scoreboard is kept in a checkout of the source only")
    if target is not None and case_name is None:
        raise click.UsageError("--to goes with --case")
    with progress(lines=installs or writes) as tick:
        if installs:
            _install(chosen, tick)
        if case_name is not None:
            if len(names) != 1:
                raise click.UsageError("--case wants one PEER")
            judged, why = _case(chosen[0] if chosen else None, corpus, case_name, target)
            board = None
        else:
            judged, why = [], ""
            carry = _carrier() if lives or writes else None
            board = _scored(chosen, ours, corpus, carry, tick, times=times or writes)
    if board is None:
        _show_case(judged, why, form)
    elif writes:
        _keep(board)
    else:
        _show(board, form)


def _keep(board: Scoreboard) -> None:
    """Keep a scoreboard with what was kept of the tools that it does not hold."""
    known = {REFERENCE, *(peer.name for peer in peers())}
    together = stored.added(stored.load(KEPT), board, known)
    for path in write(all_files(KEPT, together)):
        click.echo(f"{path.relative_to(ROOT)} written", err=True)


def _install(chosen: Sequence[Peer], tick: Tick) -> None:
    for peer in chosen:
        try:
            if not peer.unavailable:
                install(peer, tick)
        except PeerError as error:
            click.echo(f"conformance: {error}", err=True)


def _carrier() -> Carry:
    try:
        from conformance.peers.carrying import carry_all  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise without_extra("--live", error) from error
    return carry_all


def _scored(
    chosen: Sequence[Peer],
    ours: bool,
    corpus: Path,
    carry: Carry | None,
    tick: Tick,
    *,
    times: bool,
) -> Scoreboard:
    recordings = Recordings(corpus)
    scores: list[PeerScores] = [score_reference(recordings, carry, tick)] if ours else []
    scores += [score_peer(peer, recordings, carry, tick) for peer in chosen]
    size = 0
    if times:
        speeds, size = time_all(chosen, corpus, tick)
        speeds[REFERENCE] = speeds[_OURS]
        scores = [replace(one, speed=speeds.get(one.name)) for one in scores]
    return Scoreboard(
        releases=recordings.releases(),
        cases={agent: len(recordings.of(agent)) for agent in recordings.releases()},
        carried=_scenarios() if carry is not None else (),
        processor=processor(),
        python=platform.python_version(),
        runs=RUNS if times else 0,
        session_bytes=size,
        sealed=sealing() is not None,
        peers=scores,
    )


def _scenarios() -> Sequence[str]:
    from conformance.peers.carrying import SCENARIOS  # noqa: PLC0415

    return SCENARIOS


def _case(
    peer: Peer | None, corpus: Path, name: str, target: str | None
) -> tuple[list[Judged], str]:
    """Ask one tool of one case: a peer, or this project's own stores."""
    if not (corpus / name / "case.json").is_file():
        raise CorpusError(f"{corpus / name}: no such case; name one as claude/2.1.332/command-ok")
    case = load_case(corpus / name, corpus)
    agent = case.facts.agent
    lacks = {} if peer is None else peer.lacks(agent)
    asked = open_adapter(f"entry:{REFERENCE}") if peer is None else opened_peer(peer)
    with asked as adapter:
        if target is None:
            return read_one(adapter, agent, case, lacks)
        try:
            from conformance.peers.carrying import carry_one  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise without_extra("--to", error) from error
        release = Recordings(corpus).releases()[target]
        return carry_one(adapter, agent, target, case, release, lacks)


def _show_case(judged: Sequence[Judged], why: str, form: str) -> None:
    if form == "json":
        messages = [
            {
                "kind": one.kind,
                "verdict": one.verdict,
                "stray": one.stray,
                "wrong": [wrong._asdict() for wrong in one.wrong],
            }
            for one in judged
        ]
        click.echo(json.dumps({"why": why, "messages": messages}, ensure_ascii=False))
    else:
        terminal.show_case(judged, why, Console())


def _show(board: Scoreboard, form: str) -> None:
    forms: dict[str, Callable[[Scoreboard], str]] = {
        "json": to_json,
        "markdown": markdown.page,
        "html": page.page,
    }
    if form in forms:
        click.echo(forms[form](board))
    else:
        terminal.show(board, Console())
