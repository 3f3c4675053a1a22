"""The harnesses whose hook events are understood, by name."""

from __future__ import annotations

from transcripts.errors import UnknownAgent
from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.dialects.claude import CLAUDE
from transcripts.hooks.dialects.codex import CODEX
from transcripts.hooks.dialects.copilot import COPILOT
from transcripts.hooks.dialects.cursor import CURSOR
from transcripts.hooks.dialects.vscode import VSCODE

_DIALECTS = {dialect.agent: dialect for dialect in (CLAUDE, CODEX, COPILOT, CURSOR, VSCODE)}


def harnesses() -> tuple[str, ...]:
    """Return the names of the harnesses whose hooks are understood."""
    return tuple(_DIALECTS)


def find_dialect(agent: str) -> Dialect:
    """Return a harness's dialect; :class:`UnknownAgent` if there is none."""
    try:
        return _DIALECTS[agent]
    except KeyError:
        raise UnknownAgent(
            f"no hooks are known of an agent {agent!r}",
            next_step=f"choose one of {', '.join(_DIALECTS)}",
        ) from None
