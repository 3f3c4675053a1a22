"""The correlator that users run, as the checks want to be given one.

Only its public face is used, and only the printed shape of its tree is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from conformance.hooks.trees import Tree
from transcripts.hooks import CaptureLog, TreeBuilder, build_tree, find_dialect


def correlate(lines: Sequence[bytes], agent: str) -> Tree:
    """Return the tree of a log that is read to its end."""
    log = CaptureLog(Path(), find_dialect(agent), keep_payloads=False)
    return msgspec.to_builtins(build_tree(log.read(lines), log.dialect, log.bad_lines))


def correlate_while_looking(lines: Sequence[bytes], agent: str) -> Tree:
    """Return the same tree, looked at after every event on the way."""
    log = CaptureLog(Path(), find_dialect(agent), keep_payloads=False)
    builder = TreeBuilder(log.dialect)
    for event in log.read(lines):
        builder.add(event)
        builder.snapshot(log.bad_lines)
    return msgspec.to_builtins(builder.finish(log.bad_lines))


def snapshot(lines: Sequence[bytes], agent: str) -> Tree:
    """Return what is known of a log that may still grow."""
    log = CaptureLog(Path(), find_dialect(agent), keep_payloads=False)
    builder = TreeBuilder(log.dialect)
    for event in log.read(lines):
        builder.add(event)
    return msgspec.to_builtins(builder.snapshot(log.bad_lines))
