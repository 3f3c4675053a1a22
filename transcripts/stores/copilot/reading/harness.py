"""What the CLI itself adds to a conversation: permissions, summaries, failures, context."""

from __future__ import annotations

from transcripts.model import (
    CompactBoundary,
    Error,
    Other,
    PermissionRequest,
    Status,
    Structured,
    Text,
    UserMessage,
)
from transcripts.stores.copilot.foreign import integer, mapping, string
from transcripts.stores.copilot.reading.context import Placing, detailed
from transcripts.stores.copilot.reading.events import Event
from transcripts.stores.copilot.reading.index import Index, summarised

# A skill is in context by what was delivered of it, which refers to it.
_OUT_OF_CONTEXT = frozenset({"abort", "skill.invoked"})
_DENIED = ("denied", "rejected", "cancelled")


def notification(event: Event, placing: Placing) -> UserMessage | None:
    """Return a notification, which the CLI sends in the user's place, with its kind whole."""
    text = string(event.data.content)
    if text is None:
        return None
    kind = mapping(event.whole.get("kind"))
    fields = placing.fields(event, event.own_id, external=event.id, author="harness")
    return UserMessage(
        **fields,
        content=(Text(text=text), *((Structured(value=kind),) if kind else ())),
        delivery="programmatic",
        provenance=detailed(event.type, string(kind.get("type"))),
    )


def permission(event: Event, placing: Placing, index: Index) -> PermissionRequest:
    """Return what was asked of the person, with the decision if one is recorded."""
    data = event.whole
    request = string(data.get("requestId"))
    asked = mapping(data.get("permissionRequest"))
    decided = index.decisions.get(request or "", {})
    result = string(mapping(decided.get("result")).get("kind")) or ""
    status: Status = "completed" if decided else "unresolved"
    if result == "cancelled":
        status = "cancelled"
    decision = "denied" if result.startswith(_DENIED) else None
    if result.startswith("approved"):
        decision = "allowed"
    fields = placing.fields(event, event.own_id, external=event.id, author="harness")
    call = string(asked.get("toolCallId"))
    if call is not None:
        fields |= {"caller": placing.id_of(call), "caller_evidence": "native"}
    return PermissionRequest(
        **fields,
        status=status,
        in_context=False,
        request_id=request,
        tool=string(asked.get("kind")),
        arguments=dict(asked),
        reason=string(asked.get("intention")),
        decision=decision,
        decided_by=string(decided.get("decisionSource")),
        provenance=detailed(event.type, result),
    )


def compaction(event: Event, placing: Placing) -> CompactBoundary | None:
    """Return the place where a summary, or nothing at all, replaced what came before."""
    data = event.whole
    cleared = event.type == "session.context_cleared"
    if not cleared and not summarised(event):
        return None
    trigger = string(data.get("trigger"))
    fields = placing.fields(event, event.own_id, external=event.id, author="harness")
    return CompactBoundary(
        **fields,
        trigger="manual" if cleared or trigger == "manual" else "auto" if trigger else None,
        pre_tokens=integer(data.get("preCompactionTokens")),
        post_tokens=integer(data.get("postCompactionTokens")),
        summary=None if cleared else (Text(text=data["summaryContent"]),),
        provenance=detailed(event.type, trigger),
    )


def failure(event: Event, placing: Placing) -> Error:
    """Return a failure of the provider or of the CLI, which no model is told of."""
    data = event.whole
    fields = placing.fields(event, event.own_id, external=event.id, author="harness")
    return Error(
        **fields,
        status="failed",
        in_context=False,
        provenance=event.type,
        text=string(data.get("message")) or "",
        failure=string(data.get("errorType")),
        status_code=integer(data.get("statusCode")),
        raw=string(data.get("errorType")),
    )


def other(event: Event, placing: Placing) -> Other:
    """Return a record as it is; a member that is null is as good as missing.

    An abort is recorded as the person's after SIGTERM, too: nobody in particular did it.
    """
    fields = placing.fields(event, event.own_id, external=event.id, author="harness")
    return Other(
        **fields,
        status="cancelled" if event.type == "abort" else "completed",
        in_context=event.type not in _OUT_OF_CONTEXT,
        provenance=event.type,
        record=event.type,
        value={name: value for name, value in event.whole.items() if value is not None},
    )
