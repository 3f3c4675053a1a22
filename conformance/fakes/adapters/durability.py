"""Writers that leave more behind than the session, or less than they say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID

from msgspec.structs import replace

from conformance.adapters import Written
from conformance.fakes.adapters.fake import Failing, Fake
from conformance.fakes.adapters.miniature import KEPT, MADE, MANY
from conformance.fakes.adapters.writing import WritesWrongly
from transcripts.model import Transcript
from transcripts.stores.base import Listing


class LetsOthersRead(WritesWrongly):
    fails: ClassVar[Failing] = {"kept.private": KEPT}

    def after(self, home: Path, made: Sequence[Path], there: Sequence[Path]) -> None:
        for path in made:
            path.chmod(0o644)
            for parent in path.relative_to(home).parents:
                (home / parent).chmod(0o755)


class LeavesATemporaryFile(WritesWrongly):
    fails: ClassVar[Failing] = {"kept.tidy": KEPT}

    def after(self, home: Path, made: Sequence[Path], there: Sequence[Path]) -> None:
        for path in made:
            path.with_suffix(".tmp").touch(0o600)


class KeepsNotesInTheHome(WritesWrongly):
    fails: ClassVar[Failing] = {"kept.inside": KEPT}

    def after(self, home: Path, made: Sequence[Path], there: Sequence[Path]) -> None:
        (home / f"{made[0].stem}.notes").touch(0o600)


class AnswersAnotherId(Fake):
    fails: ClassVar[Failing] = {
        "kept.id": KEPT,
        "kept.listed": KEPT,
        "round-trip.answers": MADE,
        "stateful.answers": MANY,
        "stateful.listed": MANY,
        "stateful.directories": MANY,
    }

    def write(self, agent: str, home: Path, transcript: Transcript, **given: Any) -> Written:
        answer = super().write(agent, home, transcript, **given)
        return replace(answer, session_id="0badc0de-4444-4444-8444-000000000001")


class ListsFromMemory(Fake):
    fails: ClassVar[Failing] = {"kept.listed": KEPT}

    def __init__(self) -> None:
        super().__init__()
        self._written: set[str] = set()

    def write(self, agent: str, home: Path, transcript: Transcript, **given: Any) -> Written:
        answer = super().write(agent, home, transcript, **given)
        self._written.add(answer.session_id)
        return answer

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home, cwd=cwd)
        # No CLI makes such an id: all others are recorded sessions.
        made = {one.session_id for one in listing if UUID(one.session_id).version == 5}
        unknown = made - self._written
        kept = [one for one in listing if one.session_id not in unknown]
        return Listing(kept, len(kept) + len(listing.failed), listing.failed)
