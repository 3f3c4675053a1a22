"""``docs/scoreboard.html``: the kept scoreboard as one self-contained page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from conformance.peers.results import PeerScores, Score, Scoreboard
from conformance.report.scoreboard import summary
from conformance.report.scoreboard.summary import NAMES, tables

_Row = tuple[str, Sequence[tuple[PeerScores, Score | None]]]


def page(board: Scoreboard) -> str:
    """Return the page's HTML; everything in it is escaped, it needs no script and no network."""
    environment = Environment(
        loader=PackageLoader("conformance", "report/scoreboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html.j2").render(
        board=board,
        how=summary.HOW,
        scope=summary.scope(board),
        method=summary.method(board),
        marks=summary.MARKS,
        meanings=summary.MEANINGS,
        fields=summary.FIELDS,
        names=NAMES,
        tables=list(_tables(board)),
        counting=[(peer, one) for peer in board.peers for one in peer.totals],
        timed=summary.timed(board),
        ratio=summary.ratio,
        peak=summary.peak,
        anchor=summary.anchor,
        counted=summary.counted,
        spelt=summary.spelt,
        where=summary.where,
        faulty=summary.faulty,
        command=summary.command,
    )


def _tables(board: Scoreboard) -> Iterator[tuple[str, Sequence[PeerScores], Sequence[_Row]]]:
    for table in tables(board):
        yield table.title, table.peers, list(table.rows())
