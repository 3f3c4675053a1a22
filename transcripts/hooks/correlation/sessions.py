"""The sessions and turns of a log while they are built, and what is open in them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime

import msgspec

from transcripts.hooks.correlation.canonical import CanonicalInput
from transcripts.hooks.correlation.pairing import TurnPairs


class Turn:
    """One turn of a session: its number from 1, its native id if it has one, and its pairs.

    Number 0 holds what belongs to the session and to no turn. ``known`` are its pairs once
    there is something to pair: a turn of unique ids alone may never have any. ``calls`` are its
    calls by their ids, ``spawners`` those that start subagents.
    """

    __slots__ = (
        "_make",
        "calls",
        "deliveries",
        "is_open",
        "known",
        "native",
        "number",
        "session",
        "spawners",
    )

    def __init__(
        self, session: Session, native: str | None, number: int, make: Callable[[], TurnPairs]
    ) -> None:
        self.session = session
        self.native = native
        self.number = number
        self.is_open = True
        self.known: TurnPairs | None = None
        self._make = make
        self.deliveries: OrderedDict[bytes, int] | None = None
        self.calls: dict[str, list[int]] = {}
        self.spawners: dict[str, list[int]] = {}

    @property
    def pairs(self) -> TurnPairs:
        """Its pairs, which are there from now on."""
        if self.known is None:
            self.known = self._make()
        return self.known


class Session:
    """One session: its id (None where events don't say), its workspace and its turns.

    ``life`` tells it from another of the same id that was dropped before.
    """

    __slots__ = (
        "agents",
        "count",
        "current",
        "life",
        "native",
        "open_agents",
        "open_calls",
        "open_compactions",
        "open_turns",
        "outside",
        "spawned",
        "touched",
        "turns",
        "workspace",
    )

    def __init__(self, native: str | None, life: int, make: Callable[[], TurnPairs]) -> None:
        self.native = native
        self.life = life
        self.workspace: str | None = None
        self.turns: dict[str, Turn] = {}
        self.open_turns: list[Turn] = []
        self.outside = Turn(self, None, 0, make)
        self.current: Turn | None = None
        self.count = 0
        self.open_calls: dict[str, list[OpenCall]] = {}
        self.open_agents: dict[str, list[int]] = {}
        self.agents: dict[str, list[int]] = {}
        self.spawned: dict[int, int] = {}
        self.open_compactions: list[int] = []
        self.touched = 0

    def take_apart(self) -> None:
        """Let go of its turns, which hold it in their turn: its memory is free at once."""
        self.turns.clear()
        self.open_calls.clear()
        self.current = None
        del self.outside


class OpenCall(msgspec.Struct):
    """A call with an id of its own that has not ended, as its start told of it."""

    line: int
    tool: str | None
    turn: Turn
    named_turn: str | None
    at: datetime | None
    input: CanonicalInput | None
