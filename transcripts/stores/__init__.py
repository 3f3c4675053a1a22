"""The stores: one package a CLI, with the same module names in each."""

from transcripts.stores.base import Listing, Store, WrittenSession, agents, open_store

__all__ = ["Listing", "Store", "WrittenSession", "agents", "open_store"]
