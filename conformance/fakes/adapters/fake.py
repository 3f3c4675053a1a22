"""An adapter that is right, for sins to be put on: the reference stores, and what must fail."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import ClassVar

from conformance.adapters.stores import StoresAdapter
from transcripts.stores.base import agents, store_class

Failing = Mapping[str, Set[str]]
"""Checks by their ids, each with the subjects on which it fails (:mod:`.miniature` names them)."""


class Fake(StoresAdapter):
    """The reference stores; a sin overrides what it needs to.

    ``fails`` is what it must fail, and nothing else; ``agent`` is in whose store it is asked.
    """

    agent: ClassVar[str] = "codex"
    fails: ClassVar[Failing] = {}

    def __init__(self) -> None:
        name = f"py:{type(self).__module__}:{type(self).__name__}"
        super().__init__(name, {agent: store_class(agent) for agent in agents()})


def fakes(above: type[Fake] = Fake) -> list[type[Fake]]:
    """Return every adapter that is broken: all that say what they must fail, and all without heirs.

    A sin that says nothing of it must fail nothing, which no sin does.
    """
    found: list[type[Fake]] = []
    for heir in above.__subclasses__():
        if "fails" in vars(heir) or not heir.__subclasses__():
            found.append(heir)
        found += fakes(heir)
    return found
