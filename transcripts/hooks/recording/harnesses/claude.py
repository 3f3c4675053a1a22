"""Claude Code's hooks: in its settings, in groups with a matcher.

An event that a release does not know silently disables every hook of the file (seen in
1.0.128, 2.0.0 and 2.1.50; 2.1.332 tolerates it), so the table is by release: the lists that
the packages themselves hold, of the releases that were looked into.
"""

from __future__ import annotations

from transcripts.hooks.recording.harnesses.base import Harness

HARNESS = Harness(
    name="claude",
    title="Claude Code",
    documentation="https://code.claude.com/docs/en/hooks",
    programs=("claude",),
    since=(
        (
            "1.0.60",
            (
                "PreToolUse",
                "PostToolUse",
                "Notification",
                "UserPromptSubmit",
                "Stop",
                "SubagentStop",
                "PreCompact",
            ),
        ),
        ("1.0.128", ("SessionStart", "SessionEnd")),
        ("2.0.77", ("PostToolUseFailure", "SubagentStart", "PermissionRequest")),
        (
            "2.1.50",
            (
                "Setup",
                "TeammateIdle",
                "TaskCompleted",
                "ConfigChange",
                "WorktreeCreate",
                "WorktreeRemove",
            ),
        ),
        (
            "2.1.112",
            (
                "StopFailure",
                "PostCompact",
                "PermissionDenied",
                "TaskCreated",
                "Elicitation",
                "ElicitationResult",
                "InstructionsLoaded",
                "CwdChanged",
                "FileChanged",
            ),
        ),
        ("2.1.197", ("PostToolBatch", "UserPromptExpansion", "MessageDisplay")),
        ("2.1.260", ("PreModelSwitch", "PostModelSwitch", "DirectoryAdded")),
        ("2.1.332", ("PreSkillShellCommand",)),
    ),
    directory=".claude",
    variable="CLAUDE_CONFIG_DIR",
    user_file="settings.json",
    # Not settings.json: that one is shared with others, and the command holds a path of ours.
    project_file=".claude/settings.local.json",
    grouped=True,
    hook={"type": "command"},
    left_out={
        "WorktreeCreate": "what a hook prints there is the path of the worktree",
        "WorktreeRemove": "a hook there stands in for removing the worktree",
    },
    notes=(
        "after going back to an older release run this again: what it doesn't know disables all",
        "VS Code runs the hooks of Claude Code's settings too: its sessions may appear in the log",
    ),
)
