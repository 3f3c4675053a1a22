"""One record as an event of Copilot CLI, and which events say nothing in the conversation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from transcripts.model import Location
from transcripts.records import Record
from transcripts.records.jsonlines import parse
from transcripts.stores.copilot.foreign import mapping
from transcripts.stores.copilot.layout import moment
from transcripts.stores.copilot.reading.skimming import Data, Skimmed

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


WHOLE = frozenset(
    {
        "human_response.recorded",
        "permission.completed",
        "permission.requested",
        "session.auto_mode_resolved",
        "session.binary_asset",
        "session.compaction_complete",
        "session.compaction_start",
        "session.context_changed",
        "session.context_cleared",
        "session.error",
        "session.info",
        "session.model_change",
        "session.resume",
        "session.shutdown",
        "session.start",
        "system.notification",
    }
    | OTHERS
)
"""Records of whose data is read more than what :class:`Data` has."""

_NOTHING: Mapping[str, Any] = {}


class Event(NamedTuple):
    """One record as an event; a part of an odd type is as good as missing.

    ``whole`` is all that its data says, of one of the kinds in :data:`WHOLE`; ``before`` is the
    id of the last record before it that has one.
    """

    location: Location
    type: str
    data: Data
    whole: Mapping[str, Any]
    id: str | None
    parent: str | None
    at: datetime | None
    agent: str | None
    before: str | None

    @property
    def line(self) -> int:
        """The line on which it is recorded."""
        return self.location.line or 0

    @property
    def own_id(self) -> str | int:
        """What the event's messages are told apart by: its id, else its line."""
        return self.id if self.id is not None else self.line


def event_of(record: Record, seen: Skimmed, before: str | None) -> Event:
    """Return a record as an event."""
    value, raw, path, line, offset = record
    kind, own, parent, agent = seen.type, seen.id, seen.parent_id, seen.agent_id
    if type(kind) is not str:
        kind = "(no type)"
    whole = _NOTHING
    if kind in WHOLE:
        whole = mapping((value if type(value) is dict else parse(raw)).get("data"))
    # Looked at here, and made as named tuples make themselves, without the calls in between.
    fields = (
        Location(path=path, line=line, offset=offset, length=len(raw)),
        kind,
        seen.data,
        whole,
        own if own and type(own) is str else None,
        parent if parent and type(parent) is str else None,
        moment(seen.timestamp),
        agent if agent and type(agent) is str else None,
        before,
    )
    return tuple.__new__(Event, fields)
