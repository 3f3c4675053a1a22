"""The records that are no part of the conversation, and those that are one of no kind of ours."""

from __future__ import annotations

BOOKKEEPING = frozenset(
    {
        "session_meta",
        "turn_context",
        "world_state",
        "token_usage_record",
        "state",
        "retained_context",
        "inter_agent_communication_metadata",
        "response_item/additional_tools",
        "response_item/ghost_snapshot",
        "event_msg/task_started",
        "event_msg/turn_started",
        "event_msg/task_complete",
        "event_msg/turn_complete",
        "event_msg/turn_aborted",
        "event_msg/thread_settings_applied",
        "event_msg/thread_name_updated",
        "event_msg/thread_goal_updated",
        "event_msg/token_count",
        "event_msg/thread_rolled_back",
        "event_msg/agent_reasoning_section_break",
        "event_msg/undo_completed",
        "event_msg/sub_agent_activity",
        "event_msg/item_completed/SubAgentActivity",
    }
)
"""Records known to hold nothing said or done; any other that becomes no message is news."""

REVIEWS = frozenset(
    {
        "entered_review_mode",
        "exited_review_mode",
        "EnteredReviewMode",
        "ExitedReviewMode",
    }
)
"""Events and items that are kept as records of their own."""
