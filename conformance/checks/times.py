"""Whether the times that a reader tells are times that the session's own files say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from transcripts.model import Transcript

_STAMP = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
_EPOCH = re.compile(rb"(?<![\w.])(1[5-9]\d{8})(?:\d{3})?(?![\w])")


def recorded_times(home: Path) -> frozenset[int]:
    """Return every time that stands in the files of a home, in whole seconds: as text or number."""
    seconds: set[int] = set()
    for path in home.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            for stamp in set(_STAMP.findall(content)):
                seconds.add(int(datetime.fromisoformat(stamp.decode()).timestamp()))
            seconds.update(int(one[1]) for one in _EPOCH.finditer(content))
    return frozenset(seconds)


def odd_times(transcript: Transcript, recorded: frozenset[int]) -> Iterator[str]:
    """Yield which messages are told to be of a time that no record says; who tells none may."""
    for number, message in enumerate(transcript.messages):
        if message.at is None:
            continue
        told = int(message.at.timestamp())
        # A reader may round to whole seconds.
        if not recorded & {told - 1, told}:
            of = message.at.isoformat()
            yield f"message {number} ({message.kind}) is of {of}, which no record says"
