"""Events in, links out: the sessions and turns of a log, and what belongs together in them.

What a native id says is final at once. What evidence says is final when its turn closes: with
the next prompt of its session, or the session's end. An event whose turn is over still finds
its place there, and never changes what was settled.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

import msgspec

from transcripts.hooks.canonical import CanonicalInput, canonical_input
from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import LAYERS, HookEvent, Kind
from transcripts.hooks.matching import Link, Role
from transcripts.hooks.outcomes import stated
from transcripts.hooks.pairing import Orphan, TurnPairs

_OF_A_SESSION = frozenset({"session-start", "session-end", "editor", "workspace"})
_ANYWHERE = frozenset({"notification", "lifecycle", "other", "compaction-start", "compaction-end"})
"""What happens in a turn or between turns; everything else shows that there is a turn."""

_ENDS: frozenset[Kind] = frozenset({"call-end", "call-failure", "call-denied"})
_REMEMBERED_DELIVERIES = 256
_MOST_WAITING = 50_000
"""So many events of one open turn are compared; then what is certain of them is settled."""


class Sink(Protocol):
    """Who wants to know what a correlator finds, as it finds it."""

    def linked(self, turn: Turn, link: Link) -> None:
        """A link is final."""
        ...

    def orphaned(self, turn: Turn, orphan: Orphan) -> None:
        """An event belongs to another, and nobody will know to which."""
        ...

    def phantom(self, turn: Turn, phantom: Orphan) -> None:
        """An event ends what never began."""
        ...

    def closed(self, turn: Turn) -> None:
        """A turn is over, and all that was open about it is settled."""
        ...


class Turn:
    """One turn of a session: its number from 1, its native id if it has one, and its pairs.

    Number 0 holds what belongs to the session and to no turn.
    """

    def __init__(self, session: Session, native: str | None, number: int, dialect: Dialect) -> None:
        self.session = session
        self.native = native
        self.number = number
        self.is_open = True
        self.pairs = TurnPairs(dialect)
        self.deliveries: OrderedDict[str, tuple[bytes, int]] = OrderedDict()
        self.calls: dict[str, list[int]] = {}


class Session:
    """One session: its id (None where events don't say), its workspace and its turns."""

    def __init__(self, native: str | None, dialect: Dialect) -> None:
        self.native = native
        self.workspace: str | None = None
        self.turns: dict[str, Turn] = {}
        self.outside = Turn(self, None, 0, dialect)
        self.current: Turn | None = None
        self.count = 0
        self.open_calls: dict[str, list[_OpenCall]] = {}
        self.open_agents: dict[str, list[int]] = {}
        self.agents: dict[str, list[int]] = {}
        self.spawned: dict[int, int] = {}
        self.open_compactions: list[int] = []

    def open_turns(self) -> list[Turn]:
        """Return the turns that are not over."""
        return [turn for turn in self.turns.values() if turn.is_open]


class _OpenCall(msgspec.Struct):
    line: int
    tool: str | None
    turn: Turn
    named_turn: str | None
    input: CanonicalInput | None


class Correlator:
    """Takes events one by one and tells a :class:`Sink` what belongs together.

    ``remember`` keeps the ids of a turn's calls after they have ended, for events that name
    them later.
    """

    def __init__(self, dialect: Dialect, sink: Sink, *, remember: bool = True) -> None:
        self.dialect = dialect
        self.sessions: dict[str | None, Session] = {}
        self._sink = sink
        self._remember = remember

    def add(self, event: HookEvent) -> Turn:
        """Take one event; return the turn in which it stands."""
        session = self._session(event)
        turn = self._turn(session, event)
        kind = event.kind
        if kind == "call-start":
            self._start(session, turn, event)
        elif kind in _ENDS:
            turn = self._end(session, turn, event)
        elif kind in LAYERS:
            turn.pairs.inner(event)
        elif kind == "permission":
            turn.pairs.request(event)
        elif kind == "batch":
            self._batch(turn, event)
        elif kind == "subagent-start":
            self._spawned(session, turn, event)
        elif kind == "subagent-stop":
            self._stopped(session, turn, event)
        elif kind == "compaction-start":
            session.open_compactions.append(event.line)
        elif kind == "compaction-end":
            self._compacted(session, turn, event)
        elif kind == "session-end":
            self.close(session)
        if not turn.is_open or turn.pairs.waiting > _MOST_WAITING:
            self._settle(turn)
        return turn

    def close(self, session: Session) -> None:
        """Settle all turns of a session: it is over, or nothing more will be read."""
        for turn in [*session.open_turns(), session.outside]:
            self._close(turn)

    def _session(self, event: HookEvent) -> Session:
        native = event.session or None
        session = self.sessions.get(native)
        if session is None:
            session = self.sessions[native] = Session(native, self.dialect)
        if session.workspace is None:
            session.workspace = _workspace(event)
        return session

    def _turn(self, session: Session, event: HookEvent) -> Turn:
        """Return the turn that an event says it is of, or that it stands in."""
        kind = event.kind
        if kind in _OF_A_SESSION:
            return session.outside
        native = event.turn
        current = session.current
        if native and (turn := session.turns.get(native)):
            return turn
        if native and (current is None or not event.agent):
            return self._open(session, native, event)
        # A subagent's turn, if it has one of its own, is part of the turn that it works for.
        if self.dialect.names_turns and not event.agent:
            return session.outside
        if current is None:
            return session.outside if kind in _ANYWHERE else self._open(session, None, event)
        if kind == "prompt" and not event.agent:
            return self._open(session, None, event)
        return session.outside if kind in _ANYWHERE and not current.is_open else current

    def _open(self, session: Session, native: str | None, event: HookEvent) -> Turn:
        if event.kind == "prompt":
            for turn in session.open_turns():
                self._close(turn)
        session.count += 1
        turn = Turn(session, native, session.count, self.dialect)
        session.turns[native or f"\uffff{session.count}"] = turn
        session.current = turn
        return turn

    def _close(self, turn: Turn) -> None:
        self._settle(turn)
        turn.is_open = turn.number == 0
        turn.deliveries.clear()
        self._sink.closed(turn)

    def _settle(self, turn: Turn) -> None:
        found = turn.pairs.settle()
        for link in found.links:
            self._sink.linked(turn, link)
        for orphan in found.orphans:
            self._sink.orphaned(turn, orphan)

    def _start(self, session: Session, turn: Turn, event: HookEvent) -> None:
        if self._delivered_before(turn, event):
            return
        if not event.tool:
            self._orphan(turn, event, "the payload names no tool")
            return
        native = event.call
        unique = self.dialect.unique_ids and bool(native)
        if unique and native:
            given = canonical_input(bytes(event.input))
            call = _OpenCall(event.line, event.tool, turn, event.turn, given)
            session.open_calls.setdefault(native, []).append(call)
        if native and self._remember:
            turn.calls.setdefault(native, []).append(event.line)
        turn.pairs.start(event, by_id=unique)

    def _delivered_before(self, turn: Turn, event: HookEvent) -> bool:
        """Return whether this very start was seen already, where a harness sends it twice."""
        if event.tool not in self.dialect.redelivers or not event.call:
            return False
        said = b"\0".join((event.tool.encode(), bytes(event.input), (event.cwd or "").encode()))
        seen = turn.deliveries.get(event.call)
        if seen is not None and seen[0] == said:
            self._link(turn, event.line, seen[1], "redelivery", ("the whole payload",))
            return True
        turn.deliveries[event.call] = (said, event.line)
        if len(turn.deliveries) > _REMEMBERED_DELIVERIES:
            turn.deliveries.popitem(last=False)
        return False

    def _end(self, session: Session, turn: Turn, event: HookEvent) -> Turn:
        native = event.call
        if not event.tool and not native:
            self._orphan(turn, event, "the payload names neither a call nor a tool")
            return turn
        if not native and self.dialect.needs_id:
            self._orphan(turn, event, "the payload has no id of a call")
            return turn
        if not native or not self.dialect.unique_ids:
            turn.pairs.end(event)
            return turn
        named = session.open_calls.get(native, [])
        fitting = [call for call in named if _fits(call, event)]
        if len(fitting) != 1:
            self._orphan(turn, event, _why_not(native, named, fitting))
            return turn
        call = fitting[0]
        named.remove(call)
        if not named:
            del session.open_calls[native]
        evidence = ["tool_use_id"]
        if event.tool and call.tool:
            evidence.append("tool_name")
        given = canonical_input(bytes(event.input))
        same = call.input is not None and given is not None and call.input == given
        if same:
            evidence.append("tool_input")
        elif call.input is not None and given is not None:
            evidence.append("tool_input differs")
        role: Role = "permission" if event.kind == "call-denied" else "end"
        self._link(call.turn, event.line, call.line, role, tuple(evidence), corroborated=same)
        call.turn.pairs.closed(call.line, event.line, failed=event.kind != "call-end")
        if self.dialect.verb(event.tool) == "agent":
            self._handed_over(session, call, event)
        return call.turn

    def _handed_over(self, session: Session, call: _OpenCall, event: HookEvent) -> None:
        """Link a subagent to the call whose output names it."""
        told = stated(bytes(event.output))
        lines = session.agents.get(told.agentId or told.agent_id or "", [])
        if len(lines) == 1 and session.spawned.get(lines[0]) is None:
            session.spawned[lines[0]] = call.line
            self._link(call.turn, lines[0], call.line, "spawn", ("agent_id",))

    def _batch(self, turn: Turn, event: HookEvent) -> None:
        """Link a batch to its calls, if every one of them is known."""
        places: list[int] = []
        for entry in event.batch or ():
            named = entry.get("tool_use_id") if isinstance(entry, dict) else None
            lines = turn.calls.get(named, []) if isinstance(named, str) else []
            if len(lines) != 1:
                self._orphan(turn, event, "not every call that it names is known")
                return
            places += lines
        if not places:
            self._orphan(turn, event, "the payload names no calls")
        for place in places:
            self._link(turn, event.line, place, "batch", ("tool_use_id",))

    def _spawned(self, session: Session, turn: Turn, event: HookEvent) -> None:
        if event.agent:
            session.open_agents.setdefault(event.agent, []).append(event.line)
            if self._remember:
                session.agents.setdefault(event.agent, []).append(event.line)
        by = turn.calls.get(event.spawned_by or "", [])
        if len(by) == 1:
            session.spawned[event.line] = by[0]
            self._link(turn, event.line, by[0], "spawn", ("tool_call_id",))

    def _stopped(self, session: Session, turn: Turn, event: HookEvent) -> None:
        agent = event.agent or ""
        lines = session.open_agents.get(agent, [])
        if len(lines) == 1:
            del session.open_agents[agent]
            self._link(turn, event.line, lines[0], "stop", ("agent_id",))
        elif lines:
            named = ", ".join(map(str, lines))
            self._orphan(turn, event, f"several subagents of that id are running: lines {named}")
        elif event.agent_type:
            self._orphan(turn, event, "the start of this subagent is missing")
        else:
            why = "it ends a subagent of no type that never started"
            self._sink.phantom(turn, Orphan(event=event.line, why=why))

    def _compacted(self, session: Session, turn: Turn, event: HookEvent) -> None:
        if len(session.open_compactions) == 1:
            start = session.open_compactions.pop()
            link = Link(
                event=event.line,
                to=start,
                role="end",
                evidence=("the only compaction under way",),
                score=None,
                quality="derived",
            )
            self._sink.linked(turn, link)
        else:
            self._orphan(turn, event, "no compaction, or more than one, is under way")

    def _link(
        self,
        turn: Turn,
        line: int,
        to: int,
        role: Role,
        evidence: tuple[str, ...],
        *,
        corroborated: bool = False,
    ) -> None:
        quality = "corroborated" if corroborated else "observed"
        link = Link(event=line, to=to, role=role, evidence=evidence, score=None, quality=quality)
        self._sink.linked(turn, link)

    def _orphan(self, turn: Turn, event: HookEvent, why: str) -> None:
        self._sink.orphaned(turn, Orphan(event=event.line, why=why))


def _fits(call: _OpenCall, event: HookEvent) -> bool:
    """Return whether an end that has a call's id contradicts it in nothing else."""
    if event.tool and call.tool and event.tool != call.tool:
        return False
    return not (event.turn and call.named_turn) or event.turn == call.named_turn


def _why_not(native: str, named: list[_OpenCall], fitting: list[_OpenCall]) -> str:
    if fitting:
        lines = ", ".join(str(call.line) for call in fitting)
        return f"several open calls have this id: lines {lines}"
    if named:
        return f"the open call of this id is of another tool or turn: line {named[0].line}"
    return "no open call has this id"


def _workspace(event: HookEvent) -> str | None:
    """Return the workspace that an event names: its roots, else its directory."""
    if event.workspaces is not None:
        return "\n".join(event.workspaces)
    return event.cwd or None
