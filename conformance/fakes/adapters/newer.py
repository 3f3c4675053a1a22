"""Readers that lose something by what they do not know yet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace

from conformance.adapters import Failed
from conformance.fakes.adapters.fake import Failing, Fake
from conformance.fakes.adapters.miniature import FIELD, RECORD, VALUE
from transcripts.model import Transcript

_UNKNOWN = re.compile(r'\{[^{]*"type": "not_yet_known"')
_NEW = ("not_yet_known", "notYetKnown")


def _lines(home: Path, session_id: str) -> Iterator[str]:
    """Yield the lines of a session's files."""
    for path in sorted(home.rglob("*.jsonl")):
        if session_id in path.as_posix():
            yield from path.read_text("utf-8", errors="replace").split("\n")


class StumblesOverWhatIsNew(Fake):
    fails: ClassVar[Failing] = {"forward.answers": RECORD | FIELD | VALUE}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        if any(word in line for line in _lines(home, session_id) for word in _NEW):
            raise Failed(self.name, "read", "there is something that it does not know")
        return super().read(agent, home, session_id, recover=recover)


class StopsAtAnUnknownRecord(Fake):
    agent: ClassVar[str] = "claude"
    fails: ClassVar[Failing] = {"forward.record": RECORD}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        stops = any(_UNKNOWN.match(line) for line in _lines(home, session_id))
        return replace(transcript, messages=transcript.messages[:1]) if stops else transcript


class SwallowsUnknownRecords(Fake):
    agent: ClassVar[str] = "copilot"
    fails: ClassVar[Failing] = {"forward.told": RECORD}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        return replace(transcript, unread=tuple(one for one in transcript.unread if one.known))


class DropsRecordsWithUnknownFields(Fake):
    fails: ClassVar[Failing] = {"forward.field": FIELD}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        drops = any("notYetKnown" in line for line in _lines(home, session_id))
        return replace(transcript, messages=transcript.messages[:1]) if drops else transcript


class DropsRecordsWithUnknownWords(Fake):
    agent: ClassVar[str] = "claude"
    # What is new in the recording of a subagent holds no word of anybody's.
    fails: ClassVar[Failing] = {
        "forward.value": {
            f"{scenario}/unknown-value"
            for scenario in ("command-fails", "image-in", "mcp-call", "rewind")
        }
    }

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        new = {number for number, line in enumerate(_lines(home, session_id), 1) if _NEW[0] in line}
        kept = (one for one in transcript.messages if not {at.line for at in one.sources} & new)
        return replace(transcript, messages=tuple(kept))
