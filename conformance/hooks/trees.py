"""A printed tree, read back: which event hangs where, and which are orphans.

Only the shape that the contract fixes is used, so any implementation's tree can be judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Tree = Mapping[str, Any]
"""What ``transcripts hooks tree LOG --format json`` prints."""

_ROLES = frozenset({"end", "before", "after", "file", "permission", "stop"})
_LAYERS = frozenset({"shell", "mcp", "file"})


class Placed(NamedTuple):
    """A node and where it stands: session, turn (None outside one), and the node above."""

    node: Mapping[str, Any]
    session: str | None
    turn: str | None
    above: Mapping[str, Any] | None


def nodes(tree: Tree) -> Iterator[Placed]:
    """Yield every node of a tree with its place, waves included."""
    for workspace in tree["workspaces"]:
        yield from _below(workspace["nodes"], None, None, None)
        for session in workspace["sessions"]:
            yield from _below(session["nodes"], session["id"], None, None)
            for number, turn in enumerate(session["turns"]):
                name = f"{number}:{turn['id']}"
                yield from _below(turn["nodes"], session["id"], name, None)


def _below(
    listed: Sequence[Mapping[str, Any]],
    session: str | None,
    turn: str | None,
    above: Mapping[str, Any] | None,
) -> Iterator[Placed]:
    for node in listed:
        yield Placed(node, session, turn, above)
        # A wave only frames its members: what is above it is above them.
        yield from _below(node["children"], session, turn, above if _frames(node) else node)


def _frames(node: Mapping[str, Any]) -> bool:
    return node["kind"] == "wave"


def spawns(tree: Tree) -> frozenset[tuple[int, int]]:
    """Return which subagent's start hangs under which call, as (its line, the call's)."""
    return frozenset(
        (link["event"], node["event"])
        for node, *_ in nodes(tree)
        for link in node["links"]
        if link["role"] == "spawn" and node["event"] is not None
    )


def links(tree: Tree) -> frozenset[tuple[int, int]]:
    """Return each link of calls and subagents as (later line, earlier line).

    A link may be said by a node's ``links``, by a layer that hangs below its call, or by both.
    """
    found: set[tuple[int, int]] = set()
    for node, _, _, above in nodes(tree):
        line = node["event"]
        if line is None or node["kind"] == "compaction":
            continue
        for link in node["links"]:
            if link["role"] in _ROLES and link["event"] != line:
                found.add((max(line, link["event"]), min(line, link["event"])))
        if above is not None and above["event"] is not None and node["kind"] in _LAYERS:
            found.add((line, above["event"]))
    return frozenset(found)


def lines(tree: Tree) -> list[int]:
    """Return every line that the tree accounts for, once for each place where it stands.

    A node stands for its own line and for each linked one that has no node of its own; a batch
    is linked to each of its calls, and is still one line.
    """
    placed = list(nodes(tree))
    own = [node["event"] for node, _, _, _ in placed if node["event"] is not None]
    standing = frozenset(own)
    folded = [
        link["event"]
        for node, _, _, _ in placed
        for link in node["links"]
        if link["event"] not in standing and link["role"] != "batch"
    ]
    batches = {
        link["event"]
        for node, _, _, _ in placed
        for link in node["links"]
        if link["event"] not in standing and link["role"] == "batch"
    }
    beside = [
        *(bad["line"] for bad in tree["bad_lines"]),
        *(phantom["event"] for phantom in tree["phantoms"]),
    ]
    return sorted([*own, *folded, *batches, *beside])


def orphans(tree: Tree) -> list[int]:
    """Return the lines that the tree lists as orphans."""
    return [orphan["event"] for orphan in tree["orphans"]]


def renamed(tree: Tree, names: Mapping[int, int]) -> Any:
    """Return a tree with other numbers for its events, and its lists in an order of their own.

    So two trees of one conversation can be compared although its lines came in another order.
    """
    return _renamed(dict(tree), names)


def _renamed(value: Any, names: Mapping[int, int]) -> Any:
    if isinstance(value, dict):
        fields: dict[str, Any] = value
        return {
            key: names[inside]
            if key in ("event", "line") and isinstance(inside, int)
            else _renamed(inside, names)
            for key, inside in fields.items()
            if key != "why"
        }
    if isinstance(value, list):
        items: list[Any] = value
        return sorted((_renamed(inside, names) for inside in items), key=repr)
    return value
