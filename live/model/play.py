"""A scenario translated for one CLI: the document that the scripted model is started with."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from live.model.script import Failure, Given, Recall, SearchHit

Wire = Literal["anthropic", "responses", "chat"]
Judging = Literal["record", "enforce"]
AuxiliaryKind = Literal[
    "title", "warm-up", "token-count", "web-search", "compaction", "summary", "probe", "classifier"
]


class WireCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call in the CLI's own words. ``arguments`` is an object, or a string of free text
    (sent as a custom call on the Responses wire).

    What only an earlier result can tell (the id of an agent just spawned) is written as the
    object ``{"$result": [call id, key]}`` in place of a value: the scripted model replaces it
    by that key of the earlier call's JSON result, as a model would copy it. Where the result is
    prose, ``{"$found": [call id, pattern]}`` is replaced by what the pattern's group finds."""

    id: str
    name: str
    arguments: Any
    namespace: str | None = None
    custom: bool = False


class Search(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A search that the provider makes on the side, and what it finds."""

    query: str
    hits: tuple[SearchHit, ...]


class PlayResponse(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One scripted answer. ``id`` is unique in the play and becomes message and request id.

    ``fails_first`` is said to the first request that asks for it; ``search`` is what the provider
    looked for and found before it spoke. ``delay`` are seconds before
    the answer begins, ``pause`` seconds before each piece of it, ``linger`` seconds between its
    last item and the end of its stream. ``thoughts_as`` is the field that thoughts travel in
    on the chat wire, where every provider has its own.
    """

    id: str
    reasoning: str | None = None
    sealed_reasoning: bool = False
    text: str | None = None
    calls: tuple[WireCall, ...] = ()
    failure: Failure | None = None
    fails_first: Failure | None = None
    hang: bool = False
    cut: bool = False
    delay: float = 0.0
    pause: float = 0.0
    linger: float = 0.0
    thoughts_as: Literal["reasoning_content", "reasoning_text"] = "reasoning_content"
    usage: dict[str, int] = {}
    search: Search | None = None
    recalls: dict[str, Recall] = {}
    given: Given | None = None


class PlayTurn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A prompt and the answers that follow it."""

    prompt: str
    responses: tuple[PlayResponse, ...]


class Thread(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The main conversation (``name`` is None) or one subagent's (named after its call)."""

    name: str | None
    turns: tuple[PlayTurn, ...]


class Auxiliary(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request that a CLI makes on the side, and what to answer.

    ``contains`` are strings that must all occur in the last user text (or, for
    ``in_system``, in the system text or instructions); ``has_tools`` when not None must
    match whether the request offers tools.
    """

    kind: AuxiliaryKind
    answer: str
    contains: tuple[str, ...] = ()
    in_system: bool = False
    has_tools: bool | None = None
    search: Search | None = None


class Play(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything the scripted model needs to know."""

    wire: Wire
    model: str
    threads: tuple[Thread, ...]
    auxiliaries: tuple[Auxiliary, ...] = ()
    judging: Judging = "record"
