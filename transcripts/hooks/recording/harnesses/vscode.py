"""VS Code's agent hooks (a preview): files in Copilot's directories, from its documentation.

VS Code can't be run here. It looks where Copilot CLI looks, so either runs what was meant for
the other, and the recorder has a log and a file for each.
"""

from __future__ import annotations

from transcripts.hooks.recording.harnesses.base import Harness

HARNESS = Harness(
    name="vscode",
    title="VS Code",
    documentation="https://code.visualstudio.com/docs/agent-customization/hooks",
    programs=("code",),
    since=(
        (
            "1.110.0",
            (
                "SessionStart",
                "UserPromptSubmit",
                "PreToolUse",
                "PostToolUse",
                "PreCompact",
                "SubagentStart",
                "SubagentStop",
                "Stop",
            ),
        ),
    ),
    directory=".copilot",
    user_file="hooks/transcript-conformance-vscode.json",
    project_file=".github/hooks/transcript-conformance-vscode.json",
    hook={"type": "command"},
    beside={"version": 1},
    trust={"project": "VS Code runs hooks of a workspace only if the workspace is trusted"},
    notes=(
        "Copilot CLI runs the hooks of this directory too: its sessions may appear in the log",
        "registered by VS Code's documentation, not tried on VS Code itself",
    ),
)
