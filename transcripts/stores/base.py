"""What every store offers, and the registry that finds one by its agent's name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, overload

import msgspec

from transcripts.errors import (
    DamagedRecord,
    LeadsOut,
    NotATranscript,
    UnknownAgent,
    UnwritableSession,
)
from transcripts.losses import Loss
from transcripts.model import AnyMessage, SessionInfo, Transcript
from transcripts.stores.failing import FailureTraits
from transcripts.stores.notes import Notes


class Unlisted(msgspec.Struct, frozen=True, kw_only=True):
    """A file that looks like a session and could not be listed."""

    path: str
    why: str


class Listing(Sequence[SessionInfo]):
    """The sessions of a store, newest first, and the files that could not be listed.

    ``seen`` counts the session files looked at; ``failed`` those that gave no entry.
    """

    def __init__(
        self, sessions: Sequence[SessionInfo], seen: int, failed: Sequence[Unlisted] = ()
    ) -> None:
        self.sessions = tuple(sessions)
        self.seen = seen
        self.failed = tuple(failed)

    @overload
    def __getitem__(self, index: int) -> SessionInfo: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SessionInfo]: ...
    def __getitem__(self, index: int | slice) -> SessionInfo | Sequence[SessionInfo]:
        return self.sessions[index]

    def __len__(self) -> int:
        return len(self.sessions)


class WrittenSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that a write made: its id, its file, and what did not cross."""

    session_id: str
    path: Path
    losses: tuple[Loss, ...] = ()


class Store(ABC):
    """One CLI's sessions under one home.

    ``home`` is the *user's home*; None asks the environment (CLAUDE_CONFIG_DIR, CODEX_HOME or
    COPILOT_HOME, then HOME).
    """

    agent: ClassVar[str]
    writes_for: ClassVar[str]
    """The range of releases that the writer targets, in words."""
    failures: ClassVar[FailureTraits] = FailureTraits()
    """How the CLI records that its provider failed."""
    cache_is_input: ClassVar[bool] = False
    """Whether what was read from the provider's cache is counted as input once more."""

    def __init__(self, home: Path | None = None) -> None:
        self.root = self.locate(home)

    @classmethod
    @abstractmethod
    def locate(cls, home: Path | None) -> Path:
        """Return the directory where the CLI keeps its data: the root of all locations."""

    @abstractmethod
    def list(self, cwd: str | None = None) -> Listing:
        """List the sessions, newest first; with ``cwd`` only those of that directory."""

    @abstractmethod
    def find(self, session_id: str) -> Path | None:
        """Return the file of a session, or None."""

    @classmethod
    @abstractmethod
    def recognises(cls, path: Path) -> bool:
        """Whether the path is a session of this agent, judged by its records."""

    @classmethod
    @abstractmethod
    def iter_path(cls, path: Path, *, recover: bool = False) -> Iterator[AnyMessage]:
        """Yield the messages of a session file or directory, in order."""

    copies_unnamed: ClassVar[bool] = False
    """Whether some release copies a session into another one and does not say so."""

    @classmethod
    def is_told_by_words(cls, provenance: str | None, release: str | None) -> bool:
        """Whether who wrote a prompt of this provenance is told by nothing but its words."""
        return False

    @classmethod
    def iter_noting(
        cls, path: Path, notes: Notes, *, recover: bool = False
    ) -> Iterator[AnyMessage]:
        """Yield the messages of a session, and take down what records say beside them.

        A store that has nothing to note has only messages.
        """
        notes.agent = cls.agent
        return cls.iter_path(path, recover=recover)

    @classmethod
    @abstractmethod
    def read_path(cls, path: Path, *, recover: bool = False) -> Transcript:
        """Read a session file or directory whole.

        Strict raises :class:`transcripts.errors.TranscriptError` at the first record that
        cannot be read whole; ``recover=True`` returns what is whole and lists the damage.
        """

    def read(self, session_id: str, *, recover: bool = False) -> Transcript | None:
        """Read a session by its id; None when the store has none of that id."""
        path = self.find(session_id)
        if path is not None and leads_out(path, self.root):
            raise LeadsOut(
                LEADS_OUT,
                path=path,
                next_step="give the path that it leads to, if that is the one to be read",
            )
        return None if path is None else self.read_path(path, recover=recover)

    @abstractmethod
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
        """Write a new session and touch nothing else.

        Deterministic: equal arguments give equal bytes (``now`` is used only where the
        transcript has no times). ``model`` and ``cli_version`` are inherited from the
        transcript only when it comes from this same store.
        """

    @abstractmethod
    def resume_command(self, session_id: str) -> Sequence[str]:
        """Return the argument vector with which the CLI resumes the session."""


LEADS_OUT = "a link leads out of the store"


def leads_out(path: Path, root: Path) -> bool:
    """Whether links lead from a place in a store to one outside of it.

    The store itself, and each directory right under it, may be a link: people keep them on
    another disk.
    """
    first, *steps = path.relative_to(root).parts
    at = top = root / first
    for step in steps:
        at /= step
        if at.is_symlink():
            there = at.resolve()
            if not any(there.is_relative_to(one.resolve()) for one in (root, top)):
                return True
    return False


@contextmanager
def typed_errors(path: Path) -> Generator[None, None, None]:
    """Turn what the system says of a path (a directory, no permission) into a typed error."""
    try:
        yield
    except OSError as error:
        raise NotATranscript(
            f"cannot be read: {error.strerror or error}",
            path=error.filename or path,
            next_step="check the path and its permissions",
        ) from error
    except RecursionError as error:
        raise DamagedRecord("a record is nested too deeply to be read", path=path) from error


_DEEPEST = 200
"""Levels of nesting that every writer takes on every Python, whose own limits differ."""


@contextmanager
def refused_depth(transcript: Transcript) -> Generator[None, None, None]:
    """Refuse to write what is nested too deeply, before anything is on the disk."""
    for message in transcript.messages:
        if _is_deeper(getattr(message, "arguments", None), _DEEPEST):
            raise _too_deep(transcript, message.id)
    try:
        yield
    except RecursionError as error:
        raise _too_deep(transcript, None) from error


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether a JSON value is nested deeper than that; never by recursion."""
    layer = [value]
    for _ in range(levels):
        layer = [
            member
            for one in layer
            if isinstance(one, (dict, list))
            for member in (one.values() if isinstance(one, dict) else one)
        ]
        if not layer:
            return False
    return True


def _too_deep(transcript: Transcript, message: str | None) -> UnwritableSession:
    whose = f"of message {message} " if message else ""
    return UnwritableSession(
        f"the arguments of a call {whose}are nested too deeply to be written",
        path=transcript.source_path,
        next_step=f"leave out what is nested deeper than {_DEEPEST} levels",
    )


_STORES = {
    "claude": "transcripts.stores.claude:ClaudeStore",
    "codex": "transcripts.stores.codex:CodexStore",
    "copilot": "transcripts.stores.copilot:CopilotStore",
}


def agents() -> tuple[str, ...]:
    """Return the names under which stores are registered."""
    return tuple(_STORES)


def store_class(agent: str) -> type[Store]:
    """Return the store registered under an agent's name; :class:`UnknownAgent` if none is."""
    try:
        module, _, name = _STORES[agent].partition(":")
    except KeyError:
        raise UnknownAgent(
            f"no store for agent {agent!r}", next_step=f"use one of {', '.join(_STORES)}"
        ) from None
    return getattr(import_module(module), name)


def open_store(agent: str, home: Path | None = None) -> Store:
    """Open an agent's store under a user's home."""
    return store_class(agent)(home)
