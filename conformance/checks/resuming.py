"""Whether what was written has a defect that the newest release refuses, or resumes with loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from conformance.checks.check import Told
from conformance.defects import TAKEN_AWAY, Laid, found, minded
from transcripts.model import CompactBoundary, Transcript

_MAIN = {
    "claude": ".claude/projects/*/*.jsonl",
    "codex": ".codex/**/*.jsonl",
    "copilot": ".copilot/session-state/*/events.jsonl",
}
"""Where an agent's files of lines lie, whatever they are called."""


def main_file(agent: str, files: Mapping[str, bytes]) -> str | None:
    """Return the place of the session's file of lines among what was written."""
    places = [name for name in files if _lies(PurePosixPath(name), _MAIN[agent])]
    return min(places, key=len, default=None)


def _lies(place: PurePosixPath, pattern: str) -> bool:
    """Whether a place is of a pattern; ``**`` stands for any folders, also none."""
    if "**" not in pattern:
        return len(place.parts) == pattern.count("/") + 1 and place.match(pattern)
    folder, _, name = pattern.partition("/**/")
    return place.is_relative_to(folder) and place.match(name)


def told_defects(
    check: str, agent: str, laid: Laid, schemas: Path, *, taken_back: bool = False
) -> Iterator[Told]:
    """Yield the defects that matter; those by which a CLI itself takes words back only if not
    ``taken_back``.
    """
    rules = minded(schemas, agent)
    for defect, where in found(agent, laid):
        if defect in rules and not (taken_back and defect in TAKEN_AWAY):
            effect = rules[defect].effect
            came = "a result is made up" if effect == "full" else f"resuming it is {effect}"
            yield Told(check, f"{rules[defect].what}: {where} ({came})")


def takes_back(transcript: Transcript) -> bool:
    """Whether anything in a conversation is out of the model's sight by its own account."""
    return any(
        isinstance(one, CompactBoundary) or one.superseded_by is not None
        for one in transcript.messages
    )
