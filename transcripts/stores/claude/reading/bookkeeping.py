"""Records that are no part of the conversation, by the name under which they are counted.

A kind that is listed here is skipped quietly; any other is news: counted as unknown, shown by
drift, and its row still carries the chain. The lists are what releases 1.0 to 2.1.332 write.
"""

from __future__ import annotations

from transcripts.stores.claude.reading.rows import Row

CONVERSATION = frozenset({"user", "assistant"})

_RECORDS = frozenset(
    {
        "agent-color",
        "agent-name",
        "agent-setting",
        "ai-title",
        "api-request",
        "api-request-blob",
        "api-request-shape",
        "atis-latch",
        "attribution-snapshot",
        "content-replacement",
        "cost-state",
        "custom-title",
        "file-history-delta",
        "file-history-snapshot",
        "fork-context-ref",
        "frame-link",
        "isolation-latch",
        "last-prompt",
        "mode",
        "observer-ref",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "relocated",
        "started",
        "result",
        "summary",
        "tag",
        "tools-used",
        "worktree-state",
    }
)
QUIET = _RECORDS - {
    "agent-name",
    "ai-title",
    "custom-title",
    "queue-operation",
    "result",
    "started",
    "summary",
}
"""Records that are nothing but counted: no title and no prompt is in them."""

NOTED = frozenset({"cost-state", "file-history-delta", "file-history-snapshot", "pr-link"})
"""Quiet records that say something of the session: who takes notes reads each of them."""

_SYSTEM = frozenset(
    {
        "agents_killed",
        "api_metrics",
        "away_summary",
        "bridge_status",
        "informational",
        "local_command",
        "memory_saved",
        "microcompact_boundary",
        "model_fallback",
        "model_refusal_fallback",
        "model_refusal_no_fallback",
        "permission_retry",
        "rewind_stand_in",
        "scheduled_task_fire",
        "stop_hook_summary",
        "thinking",
        "turn_duration",
    }
)
_ATTACHMENTS = frozenset(
    {
        "agent_listing_delta",
        "agent_mention",
        "already_read_file",
        "async_hook_response",
        "auto_mode",
        "auto_mode_exit",
        "command_permissions",
        "compact_file_reference",
        "critical_system_reminder",
        "date",
        "date_change",
        "deferred_tools_delta",
        "diagnostics",
        "directory",
        "dynamic_skill",
        "edited_image_file",
        "edited_text_file",
        "environment",
        "file",
        "goal_status",
        "hook_cancelled",
        "hook_success",
        "instructions",
        "invoked_skills",
        "mcp_instructions_delta",
        "mcp_resource",
        "memory",
        "model",
        "nested_memory",
        "new_directory",
        "opened_file_in_ide",
        "output_style",
        "pdf_reference",
        "plan_file_reference",
        "plan_mode",
        "plan_mode_exit",
        "plan_mode_reentry",
        "prompt_snapshot",
        "relevant_memories",
        "remote_session_change",
        "selected_lines_in_ide",
        "session_context",
        "silent_turn_reminder",
        "skill_listing",
        "task_reminder",
        "task_status",
        "team_context",
        "teammate_mailbox",
        "todo",
        "todo_reminder",
        "token_usage",
        "total_tokens_reminder",
        "ultramemory",
        "verify_plan_reminder",
    }
)


def record_name(row: Row) -> str:
    """Return the kind of a record with its subkind, such as ``attachment/date``."""
    match row.type:
        case None:
            return "(no type)"
        case "system":
            return f"system/{row.subtype or '(no subtype)'}"
        case "attachment":
            return f"attachment/{row.subtype or '(no type)'}"
        case _:
            return row.type


def is_known(row: Row) -> bool:
    """Whether the kind of a record that became no message is one that the CLI is known to write."""
    match row.type:
        case None:
            return False
        case "system":
            return row.subtype in _SYSTEM
        case "attachment":
            return row.subtype in _ATTACHMENTS
        case _:
            return row.type in _RECORDS or row.type in CONVERSATION
