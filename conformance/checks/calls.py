"""The calls that a file holds as its agent's own records: found by their place in them alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from conformance.checks.leaves import strings
from conformance.defects.files import at


class Native(NamedTuple):
    """A call: its arguments, everything that is recorded of its result, the answer it is part of.

    Calls that were made at once have one ``answer``.
    """

    arguments: Any
    results: Sequence[Any]
    answer: Any

    def asks(self, words: Sequence[str]) -> bool:
        """Whether all of these words stand in what was called for."""
        said = "\n".join(strings(self.arguments))
        return all(word in said for word in words)


def native_calls(agent: str, rows: Sequence[Mapping[str, Any]]) -> list[Native]:
    """Return the calls that an agent's rows hold, in order."""
    return list(_FINDERS[agent](rows))


def _claude(rows: Sequence[Mapping[str, Any]]) -> Iterator[Native]:
    results: dict[Any, list[Any]] = {}
    blocks: list[tuple[Any, Mapping[str, Any]]] = []
    for row in rows:
        content = at(row, "message", "content")
        for block in content if isinstance(content, list) else ():
            blocks.append((at(row, "message", "id"), block))
            if at(block, "type") == "tool_result":
                told = [block.get("content"), row.get("toolUseResult")]
                results.setdefault(block.get("tool_use_id"), []).extend(told)
    for answer, block in blocks:
        if at(block, "type") == "tool_use":
            yield Native(block.get("input"), results.get(block.get("id"), ()), answer)


def _codex(rows: Sequence[Mapping[str, Any]]) -> Iterator[Native]:
    payloads = [row["payload"] for row in rows if isinstance(row.get("payload"), dict)]
    answer = 0
    for place, payload in enumerate(payloads):
        kind, call = str(payload.get("type")), payload.get("call_id")
        if kind.endswith("_output") or kind == "message":
            answer = place
        elif kind.endswith("_call") and call is not None:
            given = payload.get("arguments", payload.get("input", payload.get("action")))
            results = [
                one
                for one in payloads
                if one is not payload
                and one.get("call_id") == call
                and str(one.get("type")).endswith(("_output", "_end"))
            ]
            yield Native(_parsed(given), results, answer)


def _copilot(rows: Sequence[Mapping[str, Any]]) -> Iterator[Native]:
    results: dict[Any, list[Any]] = {}
    for row in rows:
        if row.get("type") == "tool.execution_complete":
            results.setdefault(at(row, "data", "toolCallId"), []).append(row["data"])
    for row in rows:
        for request in at(row, "data", "toolRequests") or ():
            call = at(request, "toolCallId")
            yield Native(
                at(request, "arguments"), results.get(call, ()), at(row, "data", "messageId")
            )


def _parsed(given: Any) -> Any:
    try:
        return json.loads(given) if isinstance(given, str) else given
    except ValueError:
        return given


_FINDERS = {"claude": _claude, "codex": _codex, "copilot": _copilot}
