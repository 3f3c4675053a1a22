"""What a CLI itself says of a session without asking any model, and which release says it.

A resumed session needs a model to answer it, and then says only what the model was sent. Some
releases offer more: a protocol that lists and replays what lies in the home, a command that
judges records, a schema of their own. Each is a module here with one face, and none shares
code with a reader or a writer. The home is always copied: older releases append to what they
load. Claude Code has nothing of the kind.
"""

from __future__ import annotations

from collections.abc import Sequence

from live.witnesses import codex_items, codex_threads, copilot_acp, copilot_events, copilot_import
from live.witnesses.base import Disagreement, NoSession, Shown, Witness, Witnessed

__all__ = [
    "Disagreement",
    "NoSession",
    "Shown",
    "Witness",
    "Witnessed",
    "witnesses",
]

_ALL: dict[str, tuple[Witness, ...]] = {
    "claude": (),
    "codex": (codex_threads.WITNESS, codex_items.WITNESS),
    "copilot": (copilot_acp.WITNESS, copilot_import.WITNESS, copilot_events.WITNESS),
}


def witnesses(agent: str, version: str | None = None) -> Sequence[Witness]:
    """Return an agent's witnesses: all of them, or those that a release offers.

    KeyError if there is no such agent.
    """
    return tuple(one for one in _ALL[agent] if version is None or one.offered(version))
