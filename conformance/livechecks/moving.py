"""Who moves a session from one agent's home into another's: the writer that is under test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from conformance import adapters
from conformance.adapters import Adapter
from conformance.crossing import Stores, all_stores
from conformance.livechecks.results import REFERENCE
from transcripts.losses import Loss
from transcripts.model import Transcript


class NotMoved(Exception):
    """The session was refused, or could not be read; the message says by whom and why."""


class Moved(NamedTuple):
    """A session in its new place, and what was declared lost on the way.

    ``transcript`` is what was written, where who moved it knows.
    """

    session_id: str
    losses: Sequence[Loss] = ()
    transcript: Transcript | None = None


class Mover(Protocol):
    """Moves sessions; a failure of any kind is raised and is the mover's own."""

    name: str

    def move(
        self,
        source: str,
        source_home: Path,
        session_id: str,
        target: str,
        target_home: Path,
        *,
        new_session_id: str,
        cwd: str,
    ) -> Moved:
        """Write a session of one agent's home into another's, and touch nothing else."""
        ...


class StoreMover:
    """Moves by the reference stores: the source's reader and the target's writer."""

    def __init__(self, stores: Stores | None = None) -> None:
        self.name = REFERENCE
        self._stores = all_stores() if stores is None else stores

    def move(
        self,
        source: str,
        source_home: Path,
        session_id: str,
        target: str,
        target_home: Path,
        *,
        new_session_id: str,
        cwd: str,
    ) -> Moved:
        """Read and write."""
        transcript = self._stores[source](source_home).read(session_id)
        if transcript is None:
            raise NotMoved(f"the reader of {source} finds no session {session_id}")
        written = self._stores[target](target_home).write(
            transcript, session_id=new_session_id, cwd=cwd
        )
        return Moved(written.session_id, written.losses, transcript)


class AdapterMover:
    """Moves by an adapter: by its own conversion, or one half by it and one by the reference."""

    def __init__(self, adapter: Adapter) -> None:
        self.name = adapter.name
        self._adapter = adapter

    def abandon(self) -> None:
        """Have the adapter end, whoever waits for it."""
        self._adapter.abandon()

    def move(
        self,
        source: str,
        source_home: Path,
        session_id: str,
        target: str,
        target_home: Path,
        *,
        new_session_id: str,
        cwd: str,
    ) -> Moved:
        """Move, and say what the adapter declares lost."""
        made = adapters.move(
            self._adapter,
            source,
            source_home,
            session_id,
            target,
            target_home,
            new_session_id=new_session_id,
            cwd=cwd,
        )
        return Moved(made.session_id, made.losses, made.transcript)
