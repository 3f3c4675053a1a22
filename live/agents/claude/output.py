"""What Claude Code writes to its standard output for programs (``stream-json``)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

_PASSING = frozenset({"stream_event", "keep_alive", "tool_progress", "control_response"})
"""What comes in pieces, from timers, or only answers what was sent in."""


def records(said: Sequence[str]) -> Sequence[Sequence[Any]]:
    """Return each process's records, less what differs from run to run."""
    return [list(_records(output)) for output in said]


def _records(output: str) -> Iterator[Any]:
    for line in output.split("\n"):
        if not line.startswith("{"):
            continue
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and record.get("type") not in _PASSING:
            yield record
