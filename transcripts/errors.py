"""Every error a caller can meet, each naming the file, the place and the next step."""

from __future__ import annotations

from pathlib import Path


class TranscriptError(Exception):
    """Something about a transcript is wrong, and the message says where and what to do.

    ``str(error)`` is one line: ``path:line (byte N): why; next step``. The parts are
    attributes too: ``path`` (str or None), ``line`` (from 1, or None), ``offset``
    (bytes from the start of the file, or None), ``why`` and ``next_step``.
    """

    def __init__(
        self,
        why: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        offset: int | None = None,
        next_step: str | None = None,
    ) -> None:
        self.path = None if path is None else str(path)
        self.line = line
        self.offset = offset
        self.why = why
        self.next_step = next_step
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        place = self.path or ""
        if self.line is not None:
            place += f":{self.line}"
        if self.offset is not None:
            place += f" (byte {self.offset})"
        sentence = f"{place}: {self.why}" if place else self.why
        if self.next_step:
            sentence += f"; {self.next_step}"
        return " ".join(sentence.split())


class DamagedRecord(TranscriptError):
    """A record exists and cannot be read whole."""


class NoMessages(TranscriptError):
    """A file has content, yet no message came of it: never an empty success."""


class NotATranscript(TranscriptError):
    """The path is not a session file of the agent asked for, or of any known one."""


class NotACaptureLog(TranscriptError):
    """Not one line of a file is a hook event."""


class ChangedDuringRead(TranscriptError):
    """The file grew or was replaced while it was read."""


class UnknownAgent(TranscriptError):
    """No store is registered under that name."""


class SessionNotFound(TranscriptError):
    """There is no session of that id in the store that was searched."""


class LeadsOut(TranscriptError):
    """A link leads out of the store: what lies there may be anybody's."""


class AmbiguousSession(TranscriptError):
    """One id names several files, and nothing says which is meant."""


class NoSuchFailure(TranscriptError):
    """The session has no failure of that number, or none that ended it."""


class NothingToWrite(TranscriptError):
    """No message of the transcript has a form in the target store."""


class MissingWorkingDirectory(TranscriptError):
    """Neither the transcript nor the caller says which directory the session belongs to."""


class SessionExists(TranscriptError):
    """A write would touch a session that is already there."""


class UnwritableSession(TranscriptError):
    """The session id, the clock or the target directory does not suit the target store."""


class UnreadableConfig(TranscriptError):
    """A configuration file is not what its harness reads, so nothing is put into it."""


class UnknownRelease(TranscriptError):
    """Nobody says which release is installed, or that release has no hooks."""


class UnusableRecorder(TranscriptError):
    """The recorder can't do its work here: no private log, or no interpreter that runs it."""
