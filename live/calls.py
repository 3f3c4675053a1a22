"""Which calls the scripted model made, what came of each, and which hook events tell of it.

What a pairing of hooks is held to. The calls are from a case's ``model.jsonl`` alone, whose
answers are the script's own words; an event is a call's when it bears its id, or, where a CLI tells
no ids, when the script makes no other call of that input and name. Of calls that only their order
tells apart nothing is said.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from live.sanitise.rules import Hooks

Place = tuple[str, int, int]
"""A response's id, a call's index in it, and where in a call that is a script."""


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


class Told:
    """Finds the call that a hook's payload is of; ``made`` are ids, names, arguments, places."""

    def __init__(self, made: Iterable[tuple[str, str, Any, Place]], table: Hooks) -> None:
        self._table = table
        self._ids: dict[str, Place] = {}
        self._made: list[tuple[str, Any, Place]] = []
        for id_, name, arguments, place in made:
            if id_ not in self._ids:  # else an answer that was asked for twice
                self._ids[id_] = place
                self._made.append((name, _parsed(arguments), place))

    def place(self, payload: Mapping[str, Any]) -> Place | None:
        """Return which call a payload is of; by its input, whole or in part, where it bears no id.

        Where several calls were given the same, the tool's name tells them apart, or nothing:
        hooks may be told other names than the model.
        """
        given = first(payload, self._table.call)
        if given is not None and str(given) in self._ids:
            return self._ids[str(given)]
        name, value = first(payload, self._table.tool), _parsed(first(payload, self._table.input))
        if not isinstance(value, dict) or not value:
            return None
        return (
            self._only(name, [(one[0], one[2]) for one in self._made if one[1] == value])
            or self._only(name, [(one[0], one[2]) for one in self._made if _holds(one[1], value)])
            or self._only(name, [place for one in self._made for place in _quoting(one, value)])
        )

    @staticmethod
    def _only(name: Any, found: Sequence[tuple[str, Place]]) -> Place | None:
        named = [place for called, place in found if called == name]
        places = named if len(found) > 1 else [place for _, place in found]
        return places[0] if len(places) == 1 else None


def lines_of(
    rows: Iterable[Mapping[str, Any]], made: Sequence[ScriptedCall], table: Hooks
) -> dict[str, tuple[tuple[int, str], ...]]:
    """Return the lines of a hook log, from 1 and with their events, that tell of each call."""
    placed = [(call, (call.response, index, 0)) for index, call in enumerate(made)]
    told = Told(((one.id, one.name, one.arguments, place) for one, place in placed), table)
    ids = {place: call.id for call, place in placed}
    found: dict[str, list[tuple[int, str]]] = {}
    for number, row in enumerate(rows, 1):
        place = told.place(row["payload"])
        if place is not None:
            call = ids[(*place[:2], 0)]
            found.setdefault(call, []).append((number, row["event"]))
    return {call: tuple(lines) for call, lines in found.items()}


def first(payload: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first value that a payload has under one of some names."""
    return next((payload[name] for name in names if payload.get(name) is not None), None)


def _holds(arguments: Any, value: Mapping[str, Any]) -> bool:
    return isinstance(arguments, dict) and value.items() <= arguments.items()


def _quoting(made: tuple[str, Any, Place], value: Mapping[str, Any]) -> list[tuple[str, Place]]:
    """Return where in a call that is a script an input is quoted, as the call of that place."""
    name, script, (response, index, _) = made
    if not isinstance(script, str):
        return []
    places = [script.find(json.dumps(one)) for one in value.values()]
    return [] if min(places) < 0 else [(name, (response, index, min(places)))]


def _parsed(value: Any) -> Any:
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            return json.loads(value)
    return value


def _outcome(result: Mapping[str, Any] | None) -> Literal["completed", "failed", "unanswered"]:
    if result is None:
        return "unanswered"
    return "failed" if result.get("error") else "completed"


def _results(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {entry["call_id"]: entry for entry in _entries(rows) if entry["type"] == "result"}


def _entries(rows: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for row in rows:
        yield from row["history"]
