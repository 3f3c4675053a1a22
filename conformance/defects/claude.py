"""Claude Code: a tree of rows, each following another, from the last one up to the first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from conformance.defects.files import UUID, Found, Laid, at, has_null_line, is_empty, lacking

_SAID = ("user", "assistant")
_BLOCKS = frozenset(
    {
        "text",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_result",
        "image",
        "document",
        "server_tool_use",
        "web_search_tool_result",
        "tool_reference",
        "fallback",
    }
)
_SLUG = re.compile(r"[^A-Za-z0-9]")


def _said(laid: Laid) -> list[dict[str, Any]]:
    return [row for row in laid.rows if row.get("type") in _SAID]


def _blocks(laid: Laid, kind: str | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the blocks of what was said, with the place of their row."""
    for number, row in enumerate(_said(laid)):
        content = at(row, "message", "content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and (kind is None or block.get("type") == kind):
                yield number, block


def _no_times(laid: Laid) -> Found:
    yield from lacking(_said(laid), "timestamp", "row")


def _no_ids(laid: Laid) -> Found:
    yield from lacking(_said(laid), "uuid", "row")


def _no_parents(laid: Laid) -> Found:
    yield from lacking(_said(laid), "parentUuid", "row")


def _second_root(laid: Laid) -> Found:
    rows = [row for row in laid.rows if "parentUuid" in row and "uuid" in row]
    roots = [
        row
        for row in rows
        if row["parentUuid"] is None
        and row.get("subtype") != "compact_boundary"
        and row.get("isSidechain") is not True
    ]
    for row in roots[1:]:
        yield f"{row['uuid']} follows nothing, and is not the first: what is before it is not seen"


def _before_what_it_follows(laid: Laid) -> Found:
    rows = {row["uuid"]: row for row in laid.rows if isinstance(row.get("uuid"), str)}
    places = {uuid: place for place, uuid in enumerate(rows)}
    for uuid, row in rows.items():
        parent = row.get("parentUuid")
        later = isinstance(parent, str) and places.get(parent, -1) > places[uuid]
        if later and _leads_to_a_root(rows, uuid):
            yield f"{uuid} stands before {parent}, which it follows"


def _leads_to_a_root(rows: Mapping[str, Mapping[str, Any]], uuid: str) -> bool:
    seen: set[str] = set()
    here: Any = uuid
    while isinstance(here, str) and here in rows and here not in seen:
        seen.add(here)
        here = rows[here].get("parentUuid")
    return here is None


def _all_beside(laid: Laid) -> Found:
    said = _said(laid)
    if said and all(row.get("isSidechain") is True for row in said):
        yield "every row says that it is a subagent's"


def _calls(laid: Laid) -> tuple[dict[Any, int], set[Any]]:
    calls = {block.get("id"): place for place, block in _blocks(laid, "tool_use")}
    return calls, {block.get("tool_use_id") for _, block in _blocks(laid, "tool_result")}


def _open(laid: Laid, *, last: bool) -> Found:
    calls, answered = _calls(laid)
    said = _said(laid)
    for call, place in calls.items():
        behind = [row for row in said[place + 1 :] if row.get("type") == "assistant"]
        other = any(
            at(row, "message", "id") != at(said[place], "message", "id") for row in behind
        ) or any(_speaks(row) for row in said[place + 1 :])
        if call not in answered and other is not last:
            yield f"the call {call} has no result"


def _speaks(row: Mapping[str, Any]) -> bool:
    content = at(row, "message", "content")
    return row.get("type") == "user" and isinstance(content, str)


def _orphans(laid: Laid) -> Found:
    calls, answered = _calls(laid)
    for call in sorted(map(str, answered - calls.keys())):
        yield f"the result of {call} has no call"


def _string_answers(laid: Laid) -> Found:
    for row in _said(laid):
        if row.get("type") == "assistant" and isinstance(at(row, "message", "content"), str):
            yield f"{row.get('uuid')} has a string for the blocks of an answer"


def _unknown_blocks(laid: Laid) -> Found:
    for _, block in _blocks(laid):
        if block.get("type") not in _BLOCKS:
            yield f"a block is of the type {block.get('type')!r}"


def _wrong_folder(laid: Laid) -> Found:
    wanted = _SLUG.sub("-", laid.cwd)
    if laid.main.parent.name != wanted:
        yield f"it lies in {laid.main.parent.name}, and {laid.cwd} has the folder {wanted}"


def _no_uuid_name(laid: Laid) -> Found:
    if not UUID.fullmatch(laid.main.stem):
        yield f"{laid.main.name} is not named by a UUID"


def _boundary(laid: Laid) -> Found:
    rows: Sequence[Mapping[str, Any]] = laid.rows
    for row in rows:
        if row.get("subtype") == "compact_boundary":
            yield f"{row.get('uuid')} is a compaction: what is before it is not seen"


DETECTORS: Mapping[str, Callable[[Laid], Found]] = {
    "null-line": has_null_line,
    "empty-file": is_empty,
    "no-timestamps": _no_times,
    "reversed-lines": _before_what_it_follows,
    "no-uuids": _no_ids,
    "no-parents": _no_parents,
    "null-parent": _second_root,
    "all-sidechain": _all_beside,
    "call-at-end": lambda laid: _open(laid, last=True),
    "call-without-result": lambda laid: _open(laid, last=False),
    "result-without-call": _orphans,
    "answer-as-string": _string_answers,
    "wrong-folder": _wrong_folder,
    "no-uuid-name": _no_uuid_name,
    "compact-boundary": _boundary,
    "unknown-block": _unknown_blocks,
}
