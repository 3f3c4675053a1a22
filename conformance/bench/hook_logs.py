"""Capture logs of any length, made of the corpus's own runs with hooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

_IDS = ("session_id", "sessionId")


def recorded(agent: str, release: str, corpus: Path) -> list[bytes]:
    """Return the hook logs of a release's runs; none if it was not recorded with hooks."""
    paths = sorted((corpus / agent / release).glob("*/hooked/hooks.jsonl"))
    return [path.read_bytes() for path in paths]


def lines(logs: list[bytes], events: int) -> Iterator[bytes]:
    """Yield at least so many rows: all runs again and again, each time as new sessions."""
    made = 0
    for number in count():
        for place, log in enumerate(logs):
            yield _renamed(log, number * len(logs) + place)
            made += log.count(b"\n")
            if made >= events:
                return


def _renamed(log: bytes, number: int) -> bytes:
    """Return a run's rows under ids of sessions that no other copy has."""
    seen: set[str] = set()
    for line in log.splitlines():
        payload = json.loads(line)["payload"]
        seen.update(payload[name] for name in _IDS if isinstance(payload.get(name), str))
    for session in seen:
        if len(session) > 8:
            log = log.replace(session.encode(), f"{number:08x}{session[8:]}".encode())
    return log
