"""Adapters broken on purpose: the reference, each with one sin.

A check that none of them fails is dead. Each sin is what somebody's adapter was seen to do, or what
follows from the easiest way to write one. A module of sins is named as the module of the checks
that they fail first.
"""

from conformance.fakes.adapters import (
    again,
    characters,
    converting,
    damage,
    durability,
    links,
    listing,
    many_sessions,
    newer,
    reading,
    resuming,
    round_trips,
    telling,
    writing,
)
from conformance.fakes.adapters.fake import Failing, Fake, fakes

__all__ = [
    "Failing",
    "Fake",
    "again",
    "characters",
    "converting",
    "damage",
    "durability",
    "fakes",
    "links",
    "listing",
    "many_sessions",
    "newer",
    "reading",
    "resuming",
    "round_trips",
    "telling",
    "writing",
]
