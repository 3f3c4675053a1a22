"""Hook payloads: recorded by a recorder of our own, and read back as a conversation."""

from __future__ import annotations

from pathlib import Path

from transcripts.hooks.dialects import find_dialect, harnesses
from transcripts.hooks.logs import CaptureLog
from transcripts.hooks.trees.building import TreeBuilder, build_tree
from transcripts.hooks.trees.tree import Tree

__all__ = [
    "CaptureLog",
    "Tree",
    "TreeBuilder",
    "build_tree",
    "find_dialect",
    "harnesses",
    "read_log",
]


def read_log(path: Path, agent: str) -> CaptureLog:
    """Return the events of a harness's capture log, to be read one by one."""
    return CaptureLog(path, find_dialect(agent))
