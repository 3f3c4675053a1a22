"""A session's window is that of its own records' times, read from the raw lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from conformance.corpus import Case, cases, find_corpus, opened
from transcripts.facts import facts_of_path

CASES = [
    case
    for case in cases(find_corpus())
    # What of these is copied, taken back or goes on in another file, no single line says.
    if not case.facts.scenario.startswith(("fork", "rewind", "subagent"))
]


def moments(path: Path) -> Iterator[datetime]:
    """Yield when the lines of a file say that they were written."""
    for line in path.read_bytes().split(b"\n"):
        try:
            value: Any = json.loads(line)
        except ValueError:
            continue
        stamp = value.get("timestamp")
        if isinstance(stamp, str) and not value.get("isSidechain"):
            yield datetime.fromisoformat(stamp)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_window_is_from_the_first_record_to_the_last(case: Case) -> None:
    with opened(case) as home:
        path = home / case.facts.session_path
        window = facts_of_path(str(path), case.facts.agent).facts.window
        file = path / "events.jsonl" if path.is_dir() else path
        times = list(moments(file))
    if len(times) < 2:
        # Codex 0.20.0 says when a session began, and of no other record when it was written.
        assert window.value is None
        assert window.unavailable == "its records do not say when they were written"
        return
    assert window.value is not None
    assert (window.value.first, window.value.last) == (min(times), max(times))
