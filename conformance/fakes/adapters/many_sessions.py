"""Adapters that are right about one session, and wrong about several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace

from conformance.adapters import Written
from conformance.fakes.adapters.fake import Failing, Fake
from conformance.fakes.adapters.miniature import KEPT, MANY
from transcripts.model import SessionInfo, Transcript
from transcripts.stores.base import Listing


class _Remembers(Fake):
    """Knows which sessions it wrote into a home and a directory, oldest first."""

    def __init__(self) -> None:
        super().__init__()
        self._written: dict[tuple[Path, str | None], list[str]] = {}

    def write(self, agent: str, home: Path, transcript: Transcript, **given: Any) -> Written:
        answer = super().write(agent, home, transcript, **given)
        there = self._written.setdefault((home, given["cwd"]), [])
        others = [one for one in there if one != answer.session_id]
        self.beside(home, others)
        there[:] = [*others, answer.session_id]
        return answer

    def beside(self, home: Path, others: Sequence[str]) -> None:
        pass

    def newer(self, home: Path, session_id: str) -> Sequence[str]:
        """Return what was written behind a session into the same directory, and is there yet."""
        for (place, _), ids in self._written.items():
            if place == home and session_id in ids:
                behind = ids[ids.index(session_id) + 1 :]
                return [one for one in behind if list(home.rglob(f"*{one}.jsonl"))]
        return ()


class HasOneSessionADirectory(_Remembers):
    fails: ClassVar[Failing] = {
        "kept.apart": KEPT,
        "stateful.untouched": MANY,
        "stateful.listed": MANY,
        "stateful.directories": MANY,
    }

    def beside(self, home: Path, others: Sequence[str]) -> None:
        for other in others:
            for path in home.rglob(f"*{other}.jsonl"):
                path.unlink()


class CutsWhatIsOlder(_Remembers):
    fails: ClassVar[Failing] = {"stateful.kept": MANY}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        cut = self.newer(home, session_id)
        return replace(transcript, messages=transcript.messages[:-1]) if cut else transcript


class NamesTheNewest(_Remembers):
    fails: ClassVar[Failing] = {"stateful.ids": MANY}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        newest = [session_id, *self.newer(home, session_id)][-1]
        return replace(transcript, session_id=newest)


class MixesWhatIsInOneDirectory(_Remembers):
    fails: ClassVar[Failing] = {"stateful.own": MANY}

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        for other in self.newer(home, session_id):
            more = super().read(agent, home, other)
            return replace(transcript, messages=(*transcript.messages, *more.messages))
        return transcript


class ListsOneSessionADirectory(Fake):
    fails: ClassVar[Failing] = {
        "list.both": {"plain-exchange"},
        "stateful.listed": MANY,
        "stateful.directories": MANY,
    }

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        newest: dict[str | None, SessionInfo] = {}
        listing = super().list(agent, home, cwd=cwd)
        for one in listing:
            newest.setdefault(one.cwd, one)
        return Listing(list(newest.values()), len(newest) + len(listing.failed), listing.failed)


class ListsWhatLiesBelow(Fake):
    fails: ClassVar[Failing] = {"stateful.directories": MANY}

    def list(self, agent: str, home: Path, *, cwd: str | None = None) -> Listing:
        listing = super().list(agent, home)
        below = [one for one in listing if cwd is None or (one.cwd or "").startswith(cwd)]
        return Listing(below, len(below) + len(listing.failed), listing.failed)
