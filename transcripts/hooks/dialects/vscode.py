"""VS Code's own agent: one id a call, no id of a turn.

Source: https://code.visualstudio.com/docs/copilot/customization/hooks.
"""

from __future__ import annotations

from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import HookEvent, form


def _form(session: str, name: str) -> type[HookEvent]:
    return form(
        name=name,
        observed_at="observed_at",
        stamped_at="timestamp",
        session=session,
        agent="agent_id",
        agent_type="agent_type",
        call="tool_use_id",
        tool="tool_name",
        input="tool_input",
        output="tool_response",
        error="error",
        cwd="cwd",
        prompt="prompt",
        trigger="trigger",
        source="source",
    )


VSCODE = Dialect(
    agent="vscode",
    forms=(_form("session_id", "hook_event_name"), _form("sessionId", "hookEventName")),
    kinds={
        "SessionStart": "session-start",
        "UserPromptSubmit": "prompt",
        "PreToolUse": "call-start",
        "PostToolUse": "call-end",
        "PreCompact": "compaction-start",
        "SubagentStart": "subagent-start",
        "SubagentStop": "subagent-stop",
        "Stop": "turn-end",
    },
    unique_ids=True,
    failure_shown=False,
    settled=frozenset(),
    verbs={
        "run_in_terminal": "shell",
        "runTerminalCommand": "shell",
        "read_file": "read",
        "readFile": "read",
        "create_file": "edit",
        "createFile": "edit",
        "insert_edit_into_file": "edit",
        "editFiles": "edit",
        "replace_string_in_file": "edit",
        "multi_replace_string_in_file": "edit",
        "apply_patch": "edit",
        "grep_search": "search",
        "file_search": "search",
        "semantic_search": "search",
        "list_dir": "search",
        "fetch_webpage": "web",
        "runSubagent": "agent",
    },
    path_fields=("filePath", "file_path", "path"),
    mcp_prefix="mcp_",
    unused=frozenset({"transcript_path", "stop_hook_active"}),
    blind_spots=(
        "the end of a call does not say whether it failed",
        "no event names its turn: a turn goes from one prompt to the next",
        "a session's end, thoughts and answers have no event",
        "no event says how many tokens were used",
    ),
)
