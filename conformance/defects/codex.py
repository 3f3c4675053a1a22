"""Codex: a rollout, its header first, then what was said and what happened."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conformance.defects.files import (
    UUID,
    Found,
    Laid,
    at,
    begins_with_mark,
    is_empty,
    lacking,
)

_NAME = re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.+)\.jsonl")


def _payloads(laid: Laid, kind: str) -> Iterator[dict[str, Any]]:
    for row in laid.rows:
        payload = row.get("payload")
        if row.get("type") == kind and isinstance(payload, dict):
            yield payload


def _items(laid: Laid) -> list[dict[str, Any]]:
    return list(_payloads(laid, "response_item"))


def _no_meta(laid: Laid) -> Found:
    if laid.rows and laid.rows[0].get("type") != "session_meta":
        yield "the first record is no session_meta"


def _no_meta_field(field: str) -> Callable[[Laid], Found]:
    def detector(laid: Laid) -> Found:
        for meta in _payloads(laid, "session_meta"):
            if meta.get(field) is None:
                yield f"session_meta has no {field}"
            return

    return detector


def _other_id(laid: Laid) -> Found:
    named = _NAME.fullmatch(laid.main.name)
    for meta in _payloads(laid, "session_meta"):
        if named and meta.get("id") is not None and meta["id"] != named[1]:
            yield f"session_meta is of {meta['id']}, and the file of {named[1]}"
        return


def _no_uuid_name(laid: Laid) -> Found:
    named = _NAME.fullmatch(laid.main.name)
    if named and not UUID.fullmatch(named[1]):
        yield f"{named[1]} is no UUID"


def _other_name(laid: Laid) -> Found:
    if not _NAME.fullmatch(laid.main.name):
        yield f"{laid.main.name} is no rollout's name"


def _archived(laid: Laid) -> Found:
    if "archived_sessions" in laid.main.parts:
        yield "it lies with the archived ones"


def _no_times(laid: Laid) -> Found:
    yield from lacking(laid.rows, "timestamp", "record")


def _no_ordinals(laid: Laid) -> Found:
    paginated = any(
        meta.get("history_mode") == "paginated" for meta in _payloads(laid, "session_meta")
    )
    if paginated and not any("ordinal" in row for row in laid.rows):
        yield "session_meta says paginated, and no record has an ordinal"


def _events_only(laid: Laid) -> Found:
    said = {"user_message", "agent_message"}
    events = any(event.get("type") in said for event in _payloads(laid, "event_msg"))
    if events and not _items(laid) and not any(_payloads(laid, "compacted")):
        yield "what was said stands in events alone, in no response item"


def _is_call(item: Mapping[str, Any]) -> bool:
    return str(item.get("type")).endswith("_call") and item.get("call_id") is not None


def _is_output(item: Mapping[str, Any]) -> bool:
    return str(item.get("type")).endswith("_output") and item.get("call_id") is not None


def _open(laid: Laid, *, last: bool) -> Found:
    items = _items(laid)
    answered = {item["call_id"] for item in items if _is_output(item)}
    for place, item in enumerate(items):
        at_end = not any(one.get("type") == "message" for one in items[place + 1 :])
        if _is_call(item) and item["call_id"] not in answered and at_end is last:
            yield f"the call {item['call_id']} has no output"


def _orphans(laid: Laid) -> Found:
    items = _items(laid)
    calls = {item["call_id"] for item in items if _is_call(item)}
    for item in items:
        if _is_output(item) and item["call_id"] not in calls:
            yield f"the output of {item['call_id']} has no call"


def _system(laid: Laid) -> Found:
    for item in _items(laid):
        if item.get("type") == "message" and item.get("role") == "system":
            yield "a message has the role of the system, which is not handed on"


def _rolled_back(laid: Laid) -> Found:
    for event in _payloads(laid, "event_msg"):
        if event.get("type") == "thread_rolled_back":
            yield f"{event.get('num_turns')} turns were rolled back"


def _compacted(laid: Laid, *, replaced: bool) -> Found:
    for row in laid.rows:
        if row.get("type") == "compacted":
            history = at(row, "payload", "replacement_history")
            if isinstance(history, list) is replaced:
                yield "a compaction: what is before it is not seen"


DETECTORS: Mapping[str, Callable[[Laid], Found]] = {
    "byte-order-mark": begins_with_mark,
    "empty-file": is_empty,
    "no-meta": _no_meta,
    **{
        f"no-meta-{field.replace('_', '-')}": _no_meta_field(field)
        for field in ("id", "timestamp", "cwd", "originator", "cli_version")
    },
    "other-meta-id": _other_id,
    "no-uuid-name": _no_uuid_name,
    "other-file-name": _other_name,
    "archived": _archived,
    "no-timestamps": _no_times,
    "paginated-without-ordinals": _no_ordinals,
    "events-only": _events_only,
    "call-at-end": lambda laid: _open(laid, last=True),
    "call-without-output": lambda laid: _open(laid, last=False),
    "output-without-call": _orphans,
    "system-message": _system,
    "rolled-back": _rolled_back,
    "compacted-by-summary": lambda laid: _compacted(laid, replaced=False),
    "compacted-by-replacement": lambda laid: _compacted(laid, replaced=True),
}
