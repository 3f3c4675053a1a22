"""Messages in the making: what several records of a rollout say of the same thing.

Codex tells most things twice or three times (a response item, an event's echo of it, a
completed item), in any order and in any subset. A draft gathers what belongs together; it
becomes messages once the file is read.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Protocol, get_args

from msgspec import Struct, field

from transcripts.model import Author, Content, Location, Status, Superseded, Usage

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
    """One answer of the model: which it is of the session's, its id, the tokens that it took."""

    number: int
    id: str
    usage: Usage | None = None


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
    bundle: Away | None = None
    place: int = 0
    mark: int = 0

    def __getattr__(self, name: str) -> Any:
        """Bring back what was put away: only a field that is not set comes here."""
        bundle = self.bundle if name in self.__struct_fields__ else None
        if bundle is None:
            raise AttributeError(name)
        bundle.restore(self)
        return object.__getattribute__(self, name)


class Away(Protocol):
    """Where a draft is put away."""

    def restore(self, draft: Draft) -> None:
        """Bring it back."""


STAYS = frozenset(
    {
        *("superseded_by", "id", "bundle", "place", "mark", "ordinal"),
        *("role", "typed", "trigger", "kept"),
        *("model", "cwd", "origin", "from_agent", "namespace", "custom"),
        *("has_call", "has_output", "interrupted", "caller"),
        *("report", "failure", "later_exit_code"),
    }
)
"""The fields that stay when a draft is put away: what links it to others, what is asked of many
drafts in turn, what is set without a look at the draft, and what takes no memory of its own."""


class Spoken(Draft, eq=False, kw_only=True):
    """Words: a prompt, instructions or an answer.

    ``parts`` pairs each part with the author that the record names for it and the kind it
    gives it; ``typed`` says that an event repeats it as a person's input.
    """

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

    own_id: str | None = None
    action: dict[str, Any] = field(default_factory=dict)
    query: str | None = None
    status: Status = "completed"


class Compacted(Draft, eq=False, kw_only=True):
    """The history before this was replaced."""

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

    own_id: str | None = None
    text: str


class Kept(Draft, eq=False, kw_only=True):
    """A record of the conversation that has no kind of its own."""

    own_id: str | None = None
    record: str
    value: Any
