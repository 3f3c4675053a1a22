"""The face of the Codex store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from transcripts.model import AnyMessage, Transcript
from transcripts.records import jsonlines
from transcripts.records.collecting import uncollected
from transcripts.stores.base import Listing, Store, WrittenSession, refused_depth, typed_errors
from transcripts.stores.codex import layout, listing, reader, writer
from transcripts.stores.codex.dialects import flat
from transcripts.stores.codex.failing import FAILURES
from transcripts.stores.codex.foreign import text
from transcripts.stores.codex.reading import authors
from transcripts.stores.failing import FailureTraits
from transcripts.stores.notes import Notes

_RECORDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_HEAD_LINES = 20
_LONGEST_LINE = 1 << 20


class CodexStore(Store):
    """The sessions of Codex under one home."""

    agent: ClassVar[str] = reader.AGENT
    writes_for: ClassVar[str] = "Codex 0.130.0 to 0.171.0"
    failures: ClassVar[FailureTraits] = FAILURES
    cache_is_input: ClassVar[bool] = True

    @classmethod
    def locate(cls, home: Path | None) -> Path:
        """Return ``~/.codex``, or where CODEX_HOME says."""
        return layout.locate(home)

    def list(self, cwd: str | None = None) -> Listing:
        """List the sessions, live and archived, newest first."""
        return listing.sessions(self.root, cwd)

    def find(self, session_id: str) -> Path | None:
        """Return the rollout of a session, by its name or else by its first record; or None."""
        return layout.find(self.root, session_id) or listing.find(self.root, session_id)

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Whether a file's first records are a rollout's."""
        if not path.is_file():
            return False
        with path.open("rb") as file:
            for _ in range(_HEAD_LINES):
                line = file.readline(_LONGEST_LINE)
                if not line:
                    return False
                try:
                    value = jsonlines.parse(line.strip())
                except ValueError:
                    continue
                if isinstance(value, dict):
                    enveloped = text(value.get("type")) in _RECORDS and "payload" in value
                    return enveloped or (flat.is_meta(value) and "instructions" in value)
        return False

    @classmethod
    def iter_path(cls, path: Path, *, recover: bool = False) -> Iterator[AnyMessage]:
        """Yield the messages of a rollout, in order."""
        with typed_errors(path):
            yield from reader.iterate(path, recover=recover)

    @classmethod
    def is_told_by_words(cls, provenance: str | None, release: str | None) -> bool:
        """Whether it is the shape of a text that says it is Codex's: before texts were marked."""
        return authors.is_shape(provenance) and not authors.marks(release)

    @classmethod
    def iter_noting(
        cls, path: Path, notes: Notes, *, recover: bool = False
    ) -> Iterator[AnyMessage]:
        """Yield the messages of a session, and take down what records say beside them."""
        with typed_errors(path):
            yield from reader.iterate(path, recover=recover, notes=notes)

    @classmethod
    def read_path(cls, path: Path, *, recover: bool = False) -> Transcript:
        """Read a rollout whole, with those of the agents that it spawned."""
        with typed_errors(path), uncollected():
            return reader.read(path, recover=recover)

    def write(
        self,
        transcript: Transcript,
        *,
        session_id: str,
        cwd: str | None = None,
        model: str | None = None,
        cli_version: str | None = None,
        now: datetime | None = None,
    ) -> WrittenSession:
        """Write a new rollout that Codex resumes and lists."""
        with refused_depth(transcript):
            return writer.write(
                transcript,
                self.root,
                session_id=session_id,
                cwd=cwd,
                model=model,
                cli_version=cli_version,
                now=now,
            )

    def resume_command(self, session_id: str) -> Sequence[str]:
        """Return ``codex resume ID``."""
        return ["codex", "resume", session_id]
