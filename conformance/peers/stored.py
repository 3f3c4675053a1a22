"""The scoreboard that the repository keeps, so that its pages can be made again without a tool."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import msgspec
from msgspec.structs import replace

from conformance.peers.results import REFERENCE, Scoreboard
from transcripts.serialise import to_json


class NotStored(Exception):
    """The file does not hold a scoreboard; the message names it and says what to do."""


def load(path: Path) -> Scoreboard:
    """Read the scoreboard that is kept; an empty one if there is no such file."""
    if not path.is_file():
        return Scoreboard()
    try:
        return msgspec.json.decode(path.read_bytes(), type=Scoreboard)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise NotStored(
            f"{path}: {error}; remove it, and run conformance scoreboard --write"
        ) from error


def text(board: Scoreboard) -> str:
    """Return what is kept of a scoreboard."""
    return msgspec.json.format(to_json(board), indent=1) + "\n"


def added(kept: Scoreboard, new: Scoreboard, known: Collection[str]) -> Scoreboard:
    """Return a new scoreboard with what is kept of the tools that it does not hold.

    ``known`` are the peers that there are: whatever else was kept is of tools that are no more.
    """
    scored = {one.name for one in new.peers}
    still = [one for one in kept.peers if one.name not in scored and one.name in known]
    together = sorted([*new.peers, *still], key=lambda one: (one.name != REFERENCE, one.name))
    return replace(new, peers=together)
