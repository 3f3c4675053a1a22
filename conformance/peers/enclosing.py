"""A peer's bridge as an adapter: without a network, in a home of its own, and nothing of ours."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from conformance.adapters import Adapter
from conformance.adapters.wire import WireAdapter
from conformance.peers.installing import interpreter, variables
from conformance.peers.listing import Peer
from live.sandbox import sealing

_SECONDS = 180.0


@contextmanager
def opened_peer(peer: Peer, seconds: float = _SECONDS) -> Generator[Adapter, None, None]:
    """Lend the adapter of an installed peer; each answer has so many ``seconds``.

    What the process leaves in its home is removed with it.
    """
    with tempfile.TemporaryDirectory(prefix="peer-", ignore_cleanup_errors=True) as place:
        home = Path(place)
        argv = [*enclosed(variables(peer, home), home), interpreter(peer), str(peer.bridge_path)]
        adapter = WireAdapter(peer.name, argv, seconds)
        try:
            yield adapter
        finally:
            adapter.close()


def enclosed(environment: Mapping[str, str], directory: Path) -> Sequence[str]:
    """Return the command that runs another one with these variables only, and no network.

    Where no namespace can be had there is a network: results say so.
    """
    way = sealing()
    apart = {
        "root": ["unshare", "--net", "--"],
        "user": ["unshare", "--map-root-user", "--net", "--"],
    }
    given = [f"{name}={value}" for name, value in environment.items()]
    return [*apart.get(way or "", []), "env", f"--chdir={directory}", "-i", *given]
