"""Claude Code: one id a call from 2.0.77 on, none before; a turn's id from 2.1.196 on.

Source: recordings of this project; https://code.claude.com/docs/en/hooks.
"""

from __future__ import annotations

from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import HookEvent, form

_FORM = form(
    name="hook_event_name",
    observed_at="observed_at",
    session="session_id",
    turn="prompt_id",
    agent="agent_id",
    agent_type="agent_type",
    call="tool_use_id",
    tool="tool_name",
    input="tool_input",
    output="tool_response",
    error="error",
    cwd="cwd",
    prompt="prompt",
    text="delta",
    final="final",
    interrupted="is_interrupt",
    duration_ms="duration_ms",
    reason="reason",
    trigger="trigger",
    source="source",
    batch="tool_calls",
)

LIFECYCLE = (
    "Setup",
    "UserPromptExpansion",
    "TaskCreated",
    "TaskCompleted",
    "TeammateIdle",
    "InstructionsLoaded",
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "FileChanged",
    "WorktreeCreate",
    "WorktreeRemove",
    "Elicitation",
    "ElicitationResult",
    "PreModelSwitch",
    "PostModelSwitch",
)


def _settle(event: HookEvent) -> None:
    if event.kind == "response" and event.final is False:
        # A piece of an answer that is still being written.
        event.kind = "lifecycle"


CLAUDE = Dialect(
    agent="claude",
    forms=(_FORM,),
    kinds={
        **dict.fromkeys(LIFECYCLE, "lifecycle"),
        "SessionStart": "session-start",
        "SessionEnd": "session-end",
        "UserPromptSubmit": "prompt",
        "MessageDisplay": "response",
        "PreToolUse": "call-start",
        "PostToolUse": "call-end",
        "PostToolUseFailure": "call-failure",
        "PostToolBatch": "batch",
        "PermissionRequest": "permission",
        "PermissionDenied": "call-denied",
        "SubagentStart": "subagent-start",
        "SubagentStop": "subagent-stop",
        "PreCompact": "compaction-start",
        "PostCompact": "compaction-end",
        "Stop": "turn-end",
        "StopFailure": "turn-failure",
        "Notification": "notification",
    },
    unique_ids=True,
    verbs={
        "Bash": "shell",
        "PowerShell": "shell",
        "Read": "read",
        "Write": "edit",
        "Edit": "edit",
        "MultiEdit": "edit",
        "NotebookEdit": "edit",
        "Grep": "search",
        "Glob": "search",
        "LS": "search",
        "WebSearch": "web",
        "WebFetch": "web",
        "Task": "agent",
        "Agent": "agent",
        "Skill": "skill",
    },
    settle=_settle,
    settled=frozenset({"response"}),
    asks="tool",
    unused=frozenset(
        {
            "transcript_path",
            "permission_mode",
            "effort",
            "model",
            "agent_transcript_path",
            "stop_hook_active",
            "background_tasks",
            "session_crons",
            "custom_instructions",
            "compact_summary",
            "permission_suggestions",
            "turn_id",
            "message_id",
            "index",
            "last_assistant_message",
            "message",
            "title",
            "notification_type",
            "error_details",
            "session_title",
        }
    ),
    blind_spots=(
        "releases before 2.0.77 give calls no id, and send nothing when one fails: it stays open",
        "a call that is interrupted or refused has no end",
        "before 2.1.112 the calls of a subagent do not say that they are its",
        "a call of a tool that there is not has no event at all",
        "thoughts have no event; answers have one only where MessageDisplay is known",
        "a permission request names no call: it is told by tool and input",
        "a subagent's start does not say which call started it",
        "a compaction's summary is shown from 2.1.332 on only",
        "no event says how many tokens were used",
    ),
)
