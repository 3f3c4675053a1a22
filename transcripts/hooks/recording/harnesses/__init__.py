"""The harnesses whose hooks can be recorded, by name: one table each."""

from __future__ import annotations

from transcripts.hooks.recording.harnesses import claude, codex, copilot, cursor, vscode
from transcripts.hooks.recording.harnesses.base import Harness, Scope

__all__ = ["HARNESSES", "Harness", "Scope"]

HARNESSES = {
    table.HARNESS.name: table.HARNESS for table in (claude, codex, copilot, cursor, vscode)
}
