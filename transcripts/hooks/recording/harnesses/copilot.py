"""Copilot CLI's hooks: any number of files in a directory, so the recorder has its own.

Events by release are those of the packages' own schema. Hooks of a repository run only in a
trusted folder; those of the user's home, since 0.0.423, run anywhere.
"""

from __future__ import annotations

from transcripts.hooks.recording.harnesses.base import Harness

HARNESS = Harness(
    name="copilot",
    title="GitHub Copilot CLI",
    documentation="https://docs.github.com/en/copilot/reference/hooks-reference",
    programs=("copilot",),
    since=(
        (
            "0.0.384",
            (
                "sessionStart",
                "sessionEnd",
                "userPromptSubmitted",
                "preToolUse",
                "postToolUse",
                "errorOccurred",
            ),
        ),
        ("0.0.406", ("agentStop", "subagentStop")),
        (
            "1.0.20",
            (
                "postToolUseFailure",
                "subagentStart",
                "preCompact",
                "permissionRequest",
                "notification",
            ),
        ),
        ("1.0.60", ("preMcpToolCall",)),
        ("1.0.80", ("userPromptTransformed",)),
    ),
    directory=".copilot",
    variable="COPILOT_HOME",
    user_file="hooks/transcript-conformance.json",
    user_since="0.0.423",
    project_file=".github/hooks/transcript-conformance.json",
    command_key="bash",
    hook={"type": "command"},
    beside={"version": 1},
    trust={
        "project": "Copilot runs hooks of a repository only in a folder that is trusted "
        "(its dialog, or --trust-folder)"
    },
    notes=("VS Code runs the hooks of this directory too: its sessions may appear in the log",),
)
