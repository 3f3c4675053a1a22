"""One tool, scored: read, carried, counted and timed, each as far as it offers it."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from conformance.adapters import Adapter, AdapterError, open_adapter
from conformance.bench import peers as bench
from conformance.bench.measuring import written
from conformance.bench.results import Peer as Timed
from conformance.bench.sessions import Generator
from conformance.bench.sizes import histograms
from conformance.corpus import Case
from conformance.peers.enclosing import opened_peer
from conformance.peers.installing import is_installed
from conformance.peers.listing import Offers, Peer, peers
from conformance.peers.reading import newest_cases, read_all
from conformance.peers.results import REFERENCE, Failure, PeerScores, Score, Speed, Totals
from conformance.peers.tallying import Tally, portable
from conformance.peers.totals import total_all
from transcripts.stores.base import agents

SESSION_BYTES = 20_000_000
RUNS = 3

Carry = Callable[..., Tally]
Tick = Callable[[str], None]


class Scored(NamedTuple):
    """What a peer's adapter was found to give."""

    scores: Sequence[Score] = ()
    totals: Sequence[Totals] = ()
    failures: Sequence[Failure] = ()


class Recordings:
    """The recordings of the newest releases, read once."""

    def __init__(self, corpus: Path, only: Collection[str] = ()) -> None:
        self.corpus = corpus
        self._cases = {
            agent: [case for case in newest_cases(corpus, agent) if not only or case.name in only]
            for agent in agents()
        }

    def of(self, agent: str) -> Sequence[Case]:
        """Return an agent's recordings."""
        return self._cases[agent]

    def releases(self) -> dict[str, str]:
        """Return which release of each agent was recorded."""
        return {agent: cases[0].facts.release for agent, cases in self._cases.items() if cases}


def score_peer(peer: Peer, recordings: Recordings, carry: Carry | None, tick: Tick) -> PeerScores:
    """Score a tool that is installed; of one that is not, say why there are no scores.

    ``carry`` carries a tool's sessions to the real CLIs; without it that is left out.
    """
    scores = described(peer)
    if peer.unavailable:
        return replace(scores, why=peer.unavailable)
    if not is_installed(peer):
        return replace(scores, why="it is not installed: conformance scoreboard --install")
    if not peer.bridge:
        return replace(scores, why="it gives no conversation; it is only timed")
    try:
        with opened_peer(peer) as adapter:
            found = score_adapter(adapter, peer.stores, peer.lacks, recordings, carry, tick)
    except AdapterError as error:
        return replace(scores, why=f"it could not be asked: {portable(str(error))}")
    return replace(
        scores,
        offers=_said(peer.stores),
        not_offered=peer.not_offered,
        scores=found.scores,
        totals=found.totals,
        failures=found.failures,
    )


def score_reference(recordings: Recordings, carry: Carry | None, tick: Tick) -> PeerScores:
    """Score this project's own stores by the same measure."""
    # Carried where others are: the matrix and the live checks have every direction.
    carried = {
        direction
        for peer in peers()
        for agent, offers in peer.stores.items()
        for direction in _directions(agent, offers)
    }
    stores = {
        agent: Offers(
            read=True, convert=tuple(sorted(to for source, to in carried if source == agent))
        )
        for agent in agents()
    }
    with open_adapter(f"entry:{REFERENCE}") as adapter:
        found = score_adapter(adapter, stores, lambda _: {}, recordings, carry, tick)
    return PeerScores(
        name=REFERENCE,
        package="transcript-conformance",
        version=_own_version(),
        ecosystem="this project",
        licence="MIT",
        homepage="",
        language="Python",
        about="the reference stores of this project, by the same measure",
        measured_on=_today(),
        offers=_said(stores),
        scores=found.scores,
        failures=found.failures,
    )


def score_adapter(
    adapter: Adapter,
    stores: Mapping[str, Offers],
    lacks: Callable[[str], Mapping[str, str]],
    recordings: Recordings,
    carry: Carry | None,
    tick: Tick,
) -> Scored:
    """Ask an adapter everything that the stores say is offered."""
    scores: list[Score] = []
    totals: list[Totals] = []
    failures: list[Failure] = []
    releases = recordings.releases()
    for agent, offers in stores.items():
        cases = recordings.of(agent)
        tallies: list[Tally] = []
        if offers.totals:
            totals.append(total_all(adapter, agent, cases, tick))
        elif offers.read:
            tallies.append(read_all(adapter, agent, cases, lacks(agent), tick))
        if carry is not None:
            for source, target in _directions(agent, offers):
                chosen = recordings.of(source)
                at = releases.get(target)
                if at is not None:
                    lacking = lacks(source)
                    tallies.append(carry(adapter, source, target, chosen, at, lacking, tick))
        for tally in tallies:
            scores += tally.scores(lacks(tally.agent))
            failed = tally.failure()
            failures += [failed] if failed else []
    return Scored(scores, totals, failures)


def _directions(agent: str, offers: Offers) -> Iterator[tuple[str, str]]:
    """Yield from where to where sessions are carried: a writer is given the reference's reading."""
    for target in offers.convert:
        yield agent, target
    if offers.write:
        for source in agents():
            if source != agent:
                yield source, agent


def described(peer: Peer) -> PeerScores:
    """Return what a peer is, without any scores."""
    return PeerScores(
        name=peer.name,
        package=peer.package,
        version=peer.version,
        ecosystem=peer.ecosystem,
        licence=peer.licence,
        homepage=peer.homepage,
        language=peer.language,
        about=peer.about,
        measured_on=_today(),
    )


def _said(stores: Mapping[str, Offers]) -> list[str]:
    """Return what is offered, as ``conformance check`` says it."""
    said: list[str] = []
    for agent, offers in stores.items():
        said += [f"{agent}.{verb}" for verb in ("read", "write", "totals") if getattr(offers, verb)]
        said += [f"{agent}.convert.{target}" for target in offers.convert]
    return said


def _own_version() -> str:
    try:
        return version("transcript-conformance")
    except PackageNotFoundError:
        # A checkout that is not installed says it in its project file.
        text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
        return tomllib.loads(text)["project"]["version"]


def _today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"


# ------------------------------------------------------------------ speed


def time_all(
    tools: Sequence[Peer], corpus: Path, tick: Tick, *, size: int = SESSION_BYTES, runs: int = RUNS
) -> tuple[dict[str, Speed], int]:
    """Time every tool's own command on one session, and say how large that is."""
    with tempfile.TemporaryDirectory(prefix="scoreboard-") as folder:
        generator = Generator("claude", corpus, histograms()["small"])
        path = written(generator, Path(folder) / "session", size)
        tiny = written(generator, Path(folder) / "tiny", 1)
        found: dict[str, Speed] = {}
        base: float | None = None
        for one in bench.measure_ours(path, tiny, runs):
            tick(f"timed {one.name}")
            base = base or one.cpu_s
            found[one.name] = _speed(one)
        for tool in tools:
            if tool.speed is not None:
                tick(f"timing {tool.name}")
                found[tool.name] = _speed(bench.measured(tool, path, tiny, runs, base))
        return found, path.stat().st_size


def _speed(timed: Timed) -> Speed:
    return Speed(
        does=timed.does,
        ratio=timed.ratio,
        cpu_s=timed.cpu_s,
        peak_bytes=timed.peak_bytes,
        why=timed.why,
    )
