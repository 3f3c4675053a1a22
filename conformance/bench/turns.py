"""A recorded turn, ready to be said again: what varies in its records, and where.

Ids, times, ordinals and the links to the turn before are slots in otherwise recorded bytes, and
so is the end of each text, which may grow. What differs by store stands in one table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

_TEXT_KEYS = frozenset(
    {"text", "content", "thinking", "stdout", "output", "aggregated_output", "reasoningText"}
)
_ID_KEY = re.compile(r"(?:[uU]u)?[iI][dD]\Z|UUID\Z|_id\Z")
_NO_IDS = frozenset({"modelId", "model_provider_id", "process_id", "shellId", "taskId"})
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(rb'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"')
_ORDINAL = re.compile(rb'"ordinal":\d+')
_NO_TEXT = ("[elided", "*** Begin Patch", "{", "<")

# ------------------------------------------------------------------ what differs by store


class Format(NamedTuple):
    """What of a store's records must be known to say a turn again.

    ``own`` and ``parent`` name the fields that link records; ``initial`` tells those that a
    session has only once; ``is_result`` those that hold what a tool printed; texts grow at
    their end, or (``grows_in_front``) before it.
    """

    own: str | None
    parent: str | None
    initial: Callable[[Mapping[str, Any]], bool]
    is_result: Callable[[Mapping[str, Any]], bool]
    grows_in_front: bool


def _initial_in_claude(value: Mapping[str, Any]) -> bool:
    return value.get("type") in {"attachment", "cost-state", "api-request-shape", "queue-operation"}


def _result_in_claude(value: Mapping[str, Any]) -> bool:
    return "toolUseResult" in value


def _initial_in_codex(value: Mapping[str, Any]) -> bool:
    payload: Any = value.get("payload")
    if value.get("type") in {"session_meta", "world_state"}:
        return True
    if payload.get("type") == "thread_settings_applied" or payload.get("role") == "developer":
        return True
    content = payload.get("content")
    return payload.get("role") == "user" and str(content[0].get("text")).startswith("<")


def _result_in_codex(value: Mapping[str, Any]) -> bool:
    payload: Any = value.get("payload")
    kind = payload.get("type")
    return str(kind).endswith("_output") or (
        kind == "item_completed" and payload["item"]["type"] == "CommandExecution"
    )


def _initial_in_copilot(value: Mapping[str, Any]) -> bool:
    return value.get("type") in {"session.start", "session.shutdown", "system.message"}


def _result_in_copilot(value: Mapping[str, Any]) -> bool:
    return value.get("type") == "tool.execution_complete"


FORMATS = {
    "claude": Format("uuid", "parentUuid", _initial_in_claude, _result_in_claude, False),
    "codex": Format(None, None, _initial_in_codex, _result_in_codex, False),
    "copilot": Format("id", "parentId", _initial_in_copilot, _result_in_copilot, True),
}

# ------------------------------------------------------------------ a turn


class Slot(NamedTuple):
    """A place in a record that differs each time: what stands there, and of which kind."""

    kind: str
    value: Any


class Template(NamedTuple):
    """One record of a turn: its bytes between slots, and its length without any text added."""

    parts: list[bytes | Slot]
    length: int
    is_result: bool
    grows: list[str]

    def texts(self) -> list[str]:
        """Return the texts that may grow in it, each as often as it stands there."""
        return [part.value for part in self.parts if isinstance(part, Slot) and part.kind == "text"]

    def holds(self, text: str) -> int:
        """Return how often a text stands in it."""
        return max(1, self.texts().count(text))


class Turn:
    """A recorded turn, ready to be said again and again."""

    def __init__(self, lines: Sequence[bytes], form: Format, session_id: str) -> None:
        values = [json.loads(line) for line in lines]
        kept = [at for at, value in enumerate(values) if not form.initial(value)]
        parents: dict[str, str | None] = {}
        own = form.own
        if own and form.parent:
            # What is left out leaves its links to its parent.
            parents = {
                str(value[own]): value.get(form.parent)
                for value in values
                if form.initial(value) and own in value
            }
        owners = _owners([values[at] for at in kept])
        self.records: Sequence[Template] = [
            _template(
                _relinked(lines[at], values[at], form, parents),
                form,
                session_id,
                grows=[text for text, owner in owners.items() if owner == place],
            )
            for place, at in enumerate(kept)
        ]
        linked = [values[at] for at in kept if is_linked(values[at], form)]
        self.last: str | None = str(linked[-1][own]) if linked and own else None


def is_linked(value: Mapping[str, Any], form: Format) -> bool:
    """Whether the next turn can hang on a record."""
    return form.own is not None and form.parent in value and bool(value.get(form.own))


def _relinked(
    line: bytes, value: Mapping[str, Any], form: Format, parents: Mapping[str, str | None]
) -> bytes:
    """Return a record that hangs on the nearest of its ancestors that are said again."""
    if form.parent is None or form.parent not in value:
        return line
    old = value[form.parent]
    parent: str | None = old
    while parent is not None and parent in parents:
        parent = parents[parent]
    return line.replace(
        f'"{form.parent}":{json.dumps(old)}'.encode(),
        f'"{form.parent}":{json.dumps(parent)}'.encode(),
        1,
    )


def _texts(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, str):
        if key in _TEXT_KEYS and len(value) > 2 and not value.startswith(_NO_TEXT):
            yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _texts(member, name)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member, key)


def _owners(values: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return for each text the longest record that holds it: that one's length decides.

    A text stands in several records (a prompt and its echo) and must stay the same in all.
    """
    lengths = [len(json.dumps(value)) for value in values]
    owners: dict[str, int] = {}
    for at, value in enumerate(values):
        for text in _texts(value):
            if text not in owners or lengths[owners[text]] < lengths[at]:
                owners[text] = at
    return owners


def _ids(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, str):
        if _ID_KEY.search(key) and key not in _NO_IDS and value:
            yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _ids(member, name)
    elif isinstance(value, list):
        for member in value:
            yield from _ids(member, key)


def _template(line: bytes, form: Format, session_id: str, grows: list[str]) -> Template:
    value = json.loads(line)
    found: list[tuple[int, int, Slot]] = []
    if form.parent is not None and value.get(form.parent, "") is None:
        opening = f'"{form.parent}":'.encode()
        start = line.index(opening + b"null") + len(opening)
        found.append((start, start + 4, Slot("link", None)))
    for text in set(_texts(value)):
        quoted = _quoted(text)
        for match in re.finditer(re.escape(quoted), line):
            place = match.start() + 1 if form.grows_in_front else match.end() - 1
            found.append((place, place, Slot("text", text)))
    for one in set(_ids(value)) - {session_id}:
        # The end of an id varies, what tells its kind stays.
        for match in re.finditer(re.escape(_quoted(one)), line):
            end = match.end() - 1
            found.append((end - 8 if _UUID.fullmatch(one) else end, end, Slot("id", None)))
    for match in _TIME.finditer(line):
        moment = datetime.fromisoformat(match[0][1:-1].decode())
        found.append((match.start() + 1, match.end() - 1, Slot("time", moment)))
    for match in _ORDINAL.finditer(line):
        found.append((match.start() + len('"ordinal":'), match.end(), Slot("ordinal", None)))
    parts: list[bytes | Slot] = []
    position = 0
    for start, end, slot in sorted(found, key=lambda one: one[:2]):
        if start < position:
            continue
        parts += [line[position:start], slot]
        position = end
    parts.append(line[position:])
    return Template(parts, len(line), form.is_result(value), grows)


def _quoted(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False, separators=(",", ":")).encode()
