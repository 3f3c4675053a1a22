"""``python -m conformance.bench``: make sessions, read them, say how fast."""

from __future__ import annotations

import platform
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import click
import msgspec

from conformance.bench.measuring import (
    FULL,
    QUICK,
    Plan,
    measure_hooks,
    measure_listing,
    measure_reading,
    written,
)
from conformance.bench.peers import install_all, measure_peers
from conformance.bench.results import Machine, Peer, Results
from conformance.bench.sessions import RELEASES, Generator
from conformance.bench.sizes import histograms
from conformance.bench.table import markdown
from conformance.corpus import find_corpus

_T = TypeVar("_T")
_PAGE = Path(__file__).parent.parent.parent / "docs" / "performance.md"


@click.command()
@click.option("--quick", is_flag=True, help="Small sessions, once: whether it works, not how fast.")
@click.option("--runs", type=click.IntRange(min=1), help="How often each is measured.")
@click.option("--store", "stores", multiple=True, type=click.Choice(list(RELEASES)))
@click.option("--peers", is_flag=True, help="Other tools too, those that are installed.")
@click.option("--install-peers", is_flag=True, help="Install them first, from PyPI, each apart.")
@click.option("--json", "document", type=click.Path(path_type=Path), help="Where results go.")
@click.option("--write", is_flag=True, help="Write docs/performance.md.")
def main(
    *,
    quick: bool,
    runs: int | None,
    stores: tuple[str, ...],
    peers: bool,
    install_peers: bool,
    document: Path | None,
    write: bool,
) -> None:
    """Measure how fast sessions are read, in how much memory, and how much a listing reads."""
    plan = QUICK if quick else FULL
    plan = plan._replace(runs=runs or plan.runs)
    if install_peers:
        install_all(say=_say)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        results = _measured(plan, stores or tuple(RELEASES), Path(folder), with_peers=peers)
    text = markdown(results)
    if document is not None:
        document.write_bytes(msgspec.json.format(msgspec.json.encode(results)) + b"\n")
    if write:
        _PAGE.write_text(text, encoding="utf-8")
    print(text)


def _measured(plan: Plan, stores: tuple[str, ...], folder: Path, *, with_peers: bool) -> Results:
    corpus = find_corpus()
    kinds = histograms()
    readings = [
        _said(measure_reading(agent, name, sizes, corpus, folder / agent, plan))
        for agent in stores
        for name, sizes in kinds.items()
    ]
    hook_logs = [
        _said(one) for agent in stores for one in measure_hooks(agent, corpus, folder / agent, plan)
    ]
    listings = [
        _said(measure_listing(agent, kinds["small"], corpus, folder / agent, plan))
        for agent in stores
    ]
    peers: tuple[Peer, ...] = ()
    peer_bytes = None
    if with_peers:
        generator = Generator("claude", corpus, kinds["small"])
        path = written(generator, folder / "peers", plan.session_bytes["small"])
        tiny = written(generator, folder / "tiny", 1)
        peer_bytes = path.stat().st_size
        peers = tuple(map(_said, measure_peers(path, tiny, plan.runs)))
    return Results(
        measured_on=f"{datetime.now(UTC):%Y-%m-%d}",
        machine=Machine(processor=processor(), python=platform.python_version()),
        runs=plan.runs,
        readings=tuple(readings),
        hook_logs=tuple(hook_logs),
        listings=tuple(listings),
        peer_file_bytes=peer_bytes,
        peers=peers,
    )


def _say(words: str) -> None:
    print(words, file=sys.stderr)


def _said(result: _T) -> _T:
    _say(str(result))
    return result


def processor() -> str:
    """Return the machine's processor as it names itself."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


if __name__ == "__main__":
    main()
