"""A conversation as hooks show it: workspaces, sessions, turns, and what happened in them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec

from transcripts.hooks.correlation.matching import Quality, Role
from transcripts.hooks.correlation.pairing import Orphan
from transcripts.hooks.logs import BadLine
from transcripts.hooks.outcomes import Failure, Status

NodeKind = Literal[
    "prompt",
    "thought",
    "response",
    "call",
    "shell",
    "mcp",
    "file",
    "subagent",
    "wave",
    "compaction",
    "lifecycle",
    "notification",
    "orphan",
    "other",
]


class NodeLink(msgspec.Struct, frozen=True, kw_only=True):
    """An event (by its line) that belongs to a node, as what, and why it is known to."""

    event: int
    role: Role
    evidence: tuple[str, ...]
    score: int | None
    quality: Quality


class Node(msgspec.Struct, kw_only=True):
    """Something that happened; ``event`` is its line, None for what no event tells of itself.

    ``duration_ms`` is the harness's own figure (``native``) or the time between the two events
    (``observed``); a wave's goes from its first start to its last end. ``exit_code`` only where
    the harness states one. ``payload`` only where it is asked for.
    """

    event: int | None
    kind: NodeKind
    name: str | None
    status: Status | None = None
    failure: Failure | None = None
    exit_code: int | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    duration_ms: float | None = None
    duration_source: Literal["native", "observed"] | None = None
    links: list[NodeLink] = []
    children: list[Node] = []
    payload: Any = msgspec.UNSET


class TurnTree(msgspec.Struct, frozen=True, kw_only=True):
    """One turn; ``derived``: nothing names it, it goes from one prompt to the next."""

    id: str
    derived: bool
    title: str
    status: Literal["active", "completed", "aborted", "failed", "unknown"]
    nodes: Sequence[Node]


class SessionTree(msgspec.Struct, frozen=True, kw_only=True):
    """One session; its own nodes are what happened outside of its turns."""

    id: str | None
    title: str | None
    status: Literal["active", "stopped", "ended"]
    nodes: Sequence[Node]
    turns: Sequence[TurnTree]


class WorkspaceTree(msgspec.Struct, frozen=True, kw_only=True):
    """One workspace; None where no event names one, "" where the harness says there is none."""

    id: str | None
    nodes: Sequence[Node]
    sessions: Sequence[SessionTree]


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """An event, or fields of an event, that the dialect does not know: seen how often."""

    event: str
    known: bool
    fields: tuple[str, ...]
    count: int


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """All that a log shows, and what it doesn't.

    An orphan stands in its turn too. ``phantoms`` end what never began: they are counted
    nowhere. ``blind_spots`` is what these hooks can't show: that an event is missing never
    means that nothing happened.
    """

    workspaces: Sequence[WorkspaceTree]
    orphans: Sequence[Orphan]
    phantoms: Sequence[Orphan]
    bad_lines: Sequence[BadLine]
    unknown: Sequence[Unknown]
    blind_spots: Sequence[str]
