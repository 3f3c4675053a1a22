"""How a person's own Copilot CLI is asked in print mode."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from live.real.own import May, OwnCli


class OwnCopilot(OwnCli):
    """GitHub Copilot CLI, as it is logged in."""

    agent: ClassVar[str] = "copilot"
    command: ClassVar[str] = "copilot"
    directory: ClassVar[str] = ".copilot"
    variable: ClassVar[str] = "COPILOT_HOME"
    keeps: ClassVar[str] = "session-state"
    request_tokens: ClassVar[int] = 13_000

    def arguments(self, prompt: str, may: May, *, resume: str | None = None) -> Sequence[str]:
        """Return the arguments of ``copilot -p``, which says nothing but the answer."""
        found = ["--silent"]
        if may.edits:
            found.append("--allow-tool=write")
        found += [f"--allow-tool=shell(./{name})" for name in may.programs]
        if resume is not None:
            found.append(f"--resume={resume}")
        return [*found, "-p", prompt]

    @staticmethod
    def session_id(path: Path) -> str | None:
        """Return the name of the directory that a session's events are in."""
        if path.name != "events.jsonl" or path.parent.parent.name != OwnCopilot.keeps:
            return None
        return path.parent.name if path.stat().st_size else None
