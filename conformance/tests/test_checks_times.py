"""A reader's times are held against those that the session's own files say, whatever their zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from conformance.checks.times import odd_times, recorded_times
from transcripts.model import Transcript, UserMessage

NOON = datetime(2026, 3, 1, 12, 0, 5, 250_000, UTC)


def _told(at: datetime | None) -> Transcript:
    said = UserMessage(id="1", author="human", content=(), at=at)
    return Transcript(agent="codex", session_id="1", messages=(said,))


@pytest.mark.parametrize(
    "recorded",
    ['"2026-03-01T12:00:05.250Z"', '"2026-03-01T21:00:05.25+09:00"', "1772366405250", "1772366405"],
)
@pytest.mark.parametrize(
    ("told", "odd"),
    [
        (NOON, False),
        (NOON.astimezone(timezone(timedelta(hours=9))), False),
        (NOON.replace(microsecond=0), False),
        (NOON.replace(microsecond=0) + timedelta(seconds=1), False),
        (None, False),
        (NOON - timedelta(hours=9), True),
        (NOON.replace(second=0), True),
    ],
)
def test_a_time_is_one_of_the_files(
    recorded: str, told: datetime | None, odd: bool, tmp_path: Path
) -> None:
    (tmp_path / "session.jsonl").write_text(f'{{"at": {recorded}}}\n', "utf-8")
    assert bool(list(odd_times(_told(told), recorded_times(tmp_path)))) is odd
