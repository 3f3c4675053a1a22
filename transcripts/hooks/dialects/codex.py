"""Codex: one id a call, a turn's id on every event, and no word of how a call went.

Source: recordings of this project; https://developers.openai.com/codex/hooks.
"""

from __future__ import annotations

import msgspec

from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import HookEvent, form

_FORM = form(
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
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
    usage="token_usage",
)


class _Usage(msgspec.Struct, kw_only=True):
    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    output_tokens: int | None = None


def _settle(event: HookEvent) -> None:
    if event.name != "PostModelRequest":
        return
    if event.status == "failed":
        event.kind = "turn-failure"
    if bytes(event.usage):
        try:
            usage = msgspec.json.decode(event.usage, type=_Usage)
        except msgspec.DecodeError:
            return
        event.input_tokens = usage.input_tokens
        event.output_tokens = usage.output_tokens
        event.cache_read_tokens = usage.cached_input_tokens
        event.cache_write_tokens = usage.cache_write_input_tokens


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
    verbs={
        "Bash": "shell",
        "apply_patch": "edit",
        "view_image": "read",
        "spawn_agent": "agent",
        "collaborationspawn_agent": "agent",
    },
    asks="tool",
    usage="each",
    unused=frozenset(
        {
            "transcript_path",
            "permission_mode",
            "model",
            "stop_hook_active",
            "kind",
            "thread_id",
            "agent_transcript_path",
            "request_id",
            "attempt_number",
            "response_id",
        }
    ),
    settle=_settle,
    settled=frozenset({"lifecycle"}),
    blind_spots=(
        "the end of a call does not say whether it failed, and no exit code is kept",
        "a call may have no end: an MCP error, a patch that does not fit, an interruption",
        "web searches, plans and calls of a tool that there is not have no event at all",
        "what is typed to a command that runs has no event",
        "every shell tool is called Bash, whatever the model called",
        "the script that wraps calls in code mode has no event, only the calls that it makes",
        "an interrupted turn has no Stop, and a failed one neither",
        "a permission request names no call: it is told by tool and input",
        "thoughts and answers have no event; the last answer stands in Stop",
    ),
)
