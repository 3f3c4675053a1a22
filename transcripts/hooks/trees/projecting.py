"""Nodes in their places: under their subagents, in their turns, sessions and workspaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from transcripts.hooks.correlation.pairing import Orphan
from transcripts.hooks.correlation.paths import same_file_key
from transcripts.hooks.correlation.sessions import Session, Turn
from transcripts.hooks.events import HookEvent
from transcripts.hooks.logs import BadLine
from transcripts.hooks.preview import preview
from transcripts.hooks.trees.assembling import Found, Placed, in_order, place, with_waves
from transcripts.hooks.trees.tree import Node, SessionTree, Tree, TurnTree, WorkspaceTree
from transcripts.hooks.trees.unknowns import unknowns

TurnStatus = Literal["active", "completed", "aborted", "failed", "unknown"]
SessionStatus = Literal["active", "stopped", "ended"]


def project(
    events: Mapping[Turn, Sequence[HookEvent]],
    found: Found,
    bad_lines: Sequence[BadLine],
    *,
    payloads: bool,
) -> Tree:
    """Return the tree of all events by what is known of them."""
    nodes: dict[int, Node] = {}
    placed = {
        turn: place(
            (event for event in some if event.kind != "workspace"), found, nodes, payloads=payloads
        )
        for turn, some in events.items()
    }
    agents = _Agents(events, nodes)
    placed = {turn: agents.take(some, turn.session) for turn, some in placed.items()}
    agents.fill(found)
    sessions: dict[Session, list[Turn]] = {}
    for turn in events:
        sessions.setdefault(turn.session, []).append(turn)
    opened = [event for some in events.values() for event in some if event.kind == "workspace"]
    return Tree(
        workspaces=_workspaces(
            [
                (session.workspace, _session(session, turns, events, placed, found))
                for session, turns in sessions.items()
                if not agents.owns(session) and any(placed[turn] for turn in turns)
            ],
            [
                (_roots(event), one.node)
                for event in opened
                for one in place([event], found, nodes, payloads=payloads)
            ],
        ),
        orphans=_listed(found.orphans),
        phantoms=_listed(found.phantoms),
        bad_lines=list(bad_lines),
        unknown=unknowns(found.events.values(), found.dialect),
        blind_spots=list(found.dialect.blind_spots),
    )


class _Agents:
    """The subagents of a log: what carries a subagent's id stands under it, wherever it came."""

    def __init__(self, events: Mapping[Turn, Sequence[HookEvent]], nodes: Mapping[int, Node]):
        self._starts: dict[str, list[int]] = {}
        self._home: dict[str, Session] = {}
        self._parents: dict[int, str] = {}
        self._nodes = nodes
        self._below: dict[int, list[Placed]] = {}
        self._below_unseen: list[tuple[Node, list[Placed]]] = []
        for turn, some in events.items():
            for event in some:
                if event.kind == "subagent-start" and event.agent and event.line in nodes:
                    self._starts.setdefault(event.agent, []).append(event.line)
                    self._home.setdefault(event.agent, turn.session)
                    if event.agent_parent:
                        self._parents[event.line] = event.agent_parent

    def owns(self, session: Session) -> bool:
        """Return whether a session is a subagent's own, started from another one."""
        seen: set[str] = set()
        while (native := session.native) is not None and native in self._home:
            home = self._home[native]
            if home is session or native in seen:
                return False
            seen.add(native)
            session = home
        return bool(seen)

    def take(self, placed: Sequence[Placed], session: Session) -> list[Placed]:
        """Return what is no subagent's of some nodes, and keep the rest for its subagent."""
        whose = session.native if self.owns(session) else None
        unseen: dict[str, list[Placed]] = {}
        left: list[Placed] = []
        for one in placed:
            is_start = one.node.kind == "subagent"
            agent = self._parents.get(one.line) if is_start else (one.agent or whose)
            start = None if agent is None else self._start_of(agent, one.line, earlier=is_start)
            if start is not None:
                self._below.setdefault(start, []).append(one)
            elif agent is None or is_start or one.node.kind == "orphan":
                left.append(one)
            elif agent in unseen:
                unseen[agent].append(one)
            else:
                # A subagent whose start was not seen.
                node = Node(event=None, kind="subagent", name=agent, started_at=one.at)
                unseen[agent] = [one]
                self._below_unseen.append((node, unseen[agent]))
                left.append(Placed(node, one.line, one.at, agent))
        return left

    def fill(self, found: Found) -> None:
        """Put what was kept under its subagent."""
        for line, placed in self._below.items():
            self._nodes[line].children += with_waves(in_order(placed), found)
        for node, placed in self._below_unseen:
            node.children += with_waves(in_order(placed), found)

    def _start_of(self, agent: str, line: int, *, earlier: bool) -> int | None:
        """Return the last start of a subagent before a line; if none is, the first at all."""
        starts = self._starts.get(agent, [])
        before = [start for start in starts if start < line]
        if before:
            return before[-1]
        return starts[0] if starts and not earlier else None


def _session(
    session: Session,
    turns: Sequence[Turn],
    events: Mapping[Turn, Sequence[HookEvent]],
    placed: Mapping[Turn, Sequence[Placed]],
    found: Found,
) -> SessionTree:
    proper = sorted((turn for turn in turns if turn.number), key=lambda turn: turn.number)
    prompts = [_prompt(events[turn]) for turn in proper]
    ended = any(event.kind == "session-end" for event in events.get(session.outside, ()))
    statuses: list[TurnStatus] = [_turn_status(events[turn], turn, ended) for turn in proper]
    outside = placed.get(session.outside, ())
    if ended:
        status: SessionStatus = "ended"
    else:
        status = "active" if not statuses or statuses[-1] == "active" else "stopped"
    return SessionTree(
        id=session.native,
        title=next((preview(prompt) for prompt in prompts if prompt), None),
        status=status,
        nodes=with_waves(outside, found),
        turns=[
            TurnTree(
                id=turn.native or str(turn.number),
                derived=turn.native is None,
                title=_title(turn.number, prompt),
                status=turn_status,
                nodes=with_waves(placed[turn], found),
            )
            for turn, prompt, turn_status in zip(proper, prompts, statuses, strict=True)
        ],
    )


def _prompt(events: Sequence[HookEvent]) -> str | None:
    said = (event.prompt for event in events if event.kind == "prompt" and not event.agent)
    return next((prompt for prompt in said if prompt), None)


def _title(number: int, prompt: str | None) -> str:
    shown = preview(prompt)
    return f"Turn {number} · {shown}" if shown else f"Turn {number}"


def _turn_status(events: Sequence[HookEvent], turn: Turn, ended: bool) -> TurnStatus:
    """Return how a turn ended, by the last event that says so."""
    for event in reversed(events):
        if event.agent:
            continue
        if event.kind == "turn-abort":
            return "aborted"
        if event.kind == "turn-failure":
            return "failed"
        if event.kind == "turn-end":
            told = (event.status or "").lower()
            return "aborted" if told == "aborted" else "failed" if told == "error" else "completed"
    is_last = turn is turn.session.current
    return "active" if is_last and not ended else "unknown"


def _roots(event: HookEvent) -> str | None:
    return None if event.workspaces is None else "\n".join(event.workspaces)


def _workspaces(
    sessions: Sequence[tuple[str | None, SessionTree]], opened: Sequence[tuple[str | None, Node]]
) -> list[WorkspaceTree]:
    """Return sessions by their workspaces; paths that name one directory are one."""
    names: dict[str | None, str | None] = {}
    inside: dict[str | None, list[SessionTree]] = {}
    events: dict[str | None, list[Node]] = {}
    for name, tree in sessions:
        key = _workspace_key(name)
        names.setdefault(key, name)
        inside.setdefault(key, []).append(tree)
    for name, node in opened:
        key = _workspace_key(name)
        names.setdefault(key, name)
        events.setdefault(key, []).append(node)
    return [
        WorkspaceTree(id=name, nodes=events.get(key, []), sessions=inside.get(key, []))
        for key, name in names.items()
    ]


def _workspace_key(name: str | None) -> str | None:
    return None if name is None else "\n".join(map(same_file_key, name.split("\n")))


def _listed(whys: Mapping[int, str]) -> list[Orphan]:
    return [Orphan(event=line, why=why) for line, why in sorted(whys.items())]
