"""Events and their links, put together as nodes.

What ends, permits or repeats another event stands as a link on that event's node; what happened
below a call stands under it; an orphan stands where it arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from transcripts.hooks.correlation.matching import Link
from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import HookEvent, Kind
from transcripts.hooks.logs import unwrapped
from transcripts.hooks.outcomes import agent_status, call_status, duration, exit_code, failure
from transcripts.hooks.preview import preview
from transcripts.hooks.trees.tree import Node, NodeKind, NodeLink
from transcripts.hooks.trees.waves import Interval, in_waves

_NODE_KINDS: Mapping[Kind, NodeKind] = {
    "prompt": "prompt",
    "thought": "thought",
    "response": "response",
    "call-start": "call",
    "shell-before": "shell",
    "shell-after": "shell",
    "mcp-before": "mcp",
    "mcp-after": "mcp",
    "file-before": "file",
    "file-after": "file",
    "subagent-start": "subagent",
    "compaction-start": "compaction",
    "notification": "notification",
    "editor": "file",
    "other": "other",
}
_ABSORBED = frozenset({"end", "stop", "batch", "permission", "redelivery"})
"""Roles of events that a link on another event's node tells of, and no node of their own."""


class Found(msgspec.Struct, kw_only=True):
    """All that is known of a log's events: they themselves by line, and their links."""

    dialect: Dialect
    events: dict[int, HookEvent] = {}
    of_owner: dict[int, list[Link]] = {}
    of_event: dict[int, Link] = {}
    orphans: dict[int, str] = {}
    phantoms: dict[int, str] = {}

    def note(self, link: Link) -> None:
        """Take note of a link."""
        self.of_owner.setdefault(link.to, []).append(link)
        self.of_event[link.event] = link

    def linked(self, line: int, role: str) -> HookEvent | None:
        """Return the event that stands to another one in a role."""
        for link in self.of_owner.get(line, ()):
            if link.role == role:
                return self.events.get(link.event)
        return None


class Placed(msgspec.Struct, frozen=True):
    """A node that is under no other yet, with its event's line, time and subagent."""

    node: Node
    line: int
    at: datetime | None
    agent: str | None


def place(
    events: Iterable[HookEvent], found: Found, nodes: dict[int, Node], *, payloads: bool
) -> list[Placed]:
    """Return the nodes of some events in the order they happened, each with what is below it.

    Every node that is made, on whatever level, is put into ``nodes`` under its line.
    """
    placed: list[Placed] = []
    for event in events:
        if event.line in found.of_event or event.line in found.phantoms:
            continue
        node = _node(event, found, nodes, payloads)
        placed.append(Placed(node, event.line, event.at, event.agent or None))
    return in_order(placed)


def in_order(placed: Iterable[Placed]) -> list[Placed]:
    """Return nodes by time where all have one, else as they arrived."""
    listed = list(placed)
    if any(one.at is None for one in listed):
        return sorted(listed, key=lambda one: one.line)
    return sorted(listed, key=lambda one: (one.at, one.line))


def with_waves(placed: Sequence[Placed], found: Found) -> list[Node]:
    """Return nodes in their order; calls that overlapped stand together where the first began."""
    calls = [one.node for one in placed if one.node.kind == "call"]
    spans = [_span(node) for node in calls]
    over = [found.linked(node.event or 0, "end") for node in calls]
    timed = all(span is not None for span, end in zip(spans, over, strict=True) if end is not None)
    clock = spans if timed else [_lines(node, end) for node, end in zip(calls, over, strict=True)]
    wave_of: dict[int, Node] = {}
    for wave in in_waves(calls, clock, timed):
        wave_of.update((id(member), wave) for member in wave.children)
    nodes: list[Node] = []
    shown: set[int] = set()
    for one in placed:
        node = wave_of.get(id(one.node), one.node)
        if id(node) not in shown:
            shown.add(id(node))
            nodes.append(node)
    return nodes


def _span(node: Node) -> Interval | None:
    if node.started_at is None or node.ended_at is None:
        return None
    return node.started_at.timestamp(), node.ended_at.timestamp()


def _lines(node: Node, end: HookEvent | None) -> Interval | None:
    return None if end is None or node.event is None else (node.event, end.line)


def _node(event: HookEvent, found: Found, nodes: dict[int, Node], payloads: bool) -> Node:
    node = nodes[event.line] = Node(
        event=event.line,
        kind="orphan" if event.line in found.orphans else _NODE_KINDS.get(event.kind, "lifecycle"),
        name=_name(event, found.dialect),
        started_at=event.at,
    )
    links = sorted(found.of_owner.get(event.line, ()), key=lambda link: link.event)
    node.links = [
        NodeLink(
            event=link.event,
            role=link.role,
            evidence=link.evidence,
            score=link.score,
            quality=link.quality,
        )
        for link in links
    ]
    _finish(node, event, found)
    below = [
        found.events[link.event]
        for link in links
        if link.role not in _ABSORBED
        and not (link.role == "after" and event.kind != "call-start")
        and link.event in found.events
    ]
    node.children = [_node(child, found, nodes, payloads) for child in below]
    if payloads:
        node.payload = payload_of(event)
    return node


def _finish(node: Node, event: HookEvent, found: Found) -> None:
    """Set what the event that ends another says of it."""
    if event.kind == "call-start":
        denied = found.linked(event.line, "permission")
        end = found.linked(event.line, "end")
        if end is None and denied is not None and denied.kind == "call-denied":
            end = denied
        node.status = call_status(end, found.dialect)
        node.failure = failure(end)
        node.exit_code = exit_code(end)
    elif event.kind in ("shell-before", "mcp-before"):
        end = found.linked(event.line, "after")
        # That it is over does not say how it went.
        node.status = "unresolved" if end is None else "unknown"
    elif event.kind == "subagent-start":
        end = found.linked(event.line, "stop")
        node.status = agent_status(end)
    elif event.kind == "compaction-start":
        end = found.linked(event.line, "end")
    else:
        node.failure = failure(event) if event.kind == "turn-failure" else None
        node.duration_ms, node.duration_source = duration(None, event)
        return
    if end is not None:
        node.ended_at = end.at
        node.duration_ms, node.duration_source = duration(event.at, end)


def _name(event: HookEvent, dialect: Dialect) -> str | None:
    kind = event.kind
    if kind in ("prompt", "thought", "response"):
        return preview(event.prompt if kind == "prompt" else event.text) or event.name
    if kind in ("shell-before", "shell-after"):
        return preview(event.command) or event.name
    if kind in ("file-before", "file-after", "editor"):
        return event.path or event.name
    if kind == "subagent-start":
        return event.agent_type or event.name
    return event.tool or event.name


def payload_of(event: HookEvent) -> Any:
    """Return an event's whole payload, as plain values.

    A number of more digits than this reader takes leaves the row as the text that it is.
    """
    if not event.payload:
        return None
    try:
        return unwrapped(event.payload)[0]
    except (ValueError, RecursionError):
        return event.payload.decode("utf-8", "replace").rstrip("\r\n")
