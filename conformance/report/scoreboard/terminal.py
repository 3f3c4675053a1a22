"""A scoreboard on a terminal, and one case of one tool, message by message."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from conformance.peers.judging import Judged, Verdict
from conformance.peers.results import Scoreboard
from conformance.report.scoreboard.summary import (
    MARKS,
    counted,
    peak,
    ratio,
    tables,
)

_STYLES: dict[Verdict, str] = {
    "exact": "green",
    "narrated": "cyan",
    "degraded": "yellow",
    "lost": "red",
    "not offered": "dim",
}


def show(board: Scoreboard, console: Console) -> None:
    """Print a table for each store and direction: a row a kind, a column a tool."""
    for table in tables(board):
        console.print(Text(table.title, style="bold"))
        shown = Table(box=SIMPLE_HEAD, pad_edge=False)
        shown.add_column("")
        for peer in table.peers:
            shown.add_column(peer.name, overflow="fold")
        for kind, cells in table.rows():
            row = [
                Text("") if score is None else Text(counted(score), style=_STYLES[score.verdict])
                for _, score in cells
            ]
            shown.add_row(kind, *row)
        console.print(shown)
    for peer in board.peers:
        for totals in peer.totals:
            console.print(f"{peer.name}: totals of {totals.agent}: {totals.right}/{totals.asked}")
        if peer.speed is not None:
            time = ratio(peer) or f"not measured: {peer.speed.why}"
            console.print(f"{peer.name}: {time} {peak(peer)} ({peer.speed.does})")
        for failed in peer.failures:
            said = f"{failed.cases} of {failed.asked} fail: {failed.case}: {failed.why}"
            console.print(Text(f"{peer.name}: {said}", style="red"), soft_wrap=True)
        if peer.why:
            console.print(Text(f"{peer.name}: not scored: {peer.why}", style="dim"))


def show_case(judged: Sequence[Judged], why: str, console: Console) -> None:
    """Print what became of each message of a case: what was expected, and what was got."""
    if why:
        console.print(Text(why, style="red"), soft_wrap=True)
    for one in judged:
        verdict = "nobody said it" if one.stray else one.verdict
        head = f"{MARKS[one.verdict]} {one.kind}: {verdict}"
        console.print(Text(head, style=_STYLES[one.verdict]))
        for wrong in one.wrong:
            said = f"    {wrong.field}: expected {wrong.expected}, got {wrong.got}"
            console.print(Text(said), soft_wrap=True)
