"""Copilot CLI: events, each with an id, a parent and a time, and a workspace.yaml beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conformance.defects.files import TIME, UUID, Found, Laid, at, has_junk, is_empty, lacking

_OFFSET = re.compile(r"^\w+_at: .*[+-]\d\d:\d\d\s*$", re.MULTILINE)
_ID = re.compile(r"^id: *\S", re.MULTILINE)


def _events(laid: Laid, kind: str) -> Iterator[tuple[int, Any]]:
    """Yield the data of a kind of event, with its place."""
    for place, row in enumerate(laid.rows):
        if row.get("type") == kind:
            yield place, row.get("data")


def _no_start(laid: Laid) -> Found:
    if laid.rows and laid.rows[0].get("type") != "session.start":
        yield "the first event is no session.start"


def _no_start_field(field: str) -> Callable[[Laid], Found]:
    def detector(laid: Laid) -> Found:
        for _, data in _events(laid, "session.start"):
            if at(data, field) is None:
                yield f"session.start has no {field}"

    return detector


def _no_ids(laid: Laid) -> Found:
    yield from lacking(laid.rows, "id", "event")


def _no_uuids(laid: Laid) -> Found:
    for row in laid.rows:
        if "id" in row and not UUID.fullmatch(str(row["id"])):
            yield f"the id {row['id']!r} is no UUID"


def _no_parents(laid: Laid) -> Found:
    yield from lacking(laid.rows, "parentId", "event")


def _no_times(laid: Laid) -> Found:
    yield from lacking(laid.rows, "timestamp", "event")


def _odd_times(laid: Laid) -> Found:
    for row in laid.rows:
        if "timestamp" in row and not TIME.fullmatch(str(row["timestamp"])):
            yield f"the time {row['timestamp']!r} is none"


def _no_text(kind: str, what: str) -> Callable[[Laid], Found]:
    def detector(laid: Laid) -> Found:
        for _, data in _events(laid, kind):
            if not isinstance(at(data, "content"), str):
                yield f"the content of {what} is no string"

    return detector


def _no_message_ids(laid: Laid) -> Found:
    for _, data in _events(laid, "assistant.message"):
        if at(data, "messageId") is None:
            yield "an answer has no messageId"


def _no_success(laid: Laid) -> Found:
    for _, data in _events(laid, "tool.execution_complete"):
        if at(data, "success") is None:
            yield f"the result of {at(data, 'toolCallId')} does not say whether it went well"


def _string_results(laid: Laid) -> Found:
    for _, data in _events(laid, "tool.execution_complete"):
        if isinstance(at(data, "result"), str):
            yield f"the result of {at(data, 'toolCallId')} is a string"


def _list_results(laid: Laid) -> Found:
    for _, data in _events(laid, "tool.execution_complete"):
        if isinstance(at(data, "result", "content"), list):
            yield f"the content of the result of {at(data, 'toolCallId')} is a list"


def _requests(laid: Laid) -> dict[str, int]:
    """Return where each call stands that the model asked for, by its id."""
    return {
        request["toolCallId"]: place
        for place, data in _events(laid, "assistant.message")
        for request in at(data, "toolRequests") or ()
        if isinstance(request, dict) and "toolCallId" in request
    }


def _results(laid: Laid) -> dict[str, int]:
    return {
        str(at(data, "toolCallId")): place
        for place, data in _events(laid, "tool.execution_complete")
    }


def _open(laid: Laid, *, last: bool) -> Found:
    results = _results(laid)
    said = ("user.message", "assistant.message")
    for call, place in _requests(laid).items():
        at_end = not any(row.get("type") in said for row in laid.rows[place + 1 :])
        if call not in results and at_end is last:
            yield f"the call {call} has no result"


def _aborted(laid: Laid) -> Found:
    results = _results(laid)
    aborts = [place for place, _ in _events(laid, "abort")]
    for call, place in _requests(laid).items():
        if any(place < abort < results.get(call, 0) for abort in aborts):
            yield f"the turn was aborted before the result of {call}, which is passed over"


def _compacted(laid: Laid) -> Found:
    for _, data in _events(laid, "session.compaction_complete"):
        if at(data, "success") is True:
            yield "a compaction: what is before it is not seen"


def _workspace(laid: Laid) -> str | None:
    content = laid.files.get(str(laid.main.parent / "workspace.yaml"))
    return None if content is None else content.decode("utf-8", "replace")


def _empty_workspace(laid: Laid) -> Found:
    text = _workspace(laid)
    if text is not None and not text.strip():
        yield "workspace.yaml is empty"


def _nameless_workspace(laid: Laid) -> Found:
    text = _workspace(laid)
    if text is not None and text.strip() and not _ID.search(text):
        yield "workspace.yaml names no session"


def _offset_workspace(laid: Laid) -> Found:
    if _OFFSET.search(_workspace(laid) or ""):
        yield "workspace.yaml gives a time with an offset"


DETECTORS: Mapping[str, Callable[[Laid], Found]] = {
    "junk-line": has_junk,
    "empty-file": is_empty,
    "no-start": _no_start,
    **{
        f"no-start-{field.lower()}": _no_start_field(field)
        for field in ("sessionId", "version", "producer", "copilotVersion", "startTime")
    },
    "no-ids": _no_ids,
    "no-uuid": _no_uuids,
    "no-parents": _no_parents,
    "no-timestamps": _no_times,
    "odd-timestamp": _odd_times,
    "prompt-as-list": _no_text("user.message", "a prompt"),
    "no-message-id": _no_message_ids,
    "null-content": _no_text("assistant.message", "an answer"),
    "no-success": _no_success,
    "result-as-string": _string_results,
    "result-content-as-list": _list_results,
    "call-at-end": lambda laid: _open(laid, last=True),
    "call-without-result": lambda laid: _open(laid, last=False),
    "abort-before-result": _aborted,
    "compacted": _compacted,
    "empty-workspace": _empty_workspace,
    "workspace-without-id": _nameless_workspace,
    "workspace-offset": _offset_workspace,
}
