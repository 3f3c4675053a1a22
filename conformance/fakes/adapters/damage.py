"""Readers that break on what is damaged or new, or hide it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace

from conformance.fakes.adapters.fake import Failing, Fake
from conformance.fakes.adapters.miniature import DAMAGED
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
