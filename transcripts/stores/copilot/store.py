"""The face of the Copilot CLI store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from transcripts.model import AnyMessage, Transcript
from transcripts.records.collecting import uncollected
from transcripts.stores.base import Listing, Store, WrittenSession, refused_depth, typed_errors
from transcripts.stores.copilot import layout, listing, reader, writer
from transcripts.stores.copilot.failing import FAILURES
from transcripts.stores.failing import FailureTraits
from transcripts.stores.notes import Notes


class CopilotStore(Store):
    """Copilot CLI's sessions under one home."""

    agent: ClassVar[str] = "copilot"
    writes_for: ClassVar[str] = writer.WRITES_FOR
    failures: ClassVar[FailureTraits] = FAILURES
    cache_is_input: ClassVar[bool] = True

    @classmethod
    def locate(cls, home: Path | None) -> Path:
        """Return ``.copilot`` under the home, or ``COPILOT_HOME``."""
        return layout.locate(home)

    def list(self, cwd: str | None = None) -> Listing:
        """List the sessions, newest first; with ``cwd`` only those of that directory."""
        return listing.list_sessions(self.root, cwd)

    def find(self, session_id: str) -> Path | None:
        """Return a session's events file, or None."""
        return layout.find(self.root, session_id)

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Whether the path is a session of Copilot CLI, judged by its first records."""
        return listing.is_session(path)

    @classmethod
    def iter_path(cls, path: Path, *, recover: bool = False) -> Iterator[AnyMessage]:
        """Yield the messages of a session directory or events file, in order."""
        with typed_errors(path):
            yield from reader.iterate(path, recover=recover)

    @classmethod
    def iter_noting(
        cls, path: Path, notes: Notes, *, recover: bool = False
    ) -> Iterator[AnyMessage]:
        """Yield the messages of a session, and take down what records say beside them."""
        with typed_errors(path):
            yield from reader.iterate(path, recover=recover, notes=notes)

    @classmethod
    def read_path(cls, path: Path, *, recover: bool = False) -> Transcript:
        """Read a session directory or events file whole."""
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
        """Write a new session directory and touch nothing else."""
        with refused_depth(transcript):
            return writer.write(
                self.root,
                transcript,
                session_id=session_id,
                cwd=cwd,
                model=model,
                cli_version=cli_version,
                now=now,
            )

    def resume_command(self, session_id: str) -> Sequence[str]:
        """Return the arguments with which Copilot CLI resumes the session."""
        return ("copilot", f"--resume={session_id}")
