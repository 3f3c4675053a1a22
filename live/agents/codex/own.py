"""How a person's own Codex is asked in print mode."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from live.real.own import May, OwnCli

_ONLY_HERE = (
    *("-c", "sandbox_workspace_write.exclude_slash_tmp=true"),
    *("-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true"),
)
"""Else ``/tmp`` may be written to as well, and a Codex that is killed leaves directories in it over
which it had put what protects a project."""


class OwnCodex(OwnCli):
    """Codex, as it is logged in."""

    agent: ClassVar[str] = "codex"
    command: ClassVar[str] = "codex"
    directory: ClassVar[str] = ".codex"
    variable: ClassVar[str] = "CODEX_HOME"
    keeps: ClassVar[str] = "sessions"
    request_tokens: ClassVar[int] = 10_000

    def arguments(self, prompt: str, may: May, *, resume: str | None = None) -> Sequence[str]:
        """Return the arguments of ``codex exec``, in its own sandbox."""
        found = ["exec", "--skip-git-repo-check"]
        if may.edits or may.programs:
            found += ["--sandbox", "workspace-write", *_ONLY_HERE]
        else:
            found += ["--sandbox", "read-only"]
        if resume is not None:
            found += ["resume", resume]
        return [*found, "--", prompt]

    @staticmethod
    def session_id(path: Path) -> str | None:
        """Return the id that a rollout bears; one of a subagent's says of whom it is."""
        if not path.name.startswith("rollout-"):
            return None
        with path.open(encoding="utf-8", errors="replace") as lines:
            first = lines.readline()
        try:
            record: Any = json.loads(first)
            meta = record.get("payload", record)
            return None if isinstance(meta.get("source"), dict) else str(meta["id"])
        except (ValueError, KeyError, AttributeError):
            return None
