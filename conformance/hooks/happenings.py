"""What truly happened: events that know which call they are of, and the log that tells of them.

The truth stands beside the payloads, never in them: a correlator sees only the log.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

Part = Literal[
    "boundary",
    "prompt",
    "remark",
    "pre",
    "post",
    "failure",
    "before",
    "after",
    "file",
    "permission",
    "subagent-start",
    "subagent-stop",
]
"""What an event is to its call. A remark is of no call: a thought, a response."""


class Happening(NamedTuple):
    """One event as it truly was.

    ``key`` is its own name for ever, whatever its line will be. ``call`` is the call, or the
    subagent, that it is of. ``layer`` is the kind of hook: ``call``, ``shell``, ``mcp``,
    ``file`` or ``subagent``. ``again`` is the key of the event that this one delivers a second
    time. ``tick`` is when it happened, in milliseconds.
    """

    key: int
    part: Part
    layer: str
    session: int
    turn: int
    call: int | None
    event: str
    payload: Mapping[str, Any]
    tick: int
    again: int | None = None


class Conversation(NamedTuple):
    """What happened, in order of arrival, and what of it never reached the log.

    ``bare`` says that a row is the payload itself with the time in it. ``late`` are the keys of
    events that arrived when their turn was over: they did arrive, but too late to be weighed.
    """

    agent: str
    dialect: str
    arrived: tuple[Happening, ...]
    lost: tuple[Happening, ...] = ()
    bare: bool = False
    late: frozenset[int] = frozenset()

    def lines(self) -> list[bytes]:
        """Return the capture log."""
        return [line(happening, bare=self.bare) for happening in self.arrived]

    def rows(self) -> list[dict[str, Any]]:
        """Return the log's rows as objects."""
        return [row(happening, bare=self.bare) for happening in self.arrived]

    def without(self, keys: Iterable[int]) -> Conversation:
        """Return the conversation whose log lacks some events."""
        gone = frozenset(keys)
        return self._replace(
            arrived=tuple(each for each in self.arrived if each.key not in gone),
            lost=(*self.lost, *(each for each in self.arrived if each.key in gone)),
        )

    def reordered(self, arrived: Sequence[Happening]) -> Conversation:
        """Return the same events in another order; each keeps the time at which it was seen."""
        return self._replace(arrived=tuple(arrived))


def row(happening: Happening, *, bare: bool = False) -> dict[str, Any]:
    """Return an event as a row of a capture log."""
    observed = observed_at(happening.tick)
    if bare:
        return {**happening.payload, "observed_at": observed}
    return {"observed_at": observed, "event": happening.event, "payload": happening.payload}


def line(happening: Happening, *, bare: bool = False) -> bytes:
    """Return an event as a line of a capture log, without its line feed."""
    return json.dumps(row(happening, bare=bare), ensure_ascii=False).encode()


def observed_at(tick: int) -> str:
    """Return a moment of the generated world in the log's words."""
    seconds, milliseconds = divmod(tick, 1000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return f"2026-01-{1 + days % 28:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}000Z"
