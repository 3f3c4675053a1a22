"""What every way to show a scoreboard needs: names, marks, cells in order, and commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from conformance.peers.judging import Verdict
from conformance.peers.results import Evidence, Job, PeerScores, Score, Scoreboard
from transcripts.model import KINDS

NAMES = {"claude": "Claude Code", "codex": "Codex", "copilot": "Copilot CLI"}

MARKS: dict[Verdict, str] = {
    "exact": "✓",
    "narrated": "≈",
    "degraded": "◐",
    "lost": "✗",
    "not offered": "–",
}

MEANINGS: dict[Verdict, str] = {
    "exact": "all that the tool offers of them is as it was said",
    "narrated": "carried as prose",
    "degraded": "there, and something of them is not as it was said, or words are given that "
    "nobody said",
    "lost": "some of them are not there",
    "not offered": "the tool does not claim it",
}

FIELDS = {
    "text": "the words",
    "kind": "what kind of message it is",
    "author": "whose words they are",
    "order": "their order",
    "thread": "which agent said it",
    "strays": "words that nobody said",
    "name": "a call's name",
    "arguments": "what a call is given",
    "output": "a call's result",
    "output_extent": "that a result was cut",
    "error": "a call's error",
    "status": "how a call ended",
    "exit_code": "the exit status",
    "assets": "pictures",
    "opaque": "sealed thoughts",
    "trigger": "who asked for a compaction",
    "delivery": "how a prompt was given",
    "superseded": "what was taken back",
    "inherited": "what a fork copied",
}
"""The fields of ``not_offered`` in words."""


_ASKED = (
    "Each tool is installed from its registry into an environment of its own and run as it is, "
    "without a network and in an empty home. A bridge of ours asks it for each recorded "
    "session and hands on what it gives, in the words of docs/adapters.md; it never mends what "
    "the tool lost. What is read is held against the script that the recorded CLI followed. "
    "What is carried into another store is gone on with by the real CLI there, and what counts "
    "is what the request that it then sends shows its model of the conversation."
)
_JUDGED = (
    "A tool is judged for what it offers. What it says it does not do, or has no place for, is "
    "listed below in our words and counts neither way; tools have different aims, so a short "
    "column is no verdict on a tool. Calls are held to what they were given and what came of "
    "them, whatever a tool names them. Recordings leave out wording of the CLIs that is not "
    "functional; where a tool may go by such wording it is not faulted."
)
_SHOWN = (
    "Every cell that is not whole names the smallest recording that shows it, and the command "
    "that does. If your tool is here and you find a cell wrong or out of date, that is a bug of "
    "this page."
)
HOW = (_ASKED, _JUDGED, _SHOWN)
"""How the tools are asked and judged: a paragraph each."""


def kinds_of(scores: Sequence[Score]) -> list[str]:
    """Return the kinds that there are scores of, in the order of the model."""
    there = {one.kind for one in scores}
    return [kind.__name__ for kind in KINDS if kind.__name__ in there]


class Board(NamedTuple):
    """One table: the tools beside each other, for one store or one direction."""

    title: str
    job: Job
    agent: str
    target: str | None
    peers: Sequence[PeerScores]

    def rows(self) -> Iterator[tuple[str, Sequence[tuple[PeerScores, Score | None]]]]:
        """Yield each kind with every tool's cell of it."""
        cells = {(peer.name, score.kind): score for peer in self.peers for score in self._of(peer)}
        for kind in kinds_of(list(cells.values())):
            yield kind, [(peer, cells.get((peer.name, kind))) for peer in self.peers]

    def _of(self, peer: PeerScores) -> Iterator[Score]:
        for score in peer.scores:
            if (score.job, score.agent, score.target) == (self.job, self.agent, self.target):
                yield score


def tables(board: Scoreboard) -> Iterator[Board]:
    """Yield every table: what is read of each store, then every direction."""
    there: set[tuple[Job, str, str | None]] = {
        (one.job, one.agent, one.target) for peer in board.peers for one in peer.scores
    }
    for job, agent, target in sorted(
        there, key=lambda one: (one[0] == "carry", one[1], one[2] or "")
    ):
        if target is None:
            count = board.cases.get(agent, 0)
            title = f"{NAMES[agent]} {board.releases.get(agent, '')}, read ({count} sessions)"
        else:
            release = board.releases.get(target, "")
            title = f"{NAMES[agent]} carried to {NAMES[target]} {release}"
        peers = [
            peer
            for peer in board.peers
            if any((one.job, one.agent, one.target) == (job, agent, target) for one in peer.scores)
        ]
        yield Board(title, job, agent, target, peers)


def timed(board: Scoreboard) -> list[PeerScores]:
    """Return the tools that were timed, the fastest first."""
    return sorted(
        (peer for peer in board.peers if peer.speed is not None),
        key=lambda one: (one.speed and one.speed.ratio) or float("inf"),
    )


def method(board: Scoreboard) -> str:
    """Return how time and memory were measured."""
    return (
        f"One session of Claude Code of {board.session_bytes / 1_000_000:.0f} MB, made of the "
        "corpus's own records; each tool's own command as a whole process. Processor time less "
        "that of the same command over a session of a few records, as a multiple of bare "
        "orjson.loads over the same lines, measured in the same way in the same run; the median "
        f"of {board.runs} runs on {board.processor}, Python {board.python}. What each command "
        "does differs, and one that writes or indexes does more than read."
    )


def counted(score: Score) -> str:
    """Return a cell in few characters: its mark, and how many are exact where not all are."""
    if score.verdict in ("not offered", "exact"):
        return MARKS[score.verdict]
    judged = sum(count for verdict, count in score.counts.items() if verdict != "not offered")
    strays = f" +{score.strays}" if score.strays else ""
    return f"{MARKS[score.verdict]} {score.counts.get('exact', 0)}/{judged}{strays}"


def spelt(score: Score) -> str:
    """Return what became of a cell's messages, in words."""
    parts = [f"{count} {verdict}" for verdict, count in score.counts.items()]
    if score.strays:
        parts.append(f"{score.strays} that nobody said")
    return ", ".join(parts)


def where(score: Score) -> str:
    """Return what a cell is about, in words."""
    if score.target is None:
        return f"{score.kind}, read from {NAMES[score.agent]}"
    return f"{score.kind}, carried from {NAMES[score.agent]} to {NAMES[score.target]}"


def anchor(peer: PeerScores, score: Score) -> str:
    """Return the name of the place where a cell is explained."""
    places = (peer.name, score.job, score.agent, score.target, score.kind.lower())
    return "-".join(one for one in places if one)


def faulty(peer: PeerScores) -> list[Score]:
    """Return the cells that are not whole."""
    return [one for one in peer.scores if one.evidence is not None]


def command(peer: str, evidence: Evidence, target: str | None = None) -> str:
    """Return the command that shows a fault."""
    to = f" --to {target}" if target else ""
    return f"conformance scoreboard {peer} --case {evidence.case}{to}"


def ratio(peer: PeerScores) -> str:
    """Return a tool's time as a multiple of bare parsing."""
    if peer.speed is None or peer.speed.ratio is None:
        return ""
    return f"{peer.speed.ratio:.1f}×"


def peak(peer: PeerScores) -> str:
    """Return a tool's memory at its highest."""
    if peer.speed is None or peer.speed.peak_bytes is None:
        return ""
    return f"{peer.speed.peak_bytes / 1_000_000:.0f} MB"


def scope(board: Scoreboard) -> str:
    """Return of what recordings a scoreboard is, and how the tools were run."""
    read = ", ".join(
        f"{NAMES[agent]} {board.releases[agent]} ({count})" for agent, count in board.cases.items()
    )
    sealed = "" if board.sealed else " The tools had a network: no namespace could be had."
    carried = f" Carried are {len(board.carried)} scenarios: {', '.join(board.carried)}."
    return (
        f"All recordings of the newest recorded releases are read: {read}."
        f"{carried if board.carried else ''}{sealed}"
    )
