"""Cursor: layers of hooks below a call, and ids that several calls of one turn may share.

Source: https://cursor.com/docs/hooks.md, and public captures of 3.5.38, 3.18.25 and 3.19.
"""

from __future__ import annotations

import re

from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import HookEvent, form

_SUFFIXED_TURN = re.compile(
    r"([0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})-[0-9]+-[0-9A-Za-z]{4}"
)

_FORM = form(
    name="hook_event_name",
    observed_at="observed_at",
    stamped_at="timestamp",
    session="conversation_id",
    session_too="session_id",
    turn="generation_id",
    workspaces="workspace_roots",
    agent="subagent_id",
    agent_type="subagent_type",
    spawned_by="tool_call_id",
    call="tool_use_id",
    tool="tool_name",
    server="mcp_server_name",
    url="url",
    input="tool_input",
    output="tool_output",
    result="result_json",
    error="error_message",
    command="command",
    cwd="cwd",
    sandbox="sandbox",
    path="file_path",
    prompt="prompt",
    text="text",
    failure="failure_type",
    interrupted="is_interrupt",
    duration="duration",
    duration_ms="duration_ms",
    status="status",
    reason="reason",
    trigger="trigger",
    release="cursor_version",
    input_tokens="input_tokens",
    output_tokens="output_tokens",
    cache_read_tokens="cache_read_tokens",
    cache_write_tokens="cache_write_tokens",
)


def _settle(event: HookEvent) -> None:
    session = event.session or event.session_too
    event.session = session
    turn = event.turn
    if turn:
        if len(turn) > 36 and (suffixed := _SUFFIXED_TURN.fullmatch(turn)):
            # A second thought may come under its turn's id with a suffix of its own.
            event.turn = suffixed[1]
        elif turn == session:
            # A subagent's start says its parent's conversation where its turn should stand.
            event.turn = None
    if event.kind in {"subagent-start", "subagent-stop"}:
        event.spawned_by = event.spawned_by or event.agent
    elif event.agent:
        event.agent = None


CURSOR = Dialect(
    agent="cursor",
    forms=(_FORM,),
    kinds={
        "workspaceOpen": "workspace",
        "sessionStart": "session-start",
        "sessionEnd": "session-end",
        "beforeSubmitPrompt": "prompt",
        "afterAgentThought": "thought",
        "afterAgentResponse": "response",
        "preToolUse": "call-start",
        "postToolUse": "call-end",
        "postToolUseFailure": "call-failure",
        "beforeShellExecution": "shell-before",
        "afterShellExecution": "shell-after",
        "beforeMCPExecution": "mcp-before",
        "afterMCPExecution": "mcp-after",
        "beforeReadFile": "file-before",
        "afterFileEdit": "file-after",
        "subagentStart": "subagent-start",
        "subagentStop": "subagent-stop",
        "preCompact": "compaction-start",
        "stop": "turn-end",
        "beforeTabFileRead": "editor",
        "afterTabFileEdit": "editor",
    },
    unique_ids=False,
    needs_id=True,
    names_turns=True,
    redelivers=frozenset({"Read", "Grep"}),
    verbs={
        "Shell": "shell",
        "Read": "read",
        "Write": "edit",
        "StrReplace": "edit",
        "EditNotebook": "edit",
        "Delete": "delete",
        "Grep": "search",
        "Glob": "search",
        "WebSearch": "web",
        "WebFetch": "web",
        "Task": "agent",
    },
    path_fields=("file_path", "path", "target_notebook"),
    mcp_prefix="MCP:",
    layered=True,
    settle=_settle,
    unused=frozenset(
        {
            "model",
            "model_id",
            "model_params",
            "user_email",
            "transcript_path",
            "agent_message",
            "task",
            "description",
            "summary",
            "subagent_model",
            "is_parallel_worker",
            "git_branch",
            "parent_conversation_id",
            "message_count",
            "tool_call_count",
            "loop_count",
            "modified_files",
            "agent_transcript_path",
            "mcp_server_url",
            "content",
            "output",
            "attachments",
            "edits",
            "context_usage_percent",
            "context_tokens",
            "context_window_size",
            "messages_to_compact",
            "is_first_compaction",
            "is_background_agent",
            "composer_mode",
            "final_status",
        }
    ),
    blind_spots=(
        "a subagent works in a conversation of its own, and no event says whose it is",
        "a shell command's exit code stands in the call's output only, never in the shell events",
        "thoughts and answers are seen whole, when they are over; nothing says when they began",
        "a skill or rule put into the context without being read leaves no event",
        "Tab completions belong to the editor, not to a turn",
        "tokens are what the last event of a turn says, not what was billed",
    ),
)
