"""``docs/scoreboard.md``: the kept scoreboard as a page."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.peers.results import PeerScores, Score, Scoreboard
from conformance.report.scoreboard.summary import (
    FIELDS,
    HOW,
    MARKS,
    MEANINGS,
    NAMES,
    Board,
    anchor,
    command,
    counted,
    faulty,
    method,
    peak,
    ratio,
    scope,
    spelt,
    tables,
    timed,
    where,
)


def page(board: Scoreboard) -> str:
    """Return the text of the page."""
    return "\n".join(_lines(board)) + "\n"


def _lines(board: Scoreboard) -> Iterator[str]:
    yield "# Scoreboard of tools"
    yield ""
    yield (
        "What tools that read, write or convert sessions of coding agents keep of them. Generated "
        "by `conformance scoreboard --install --write`; the results lie beside this page in "
        "`scoreboard.json`, and `conformance docs` makes it anew from them."
    )
    yield ""
    if not board.peers:
        yield "Nothing was scored yet."
        return
    for paragraph in HOW:
        yield paragraph
        yield ""
    yield scope(board)
    yield ""
    yield from _overview(board)
    yield ""
    yield "; ".join(f"{MARKS[one]} *{one}*: {meaning}" for one, meaning in MEANINGS.items()) + "."
    yield (
        "A number is how many messages of a kind are exact, of how many; `+` counts those that "
        "nobody said."
    )
    for table in tables(board):
        yield from _table(table)
    yield from _totals(board)
    yield from _speed(board)
    yield ""
    yield "## Tool by tool"
    for peer in board.peers:
        yield from _tool(peer)


def _overview(board: Scoreboard) -> Iterator[str]:
    yield "| tool | version | licence | offers | time | peak | scored |"
    yield "|---|---|---|---|---|---|---|"
    for peer in board.peers:
        name = f"[{peer.name}](#{peer.name})"
        offers = ", ".join(peer.offers) or f"not scored: {peer.why}"
        time, memory = ratio(peer), peak(peer)
        yield (
            f"| {name} | {peer.version} | {peer.licence} | {offers} | {time} | {memory} "
            f"| {peer.measured_on} |"
        )


def _table(table: Board) -> Iterator[str]:
    yield ""
    yield f"## {table.title}"
    yield ""
    yield f"| | {' | '.join(peer.name for peer in table.peers)} |"
    yield f"|---|{'---|' * len(table.peers)}"
    for kind, cells in table.rows():
        yield f"| {kind} | {' | '.join(_square(peer, score) for peer, score in cells)} |"


def _square(peer: PeerScores, score: Score | None) -> str:
    if score is None:
        return ""
    shown = counted(score)
    return f"[{shown}](#{anchor(peer, score)})" if score.evidence is not None else shown


def _totals(board: Scoreboard) -> Iterator[str]:
    counting = [(peer, one) for peer in board.peers for one in peer.totals]
    if not counting:
        return
    yield ""
    yield "## Totals"
    yield ""
    yield (
        "Tokens of the input and of the output, as the model reported them, for sessions in which "
        "every request was for an answer to the person."
    )
    yield ""
    yield "| tool | sessions of | right | of |"
    yield "|---|---|---|---|"
    for peer, one in counting:
        yield f"| {peer.name} | {NAMES[one.agent]} | {one.right} | {one.asked} |"


def _speed(board: Scoreboard) -> Iterator[str]:
    if not timed(board):
        return
    yield ""
    yield "## Speed and memory"
    yield ""
    yield method(board)
    yield ""
    yield "| tool | what it does | time | peak |"
    yield "|---|---|---|---|"
    for peer in timed(board):
        assert peer.speed is not None
        shown = ratio(peer) or f"not measured: {peer.speed.why}"
        yield f"| {peer.name} {peer.version} | {peer.speed.does} | {shown} | {peak(peer)} |"


def _tool(peer: PeerScores) -> Iterator[str]:
    yield ""
    yield f"### {peer.name}"
    yield ""
    source = {"pypi": "PyPI", "npm": "npm"}.get(peer.ecosystem, peer.ecosystem)
    home = f", <{peer.homepage}>" if peer.homepage else ""
    version = f" {peer.version}" if peer.version else ""
    yield (
        f"{peer.package}{version} ({source}, {peer.language}, {peer.licence}){home}: {peer.about}."
    )
    if peer.why:
        yield ""
        yield f"Not scored: {peer.why}."
    if peer.not_offered:
        yield ""
        yield "Not offered:"
        yield ""
        for one in peer.not_offered:
            what = ", ".join(FIELDS.get(name, name) for name in one.what)
            of = f" ({', '.join(NAMES[store] for store in one.stores)})" if one.stores else ""
            yield f"- {what}{of}: {one.why}."
    if peer.failures:
        yield ""
        for failed in peer.failures:
            to = f" carried to {NAMES[failed.target]}" if failed.target else " read"
            yield (
                f"- **{failed.cases} of {failed.asked}** sessions of {NAMES[failed.agent]} are "
                f"not{to}: `{failed.case}`: {_code(failed.why)}"
            )
    wrong = [one for one in peer.totals if one.evidence is not None]
    if faulty(peer) or wrong:
        yield ""
    for totals in wrong:
        assert totals.evidence is not None
        yield (
            f"- **Totals of {NAMES[totals.agent]}**: `{totals.evidence.case}`: expected "
            f"{totals.evidence.expected}, got {_code(totals.evidence.got)}."
        )
    for score in faulty(peer):
        evidence = score.evidence
        assert evidence is not None
        yield (
            f'- <a id="{anchor(peer, score)}"></a>{MARKS[score.verdict]} **{where(score)}**: '
            f"{spelt(score)}. {evidence.field}: expected {_code(evidence.expected)}, got "
            f"{_code(evidence.got)}. `{command(peer.name, evidence, score.target)}`"
        )


def _code(words: str) -> str:
    """Return words as code, whatever stands in them."""
    fence = "``" if "`" in words else "`"
    inner = f" {words} " if "`" in words else words
    return f"{fence}{inner}{fence}" if words else "nothing"
