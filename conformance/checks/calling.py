"""Whether calls are written as calls: natively, with their arguments, results and statuses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from conformance.checks.calls import Native
from conformance.checks.check import Told
from conformance.checks.leaves import strings
from conformance.essence import TOKEN, Atom, leaves, mended
from conformance.verdicts import load_floor
from transcripts.model import CommandExecution, Text, ToolCall

_NATIVE = ("exact", "translated")


def called_natively(agent: str, atom: Atom) -> bool:
    """Whether the floor wants a record of the target's own for this."""
    if not isinstance(atom.message, CommandExecution | ToolCall) or not _asked(atom.message):
        return False
    return load_floor().across[atom.kind].get(agent) in _NATIVE


def told_calls(crossed: Sequence[Atom], calls: Sequence[Native]) -> Iterator[Told]:
    """Hold every call against the target's own record of it."""
    answers: dict[str, set[Any]] = {}
    for atom in crossed:
        call = atom.message
        if not isinstance(call, CommandExecution | ToolCall) or not (asked := _asked(call)):
            continue
        found = next((one for one in calls if one.asks(asked)), None)
        if found is None:
            yield Told("write.native", f"the call {asked[0]} is no call of the target's own")
            continue
        if call.response is not None:
            answers.setdefault(call.response, set()).add(str(found.answer))
        yield from _result(call, found)
    for together in answers.values():
        if len(together) > 1:
            yield Told("write.parallel", f"calls of one answer stand in {len(together)}")


def _result(call: CommandExecution | ToolCall, found: Native) -> Iterator[Told]:
    if isinstance(call, ToolCall) and isinstance(call.arguments, dict):
        given = _canonical(call.arguments)
        if _canonical(found.arguments) != given:
            yield Told("write.arguments", f"the arguments {given[:60]} are others")
    said = list(strings(list(found.results)))
    for part in call.output or ():
        if isinstance(part, Text) and not any(mended(part.text) in one for one in said):
            yield Told("write.results", f"the result {part.text[:60]!r} is not there as it was")
    if isinstance(call, CommandExecution) and call.exit_code:
        told = json.dumps(list(found.results))
        if not re.search(rf"exit[^0-9]{{0,24}}{call.exit_code}\b", told, re.IGNORECASE):
            yield Told("write.exit-codes", f"the status {call.exit_code} is not with the result")


def _asked(call: CommandExecution | ToolCall) -> list[str]:
    """Return the planted words in what was called for."""
    return [word for text in leaves(call.arguments) for word in TOKEN.findall(text)]


def _canonical(value: Any) -> str:
    return mended(json.dumps(value, sort_keys=True, ensure_ascii=False))
