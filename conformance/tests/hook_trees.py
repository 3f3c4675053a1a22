"""What the tests of rebuilt conversations ask of a tree, by the shape that commands print."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from transcripts.hooks import CaptureLog, TreeBuilder, build_tree, find_dialect
from transcripts.serialise import to_json


def log_lines(events: Iterable[Mapping[str, Any]]) -> list[bytes]:
    """Return payloads as the lines of a log."""
    return [json.dumps(event).encode() + b"\n" for event in events]


def tree_of(agent: str, lines: Iterable[bytes]) -> dict[str, Any]:
    """Return the tree of some lines, as ``hooks tree --format json`` prints it."""
    dialect = find_dialect(agent)
    log = CaptureLog(Path("log"), dialect)
    return json.loads(to_json(build_tree(log.read(lines), dialect, log.bad_lines)))


def snapshots(agent: str, lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield what a viewer would show after each event."""
    dialect = find_dialect(agent)
    builder = TreeBuilder(dialect)
    for event in CaptureLog(Path("log"), dialect).read(lines):
        builder.add(event)
        yield json.loads(to_json(builder.snapshot()))


def nodes(tree: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every node of a tree."""
    for workspace in tree["workspaces"]:
        yield from _walk(workspace["nodes"])
        for session in workspace["sessions"]:
            yield from _walk(session["nodes"])
            for turn in session["turns"]:
                yield from _walk(turn["nodes"])


def _walk(some: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for node in some:
        yield node
        yield from _walk(node["children"])


def node_of(tree: Mapping[str, Any], event: int) -> dict[str, Any]:
    """Return the node of an event by its line."""
    (found,) = (node for node in nodes(tree) if node["event"] == event)
    return found


def links(tree: Mapping[str, Any]) -> set[tuple[int, int, str]]:
    """Return all links of a tree: the event, the event that it belongs to, and as what."""
    return {
        (link["event"], node["event"], link["role"])
        for node in nodes(tree)
        for link in node["links"]
    }


def orphans(tree: Mapping[str, Any]) -> set[int]:
    """Return the lines of a tree's orphans."""
    return {orphan["event"] for orphan in tree["orphans"]}


def turns(tree: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return all turns of a tree."""
    return [
        turn
        for workspace in tree["workspaces"]
        for session in workspace["sessions"]
        for turn in session["turns"]
    ]
