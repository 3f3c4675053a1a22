"""Real tools that read, write or convert sessions: installed apart, asked, and scored.

A peer is a file here (``<name>.toml``: what it is, what it offers, what it says it does not do) and
a bridge of ours (``bridges/``), run by the interpreter of the peer's own environment. A bridge
speaks the wire of ``docs/adapters.md`` and gives what the tool gives, no more: it never repairs
what the tool lost.
"""

from conformance.peers.listing import Peer, PeerError, find_peer, peers

__all__ = ["Peer", "PeerError", "find_peer", "peers"]
