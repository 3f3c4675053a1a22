"""A transcript written into a store is looked for under the id that the writer answers."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.crossing import cross, written
from conformance.kinds import conversation, variants
from transcripts.ids import derive
from transcripts.model import Transcript
from transcripts.stores.base import WrittenSession
from transcripts.stores.claude.store import ClaudeStore

OTHER = derive("another", "id")


class ChoosesItsOwnId(ClaudeStore):
    def write(self, transcript: Transcript, *, session_id: str, **given: Any) -> WrittenSession:
        del session_id
        return super().write(transcript, session_id=OTHER, **given)


def test_a_writer_may_choose_another_id_than_it_was_asked_for() -> None:
    transcript = replace(conversation([next(iter(variants()))]), session_id="made")
    with written(transcript, ChoosesItsOwnId) as (home, _, crossing):
        assert crossing.session_id == OTHER
        assert [path.stem for path in home.rglob("*.jsonl")] == [OTHER]
    assert cross(transcript, ChoosesItsOwnId).unreadable is None
