"""Marks of hooks in a file, and the order that they are put in."""

from __future__ import annotations

import itertools
from typing import Any

from live.sanitise.marks import marks_in_order
from live.sanitise.rules import Marks, Together

RULE = Marks(
    start="hook.start",
    end="hook.end",
    event="hookType",
    invocation="hookInvocationId",
    id="id",
    parent="parentId",
    time="timestamp",
    together=(
        Together(events=("begin", "prompt"), why="they are begun at once"),
        Together(events=("ask",), why="calls are asked about at once"),
    ),
)


def begin(event: str, invocation: str, **told: Any) -> dict[str, Any]:
    """Return the mark of a hook's beginning."""
    data = {"hookInvocationId": invocation, "hookType": event, "input": told}
    return {"type": "hook.start", "data": data}


def end(event: str, invocation: str) -> dict[str, Any]:
    """Return the mark of a hook's end."""
    return {"type": "hook.end", "data": {"hookInvocationId": invocation, "hookType": event}}


def message(text: str) -> dict[str, Any]:
    """Return a record that is no mark."""
    return {"type": "user.message", "data": {"content": text}}


def file_of(*records: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a file: each record with a time and pointing at the one before."""
    return [
        {**one, "id": f"id{at}", "timestamp": at, "parentId": f"id{at - 1}" if at else None}
        for at, one in enumerate(records)
    ]


def shape(records: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return kinds and what each is of."""
    return [
        (one["type"], one["data"].get("hookInvocationId") or one["data"]["content"])
        for one in records
    ]


def is_chain(records: list[dict[str, Any]]) -> bool:
    """Return whether times rise and each record points at the one before."""
    times = [one["timestamp"] for one in records]
    pointers = [one["parentId"] for one in records]
    return times == sorted(times) and pointers == [None, *(one["id"] for one in records[:-1])]


def test_an_end_that_came_later_stands_behind_its_beginning() -> None:
    found = marks_in_order(
        file_of(message("a"), begin("begin", "1"), message("b"), end("begin", "1"), message("c")),
        RULE,
    )
    assert shape(found) == [
        ("user.message", "a"),
        ("hook.start", "1"),
        ("hook.end", "1"),
        ("user.message", "b"),
        ("user.message", "c"),
    ]
    assert is_chain(found)


def test_hooks_begun_at_once_stand_alike_however_they_came() -> None:
    asked = [begin("ask", str(i), what=i, timestamp=9 - i) for i in range(3)]
    expected = [(kind, str(i)) for i in range(3) for kind in ("hook.start", "hook.end")]
    for arrival in itertools.permutations(range(3)):
        for leaving in itertools.permutations(range(3)):
            records = [asked[i] for i in arrival] + [end("ask", str(i)) for i in leaving]
            found = marks_in_order(file_of(*records), RULE)
            assert shape(found) == expected
            assert is_chain(found)


def test_what_is_not_begun_at_once_stays_in_its_order() -> None:
    records = file_of(
        *(begin("prompt", "1"), end("prompt", "1"), begin("other", "2"), end("other", "2")),
        *(begin("begin", "3"), end("begin", "3")),
    )
    assert marks_in_order(records, RULE) == records


def test_a_hook_that_never_ended_keeps_its_place() -> None:
    records = file_of(message("a"), begin("begin", "1"), message("b"))
    assert marks_in_order(records, RULE) == records


def test_a_mark_written_before_what_it_points_at_stands_behind_that() -> None:
    ordered = file_of(message("a"), message("b"), begin("begin", "1"), end("begin", "1"))
    written = [ordered[0], ordered[2], ordered[1], ordered[3]]
    found = marks_in_order(written, RULE)
    assert shape(found) == shape(ordered)
    assert [one["parentId"] for one in found] == [one["parentId"] for one in ordered]
