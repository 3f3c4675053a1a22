"""A tool's sums of tokens, held against what the scripted model reported for each answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from conformance.adapters import Adapter, AdapterError
from conformance.corpus import Case, opened
from conformance.peers.reading import size_of
from conformance.peers.results import Evidence, Totals
from live.model.wires.base import Tokens
from transcripts.model import Usage

_NAMES = ("input", "output")
_BROKEN = {"error", "ending"}
"""What the model's log says of an answer that is a failure, or that was cut."""


def expected_totals(case: Case) -> dict[str, int] | None:
    """Return what a session's answers cost by the script, or None if that is not plainly known.

    Known it is where every request was for an answer to the person, on the main thread, and its
    answer came to its end: requests on the side, failures, what was cut short and copies each CLI
    counts in a way of its own.
    """
    lines = (case.directory / "model.jsonl").read_bytes().rstrip(b"\n").split(b"\n")
    exchanges: list[Any] = [json.loads(line) for line in lines]
    plain = all(
        one["kind"] == "turn" and one["thread"] is None and not _BROKEN & one["answer"].keys()
        for one in exchanges
    )
    apart = any(
        one.get("inherited") or one.get("superseded") or one["status"] == "unresolved"
        for one in case.truth.messages
    )
    gone = any(one.fields is None for one in case.facts.unrecorded)
    if not exchanges or not plain or apart or gone:
        return None
    each = Tokens()
    return {name: len(exchanges) * getattr(each, name) for name in _NAMES}


def total_all(
    adapter: Adapter, agent: str, chosen: Sequence[Case], tick: Callable[[str], None]
) -> Totals:
    """Have the tokens of every plain session counted."""
    asked = right = 0
    wrong: list[tuple[int, Evidence]] = []
    for case in chosen:
        wanted = expected_totals(case)
        if wanted is None:
            continue
        tick(f"{adapter.name} counts {case.name}")
        asked += 1
        found = _counted(adapter, agent, case)
        if found == wanted:
            right += 1
            continue
        evidence = Evidence(
            case=case.name, field="tokens", expected=_said(wanted), got=_said(found)
        )
        wrong.append((size_of(case), evidence))
    smallest = min(wrong, key=lambda one: (one[0], one[1].case))[1] if wrong else None
    return Totals(agent=agent, right=right, asked=asked, evidence=smallest)


def _counted(adapter: Adapter, agent: str, case: Case) -> dict[str, int] | str:
    with opened(case) as home:
        try:
            messages = adapter.read(agent, home, case.facts.session_id).messages
        except AdapterError as error:
            return str(error)
    usage = [
        one.usage for one in messages if one.usage is not None and one.usage.scope == "session"
    ]
    return _sums(usage[-1]) if usage else "no totals"


def _sums(usage: Usage) -> dict[str, int]:
    return {name: getattr(usage, name) or 0 for name in _NAMES}


def _said(found: dict[str, int] | str) -> str:
    if isinstance(found, str):
        return found[:160]
    return ", ".join(f"{name} {count}" for name, count in found.items())
