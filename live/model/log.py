"""What the scripted model was asked and what it answered: one JSON line an exchange.

The log of a run holds everything, for whoever looks for a fault. What a case commits of it
is :func:`committed`: messages only, none of the vendor's words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from live.model.delivery import Ending
from live.model.history import Entry
from live.model.play import AuxiliaryKind, Play, WireCall
from live.model.routing import occurrences
from live.model.rules import Finding

ExchangeKind = Literal["turn", "unscripted"] | AuxiliaryKind

_WORDLESS = frozenset({"probe", "token-count"})
"""Requests that no message is in."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was answered, in no wire's words.

    ``ending`` is ``whole``, ``cut`` (the connection dropped) or ``hanging``: the stream is
    open, everything before the hang is sent and nothing more will come.
    """

    status: int = 200
    request_id: str | None = None
    reasoning: str | None = None
    text: str | None = None
    calls: tuple[WireCall, ...] = ()
    error: dict[str, str] | None = None
    ending: Ending = "whole"


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """A request and its answer. ``turn`` counts from 0 within the thread."""

    seq: int
    kind: ExchangeKind
    thread: str | None = None
    turn: int | None = None
    response: str | None = None
    method: str
    path: str
    history: tuple[Entry, ...] = ()
    answer: Answer
    violations: tuple[Finding, ...] = ()
    unjudged: tuple[Finding, ...] = ()
    headers: dict[str, str] = {}
    body: Any = None


def line(exchange: Exchange) -> str:
    """Write an exchange as one line of ASCII, which lone surrogates survive."""
    return json.dumps(msgspec.to_builtins(exchange), separators=(",", ":")) + "\n"


def read(path: Path) -> list[Exchange]:
    """Read a log in the order in which the requests arrived.

    The server may be writing: an unfinished last line is left for the next reading.
    """
    whole, _, _ = path.read_text(encoding="ascii").rpartition("\n")
    lines = whole.split("\n") if whole else []
    exchanges = [msgspec.convert(json.loads(text), Exchange) for text in lines]
    return sorted(exchanges, key=lambda exchange: exchange.seq)


def committed(exchanges: Sequence[Exchange], play: Play) -> list[dict[str, Any]]:
    """Return what a case keeps of a log: messages, and of these only what the script knows.

    Bodies, headers and the system's and developer's text are the vendor's and are left
    out; so is what a harness wrote into the user's place, of which an empty entry marked
    ``harness`` stays. A prompt that a harness wrapped stays as the prompt. The order is the
    play's (thread, turn, answer), because side requests and threads arrive in no fixed one.
    """
    threads = [thread.name for thread in play.threads]
    turns = [exchange for exchange in exchanges if exchange.kind == "turn"]
    aside = [exchange for exchange in exchanges if exchange.kind not in _WORDLESS | {"turn"}]
    turns.sort(key=lambda exchange: _place(exchange, play, threads))
    rows = [_row(exchange, play) for exchange in turns]
    rows += sorted((_row(exchange, play) for exchange in aside), key=json.dumps)
    return [{"seq": number, **row} for number, row in enumerate(rows)]


def _place(exchange: Exchange, play: Play, threads: list[str | None]) -> tuple[int, int, int, int]:
    thread = threads.index(exchange.thread)
    turn = exchange.turn or 0
    responses = [response.id for response in play.threads[thread].turns[turn].responses]
    return thread, turn, responses.index(exchange.response or ""), exchange.seq


def _row(exchange: Exchange, play: Play) -> dict[str, Any]:
    kept = exchange.history if exchange.kind == "turn" else ()
    entries = [_entry(entry, play) for entry in kept if entry.role not in ("system", "developer")]
    return {
        "kind": exchange.kind,
        "thread": exchange.thread,
        "turn": exchange.turn,
        "response": exchange.response,
        "history": [msgspec.to_builtins(entry) for entry in entries],
        "answer": msgspec.to_builtins(exchange.answer),
        "violations": [msgspec.to_builtins(finding) for finding in exchange.violations],
        "unjudged": [msgspec.to_builtins(finding) for finding in exchange.unjudged],
    }


def _entry(entry: Entry, play: Play) -> Entry:
    if entry.role != "user" or entry.type != "text":
        return entry
    found = occurrences(entry.text or "", play)
    if len(found) == 1:
        return msgspec.structs.replace(entry, text=found[0])
    return msgspec.structs.replace(entry, text=None, value={"harness": True})
