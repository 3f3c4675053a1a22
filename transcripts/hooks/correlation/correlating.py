"""Events in, links out: the sessions and turns of a log, and what belongs together in them.

What a native id says is final at once. What evidence says is final when its turn closes: with
the next prompt of its session, or the session's end. An event whose turn is over still finds
its place there, and never changes what was settled.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Protocol

from transcripts.hooks.correlation.canonical import canonical_input
from transcripts.hooks.correlation.matching import NAMED, Link, Role
from transcripts.hooks.correlation.pairing import Orphan, TurnPairs
from transcripts.hooks.correlation.sessions import OpenCall, Session, Turn
from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import LAYERS, HookEvent, Kind
from transcripts.hooks.outcomes import stated

_OF_A_SESSION = frozenset({"session-start", "session-end", "editor", "workspace"})
"""What is never of a turn, although it may carry a turn's id."""

_ANYWHERE = frozenset({"notification", "lifecycle", "other", "compaction-start", "compaction-end"})
"""What happens in a turn or between turns; everything else shows that there is a turn."""

_OF_AGENTS = frozenset({"subagent-start", "subagent-stop"})
"""Before the first prompt, agents of the harness's own work for no turn."""

_ENDS: frozenset[Kind] = frozenset({"call-end", "call-failure", "call-denied"})
_REMEMBERED_DELIVERIES = 256
_KEPT_TURNS = 64
_KEPT_SESSIONS = 1024
_MOST_WAITING = 50_000
"""So many events of one open turn are compared; then what is certain of them is settled."""
_MOST_OF_ONE_ID = 256
"""With more calls open under one id that no two may share, an end is not looked for among them."""


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
        """A turn is over, and all that was open about it is settled.

        What is outside of turns is over when its session is, which an end alone does not say:
        a session may go on.
        """
        ...


class Correlator:
    """Takes events one by one and tells a :class:`Sink` what belongs together.

    ``remember`` keeps what is over, for events that name it later. Without it memory is bound
    by what is open, however long the log; and the call that the last event ended by its id is
    ``ended``, instead of a link that tells why.
    """

    def __init__(self, dialect: Dialect, sink: Sink, *, remember: bool = True) -> None:
        self.dialect = dialect
        self.ended: OpenCall | None = None
        self.sessions: dict[str | None, Session] = {}
        self._sink = sink
        self._remember = remember
        self._make = self._pairs
        self._lives = 0
        self._acts: Mapping[Kind, Callable[[Session, Turn, HookEvent], Turn | None]] = {
            "call-start": self._start,
            **dict.fromkeys(_ENDS, self._end),
            **dict.fromkeys(LAYERS, self._inside),
            "permission": self._asked,
            "batch": self._batch,
            "subagent-start": self._spawned,
            "subagent-stop": self._stopped,
            "compaction-start": self._compacting,
            "compaction-end": self._compacted,
            "session-end": self._over,
        }

    def add(self, event: HookEvent) -> Turn:
        """Take one event; return the turn in which it stands."""
        self.ended = None
        session = self.sessions.get(event.session) or self._meet(event)
        session.touched = event.line
        turn = session.turns.get(event.turn or "")
        if turn is None or event.kind in _OF_A_SESSION:
            turn = self._turn(session, event)
        act = self._acts.get(event.kind)
        return turn if act is None else act(session, turn, event) or turn

    def close(self, session: Session) -> None:
        """Settle all of a session, of which nothing more will be read."""
        self._close_turns(session)
        self._close(session.outside)

    def _meet(self, event: HookEvent) -> Session:
        """Return the session of an event, which may be a new one."""
        native = event.session or None
        session = self.sessions.get(native)
        if session is not None:
            return session
        self._forget_sessions()
        self._lives += 1
        session = self.sessions[native] = Session(native, self._lives, self._make)
        session.workspace = _workspace(event)
        return session

    def _pairs(self) -> TurnPairs:
        return TurnPairs(self.dialect, all_layers=self._remember)

    def _turn(self, session: Session, event: HookEvent) -> Turn:
        """Return the turn that an event says it is of, or that it stands in."""
        kind = event.kind
        if session.workspace is None:
            session.workspace = _workspace(event)
        if kind in _OF_A_SESSION:
            return session.outside
        native = event.turn
        current = session.current
        if native and kind in _ANYWHERE:
            return session.outside
        if native and (current is None or not event.agent):
            return self._open(session, native, event)
        # A subagent's turn, if it has one of its own, is part of the turn that it works for.
        if self.dialect.names_turns and not event.agent:
            return session.outside
        if current is None:
            outside = kind in _ANYWHERE or kind in _OF_AGENTS
            return session.outside if outside else self._open(session, None, event)
        if kind == "prompt" and not event.agent:
            return self._open(session, None, event)
        return session.outside if kind in _ANYWHERE and not current.is_open else current

    def _open(self, session: Session, native: str | None, event: HookEvent) -> Turn:
        if event.kind == "prompt":
            self._close_turns(session)
        session.count += 1
        turn = Turn(session, native, session.count, self._make)
        session.turns[native or f"\uffff{session.count}"] = turn
        session.open_turns.append(turn)
        session.current = turn
        if not self._remember and len(session.turns) > _KEPT_TURNS:
            over = next((key for key, old in session.turns.items() if not old.is_open), None)
            if over is not None:
                del session.turns[over]
        return turn

    def _forget_sessions(self) -> None:
        """Close and drop the sessions that were silent for longest, where that is wanted."""
        if self._remember or len(self.sessions) < _KEPT_SESSIONS:
            return
        silent = sorted(self.sessions.values(), key=lambda session: session.touched)
        for session in silent[: _KEPT_SESSIONS // 2]:
            self.close(session)
            del self.sessions[session.native]
            session.take_apart()

    def _close_turns(self, session: Session) -> None:
        for turn in session.open_turns:
            self._close(turn)
        session.open_turns.clear()

    def _close(self, turn: Turn) -> None:
        self._settle(turn)
        turn.is_open = turn.number == 0
        turn.deliveries = None
        self._sink.closed(turn)

    def _settle_if_due(self, turn: Turn) -> None:
        """Settle what came when its turn was over, or when too much is kept of one turn."""
        if not turn.is_open or turn.pairs.waiting > _MOST_WAITING:
            self._settle(turn)

    def _settle(self, turn: Turn) -> None:
        if turn.known is None:
            return
        found = turn.known.settle()
        for link in found.links:
            self._sink.linked(turn, link)
        for orphan in found.orphans:
            self._sink.orphaned(turn, orphan)
        if turn.known.is_empty():
            turn.known = None

    def _start(self, session: Session, turn: Turn, event: HookEvent) -> None:
        tool, native = event.tool, event.call
        if tool in self.dialect.redelivers and self._delivered_before(turn, event):
            return
        if not tool:
            self._orphan(turn, event, "the payload names no tool")
            return
        unique = self.dialect.unique_ids and bool(native)
        if unique and native:
            given = canonical_input(bytes(event.input)) if self._remember else None
            call = OpenCall(event.line, tool, turn, event.turn, event.at, given)
            named = session.open_calls.get(native)
            if named is None:
                session.open_calls[native] = [call]
            else:
                named.append(call)
        if self._remember or not unique:
            if native and self._remember:
                turn.calls.setdefault(native, []).append(event.line)
                if self.dialect.verb(tool) == "agent":
                    turn.spawners.setdefault(native, []).append(event.line)
            turn.pairs.start(event, by_id=unique)
            self._settle_if_due(turn)

    def _delivered_before(self, turn: Turn, event: HookEvent) -> bool:
        """Return whether this very start was seen already, where a harness sends it twice."""
        if not event.call or not event.tool:
            return False
        # Several starts may have one id: each of them may arrive again, whatever came in between.
        names = (event.call.encode(), event.tool.encode(), (event.cwd or "").encode())
        said = b"\0".join((*names, bytes(event.input)))
        if turn.deliveries is None:
            turn.deliveries = OrderedDict()
        seen = turn.deliveries.get(said)
        if seen is not None:
            self._link(turn, event.line, seen, "redelivery", ("the whole payload",))
            return True
        turn.deliveries[said] = event.line
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
            self._settle_if_due(turn)
            return turn
        named = session.open_calls.get(native) or []
        fitting = _fitting(named, event)
        if len(fitting) != 1:
            self._orphan(turn, event, _why_not(named, fitting), start_missing=not named)
            return turn
        call = fitting[0]
        if len(named) == 1:
            del session.open_calls[native]
        else:
            named.remove(call)
        if not self._remember:
            self.ended = call
            return call.turn
        evidence, same = _evidence(call, event)
        role: Role = "permission" if event.kind == "call-denied" else "end"
        self._link(call.turn, event.line, call.line, role, evidence, corroborated=same)
        call.turn.pairs.closed(call.line, event.line, failed=event.kind != "call-end")
        if self.dialect.verb(event.tool) == "agent":
            self._handed_over(session, call, event)
        return call.turn

    def _handed_over(self, session: Session, call: OpenCall, event: HookEvent) -> None:
        """Link a subagent to the call whose output names it."""
        told = stated(bytes(event.output))
        lines = session.agents.get(told.agentId or told.agent_id or "", [])
        if len(lines) == 1 and session.spawned.get(lines[0]) is None:
            session.spawned[lines[0]] = call.line
            self._link(call.turn, lines[0], call.line, "spawn", ("agent_id",))

    def _batch(self, session: Session, turn: Turn, event: HookEvent) -> None:
        """Link a batch to its calls, if every one of them is known."""
        if not self._remember:
            return
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
        by = turn.spawners.get(event.spawned_by or "", [])
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
            why = f"several subagents of that id are running: lines {_listed(lines)}"
            self._orphan(turn, event, why)
        elif event.agent_type and not agent:
            self._orphan(turn, event, "the payload has no id of a subagent")
        elif event.agent_type:
            why = "the start of this subagent is missing"
            if not agent:
                why = "it says a subagent's type and no id, as other subagents may"
            self._orphan(turn, event, why, start_missing=True)
        else:
            why = "it ends a subagent of no type that never started"
            self._sink.phantom(turn, Orphan(event=event.line, why=why))

    def _inside(self, session: Session, turn: Turn, event: HookEvent) -> None:
        turn.pairs.inner(event)
        self._settle_if_due(turn)

    def _asked(self, session: Session, turn: Turn, event: HookEvent) -> None:
        if self._remember:
            turn.pairs.request(event)
            self._settle_if_due(turn)

    def _compacting(self, session: Session, turn: Turn, event: HookEvent) -> None:
        session.open_compactions.append(event.line)

    def _over(self, session: Session, turn: Turn, event: HookEvent) -> None:
        self._close_turns(session)
        self._settle(session.outside)
        session.outside.deliveries = None

    def _compacted(self, session: Session, turn: Turn, event: HookEvent) -> None:
        if len(session.open_compactions) == 1:
            start = session.open_compactions.pop()
            evidence = ("the only one under way",)
            link = Link(event.line, start, "end", evidence, None, "derived")
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
        self._sink.linked(turn, Link(line, to, role, evidence, None, quality))

    def _orphan(
        self, turn: Turn, event: HookEvent, why: str, *, start_missing: bool = False
    ) -> None:
        orphan = Orphan(event=event.line, why=why, start_missing=start_missing)
        self._sink.orphaned(turn, orphan)


def _evidence(call: OpenCall, event: HookEvent) -> tuple[tuple[str, ...], bool]:
    """Return what a call and its end share beside the id, and whether the input is part of it.

    A changed input is noted and changes nothing: answers may be put into it.
    """
    evidence = [*_BY_ID]
    if event.tool and call.tool:
        evidence.append("tool_name")
    given = canonical_input(bytes(event.input))
    if call.input is None or given is None:
        return tuple(evidence), False
    same = call.input == given
    evidence.append("tool_input" if same else "tool_input differs")
    return tuple(evidence), same


_BY_ID = ("tool_use_id",)


def _fitting(named: list[OpenCall], event: HookEvent) -> list[OpenCall]:
    """Return the open calls of an id that an end may be of: of many a few, for none is decided."""
    if len(named) == 1:
        return named if _fits(named[0], event) else []
    if len(named) > _MOST_OF_ONE_ID:
        return []
    return list(islice((call for call in named if _fits(call, event)), NAMED))


def _listed(lines: Sequence[int]) -> str:
    return ", ".join(map(str, lines[: NAMED - 1])) + (", …" if len(lines) >= NAMED else "")


def _fits(call: OpenCall, event: HookEvent) -> bool:
    """Return whether an end that has a call's id contradicts it in nothing else."""
    if event.tool and call.tool and event.tool != call.tool:
        return False
    return not (event.turn and call.named_turn) or event.turn == call.named_turn


def _why_not(named: list[OpenCall], fitting: list[OpenCall]) -> str:
    if len(named) > _MOST_OF_ONE_ID:
        return f"too many open calls have this id, the first is of line {named[0].line}"
    if fitting:
        lines = _listed([call.line for call in fitting])
        return f"several open calls have this id: lines {lines}"
    if named:
        return f"the open call of this id is of another tool or turn: line {named[0].line}"
    return "no open call has this id"


def _workspace(event: HookEvent) -> str | None:
    """Return the workspace that an event names: its roots, else its directory."""
    if event.workspaces is not None:
        return "\n".join(event.workspaces)
    return event.cwd or None
