"""Which calls the scripted model made, and what came of each: what a pairing of hooks is held to.

From a case's ``model.jsonl`` alone, whose answers are the script's own words: neither a session
file nor a hook log is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec


class ScriptedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call, as the model made it and in the order in which it made them on its thread.

    ``thread`` is the scripted name of a subagent's, None for the main one. ``outcome`` is what
    the model was told of it later, ``unanswered`` where it was never told anything: the CLI was
    ended or interrupted before, or forgot it.
    """

    id: str
    name: str
    arguments: Any
    thread: str | None
    turn: int
    response: str
    outcome: Literal["completed", "failed", "unanswered"]
    output: str | None


def calls(model: Path) -> list[ScriptedCall]:
    """Return the calls in a case's ``model.jsonl``, thread by thread, in the order of the play."""
    rows = [json.loads(line) for line in model.read_text(encoding="utf-8").split("\n") if line]
    told = _results(rows)
    found: list[ScriptedCall] = []
    met: set[str] = set()
    for row in rows:
        if row["kind"] != "turn":
            continue
        for call in row["answer"].get("calls", ()):
            if call["id"] in met:  # an answer that was asked for twice
                continue
            met.add(call["id"])
            result = told.get(call["id"])
            found.append(
                ScriptedCall(
                    id=call["id"],
                    name=call["name"],
                    arguments=call["arguments"],
                    thread=row["thread"],
                    turn=row["turn"],
                    response=row["response"],
                    outcome=_outcome(result),
                    output=None if result is None else result.get("text"),
                )
            )
    return found


def _outcome(result: Mapping[str, Any] | None) -> Literal["completed", "failed", "unanswered"]:
    if result is None:
        return "unanswered"
    return "failed" if result.get("error") else "completed"


def _results(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {entry["call_id"]: entry for entry in _entries(rows) if entry["type"] == "result"}


def _entries(rows: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for row in rows:
        yield from row["history"]
