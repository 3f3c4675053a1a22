"""Adapters: any tool that reads, writes, lists or converts sessions, asked in one way.

>>> with open_adapter("exec:node my-adapter.js") as adapter:
...     adapter.read("claude", home, session_id)
"""

from conformance.adapters.adapter import About, Adapter, Offer, Written
from conformance.adapters.errors import AdapterError, Failed, NotOffered, Skipped, TransportFault
from conformance.adapters.moving import Moved, move
from conformance.adapters.opening import open_adapter

__all__ = [
    "About",
    "Adapter",
    "AdapterError",
    "Failed",
    "Moved",
    "NotOffered",
    "Offer",
    "Skipped",
    "TransportFault",
    "Written",
    "move",
    "open_adapter",
]
