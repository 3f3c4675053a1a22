"""Adapters that do not read what they wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from conformance.adapters import Failed, Written
from conformance.fakes.adapters.fake import Failing, Fake
from conformance.fakes.adapters.miniature import MADE, MANY
from transcripts.model import Transcript


class ReadsNothingItWrote(Fake):
    fails: ClassVar[Failing] = {"round-trip.answers": MADE, "stateful.answers": MANY}

    def __init__(self) -> None:
        super().__init__()
        self._written: set[str] = set()

    def write(self, agent: str, home: Path, transcript: Transcript, **given: Any) -> Written:
        answer = super().write(agent, home, transcript, **given)
        self._written.add(answer.session_id)
        return answer

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        if session_id in self._written:
            raise Failed(self.name, "find", "that was in memory only")
        return super().read(agent, home, session_id, recover=recover)
