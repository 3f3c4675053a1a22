"""Writers broken on purpose."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace

from conformance.adapters import Failed, Written
from conformance.fakes.adapters.fake import Failing, Fake
from conformance.fakes.adapters.miniature import FAILING, KEPT, MADE, MANY
from transcripts.model import CommandExecution, Transcript

_EMPTY_LIST = re.compile(r"\[\]")
_TIME = re.compile(r'"timestamp": ?"[^"]+"')


class WritesWrongly(Fake):
    """Writes, and does something before or after."""

    def write(self, agent: str, home: Path, transcript: Transcript, **given: Any) -> Written:
        before = set(home.rglob("*"))
        answer = super().write(agent, home, self.before(transcript), **given)
        self.after(home, sorted({*home.rglob("*.jsonl")} - before), sorted(before))
        return answer

    def before(self, transcript: Transcript) -> Transcript:
        return transcript

    def after(self, home: Path, made: Sequence[Path], there: Sequence[Path]) -> None:
        pass


class WritesNothing(Fake):
    fails: ClassVar[Failing] = {
        "write.answers": MADE,
        "round-trip.answers": MADE,
        "stateful.answers": MANY,
        "stateful.listing": MANY,
        "kept.answers": KEPT,
        "kept.listed": KEPT,
    }

    def write(self, agent: str, home: Path, transcript: Transcript, **given: Any) -> Written:
        raise Failed(self.name, "internal", "it never works")


class DropsTheLastWord(WritesWrongly):
    fails: ClassVar[Failing] = {
        "write.words": MADE,
        "write.order": MADE,
        "write.texts": MADE,
        "round-trip.kept": MADE,
    }

    def before(self, transcript: Transcript) -> Transcript:
        return replace(transcript, messages=transcript.messages[:-1])


class SwallowsResults(WritesWrongly):
    fails: ClassVar[Failing] = {"write.results": {FAILING}, "round-trip.kept": {FAILING}}

    def before(self, transcript: Transcript) -> Transcript:
        kept = tuple(
            replace(one, output=()) if isinstance(one, CommandExecution) else one
            for one in transcript.messages
        )
        return replace(transcript, messages=kept)


class WritesTheEndFirst(WritesWrongly):
    fails: ClassVar[Failing] = {"write.order": MADE, "round-trip.kept": MADE}

    def before(self, transcript: Transcript) -> Transcript:
        first, *middle, last = transcript.messages
        return replace(transcript, messages=(last, *middle, first))


class WritesListsAsObjects(WritesWrongly):
    # Empty lists hold no words that could be lost.
    fails: ClassVar[Failing] = {"write.records": MADE}

    def after(self, home: Path, made: Sequence[Path], there: Sequence[Path]) -> None:
        for path in made:
            text = path.read_text("utf-8")
            path.write_text(_EMPTY_LIST.sub("{}", text), "utf-8")


class WritesWhatNobodyKnows(WritesWrongly):
    fails: ClassVar[Failing] = {"write.records": MADE}

    def after(self, home: Path, made: Sequence[Path], there: Sequence[Path]) -> None:
        for path in made:
            rows = path.read_bytes().splitlines(keepends=True)
            row: Any = json.loads(rows[-1])
            row["type"] = "note_of_mine"
            rows.insert(-1, json.dumps(row).encode() + b"\n")
            path.write_bytes(b"".join(rows))


class TouchesAnotherSession(WritesWrongly):
    fails: ClassVar[Failing] = {"write.new": MADE, "stateful.untouched": MANY, "kept.apart": KEPT}

    def after(self, home: Path, made: Sequence[Path], there: Sequence[Path]) -> None:
        for path in there:
            if path.suffix == ".jsonl":
                path.write_bytes(path.read_bytes() + b"\n")


class StampsTheClock(WritesWrongly):
    fails: ClassVar[Failing] = {"write.repeatable": MADE, "kept.clock": KEPT}

    def after(self, home: Path, made: Sequence[Path], there: Sequence[Path]) -> None:
        now = f'"timestamp":"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"'
        for path in made:
            path.write_text(_TIME.sub(now, path.read_text("utf-8"), count=1), "utf-8")


class OverwritesWhatIsThere(Fake):
    # What is overwritten is then in another directory.
    fails: ClassVar[Failing] = {
        "write.occupied": MADE,
        "stateful.untouched": MANY,
        "stateful.directories": MANY,
    }

    def write(self, agent: str, home: Path, transcript: Transcript, **given: Any) -> Written:
        for path in home.rglob(f"*{given['session_id']}*.jsonl"):
            path.unlink()
        return super().write(agent, home, transcript, **given)
