"""Prompts typed while the model works: which of them were ever delivered.

A queued prompt is recorded when it is typed (``queue-operation``/``enqueue``) and again when it
reaches the model, as a row of its own or as an attachment. One that was taken back, or lost with
the process, is recorded only the first time: somebody typed it, and no request ever held it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import Any

from transcripts.model import Text, UserMessage
from transcripts.records import jsonlines
from transcripts.stores.claude import wordings
from transcripts.stores.claude.content import parts
from transcripts.stores.claude.foreign import mapping, string
from transcripts.stores.claude.reading.results import text_of
from transcripts.stores.claude.reading.rows import Row

Place = tuple[str, int]


def undelivered(rows: Iterable[Row]) -> frozenset[Place]:
    """Return the places of the rows at which a person queued what was never delivered."""
    waiting: defaultdict[str, deque[Place]] = defaultdict(deque)
    most = 0
    for row in rows:
        if row.type == "queue-operation":
            queued = _queued(row)
            if queued is not None:
                waiting[queued].append(place_of(row))
                most += 1
        elif most:
            for said in _delivered(row):
                if waiting.get(said):
                    waiting[said].popleft()
                    most -= 1
    return frozenset(place for places in waiting.values() for place in places)


def place_of(row: Row) -> Place:
    """Return what tells a row without an id from all others."""
    return row.path, row.offset


def retracted(row: Row, fields: dict[str, Any]) -> UserMessage:
    """Return the prompt that a row queued and that nobody delivered."""
    text = string(row.value.get("content")) or ""
    return UserMessage(
        **fields,
        author="human",
        delivery="queued",
        provenance="queue-operation",
        in_context=False,
        status="cancelled",
        content=(Text(text=text),),
    )


def _queued(row: Row) -> str | None:
    if row.value.get("operation") != "enqueue":
        return None
    text = string(row.value.get("content"))
    if text is None or wordings.typed(text).author in ("harness", "agent") or _is_task(text):
        return None
    return text.strip() or None


def _is_task(text: str) -> bool:
    """Whether a queued text is 2.1.50's note that a task has begun, which nobody typed."""
    if not text.startswith('{"task_id":'):
        return False
    try:
        return bool(string(mapping(jsonlines.parse(text.encode())).get("task_type")))
    except (ValueError, RecursionError):
        return False


def _delivered(row: Row) -> Iterator[str]:
    if row.type not in ("user", "attachment"):
        return
    text = text_of(parts(row.entry.in_a_prompts_place))
    said = {text.strip(), wordings.typed(text).text.strip()}
    yield from (one for one in said if one)
