"""The corpus in miniature: one recording for each thing that can be told wrongly, in every store.

Adapters broken on purpose are asked about it, so that all of them take less than a minute; that
every check is at stake in it, the adapters that fail them show.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from conformance.corpus import releases

AGENTS = ("claude", "codex", "copilot")

COMMANDS = frozenset({"command-ok", "command-fails", "subagent"})
"""Recordings in which a command is run."""

SCENARIOS = frozenset({"plain-exchange", "image-in", "rewind"}) | COMMANDS
"""Every recording, of each agent's newest release."""

DAMAGED = frozenset(f"command-ok/{kind}" for kind in ("torn-tail", "junk-line", "nul-line"))
RECORD = frozenset(f"{scenario}/unknown-record" for scenario in SCENARIOS)
FIELD = frozenset(f"{scenario}/unknown-field" for scenario in SCENARIOS)

FAILING = "CommandExecution/exit-three"
MADE = frozenset({"UserMessage/plain", FAILING})
"""Every made conversation."""


def lay_miniature(whole: Path, small: Path) -> None:
    """Copy the recordings of the miniature out of the whole corpus."""
    for agent in AGENTS:
        for scenario in sorted(SCENARIOS):
            name = f"{agent}/{releases(whole, agent)[-1]}/{scenario}"
            shutil.copytree(whole / name, small / name)
