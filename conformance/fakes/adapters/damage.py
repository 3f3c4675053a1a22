"""Readers that break on what is damaged or new, or hide it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace

from conformance.adapters import Failed
from conformance.fakes.adapters.fake import Failing, Fake
from conformance.fakes.adapters.miniature import DAMAGED, FIELD, RECORD
from transcripts.model import Transcript


class ReadsOverDamage(Fake):
    fails: ClassVar[Failing] = {"damage.refused": DAMAGED}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        return super().read(agent, home, session_id, recover=True)


class NeverRecovers(Fake):
    fails: ClassVar[Failing] = {"damage.recovered": DAMAGED}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        return super().read(agent, home, session_id)


class HidesDamage(Fake):
    fails: ClassVar[Failing] = {"damage.told": DAMAGED}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        return replace(transcript, damage=())


class ReturnsHalfAFile(Fake):
    fails: ClassVar[Failing] = {"damage.rest": DAMAGED}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        half = len(transcript.messages) // 2
        return replace(transcript, messages=transcript.messages[:half]) if recover else transcript


class StumblesOverWhatIsNew(Fake):
    fails: ClassVar[Failing] = {"forward.answers": RECORD | FIELD}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        for path in home.rglob(f"*{session_id}*.jsonl"):
            text = path.read_text("utf-8", errors="replace")
            if "notYetKnown" in text or "not_yet_known" in text:
                raise Failed(self.name, "read", "there is something that it does not know")
        return super().read(agent, home, session_id, recover=recover)


class LosesByWhatIsNew(Fake):
    mark: str

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        for path in home.rglob(f"*{session_id}*.jsonl"):
            if self.mark in path.read_text("utf-8", errors="replace"):
                return replace(transcript, messages=transcript.messages[:1])
        return transcript


class StopsAtAnUnknownRecord(LosesByWhatIsNew):
    fails: ClassVar[Failing] = {"forward.record": RECORD}

    mark = "not_yet_known"


class DropsRecordsWithUnknownFields(LosesByWhatIsNew):
    fails: ClassVar[Failing] = {"forward.field": FIELD}

    mark = "notYetKnown"
