"""How a person's own Claude Code is asked in print mode."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from live.real.own import May, OwnCli


class OwnClaude(OwnCli):
    """Claude Code, as it is logged in."""

    agent: ClassVar[str] = "claude"
    command: ClassVar[str] = "claude"
    directory: ClassVar[str] = ".claude"
    variable: ClassVar[str] = "CLAUDE_CONFIG_DIR"
    keeps: ClassVar[str] = "projects"
    request_tokens: ClassVar[int] = 13_000

    def arguments(self, prompt: str, may: May, *, resume: str | None = None) -> Sequence[str]:
        """Return the arguments of ``claude --print``."""
        found = ["--print", "--output-format", "text"]
        if may.edits:
            found += ["--permission-mode", "acceptEdits"]
        if may.programs:
            found += ["--allowedTools", ",".join(f"Bash(./{name})" for name in may.programs)]
        if resume is not None:
            found += ["--resume", resume]
        return [*found, "--", prompt]

    @staticmethod
    def session_id(path: Path) -> str | None:
        """Return the name of a file beside others of its project; a subagent's is further in, or
        is called one."""
        in_project = path.parent.parent.name == OwnClaude.keeps and path.suffix == ".jsonl"
        if not in_project or path.name.startswith("agent-"):
            return None
        return path.stem if path.stat().st_size else None
