"""Which tasks were handed to other agents, told by what the harness does and not by a tool's name.

A call that chooses the agent to run (``subagent_type``) is a spawn, whether or not the agent's own
transcript is there. How a task ended only the call can say: a child's file says what it did, not
whether its work was taken.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from transcripts.facts.fact import Fact
from transcripts.model import Call, Message, Status, SubAgent

Outcome = Literal["completed", "failed", "declined", "cancelled", "unknown"]
_OUTCOMES: dict[Status, Outcome] = {
    "completed": "completed",
    "failed": "failed",
    "declined": "declined",
    "cancelled": "cancelled",
}


class SpawnedTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task that was handed over; ``agent`` is the thread that took it, if a record names it."""

    task: str | None
    started_at: datetime | None
    outcome: Outcome
    agent: str | None = None


class SubagentsFold:
    """The spawns of one thread, and the threads that no call is known of."""

    def __init__(self) -> None:
        self._spawned: dict[str, SpawnedTask] = {}
        self._strays: dict[str, tuple[SpawnedTask, str]] = {}

    def take(self, message: Message) -> None:
        """Take in a message of the thread's own."""
        if isinstance(message, Call) and is_spawn(message):
            self._spawned[message.id] = SpawnedTask(
                task=_task(message),
                started_at=message.at,
                outcome=_OUTCOMES.get(message.status, "unknown"),
                agent=message.agent_id if isinstance(message, SubAgent) else None,
            )

    def stray(self, message: Message) -> None:
        """Take in the first message of a child's thread that serves no call."""
        agent = message.agent or ""
        task = SpawnedTask(task=None, started_at=message.at, outcome="unknown", agent=agent)
        self._strays[agent] = (task, message.id)

    def served(self, caller: str | None) -> SpawnedTask | None:
        """Return the task of a call."""
        return None if caller is None else self._spawned.get(caller)

    def fact(self) -> Fact[list[SpawnedTask]]:
        """Return the tasks, those first of which the call is known."""
        known = {task.agent for task in self._spawned.values()}
        strays = [found for agent, found in self._strays.items() if agent not in known]
        return Fact(
            value=[*self._spawned.values(), *(task for task, _ in strays)],
            evidence=(*self._spawned, *(message for _, message in strays)),
        )


def is_spawn(call: Call) -> bool:
    """Whether a call hands a task to another agent."""
    if call.author != "model":
        return False
    return _chosen(call) is not None or isinstance(call, SubAgent)


def _chosen(call: Call) -> str | None:
    """Return the kind of agent that a call chooses to run."""
    given = call.arguments
    kind = given.get("subagent_type") if isinstance(given, dict) else None
    return kind.strip() if isinstance(kind, str) and kind.strip() else None


def _task(call: Call) -> str | None:
    named = call.description if isinstance(call, SubAgent) else None
    if named is None and isinstance(call.arguments, dict):
        named = call.arguments.get("description")
    kind = call.agent_type if isinstance(call, SubAgent) else None
    found = (one.strip() for one in (named, _chosen(call), kind) if isinstance(one, str))
    return next((one for one in found if one), None)
