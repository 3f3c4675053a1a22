"""The normalised model: one class a message kind, the same for every store.

Structs are frozen and tagged by ``kind``. This is a document format that the project
owns; foreign records are never decoded into it directly, readers build it field by field.

Times are aware UTC datetimes or None. Text may hold lone surrogates (half an emoji cut by
a CLI); :func:`transcripts.serialise.to_json` prints them safely.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

import msgspec

JsonObject = Mapping[str, Any]

Author = Literal["human", "model", "harness", "hook", "agent"]
Delivery = Literal["typed", "queued", "steered", "programmatic"]
Status = Literal["unresolved", "completed", "failed", "declined", "cancelled", "unknown"]
TimeSource = Literal["record", "derived", "file"]
CallerEvidence = Literal["native", "derived", "none"]


# ------------------------------------------------------------------ places and faults


class Location(msgspec.Struct, frozen=True, kw_only=True):
    """Where in a store something was recorded.

    ``path`` is relative to the store's root, with forward slashes. A line counts from 1 and
    ends at LF; ``offset`` and ``length`` are bytes. ``pointer`` is a JSON pointer inside the
    record; ``row`` names a database row as ``table/key``.
    """

    path: str
    line: int | None = None
    offset: int | None = None
    length: int | None = None
    pointer: str | None = None
    row: str | None = None


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """Something in a file is not as its writer meant it.

    ``kind`` is a short word such as ``torn_tail`` or ``lone_surrogate``; ``source`` is the
    path relative to the store's root.
    """

    kind: str
    source: str
    line: int | None = None
    offset: int | None = None
    why: str = ""


class Unread(msgspec.Struct, frozen=True, kw_only=True):
    """Records of one kind that became no message: bookkeeping (known) or news (unknown)."""

    record: str
    count: int
    known: bool


# ------------------------------------------------------------------ parts of content


class Text(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """Words, exactly as recorded."""

    text: str


class Asset(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="asset"):
    """An image or a file. Equal bytes are one asset: ``sha256`` is its identity.

    ``data`` is base64 when the store holds the bytes; ``path`` is where it says they lie.
    """

    sha256: str | None
    media_type: str | None = None
    data: str | None = None
    path: str | None = None
    name: str | None = None
    size: int | None = None


class Structured(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="structured"):
    """A JSON value that a tool returned beside or instead of text."""

    value: Any


class Opaque(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="opaque"):
    """Content only its provider can read: kept for the same store, carried nowhere else."""

    form: Literal["encrypted", "signature", "redacted"]
    data: str
    provider: str | None = None


Part = Text | Asset | Structured | Opaque
Content = tuple[Part, ...]


# ------------------------------------------------------------------ what messages carry


class Superseded(msgspec.Struct, frozen=True, kw_only=True):
    """The message was recorded but a later one took its place."""

    id: str | None
    why: Literal["rewind", "edit", "retry", "branch", "compaction"]


class Inherited(msgspec.Struct, frozen=True, kw_only=True):
    """The message was copied from another session when this one was forked or spawned."""

    session: str | None
    id: str | None = None


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Token counts as the CLI recorded them; None is "not recorded", never zero."""

    scope: Literal["response", "turn", "session"]
    accounting: Literal["delta", "cumulative"]
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    total: int | None = None


class FileEdit(msgspec.Struct, frozen=True, kw_only=True):
    """One file touched by a change.

    ``before`` and ``after`` are the replaced and the new text where the record holds both
    (a whole file for an addition or deletion, a fragment otherwise: see ``whole``);
    ``diff`` is unified diff text where that is all there is.
    """

    path: str
    operation: Literal["add", "update", "delete", "move"]
    before: str | None = None
    after: str | None = None
    whole: bool = False
    diff: str | None = None
    moved_to: str | None = None


class PlanItem(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a checklist."""

    text: str
    status: Literal["pending", "in_progress", "completed", "unknown"] = "unknown"
    id: str | None = None


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """One hit of a web search."""

    url: str | None
    title: str | None = None


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One question put to the person, with what they answered."""

    text: str
    options: tuple[str, ...] = ()
    answer: str | None = None


# ------------------------------------------------------------------ messages


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag=True):
    """What every message says of itself.

    ``id`` is derived (:mod:`transcripts.ids`), ``external_id`` is the CLI's own: the call id
    for calls, the message or record id otherwise. ``follows`` is the id of the predecessor
    on the conversation's line. ``response`` names the API response that a model message was
    part of: parallel calls share it and usage is counted once for each. ``agent`` is the
    thread (None: the main one) and ``caller`` the id of the call message that the thread
    serves. ``in_context`` is False for what no request to the model would hold.
    """

    id: str
    external_id: str | None = None
    at: datetime | None = None
    at_source: TimeSource | None = None
    follows: str | None = None
    turn: str | None = None
    response: str | None = None
    model: str | None = None
    agent: str | None = None
    caller: str | None = None
    caller_evidence: CallerEvidence = "none"
    author: Author
    delivery: Delivery | None = None
    provenance: str | None = None
    in_context: bool = True
    superseded_by: Superseded | None = None
    inherited_from: Inherited | None = None
    status: Status = "completed"
    usage: Usage | None = None
    sources: tuple[Location, ...] = ()

    @property
    def kind(self) -> str:
        """The class name: the row of the fidelity matrix."""
        return type(self).__name__


class UserMessage(Message, frozen=True, kw_only=True):
    """A prompt, or what a harness sent in the user's place (see ``author``)."""

    content: Content


class AgentMessage(Message, frozen=True, kw_only=True):
    """What the model said to the person."""

    content: Content


class Reasoning(Message, frozen=True, kw_only=True):
    """What the model thought: text where it is recorded, opaque parts where only they are."""

    content: Content


class Call(Message, frozen=True, kw_only=True):
    """A call of a tool merged with its result; never a row of its own.

    ``name`` is the tool's own name without its MCP server, ``arguments`` the parsed input (a
    string when it did not parse or the tool takes free text). ``output`` is None while there
    is no result; ``error`` holds a failed tool's text, which is then not in ``output``.
    ``output_extent`` says how much of the output was recorded; ``overflow_path`` where a CLI
    put the rest.
    """

    name: str
    server: str | None = None
    arguments: Any = None
    output: Content | None = None
    output_extent: Literal["full", "truncated", "elsewhere", "unknown"] = "full"
    overflow_path: str | None = None
    error: str | None = None
    duration_ms: float | None = None
    ended_at: datetime | None = None


class CommandExecution(Call, frozen=True, kw_only=True):
    """A shell command. ``output`` is what the model was shown, without the CLI's framing.

    ``exit_code`` 0 is not None: ``exit_code_source`` says whether a field, the text or
    nothing told. A command that ran and exited non-zero has status ``failed`` and its output
    in ``output``, not in ``error``.
    """

    command: str
    cwd: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None
    exit_code_source: Literal["field", "text", "none"] = "none"
    background_id: str | None = None


class FileChange(Call, frozen=True, kw_only=True):
    """Files created, updated, deleted or moved. ``content`` is prose said about it, if any."""

    changes: tuple[FileEdit, ...] = ()
    content: Content = ()


class ToolCall(Call, frozen=True, kw_only=True):
    """A call of any other tool, built in or of an MCP server."""


class Plan(Call, frozen=True, kw_only=True):
    """A proposed plan or a checklist, by tool or as a message of its own (``name`` is "")."""

    form: Literal["proposal", "checklist"]
    content: Content = ()
    items: tuple[PlanItem, ...] = ()


class WebSearch(Call, frozen=True, kw_only=True):
    """A search of the web."""

    query: str | None = None
    results: tuple[SearchResult, ...] = ()


class SubAgent(Call, frozen=True, kw_only=True):
    """A task handed to another agent. ``output`` is its report; ``agent_id`` its thread."""

    agent_id: str | None = None
    agent_type: str | None = None
    description: str | None = None
    prompt: str | None = None
    background: bool = False


class UserQuestion(Call, frozen=True, kw_only=True):
    """The agent asked the person."""

    questions: tuple[Question, ...] = ()


class PermissionRequest(Message, frozen=True, kw_only=True):
    """The harness asked whether a call may run."""

    request_id: str | None = None
    tool: str | None = None
    arguments: Any = None
    reason: str | None = None
    decision: Literal["allowed", "denied"] | None = None
    decided_by: str | None = None


class CompactBoundary(Message, frozen=True, kw_only=True):
    """The conversation before this was replaced by a summary in the model's context."""

    trigger: Literal["manual", "auto"] | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    summary: Content | None = None
    preserved: tuple[str, ...] = ()


class Error(Message, frozen=True, kw_only=True):
    """The provider or the harness failed. Never written into another store."""

    text: str
    failure: str | None = None
    status_code: int | None = None
    raw: Any = None


class Other(Message, frozen=True, kw_only=True):
    """A record that is part of the conversation and has no kind of its own here."""

    record: str
    value: Any = None


KINDS: tuple[type[Message], ...] = (
    UserMessage,
    AgentMessage,
    Reasoning,
    CommandExecution,
    FileChange,
    ToolCall,
    Plan,
    WebSearch,
    SubAgent,
    UserQuestion,
    PermissionRequest,
    CompactBoundary,
    Error,
    Other,
)
"""The fourteen rows of the fidelity matrix, in its order."""

AnyMessage = (
    UserMessage
    | AgentMessage
    | Reasoning
    | CommandExecution
    | FileChange
    | ToolCall
    | Plan
    | WebSearch
    | SubAgent
    | UserQuestion
    | PermissionRequest
    | CompactBoundary
    | Error
    | Other
)


# ------------------------------------------------------------------ sessions


class Lineage(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session comes from."""

    forked_from: str | None = None
    fork_cut: str | None = None
    parent: str | None = None
    continues: str | None = None


class SideStore(msgspec.Struct, frozen=True, kw_only=True):
    """Something a session keeps outside its transcript (undo history, todos, checkpoints)."""

    name: str
    path: str


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a listing says of a session without reading it whole."""

    agent: str
    session_id: str
    path: str
    cwd: str | None = None
    updated_at: datetime | None = None
    title: str | None = None
    first_user_message: str | None = None
    cli_version: str | None = None
    lineage: Lineage = Lineage()


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """One session, whole: the recorded view. :meth:`effective` gives the other one."""

    agent: str
    session_id: str
    cwd: str | None = None
    cli_version: str | None = None
    model: str | None = None
    title: str | None = None
    git_branch: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    source_path: str | None = None
    lineage: Lineage = Lineage()
    messages: tuple[AnyMessage, ...] = ()
    damage: tuple[Damage, ...] = ()
    unread: tuple[Unread, ...] = ()
    side_stores: tuple[SideStore, ...] = ()

    def effective(self) -> tuple[AnyMessage, ...]:
        """Return the messages that the main thread's next request would hold, in order."""
        return tuple(
            message
            for message in self.messages
            if message.in_context and message.superseded_by is None and message.agent is None
        )
