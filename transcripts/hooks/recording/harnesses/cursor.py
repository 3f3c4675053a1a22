"""Cursor's hooks: one flat ``hooks.json``, from its public documentation.

Cursor can't be run here. Its documentation lets a hook print nothing and end with 0 (the
audit example on its page does so), and names that it does not know are ignored.
"""

from __future__ import annotations

from transcripts.hooks.recording.harnesses.base import Harness

HARNESS = Harness(
    name="cursor",
    title="Cursor",
    documentation="https://cursor.com/docs/hooks",
    programs=("cursor", "cursor-agent"),
    since=(
        (
            "1.7.0",
            (
                "sessionStart",
                "sessionEnd",
                "beforeSubmitPrompt",
                "afterAgentThought",
                "afterAgentResponse",
                "preToolUse",
                "postToolUse",
                "postToolUseFailure",
                "beforeShellExecution",
                "afterShellExecution",
                "beforeMCPExecution",
                "afterMCPExecution",
                "beforeReadFile",
                "afterFileEdit",
                "subagentStart",
                "subagentStop",
                "preCompact",
                "stop",
                "workspaceOpen",
                "beforeTabFileRead",
                "afterTabFileEdit",
            ),
        ),
    ),
    directory=".cursor",
    user_file="hooks.json",
    project_file=".cursor/hooks.json",
    beside={"version": 1},
    trust={"project": "Cursor runs hooks of a project only in a workspace that is trusted"},
    notes=(
        "restart Cursor for it to see new hooks",
        "registered by Cursor's documentation, not tried on Cursor itself",
    ),
)
