"""The corpus in miniature: one recording for each thing that can be told wrongly, in every store.

Adapters broken on purpose are asked about it, so that all of them take less than a minute; that
every check is at stake in it, the adapters that fail them show.
"""

from __future__ import annotations

import shutil
from collections.abc import Set
from pathlib import Path

from conformance.corpus import releases

AGENTS = ("claude", "codex", "copilot")

COMMANDS = frozenset({"command-ok", "command-fails", "parallel-calls", "subagent"})
"""Recordings in which a command is run."""

CALLS = frozenset({"mcp-call"})
"""Recordings in which a tool is called with arguments of its own."""

SCENARIOS = frozenset({"plain-exchange", "image-in", "rewind"}) | COMMANDS | CALLS
"""Every recording, of each agent's newest release."""

DAMAGED = frozenset(f"command-ok/{kind}" for kind in ("torn-tail", "junk-line", "nul-line"))
LINKED = frozenset(f"command-ok/{kind}" for kind in ("linked-file", "linked-folder"))
RECORD = frozenset(f"{scenario}/unknown-record" for scenario in SCENARIOS)
FIELD = frozenset(f"{scenario}/unknown-field" for scenario in SCENARIOS)

VALUE = frozenset(
    f"{scenario}/unknown-value" for scenario in ("command-fails", "mcp-call", "subagent")
)
"""Codex's recordings that are the first to hold a word of the format's in such a place."""

FAILING = "CommandExecution/parallel"
"""Commands at once, one of which fails."""

CALLING = frozenset({FAILING, "ToolCall/arguments"})
SEALED = "Reasoning/signed"
TWO_ANSWERS = "AgentMessage/two-in-a-row"
MADE = frozenset({"UserMessage/plain", TWO_ANSWERS, SEALED}) | CALLING
"""Every made conversation."""

MANY = frozenset({"sessions"})
"""The home in which there are many."""
KEPT = frozenset({"UserMessage/plain"})
"""The made conversation of which is looked at what is left behind."""

CONVERTED = frozenset(
    f"{scenario}/to-{target}"
    for scenario in ("plain-exchange", "command-ok", "command-fails", "parallel-calls")
    for target in ("claude", "copilot")
)
"""Codex's recordings, into each other store."""


def planted(kind: str, scenarios: Set[str] = frozenset({"command-ok", "mcp-call"})) -> Set[str]:
    """Return the subjects in which something uncommon is planted."""
    return {f"{scenario}/{kind}" for scenario in scenarios}


SAID = {f"read.{kind}": planted(kind) for kind in ("edges", "half-pairs", "parts")}
"""What is planted in what a model says."""

PLANTED = planted("numbers", CALLS) | planted("output-edges") | set[str]().union(*SAID.values())
"""Everything that is planted."""


def lay_miniature(whole: Path, small: Path) -> None:
    """Copy the recordings of the miniature out of the whole corpus."""
    for agent in AGENTS:
        for scenario in sorted(SCENARIOS):
            name = f"{agent}/{releases(whole, agent)[-1]}/{scenario}"
            shutil.copytree(whole / name, small / name)
