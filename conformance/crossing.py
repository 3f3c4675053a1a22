"""A transcript written into a store and read back: bytes, messages and losses of one crossing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from transcripts.errors import TranscriptError
from transcripts.ids import derive
from transcripts.losses import Loss
from transcripts.model import AnyMessage, Transcript
from transcripts.stores.base import Store, agents, store_class

Stores = Mapping[str, type[Store]]


class Crossing(NamedTuple):
    """What a write and the target's own reader made of a transcript.

    ``refusal`` is the writer's typed error when it wrote nothing; ``unreadable`` says why there
    is nothing to compare: the reader cannot read what the writer made, or one of them crashed.
    """

    session_id: str
    sha256: str
    losses: Sequence[Loss] = ()
    back: Sequence[AnyMessage] = ()
    transcript: Transcript | None = None
    refusal: str | None = None
    unreadable: str | None = None


def all_stores() -> dict[str, type[Store]]:
    """Return the reference stores by their agents' names."""
    return {agent: store_class(agent) for agent in agents()}


def session_id_of(transcript: Transcript, agent: str) -> str:
    """Return the id under which a transcript is written: the same each time."""
    return derive("crossing", agent, transcript.session_id)


@contextmanager
def written(
    transcript: Transcript, store: type[Store]
) -> Generator[tuple[Path, Store, Crossing], None, None]:
    """Write a transcript into an empty home and lend that home, the store and what was lost."""
    session_id = session_id_of(transcript, store.agent)
    with tempfile.TemporaryDirectory(prefix="crossing-", dir=_memory()) as temporary:
        home = Path(temporary)
        opened = store(home)
        try:
            made = opened.write(transcript, session_id=session_id)
        except TranscriptError as error:
            yield home, opened, Crossing(session_id, digest(home), refusal=str(error))
            return
        except Exception as error:  # a crash is the writer's own, and one cell's alone
            crash = f"the writer crashed: {type(error).__name__}: {error}"
            yield home, opened, Crossing(session_id, digest(home), unreadable=crash)
            return
        yield home, opened, Crossing(made.session_id, digest(home), made.losses)


def _memory() -> str | None:
    """Return a directory in memory where there is one.

    Writers wait until their bytes are on the disk; a thousand writes that nobody keeps need not.
    """
    memory = "/dev/shm"
    usable = "TMPDIR" not in os.environ and os.access(memory, os.W_OK)
    return memory if usable else None


def cross(transcript: Transcript, store: type[Store]) -> Crossing:
    """Write a transcript into a store and read it back with the store's own reader."""
    with written(transcript, store) as (_, opened, crossing):
        if crossing.refusal is not None or crossing.unreadable is not None:
            return crossing
        try:
            back = opened.read(crossing.session_id)
        except TranscriptError as error:
            return crossing._replace(unreadable=f"cannot be read back: {error.why}")
        except Exception as error:  # see above
            crash = f"the reader crashed: {type(error).__name__}: {error}"
            return crossing._replace(unreadable=crash)
        if back is None:
            return crossing._replace(unreadable="the store does not find what it wrote")
        return crossing._replace(back=back.messages, transcript=back)


def cross_twice(transcript: Transcript, by_way_of: type[Store], store: type[Store]) -> Crossing:
    """Write into one store, read from there and write that into another: losses add up.

    The second writer knows the messages by the first reader's ids, so what it declares is
    brought back to the sender's ids by position of what is the same message.
    """
    first = cross(transcript, by_way_of)
    if first.transcript is None:
        return first
    second = cross(replace(first.transcript, cwd=first.transcript.cwd or transcript.cwd), store)
    return second._replace(losses=(*first.losses, *second.losses))


def digest(directory: Path) -> str:
    """Return the SHA-256 of a directory: of every file's name and bytes, in order."""
    whole = sha256()
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        whole.update(path.relative_to(directory).as_posix().encode() + b"\0")
        whole.update(sha256(path.read_bytes()).digest())
    return whole.hexdigest()
