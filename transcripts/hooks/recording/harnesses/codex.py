"""Codex's hooks: a ``hooks.json`` beside its configuration, in groups with a matcher.

Events by release are those that the programs' own schema names. Codex runs a hook only once
its user has trusted it, and skips it without a word until then.
"""

from __future__ import annotations

from transcripts.hooks.recording.harnesses.base import Harness

_TRUST = (
    "Codex skips hooks that are not trusted: look at them with /hooks and trust them, or start "
    "it with --dangerously-bypass-hook-trust (0.145.0 and newer)"
)

HARNESS = Harness(
    name="codex",
    title="Codex",
    documentation="https://developers.openai.com/codex/hooks",
    programs=("codex",),
    since=(
        (
            "0.130.0",
            (
                "SessionStart",
                "UserPromptSubmit",
                "PreToolUse",
                "PermissionRequest",
                "PostToolUse",
                "PreCompact",
                "PostCompact",
                "Stop",
            ),
        ),
        ("0.140.0", ("SubagentStart", "SubagentStop")),
        ("0.145.0", ("SessionEnd",)),
        ("0.150.0", ("Interrupt",)),
        ("0.171.0", ("PreModelRequest", "PostModelRequest")),
    ),
    directory=".codex",
    variable="CODEX_HOME",
    user_file="hooks.json",
    project_file=".codex/hooks.json",
    grouped=True,
    hook={"type": "command"},
    trust={
        "user": _TRUST,
        "project": f"{_TRUST}; hooks of a project also need the project to be trusted",
    },
)
