"""Which scripted answer a request gets: decided by what it holds, never by when it arrives.

CLIs ask for titles, count tokens, warm up, retry and run subagents beside the conversation,
in no fixed order. So nothing is remembered between requests: the last scripted prompt in a
request says which thread and turn it belongs to, and the first answer of that turn that the
request does not hold yet is the one it asks for. The same request always gets the same
answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from live.model.history import Entry
from live.model.play import Auxiliary, AuxiliaryKind, Play, PlayResponse, PlayTurn
from live.model.recalling import holds, recalled

SEARCH_TOOL = "web_search"


class Unscripted(Exception):
    """The play has no answer to a request; the message says what was asked."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request to the model: what it reads and which tools it may call."""

    history: Sequence[Entry]
    tools: Sequence[str]
    compacting: bool = False


class Routed(msgspec.Struct, frozen=True, kw_only=True):
    """The scripted answer to a request. ``thread`` and ``turn`` are a conversation's only."""

    kind: str
    response: PlayResponse
    thread: str | None = None
    turn: int | None = None


def route(play: Play, asked: Asked) -> Routed:
    """Find the answer to a request; :class:`Unscripted` if the play has none."""
    for index, auxiliary in enumerate(play.auxiliaries):
        if _fits(auxiliary, asked):
            name = f"{auxiliary.kind}-{index}"
            return Routed(
                kind=auxiliary.kind,
                response=PlayResponse(id=name, text=auxiliary.answer, search=auxiliary.search),
            )
    special = _special(asked)
    if special is not None:
        raise Unscripted(f"the play has no answer for a {special} request")
    return _turn(play, asked)


def occurrences(text: str, play: Play) -> list[str]:
    """List the scripted prompts that stand in a text, in order, each at most once.

    A prompt inside a longer scripted prompt is not an occurrence of its own, nor is one
    that is part of a word. White space counts by its presence only, because CLIs trim and
    wrap what was typed.
    """
    given = _plain(text)
    found: list[tuple[int, int, str]] = []
    for prompt in {turn.prompt for thread in play.threads for turn in thread.turns}:
        wanted = _plain(prompt)
        for match in re.finditer(rf"(?<!\w){re.escape(wanted)}(?!\w)", given):
            found.append((*match.span(), prompt))
    outer = [
        (end, prompt)
        for start, end, prompt in found
        if not any(
            begin <= start and end <= stop and (begin, stop) != (start, end)
            for begin, stop, _ in found
        )
    ]
    last = {prompt: end for end, prompt in sorted(outer)}
    return sorted(last, key=lambda prompt: last[prompt])


def _plain(text: str) -> str:
    return " ".join(text.split())


def _fits(auxiliary: Auxiliary, asked: Asked) -> bool:
    special = _special(asked)
    if special is not None or auxiliary.kind == "web-search":
        if auxiliary.kind != special:
            return False
    elif auxiliary.has_tools is not None and auxiliary.has_tools != bool(asked.tools):
        return False
    place = _system_text(asked) if auxiliary.in_system else _last_user_text(asked)
    return all(words in place for words in auxiliary.contains)


def _special(asked: Asked) -> AuxiliaryKind | None:
    """Tell what a request is by its form alone."""
    if asked.compacting:
        return "compaction"
    if asked.tools and all(tool.startswith(SEARCH_TOOL) for tool in asked.tools):
        return "web-search"
    return None


def _system_text(asked: Asked) -> str:
    return "\n".join(
        entry.text or "" for entry in asked.history if entry.role in ("system", "developer")
    )


def _last_user_text(asked: Asked) -> str:
    texts: list[str] = []
    for entry in reversed(asked.history):
        if entry.role == "user" and entry.type == "text":
            texts.append(entry.text or "")
        elif texts and entry.role in ("assistant", "tool"):
            break
    return "\n".join(reversed(texts))


def _turn(play: Play, asked: Asked) -> Routed:
    # Behind the first words of the user's, what was typed ahead may be told in the system's role.
    begun = next((i for i, one in enumerate(asked.history) if one.role == "user"), 0)
    prompts = [
        (index, prompt)
        for index, entry in enumerate(asked.history)
        if entry.type == "text"
        and (entry.role == "user" or (entry.role == "system" and index > begun))
        for prompt in occurrences(entry.text or "", play)
    ]
    if not prompts:
        raise Unscripted("no scripted prompt stands in the request")
    position, last = prompts[-1]
    count = sum(prompt == last for _, prompt in prompts)
    # Two equal prompts are two turns: as many as the request holds have been asked.
    same = [
        (thread.name, number, turn)
        for thread in play.threads
        for number, turn in enumerate(thread.turns)
        if turn.prompt == last
    ]
    name, number, turn = same[min(count, len(same)) - 1]
    response = _next(turn, asked.history, position)
    if response is None:
        raise Unscripted(f"turn {number} of thread {name or 'main'} has no further answer")
    calls = tuple(
        msgspec.structs.replace(call, arguments=_copied(call.arguments, asked.history))
        for call in response.calls
    )
    text = recalled(response.text, response.recalls, asked.history[:position])
    filled = msgspec.structs.replace(response, calls=calls, text=text)
    return Routed(kind="turn", response=filled, thread=name, turn=number)


def _copied(value: Any, history: Sequence[Entry]) -> Any:
    """Replace every ``{"$result": [call id, key]}`` by what the earlier call returned, and every
    ``{"$found": [call id, pattern]}`` by what the pattern's group finds in it."""
    if isinstance(value, list):
        return [_copied(item, history) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"$found"}:
        earlier, pattern = value["$found"]
        return _found(earlier, pattern, history)
    if set(value) != {"$result"}:
        return {key: _copied(item, history) for key, item in value.items()}
    call_id, key = value["$result"]
    for entry in history:
        if (
            entry.type == "result"
            and entry.call_id is not None
            and _known(call_id, {entry.call_id})
        ):
            try:
                return json.loads(entry.text or "")[key]
            except (ValueError, KeyError, TypeError):
                raise Unscripted(
                    f"the result of {call_id} has no {key!r}: {entry.text!r}"
                ) from None
    raise Unscripted(f"the request holds no result of {call_id}, whose {key!r} is needed")


def _found(call_id: str, pattern: str, history: Sequence[Entry]) -> Any:
    """Return what a pattern finds in an earlier call's result; digits as the number they are."""
    for entry in history:
        if entry.type == "result" and entry.call_id and _known(call_id, {entry.call_id}):
            found = re.search(pattern, entry.text or "")
            if found is not None:
                return int(found[1]) if found[1].isdecimal() else found[1]
    raise Unscripted(f"no result of {call_id} holds what {pattern!r} looks for")


def _next(turn: PlayTurn, history: Sequence[Entry], position: int) -> PlayResponse | None:
    call_ids = {entry.call_id for entry in history if entry.call_id is not None}
    said = [
        _plain(entry.text or "")
        for entry in history[position + 1 :]
        if entry.role == "assistant" and entry.type == "text"
    ]
    for response in turn.responses:
        if response.given is not None and not holds(response.given, history, position):
            continue
        text = recalled(response.text, response.recalls, history[:position])
        # Equal texts are told apart by consuming them in order.
        place = _find(text, said)
        if response.calls:
            if not any(_known(call.id, call_ids) for call in response.calls):
                return response
        elif place is None:
            return response
        if place is not None:
            del said[: place + 1]
    return None


def _known(call_id: str, call_ids: set[str]) -> bool:
    # Copilot CLI sends custom calls back with a prefix of its own.
    return call_id in call_ids or f"custom_{call_id}" in call_ids


def _find(text: str | None, said: Sequence[str]) -> int | None:
    wanted = _plain(text or "")
    if not wanted:
        return None
    if wanted in said:
        return said.index(wanted)
    # Some releases join neighbouring texts into one.
    return next((index for index, given in enumerate(said) if wanted in given), None)
