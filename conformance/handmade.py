"""Hook logs that were made by hand, where a harness can't be run here: Cursor and VS Code.

``corpus/hand-made/<agent>/<name>/`` holds a log in the payload shapes that are documented or
were captured in public (``hooks.jsonl``), and beside it what must be found in it
(``reasoned.json``). That was reasoned from the events and never printed by a program, so it
is a witness as the script is one for a recording, and weaker only in that no CLI stood behind
the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from conformance.corpus import HOOK_LOG, CorpusError

HAND_MADE = "hand-made"
REASONED = "reasoned.json"

Because = Literal["twins", "no-id", "nothing-fits", "differs", "no-start"]
"""Why an event belongs to nothing: several would fit alike; its id is missing; nothing open
shares anything with it; what bears its id is something else; what it ends was never seen."""


class MadeLink(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One event (a line from 1) that belongs to another, as what."""

    event: int
    to: int
    role: str


class MadeOrphan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An event that belongs to another, and nothing in the log says to which."""

    event: int
    because: Because


class MadeWave(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Calls that overlapped, and the time from their first start to their last end."""

    calls: tuple[int, ...]
    wall_ms: float


class MadePlace(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An event that stands below another one, told by a subagent and not by a layer of hooks."""

    event: int
    parent: int


class MadeNode(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is shown of one event; what is not set here is not asked for."""

    event: int
    kind: str
    name: str | msgspec.UnsetType = msgspec.UNSET
    status: str | msgspec.UnsetType = msgspec.UNSET
    failure: str | msgspec.UnsetType = msgspec.UNSET
    exit_code: int | msgspec.UnsetType = msgspec.UNSET
    duration_ms: float | msgspec.UnsetType = msgspec.UNSET


class MadeTurn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One turn: every event that stands in it, and what it comes to; None is not asked for."""

    id: str
    title: str | None
    status: str
    events: tuple[int, ...]
    summary: Mapping[str, Any] | None


class MadeSession(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One session: its turns, the events outside of them, and what it comes to."""

    id: str | None
    title: str | None
    status: str
    turns: tuple[MadeTurn, ...]
    outside: tuple[int, ...]
    summary: Mapping[str, Any] | None


class MadeUnknown(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An event, or fields of one, that no dialect knows."""

    event: str
    known: bool
    fields: tuple[str, ...]


class Reasoned(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``reasoned.json``: what a log made by hand shows, and from where its shapes are known.

    The lists of links, orphans, phantoms, waves and unknown things are whole: what is not
    listed is not there. ``workspace_events`` belong to a workspace and to no session.
    """

    format: int
    agent: str
    hand_made: Literal[True]
    shows: str
    shapes: tuple[str, ...]
    links: tuple[MadeLink, ...]
    orphans: tuple[MadeOrphan, ...]
    phantoms: tuple[int, ...]
    waves: tuple[MadeWave, ...]
    under: tuple[MadePlace, ...]
    nodes: tuple[MadeNode, ...]
    workspace_events: tuple[int, ...]
    sessions: tuple[MadeSession, ...]
    unknown: tuple[MadeUnknown, ...]


class MadeLog(msgspec.Struct, frozen=True, kw_only=True):
    """One log made by hand: its directory, its place in the corpus and what must be found."""

    directory: Path
    name: str
    reasoned: Reasoned

    @property
    def log(self) -> Path:
        """The log itself."""
        return self.directory / HOOK_LOG


def hand_made(corpus: Path) -> list[MadeLog]:
    """Return the logs made by hand, by agent and name; :class:`CorpusError` if one is odd."""
    return [
        MadeLog(
            directory=directory,
            name=directory.relative_to(corpus).as_posix(),
            reasoned=_reasoned(directory / REASONED),
        )
        for directory in made_directories(corpus)
    ]


def made_directories(corpus: Path) -> list[Path]:
    """Return the directories of all logs made by hand."""
    return sorted(path.parent for path in (corpus / HAND_MADE).glob(f"*/*/{REASONED}"))


def _reasoned(path: Path) -> Reasoned:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Reasoned)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise CorpusError(f"{path}: {error}") from error
