"""Messages in the making: what several records of a rollout say of the same thing.

Codex tells most things twice or three times (a response item, an event's echo of it, a
completed item), in any order and in any subset. A draft gathers what belongs together; it
becomes messages once the file is read.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from datetime import datetime
from typing import Any, ClassVar, Literal, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from transcripts.model import Author, Content, Location, Status, Superseded, Usage
from transcripts.stores.codex.reading.attic import Attic, Stored

Vocabulary = Literal["item", "echo", "completed"]
"""How something was told: as a response item, in an event's echo, as a completed item."""

VOCABULARIES: tuple[Vocabulary, ...] = get_args(Vocabulary)

_BY_PLACE = "line-"


def id_by_place(line: int, origin: Origin | None = None) -> str:
    """Return the id of an answer for which none is recorded: the line at which it begins."""
    return f"{_BY_PLACE}{line}" if origin is None else f"{_BY_PLACE}{line}-of-{origin.session}"


def is_recorded(response_id: str) -> bool:
    """Whether an answer's id is the provider's own."""
    return not response_id.startswith(_BY_PLACE)


class Origin(Struct, frozen=True, kw_only=True):
    """The session that something was said in first, and what its id is derived from there.

    ``key`` is None where the record that was written first is not at hand.
    """

    session: str
    key: tuple[str | int, ...] | None


class Response(Struct, eq=False, kw_only=True):
    """One answer of the model: what it said and called, and the tokens that it took."""

    id: str
    usage: Usage | None = None
    drafts: list[Draft] = field(default_factory=list)


Standing = tuple[
    tuple[str | int, ...],
    "Origin | None",
    list[Location],
    datetime | None,
    int | None,
    str | None,
    str | None,
    str | None,
]
"""Where a draft stands: the first eight fields of each, which are given by their order."""


class Draft(Struct, eq=False):
    """What every draft knows: where it stands, and the state of the session there.

    ``key`` is what its id is derived from: the first record's own id, its ordinal or its
    line. ``told`` names the vocabularies that have told it: each tells a thing once.
    """

    key: tuple[str | int, ...]
    origin: Origin | None
    sources: list[Location]
    at: datetime | None
    ordinal: int | None
    turn: str | None
    model: str | None
    cwd: str | None
    response: Response | None = None
    told: tuple[Vocabulary, ...] = ()
    superseded_by: Draft | Superseded | None = None
    id: str = ""
    stored: Stored | None = None

    weighs: ClassVar[tuple[str, ...]] = ()
    """The fields that take memory: what the draft holds, not what links it to others."""

    def put_away(self, attic: Attic) -> None:
        """Put away what weighs; it comes back when it is asked for."""
        names = (*self.weighs, "sources", "told")
        self.stored = attic.put(packed({name: getattr(self, name) for name in names}))
        self.leave()

    def leave(self) -> None:
        """Let go of what is put away; what was changed since then is lost, so this is the last."""
        if self.stored is not None:
            for name in (*self.weighs, "sources", "told"):
                if _is_set(self, name):
                    delattr(self, name)

    def __getattr__(self, name: str) -> Any:
        """Bring back what was put away: only a field that is not set comes here."""
        stored = self.stored if name != "stored" else None
        if stored is None:
            raise AttributeError(name)
        for own, value in unpacked(stored.data):
            if not _is_set(self, own):
                setattr(self, own, value)
        return object.__getattribute__(self, name)


def _is_set(draft: Draft, name: str) -> bool:
    try:
        object.__getattribute__(draft, name)
    except AttributeError:
        return False
    return True


class Spoken(Draft, eq=False, kw_only=True):
    """Words: a prompt, instructions or an answer.

    ``parts`` pairs each part with the author that the record names for it and the kind it
    gives it; ``typed`` says that an event repeats it as a person's input.
    """

    weighs: ClassVar[tuple[str, ...]] = ("content",)

    role: Literal["user", "assistant", "developer"]
    own_id: str | None = None
    content: Content = ()
    authors: tuple[Author | None, ...] = ()
    kinds: tuple[str | None, ...] = ()
    phase: str | None = None
    typed: bool = False
    from_agent: str | None = None


class Thought(Draft, eq=False, kw_only=True):
    """A thought: its readable parts and its sealed one.

    Echoes tell one part each: ``echoed`` are the parts that they have told.
    """

    weighs: ClassVar[tuple[str, ...]] = ("texts", "echoed", "sealed")

    own_id: str | None = None
    texts: list[str] = field(default_factory=list)
    echoed: list[str] = field(default_factory=list)
    sealed: str | None = None


class Evidence(Struct, kw_only=True):
    """What an event or a completed item says of a call, whichever vocabulary it used."""

    kind: Literal["command", "patch", "mcp", "tool", "agent", "image"]
    id: str | None
    at: datetime | None
    status: Status | None = None
    duration_ms: float | None = None
    name: str | None = None
    arguments: Any = None
    command: str | None = None
    cwd: str | None = None
    output: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None
    changes: Any = None
    server: str | None = None
    content: Content | None = None
    error: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    prompt: str | None = None


class Called(Draft, eq=False, kw_only=True):
    """A call, its result and what the events say of it."""

    weighs: ClassVar[tuple[str, ...]] = ("arguments", "output", "evidence")

    call_id: str | None
    has_call: bool = False
    name: str = ""
    namespace: str | None = None
    arguments: Any = None
    custom: bool = False
    has_output: bool = False
    output: Any = None
    ended_at: datetime | None = None
    evidence: Evidence | None = None
    caller: Called | None = None
    interrupted: bool = False
    report: str | None = None
    failure: str | None = None
    later_exit_code: int | None = None


class Searched(Draft, eq=False, kw_only=True):
    """A web search, which has no result of its own in the record."""

    weighs: ClassVar[tuple[str, ...]] = ("action",)

    own_id: str | None = None
    action: dict[str, Any] = field(default_factory=dict)
    query: str | None = None
    status: Status = "completed"


class Compacted(Draft, eq=False, kw_only=True):
    """The history before this was replaced."""

    weighs: ClassVar[tuple[str, ...]] = ("summary",)

    own_id: str | None = None
    summary: Content | None = None
    trigger: Literal["manual", "auto"] | None = None
    kept: list[Draft] = field(default_factory=list)


class Failed(Draft, eq=False, kw_only=True):
    """A turn ended with an error of the provider or the harness."""

    text: str
    raw: Any = None


class Planned(Draft, eq=False, kw_only=True):
    """A plan put before the person."""

    weighs: ClassVar[tuple[str, ...]] = ("text",)

    own_id: str | None = None
    text: str


class Kept(Draft, eq=False, kw_only=True):
    """A record of the conversation that has no kind of its own."""

    weighs: ClassVar[tuple[str, ...]] = ("value",)

    own_id: str | None = None
    record: str
    value: Any


# ------------------------------------------------------------------ what is put away, as bytes


class _Weight(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The fields that drafts put away; those that a draft does not have are unset."""

    sources: list[Location]
    told: tuple[str, ...]
    content: Content | UnsetType = UNSET
    texts: list[str] | UnsetType = UNSET
    echoed: list[str] | UnsetType = UNSET
    sealed: str | UnsetType | None = UNSET
    arguments: Any = UNSET
    output: Any = UNSET
    evidence: Evidence | UnsetType | None = UNSET
    action: Any = UNSET
    summary: Content | UnsetType | None = UNSET
    value: Any = UNSET


_PACKED, _PICKLED = b"m", b"p"
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(_Weight).decode


def packed(values: dict[str, Any]) -> bytes:
    """Return values as bytes: fast, or in the slow form that takes every letter and number."""
    try:
        return _PACKED + _pack(_Weight(**values))
    except (UnicodeEncodeError, OverflowError, RecursionError):
        return _PICKLED + pickle.dumps(values, pickle.HIGHEST_PROTOCOL)


def unpacked(data: bytes) -> Iterator[tuple[str, Any]]:
    """Yield the names and values that were packed."""
    if data[:1] == _PICKLED:
        yield from pickle.loads(data[1:]).items()
        return
    weight = _unpack(memoryview(data)[1:])
    for name in _Weight.__struct_fields__:
        value = getattr(weight, name)
        if value is not UNSET:
            yield name, value
