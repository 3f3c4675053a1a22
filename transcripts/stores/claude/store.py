"""The face of the Claude Code store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import ClassVar

from transcripts.model import AnyMessage, Transcript
from transcripts.records import jsonlines
from transcripts.records.collecting import uncollected
from transcripts.stores.base import Listing, Store, WrittenSession, refused_depth, typed_errors
from transcripts.stores.claude import layout, listing, reader, wordings, writer
from transcripts.stores.claude.failing import FAILURES
from transcripts.stores.claude.reading.rows import Row, row_of
from transcripts.stores.failing import FailureTraits
from transcripts.stores.notes import Notes

_SNIFFED = 200


class ClaudeStore(Store):
    """Claude Code's sessions under one home."""

    agent: ClassVar[str] = "claude"
    writes_for: ClassVar[str] = writer.WRITES_FOR
    failures: ClassVar[FailureTraits] = FAILURES
    copies_unnamed: ClassVar[bool] = True

    @classmethod
    def locate(cls, home: Path | None) -> Path:
        """Return ``~/.claude`` of a home, or what the environment says."""
        return layout.configuration_directory(home)

    def list(self, cwd: str | None = None) -> Listing:
        """List the sessions, newest first; subagents' files are none."""
        return listing.list_sessions(self.root, cwd)

    def find(self, session_id: str) -> Path | None:
        """Return the file of a session id."""
        return layout.find(self.root, session_id)

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Whether the first records of a file are Claude Code's, whichever kinds come first."""
        if not path.is_file() or path.suffix != ".jsonl":
            return False
        rows = jsonlines.iterate(path, path.parent, [], recover=True, at_once=jsonlines.FEW)
        return any(_is_ours(row_of(record)) for record in islice(rows, _SNIFFED))

    @classmethod
    def iter_path(cls, path: Path, *, recover: bool = False) -> Iterator[AnyMessage]:
        """Yield the messages of a session file, in order."""
        with typed_errors(path):
            yield from reader.iterate(path, recover=recover)

    @classmethod
    def is_told_by_words(cls, provenance: str | None, release: str | None) -> bool:
        """Whether it is the wrapper around a prompt that says whose it is."""
        return provenance in wordings.WRAPPERS

    @classmethod
    def iter_noting(
        cls, path: Path, notes: Notes, *, recover: bool = False
    ) -> Iterator[AnyMessage]:
        """Yield the messages of a session, and take down what records say beside them."""
        with typed_errors(path):
            yield from reader.iterate(path, recover=recover, notes=notes)

    @classmethod
    def read_path(cls, path: Path, *, recover: bool = False) -> Transcript:
        """Read a session file whole, with what other files hold of the session."""
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
        """Write a new session that every targeted release resumes."""
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
        """Return the command that resumes a session from its own directory."""
        return ["claude", "--resume", session_id]


def _is_ours(row: Row) -> bool:
    """Whether a record is of a form that only this CLI writes: a linked row, or a marked one."""
    if row.uuid and "parentUuid" in row.value:
        return row.type is not None
    return row.session is not None and row.type is not None and "payload" not in row.value
