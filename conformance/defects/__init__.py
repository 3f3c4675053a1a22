"""Whether a written session has one of the defects that releases refuse, or resume with loss.

What a release does with each defect is measured on the real CLI (``resume.json``). The files that
it was measured on are made by hand, one defect each; here the same defects are looked for in files
that somebody else wrote, by code that no writer and no reader shares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from conformance import resuming
from conformance.defects import claude, codex, copilot
from conformance.defects.files import Found, Laid
from conformance.formats.snapshots import kept_releases
from live.resume_rules import Measured

_DETECTORS: Mapping[str, Mapping[str, Callable[[Laid], Found]]] = {
    "claude": claude.DETECTORS,
    "codex": codex.DETECTORS,
    "copilot": copilot.DETECTORS,
}

UNSEEN: Mapping[tuple[str, str], str] = {
    ("codex", "other-provider"): "which providers there are, the user's own settings say",
}
"""Defects that can't be told from a file alone, and why."""

TAKEN_AWAY = frozenset(
    {
        "compact-boundary",
        "compacted",
        "compacted-by-summary",
        "compacted-by-replacement",
        "rolled-back",
        "null-parent",
        "abort-before-result",
    }
)
"""Ways in which CLIs themselves take what was said out of the model's sight.

Only of a conversation in which nothing was taken back, cut short or summed up are they defects.
"""


def detected(agent: str) -> frozenset[str]:
    """Return the defects of an agent's files that are looked for."""
    return frozenset(_DETECTORS[agent])


def found(agent: str, laid: Laid) -> Iterator[tuple[str, str]]:
    """Yield the defects that a session's files have, each with where."""
    for defect, detector in _DETECTORS[agent].items():
        for where in detector(laid):
            yield defect, where
            break


def minded(schemas: Path, agent: str) -> dict[str, Measured]:
    """Return the defects by which the newest measured release loses or makes up anything.

    A result that it makes up for a call is nothing that anybody said.
    """
    for release in reversed(kept_releases(schemas, agent)):
        path = schemas / agent / release / resuming.NAME
        if path.exists():
            rules = resuming.load(path)
            return {
                one.defect: one for one in rules.defects if one.effect != "full" or one.answered
            }
    return {}
