"""One record as an event of Copilot CLI, and which events say nothing in the conversation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from transcripts.records import Held, Record
from transcripts.stores.copilot.layout import moment

BOOKKEEPING = frozenset(
    """
    assistant.fusion_phase_completed assistant.fusion_phase_failed assistant.intent
    assistant.turn_end assistant.turn_start external_tool.requested hook.end hook.start
    human_response.recorded mcp.oauth_recovery_completed model.message model.messages_snapshot
    model.model_call_started model.model_call_success model.response model.turn_ended
    model.turn_started permission.assentDetected permission.carriedForward permission.completed
    permission.contextualAuthorization permission.messageAuthorization
    permission.messageAuthorizationDegraded permission.messageAuthorizationRead
    session.auto_mode_resolved session.autopilot_objective_changed session.binary_asset
    session.canvas.recorded session.canvas.removed session.compaction_start
    session.completion_receipt session.context_changed session.fusion_change_checkpoint
    session.fusion_commit_started session.fusion_completed session.fusion_handoff
    session.fusion_resolved session.fusion_route_failed session.handoff session.info
    session.mode_changed session.mode_notice_delivered session.model_change
    session.model_deselected session.permission_recovery session.permissions_changed
    session.plan_changed session.remote_steerable_changed
    session.request_body_compression_disabled session.resume session.schedule_cancelled
    session.schedule_created session.schedule_rearmed session.session_limits_changed
    session.shutdown session.start session.task_complete session.title_changed
    session.truncation session.usage_checkpoint session.usage_record session.warning
    session.workspace_file_changed skill.invoked_ref subagent.completed subagent.configured
    subagent.deselected subagent.failed subagent.selected subagent.started tool.execution_start
    tool_search.activated workflow.run_started
    """.split()  # noqa: SIM905
)
"""Known records that are display, accounting, permissions, or part of another message."""

OTHERS = frozenset(
    {
        "abort",
        "session.import_legacy",
        "skill.context_delivered",
        "skill.context_delivered_ref",
        "skill.invoked",
        "system.message",
    }
)
"""Records that are part of the conversation and have no kind of their own."""

KNOWN = (
    BOOKKEEPING
    | OTHERS
    | {
        "assistant.message",
        "assistant.reasoning",
        "permission.requested",
        "session.compaction_complete",
        "session.context_cleared",
        "session.error",
        "system.notification",
        "tool.execution_complete",
        "tool.user_requested",
        "user.message",
    }
)
"""Records that this store understands, also where one of them yields no message after all."""


class Event(NamedTuple):
    """One record as an event; a part of an odd type is as good as missing."""

    record: Held
    type: str
    data: Mapping[str, Any]
    id: str | None
    parent: str | None
    at: datetime | None
    agent: str | None

    @property
    def own_id(self) -> str | int:
        """What the event's messages are told apart by: its id, else its line."""
        return self.id if self.id is not None else self.record.line


def event_of(record: Record, *, timed: bool = True) -> Event:
    """Return a record as an event, without its time where nobody asks for that."""
    value, raw, path, line, offset = record
    get = value.get
    kind, data, own, parent, agent = (
        get("type"),
        get("data"),
        get("id"),
        get("parentId"),
        get("agentId"),
    )
    # Looked at here, and made as named tuples make themselves, without the calls in between:
    # there are two a record.
    fields = (
        tuple.__new__(Held, (value, path, line, offset, len(raw))),
        kind if type(kind) is str else "(no type)",
        data if type(data) is dict else {},
        own if own and type(own) is str else None,
        parent if parent and type(parent) is str else None,
        moment(get("timestamp")) if timed else None,
        agent if agent and type(agent) is str else None,
    )
    return tuple.__new__(Event, fields)


def string(fields: Mapping[str, Any], name: str) -> str | None:
    """Return a text that is not empty, or None."""
    value = fields.get(name)
    return value if value and isinstance(value, str) else None


def integer(fields: Mapping[str, Any], name: str) -> int | None:
    """Return a whole number, or None."""
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def mapping(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object, empty if there is none."""
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def mappings(fields: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the objects of a list."""
    value = fields.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
