"""Codex: one id a call, a turn's id on every event, and no word of how a call went.

Source: recordings of this project; https://developers.openai.com/codex/hooks.
"""

from __future__ import annotations

from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import form

_FORM = form(
    name="hook_event_name",
    observed_at="observed_at",
    session="session_id",
    turn="turn_id",
    agent="agent_id",
    agent_type="agent_type",
    call="tool_use_id",
    tool="tool_name",
    input="tool_input",
    output="tool_response",
    error="error",
    cwd="cwd",
    prompt="prompt",
    text="last_assistant_message",
    status="status",
    reason="reason",
    trigger="trigger",
    source="source",
)

CODEX = Dialect(
    agent="codex",
    forms=(_FORM,),
    kinds={
        "SessionStart": "session-start",
        "SessionEnd": "session-end",
        "UserPromptSubmit": "prompt",
        "PreToolUse": "call-start",
        "PostToolUse": "call-end",
        "PermissionRequest": "permission",
        "PreCompact": "compaction-start",
        "PostCompact": "compaction-end",
        "SubagentStart": "subagent-start",
        "SubagentStop": "subagent-stop",
        "Stop": "turn-end",
        "Interrupt": "turn-abort",
        "PreModelRequest": "lifecycle",
        "PostModelRequest": "lifecycle",
    },
    unique_ids=True,
    names_turns=True,
    failure_shown=False,
    verbs={"Bash": "shell", "apply_patch": "edit"},
    asks=True,
    unused=frozenset(
        {
            "transcript_path",
            "permission_mode",
            "model",
            "stop_hook_active",
            "kind",
            "request_id",
            "attempt_number",
            "token_usage",
            "response_id",
        }
    ),
    blind_spots=(
        "the end of a call does not say whether it failed, and no exit code is kept",
        "every shell tool is called Bash, whatever the model called",
        "the script that wraps calls in code mode has no event, only the calls that it makes",
        "a command that goes on in the background may have no end",
        "an interrupted turn has no Stop",
        "thoughts and answers have no event; the last answer stands in Stop",
    ),
)
