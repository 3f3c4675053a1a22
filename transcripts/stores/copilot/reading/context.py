"""What every message says of itself: its ids, its thread, its place among the others."""

from __future__ import annotations

from typing import Any

from transcripts.ids import Scope, derive
from transcripts.model import Author, Inherited, Superseded
from transcripts.records.spilling import Keyed, Spilling
from transcripts.stores.copilot.foreign import string
from transcripts.stores.copilot.reading.events import Event
from transcripts.stores.copilot.reading.index import Index

SCOPE = "GithubCopilotCli"
"""What ids are derived under, beside the session id."""


class Thread:
    """What is remembered of one thread from event to event."""

    def __init__(self) -> None:
        self.last: str | None = None
        self.turn: str | None = None
        self.model: str | None = None
        self.thought: tuple[str | None, str] | None = None


class Placing:
    """The threads of one session as they grow."""

    def __init__(self, session_id: str, index: Index, *, sparing: bool) -> None:
        self._scope = Scope(derive(SCOPE, session_id))
        self._index = index
        self._threads: dict[str | None, Thread] = {}
        self._ids: Keyed[bool] = Spilling(bool) if sparing else {}

    def thread(self, agent: str | None) -> Thread:
        """Return a thread by its agent's id; None is the main one."""
        known = self._threads.get(agent)
        if known is None:
            known = self._threads[agent] = Thread()
        return known

    def agent(self, event: Event) -> str | None:
        """Return whose thread an event is of; older releases only name the call it serves."""
        if event.agent is not None:
            return event.agent
        parent = string(event.data.parent_tool_call_id)
        return None if parent is None else self._index.agents.get(parent, parent)

    def id_of(self, *parts: str | int) -> str:
        """Return the id of what is told apart by these parts in the session."""
        return self._scope.derive(*parts)

    def fields(
        self,
        event: Event,
        *parts: str | int,
        external: str | None,
        author: Author,
        response: str | None = None,
    ) -> dict[str, Any]:
        """Return what a message of an event says of itself, and put it on its thread.

        ``parts`` are what its id is derived from.
        """
        index, location, data = self._index, event.location, event.data
        agent = self.agent(event)
        thread = self._threads.get(agent) or self.thread(agent)
        made = self._id(*parts)
        found: dict[str, Any] = {
            "id": made,
            "external_id": external,
            "at": event.at,
            "at_source": None if event.at is None else "record",
            "follows": thread.last,
            "turn": string(data.interaction_id) or thread.turn,
            "response": response,
            "author": author,
            "sources": (location,),
        }
        thread.last = made
        if agent is not None:
            found["agent"] = agent
            call = string(data.parent_tool_call_id) or index.threads.get(agent)
            if call is not None:
                found["caller"], found["caller_evidence"] = self.id_of(call), "native"
        elif index.compactions:
            prompt = author == "human" and event.type == "user.message"
            compaction = index.superseding(event.line, prompt=prompt)
            if compaction is not None:
                boundary = self.id_of(compaction.own_id)
                found["superseded_by"] = Superseded(id=boundary, why="compaction")
        if index.fork_line and event.line < index.fork_line:
            found["inherited_from"] = Inherited(session=index.forked_from, id=external)
        return found

    def _id(self, *parts: str | int) -> str:
        """Derive an id; an id that the session records twice is told apart by its count."""
        made = self._scope.derive(*parts)
        count = 0
        while made in self._ids:
            count += 1
            made = self._scope.derive(*parts, count)
        self._ids[made] = True
        return made


def detailed(record: str, detail: str | None) -> str:
    """Return a message's provenance: its record, with the word that the record has for it."""
    return f"{record}:{detail}" if detail else record


def detail(provenance: str | None) -> str:
    """Return the word that a record had for its message: the opposite of :func:`detailed`."""
    return (provenance or "").partition(":")[2]
