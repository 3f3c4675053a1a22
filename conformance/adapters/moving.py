"""A session, moved by an adapter: by what it offers, and by the reference for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from conformance.adapters.adapter import Adapter
from conformance.adapters.errors import NotOffered
from transcripts.errors import SessionNotFound
from transcripts.losses import Loss
from transcripts.model import Transcript
from transcripts.stores.base import agents, open_store

Part = Literal["convert", "write", "read"]
"""Which part of an adapter moved a session, and is under test."""


class Moved(NamedTuple):
    """A session in its new place.

    ``by`` says which part of the adapter is under test, ``losses`` what whoever wrote it says
    was lost; ``transcript`` is what was written, None where the adapter alone knows.
    """

    session_id: str
    losses: Sequence[Loss]
    by: Part
    transcript: Transcript | None = None


def parts(adapter: Adapter, source_agent: str, target_agent: str) -> tuple[Part, ...]:
    """Return by which of its parts an adapter can move a session, the best first.

    Where it has only one half, the reference must have the other.
    """
    source, target = adapter.offers(source_agent), adapter.offers(target_agent)
    can: dict[Part, bool] = {
        "convert": target_agent in source.convert,
        "write": target.write and source_agent in agents(),
        "read": source.read and target_agent in agents(),
    }
    return tuple(part for part, offered in can.items() if offered)


def move(
    adapter: Adapter,
    source_agent: str,
    source_home: Path,
    session_id: str,
    target_agent: str,
    target_home: Path,
    *,
    new_session_id: str,
    cwd: str,
    recover: bool = False,
    by: Part | None = None,
) -> Moved:
    """Move a session from one agent's home into another's, as a new session there.

    By the adapter's own conversion if it offers one; else what the reference reads, it writes;
    else what it reads, the reference writes. ``by`` asks for one of these. Raises
    :class:`NotOffered` when the adapter has no part in it, else its own error or the reference's
    (:class:`transcripts.errors.TranscriptError`).
    """
    offered = parts(adapter, source_agent, target_agent)
    if not offered or (by is not None and by not in offered):
        way = f"by its part {by!r}" if by else "by converting, writing or reading"
        raise NotOffered(
            adapter.name, f"can't move a session from {source_agent} to {target_agent} {way}"
        )
    part = by or offered[0]
    if part == "convert":
        made = adapter.convert(
            source_agent,
            source_home,
            session_id,
            target_agent,
            target_home,
            new_session_id=new_session_id,
            cwd=cwd,
            recover=recover,
        )
        return Moved(made.session_id, made.losses, part)
    if part == "write":
        transcript = open_store(source_agent, source_home).read(session_id, recover=recover)
        if transcript is None:
            raise SessionNotFound(
                f"the reference reader finds no session {session_id!r} of {source_agent}",
                path=source_home,
            )
        made = adapter.write(
            target_agent, target_home, transcript, session_id=new_session_id, cwd=cwd
        )
        return Moved(made.session_id, made.losses, part, transcript)
    transcript = adapter.read(source_agent, source_home, session_id, recover=recover)
    written = open_store(target_agent, target_home).write(
        transcript, session_id=new_session_id, cwd=cwd
    )
    return Moved(written.session_id, written.losses, part, transcript)
