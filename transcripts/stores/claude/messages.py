"""The rows of one thread as messages: calls merged with their results, links resolved.

Messages stand in file order. Walking parents from the last row would lose all but one of
several parallel results, everything before a lost parent, and a reply whose sibling is a hook
summary; the links are used for what order cannot tell: rewinds, and what a compaction kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from transcripts.ids import derive
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Author,
    CommandExecution,
    CompactBoundary,
    Content,
    Damage,
    Delivery,
    Error,
    Inherited,
    Location,
    Opaque,
    Other,
    Reasoning,
    SubAgent,
    Superseded,
    Text,
    Usage,
    UserMessage,
)
from transcripts.stores.claude import bookkeeping, branches, wordings
from transcripts.stores.claude.content import parts
from transcripts.stores.claude.notifications import Notification, notification_in
from transcripts.stores.claude.results import Result, Use, text_of
from transcripts.stores.claude.rows import (
    Row,
    blocks_of,
    integer,
    mapping,
    message_of,
    sequence,
    string,
    time_of,
)
from transcripts.stores.claude.tools import Checklist, read_call

SYNTHETIC = "<synthetic>"
PROVIDER = "anthropic"


class Session(msgspec.Struct, kw_only=True):
    """What the threads of one session share while they are read."""

    scope: str
    inherited: dict[str, str]
    stamping: frozenset[str]
    used_ids: set[str] = msgspec.field(default_factory=set)
    checklist: Checklist = msgspec.field(default_factory=dict)
    damage: list[Damage] = msgspec.field(default_factory=list)
    unread: Counter[tuple[str, bool]] = msgspec.field(default_factory=Counter)


def read_thread(rows: Sequence[Row], session: Session, agent: str | None) -> list[AnyMessage]:
    """Return the messages of a thread, the main one (``agent`` is None) or a subagent's."""
    reader = _ThreadReader(rows, session, agent)
    placed = [
        (position, message)
        for position, row in enumerate(rows)
        for message in reader.messages(row, position)
    ]
    return _linked(rows, placed)


class _ThreadReader:
    """Turns rows into messages one by one, knowing the results of all calls beforehand."""

    def __init__(self, rows: Sequence[Row], session: Session, agent: str | None) -> None:
        self._session = session
        self._agent = agent
        self._results: dict[str, Result] = {}
        self._uses: set[str] = set()
        self._ends: dict[str, Notification] = {}
        self._usage: dict[str, Usage] = {}
        self._usage_given: set[str] = set()
        self._turn: str | None = None
        self._summaries = _summaries(rows)
        for row in rows:
            self._index(row)

    def _index(self, row: Row) -> None:
        for index, block in enumerate(map(mapping, blocks_of(row))):
            call = string(block.get("tool_use_id"))
            if row.type == "user" and block.get("type") == "tool_result" and call:
                if call in self._results:
                    self._damage("duplicate_result", row, f"call {call} has a result already")
                else:
                    self._results[call] = Result(block, index, row)
            elif row.type == "assistant" and block.get("type") == "tool_use":
                use = string(block.get("id"))
                if use:
                    self._uses.add(use)
        ended = notification_in(row)
        if ended is not None:
            self._ends[ended[0]] = ended[1]
        if row.type == "assistant":
            usage = _usage(message_of(row).get("usage"))
            if usage is not None:
                # The last record of a response has the final counts: earlier ones were
                # written while it still streamed.
                self._usage[_response(row)] = usage

    def messages(self, row: Row, position: int) -> Iterator[AnyMessage]:
        """Yield what a row says, nothing for bookkeeping, which is counted."""
        match row.type:
            case "user":
                yield from self._user(row)
            case "assistant":
                yield from self._assistant(row)
            case "system" if row.value.get("subtype") == "compact_boundary":
                yield self._boundary(row, position)
            case "attachment":
                yield from self._attachment(row)
            case _:
                self._skip(row)

    # ------------------------------------------------------------------ fields and counts

    def _fields(
        self, row: Row, index: int, pointer: str | None, identity: str | None = None
    ) -> dict[str, Any]:
        """Return the fields that every message has; ``identity`` is a call's own id."""
        own = row.uuid or f"line {row.record.line}"
        scope = self._session.scope
        candidates = [derive(scope, own, index) if index else derive(scope, own)]
        if identity:
            candidates.insert(0, derive(scope, identity))
        message_id = next((one for one in candidates if one not in self._session.used_ids), None)
        if message_id is None:
            ordinal = len(self._session.used_ids)
            message_id = derive(scope, own, index, ordinal)
        self._session.used_ids.add(message_id)
        at = time_of(row)
        inherited = self._session.inherited.get(row.uuid or "")
        return {
            "id": message_id,
            "external_id": identity or row.uuid,
            "at": at,
            "at_source": "record" if at else None,
            "turn": self._turn,
            "agent": self._agent,
            "inherited_from": Inherited(session=inherited, id=row.uuid) if inherited else None,
            "sources": (_place(row, pointer),),
        }

    def _damage(self, kind: str, row: Row, why: str) -> None:
        record = row.record
        self._session.damage.append(
            Damage(kind=kind, source=record.path, line=record.line, offset=record.offset, why=why)
        )

    def _skip(self, row: Row) -> None:
        if row.type is None:
            self._damage("malformed_record", row, "a record without a type")
        self._session.unread[bookkeeping.record_name(row), bookkeeping.is_known(row)] += 1

    # ------------------------------------------------------------------ the user's side

    def _user(self, row: Row) -> Iterator[AnyMessage]:
        said: list[Any] = []
        first = 0
        orphans: list[tuple[int, dict[str, Any]]] = []
        blocks = blocks_of(row)
        for index, block in enumerate(blocks):
            if mapping(block).get("type") != "tool_result":
                first = index if not said else first
                said.append(block)
            elif string(block.get("tool_use_id")) not in self._uses:
                orphans.append((index, block))
        for index, block in orphans:
            yield self._orphan(row, index, block)
        content = parts(said)
        if content:
            yield self._user_message(row, first, content, alone=len(said) == len(blocks))
        elif not blocks:
            self._session.unread["user/(no content)", False] += 1

    def _orphan(self, row: Row, index: int, block: dict[str, Any]) -> Other:
        """Keep a result whose call is gone: compacted away, or left behind by a move."""
        call = string(block.get("tool_use_id"))
        self._damage("orphan_result", row, f"the call {call} of this result is nowhere")
        fields = self._fields(row, index, f"/message/content/{index}")
        fields["external_id"] = call
        return Other(
            **fields,
            author="harness",
            in_context=False,
            record="tool_result",
            value=block,
        )

    def _user_message(self, row: Row, index: int, content: Content, *, alone: bool) -> UserMessage:
        whole = alone and isinstance(message_of(row).get("content"), str)
        pointer = "/message/content" if whole or alone else f"/message/content/{index}"
        fields = self._fields(row, index if not alone else 0, pointer)
        if row.value.get("isCompactSummary") is True:
            # Its words are the boundary's summary, where they are counted as context.
            return UserMessage(
                **fields,
                author="harness",
                provenance="compact-summary",
                in_context=not self._summaries.get(row.uuid or ""),
                content=content,
            )
        author, provenance, content = self._author(row, content)
        if author == "human" and self._agent is None:
            self._turn = fields["turn"] = fields["id"]
        return UserMessage(
            **fields,
            author=author,
            delivery=_delivery(row, author),
            provenance=provenance,
            content=content,
        )

    def _author(self, row: Row, content: Content) -> tuple[Author, str | None, Content]:
        """Return who a user row's words are from, the mark that says so, and the bare words."""
        texts = [part for part in content if isinstance(part, Text)]
        if row.value.get("isMeta") is True:
            return _ORIGINS.get(_origin(row) or "", "harness"), _origin(row) or "meta", content
        said = wordings.typed(texts[0].text) if len(content) == len(texts) == 1 else None
        if said is not None and said.author != "harness":
            content = (Text(text=said.text),)
        mark = (said.wrapper if said else None) or _origin(row)
        mark = mark or string(row.value.get("promptSource"))
        origin = _origin(row)
        if origin is not None:
            author: Author = "human" if origin == "human" else _ORIGINS.get(origin, "harness")
            return author, mark, content
        if said is not None and said.author is not None:
            author = said.author
            unmarked = not row.value.get("promptSource")
            if author == "human" and unmarked and self._stamps_origin(row):
                author = "harness"
            return author, mark, content
        if all(wordings.typed(text.text).author == "harness" for text in texts) and texts:
            return "harness", mark, content
        return ("human" if self._agent is None else "agent"), mark, content

    def _stamps_origin(self, row: Row) -> bool:
        """Whether the release that wrote a row marks what the person typed."""
        return (string(row.value.get("version")) or "") in self._session.stamping

    # ------------------------------------------------------------------ the model's side

    def _assistant(self, row: Row) -> Iterator[AnyMessage]:
        if row.value.get("isApiErrorMessage") is True:
            yield self._error(row)
            return
        blocks = blocks_of(row)
        if not blocks:
            self._session.unread["assistant/(no content)", False] += 1
        texts: list[Any] = []
        for index, block in enumerate(blocks):
            kind = mapping(block).get("type")
            if kind == "text":
                texts.append(block)
                following = mapping(blocks[index + 1]) if index + 1 < len(blocks) else {}
                if following.get("type") == "text":
                    continue
            message = self._block(row, index, block, texts)
            texts = []
            if message is not None:
                yield message

    def _block(self, row: Row, index: int, block: Any, texts: list[Any]) -> AnyMessage | None:
        block = mapping(block)
        kind = block.get("type")
        if texts:
            content = parts(texts)
            if not content:
                return None
            index -= len(texts) - 1
            return AgentMessage(**self._model_fields(row, index), content=content)
        if kind == "thinking":
            return Reasoning(**self._model_fields(row, index), content=self._thought(row, block))
        if kind == "redacted_thinking":
            data = block.get("data")
            opaque = Opaque(
                form="redacted", data=data if isinstance(data, str) else "", provider=PROVIDER
            )
            return Reasoning(**self._model_fields(row, index), content=(opaque,))
        if kind == "tool_use":
            return self._call(row, index, block)
        return Other(
            **self._model_fields(row, index),
            record=f"assistant/{string(kind) or '(no type)'}",
            value=block,
        )

    def _thought(self, row: Row, block: dict[str, Any]) -> Content:
        text = block.get("thinking")
        signature = string(block.get("signature"))
        content: Content = (Text(text=text),) if isinstance(text, str) and text.strip() else ()
        if not content:
            self._damage("hollow_thinking", row, "a thought with no text")
        if signature:
            content += (Opaque(form="signature", data=signature, provider=PROVIDER),)
        return content

    def _call(self, row: Row, index: int, block: dict[str, Any]) -> AnyMessage:
        call = string(block.get("id"))
        given = block.get("input")
        if given is None:
            given = {}
            self._damage("missing_input", row, f"the call {call} has no input")
        use = Use(call, string(block.get("name")) or "unknown", given, row)
        result = self._results.get(call) if call else None
        fields = self._model_fields(row, index, call)
        if result is not None:
            place = _place(result.row, f"/message/content/{result.position}")
            fields["sources"] = (*fields["sources"], place)
        message = read_call(use, result, fields, self._session.checklist)
        return _ended(message, self._ends.get(call) if call else None)

    def _model_fields(self, row: Row, index: int, identity: str | None = None) -> dict[str, Any]:
        message = message_of(row)
        model = string(message.get("model"))
        synthetic = model == SYNTHETIC
        response = _response(row)
        usage = self._usage.get(response)
        if response in self._usage_given:
            usage = None
        elif usage is not None:
            self._usage_given.add(response)
        fields = self._fields(row, index, f"/message/content/{index}", identity)
        if isinstance(message.get("content"), str):
            fields["sources"] = (_place(row, "/message/content"),)
        return fields | {
            "author": "harness" if synthetic else "model",
            "provenance": "synthetic" if synthetic else None,
            "model": None if synthetic else model,
            "response": response,
            "usage": None if synthetic else usage,
        }

    def _error(self, row: Row) -> Error:
        fields = ("error", "apiErrorStatus", "errorDetails", "apiErrorType", "apiError")
        details = ("apiErrorParams", "quotaLimits", "requestId")
        raw = {name: row.value[name] for name in (*fields, *details) if name in row.value}
        return Error(
            **self._fields(row, 0, "/message/content"),
            author="harness",
            in_context=False,
            status="failed",
            text=text_of(parts(message_of(row).get("content"))),
            failure=string(row.value.get("error")),
            status_code=integer(row.value.get("apiErrorStatus")),
            raw=raw or None,
        )

    # ------------------------------------------------------------------ the harness's side

    def _boundary(self, row: Row, position: int) -> CompactBoundary:
        metadata = mapping(row.value.get("compactMetadata"))
        trigger = metadata.get("trigger")
        summary = self._summaries.get(row.uuid or "") or None
        return CompactBoundary(
            **self._fields(row, 0, None),
            author="harness",
            trigger=trigger if trigger in ("manual", "auto") else None,
            pre_tokens=integer(metadata.get("preTokens")),
            post_tokens=integer(metadata.get("postTokens")),
            summary=summary,
        )

    def _attachment(self, row: Row) -> Iterator[AnyMessage]:
        attachment = mapping(row.value.get("attachment"))
        kind = string(attachment.get("type")) or ""
        if kind == "queued_command":
            yield from self._queued(row, attachment)
        elif kind.startswith("hook_"):
            yield from self._hook(row, kind, attachment)
        else:
            self._skip(row)

    def _queued(self, row: Row, attachment: dict[str, Any]) -> Iterator[UserMessage]:
        content = parts(attachment.get("prompt"))
        if not content:
            self._skip(row)
            return
        origin = string(mapping(attachment.get("origin")).get("kind"))
        mode = string(attachment.get("commandMode"))
        author: Author = "human"
        if origin is not None:
            author = "human" if origin == "human" else _ORIGINS.get(origin, "harness")
        else:
            marked = mode == "task-notification" or attachment.get("isMeta") is True
            if marked or wordings.typed(text_of(content)).author == "harness":
                author = "harness"
        yield UserMessage(
            **self._fields(row, 0, "/attachment/prompt"),
            author=author,
            delivery="queued",
            provenance=origin or mode,
            content=content,
        )

    def _hook(self, row: Row, kind: str, attachment: dict[str, Any]) -> Iterator[AnyMessage]:
        """Yield what a hook gave to the model, and what it told only the person."""
        event = string(attachment.get("hookEvent"))
        provenance = f"{kind}/{event}" if event else kind
        pointer = "/attachment/content"
        content: Content = ()
        if kind == "hook_additional_context":
            content = parts(attachment.get("content"))
        elif kind == "hook_blocking_error":
            reason = mapping(attachment.get("blockingError")).get("blockingError")
            content, pointer = parts(reason), "/attachment/blockingError/blockingError"
        elif kind == "hook_success":
            content = parts(attachment.get("content"))
            if not content:
                self._skip(row)
                return
        if content:
            yield UserMessage(
                **self._fields(row, 0, pointer),
                author="hook",
                delivery="programmatic",
                provenance=provenance,
                content=content,
            )
            return
        yield Other(
            **self._fields(row, 0, "/attachment"),
            author="hook",
            in_context=False,
            provenance=provenance,
            record=f"attachment/{kind}",
            value=attachment,
        )


def _ended(message: AnyMessage, end: Notification | None) -> AnyMessage:
    """Return a background call with the end that it was told of later."""
    if end is None:
        return message
    place = _place(end.row, end.pointer)
    changes: dict[str, Any] = {
        "status": end.status,
        "ended_at": time_of(end.row),
        "sources": (*message.sources, place),
    }
    match message:
        case SubAgent(background=True):
            if end.result is not None:
                changes["output"] = (Text(text=end.result),)
        case CommandExecution() if message.background_id is not None:
            if end.exit_code is not None:
                changes |= {"exit_code": end.exit_code, "exit_code_source": "text"}
        case _:
            return message
    return msgspec.structs.replace(message, **changes)


_ORIGINS: dict[str, Author] = {
    "coordinator": "agent",
    "hook": "hook",
    "peer": "agent",
    "teammate": "agent",
}


def _origin(row: Row) -> str | None:
    return string(mapping(row.value.get("origin")).get("kind"))


def _delivery(row: Row, author: Author) -> Delivery | None:
    match row.value.get("promptSource"):
        case "typed":
            return "typed"
        case "queued":
            return "queued"
        case "sdk":
            return "programmatic"
        case _:
            return "typed" if author == "human" and _origin(row) == "human" else None


def _place(row: Row, pointer: str | None) -> Location:
    return row.record.location if pointer is None else row.record.at(pointer)


def _response(row: Row) -> str:
    """Return the id of the API message that a row is part of; a row without one stands alone."""
    message_id = string(message_of(row).get("id"))
    return message_id or string(row.value.get("requestId")) or row.uuid or f"{row.record.line}"


def _usage(value: Any) -> Usage | None:
    """Return recorded token counts; None where nothing or only zeros are recorded.

    No real response costs nothing: zeros are what a writer puts where it knows no counts.
    """
    counts = mapping(value)
    details = mapping(counts.get("output_tokens_details"))
    found = {
        "input": integer(counts.get("input_tokens")),
        "output": integer(counts.get("output_tokens")),
        "cache_read": integer(counts.get("cache_read_input_tokens")),
        "cache_write": integer(counts.get("cache_creation_input_tokens")),
        "reasoning": integer(details.get("thinking_tokens")),
    }
    if not any(found.values()):
        return None
    return Usage(scope="response", accounting="delta", **found)


# ------------------------------------------------------------------ compaction


def _summaries(rows: Sequence[Row]) -> dict[str, Content]:
    """Return the summary of each compaction, under the boundary's and the summary's uuid."""
    found: dict[str, Content] = {}
    boundary: str | None = None
    for row in rows:
        if row.type == "system" and row.value.get("subtype") == "compact_boundary":
            boundary = row.uuid
        elif row.type == "user" and row.value.get("isCompactSummary") is True:
            content = parts(message_of(row).get("content"))
            if boundary and boundary not in found and content:
                found[boundary] = content
                if row.uuid:
                    found[row.uuid] = content
    return found


def _preserved_rows(rows: Sequence[Row], boundary: Row) -> set[str]:
    """Return the uuids of the rows that a compaction kept in context."""
    metadata = mapping(boundary.value.get("compactMetadata"))
    listed = sequence(mapping(metadata.get("preservedMessages")).get("uuids"))
    kept = {uuid for uuid in listed if isinstance(uuid, str)}
    segment = mapping(metadata.get("preservedSegment"))
    positions = {row.uuid: index for index, row in enumerate(rows) if row.uuid}
    head = positions.get(string(segment.get("headUuid")) or "")
    tail = positions.get(string(segment.get("tailUuid")) or "")
    if head is not None and tail is not None:
        kept |= {uuid for row in rows[head : tail + 1] if (uuid := row.uuid)}
    return kept


# ------------------------------------------------------------------ links


def _linked(rows: Sequence[Row], placed: Sequence[tuple[int, AnyMessage]]) -> list[AnyMessage]:
    """Give each message its predecessor, and mark what a rewind or a compaction took away."""
    replaced = branches.superseded(rows)
    first_at = {position: message.id for position, message in reversed(placed)}
    marks: dict[str, Superseded] = {}
    for position, message in placed:
        if position in replaced:
            by = first_at.get(replaced[position])
            marks[message.id] = Superseded(id=by, why="rewind")
    preserved = _mark_compacted(rows, placed, marks)
    resumes_at = _resume_points(replaced, placed)
    linked: list[AnyMessage] = []
    follows: dict[str, str | None] = {}
    previous: str | None = None
    for _, message in placed:
        rewound = resumes_at.get(message.id)
        follows[message.id] = follows[rewound] if rewound else previous
        previous = message.id
        changes: dict[str, Any] = {
            "follows": follows[message.id],
            "superseded_by": marks.get(message.id),
        }
        if message.id in preserved:
            changes["preserved"] = preserved[message.id]
        linked.append(msgspec.structs.replace(message, **changes))
    return linked


def _resume_points(
    replaced: dict[int, int], placed: Sequence[tuple[int, AnyMessage]]
) -> dict[str, str]:
    """Return, for each prompt that a rewind went on with, the first message that it replaced."""
    first_at = {position: message.id for position, message in reversed(placed)}
    points: dict[str, str] = {}
    for old, new in sorted(replaced.items()):
        if old in first_at and new in first_at:
            points.setdefault(first_at[new], first_at[old])
    return points


def _mark_compacted(
    rows: Sequence[Row],
    placed: Sequence[tuple[int, AnyMessage]],
    marks: dict[str, Superseded],
) -> dict[str, tuple[str, ...]]:
    """Mark what each compaction took out of context; return what each preserved, by boundary."""
    preserved: dict[str, tuple[str, ...]] = {}
    live: list[tuple[str | None, str]] = []
    for position, message in placed:
        if isinstance(message, CompactBoundary):
            kept = _preserved_rows(rows, rows[position])
            for uuid, earlier in live:
                if uuid not in kept:
                    marks[earlier] = Superseded(id=message.id, why="compaction")
            live = [(uuid, earlier) for uuid, earlier in live if uuid in kept]
            preserved[message.id] = tuple(earlier for _, earlier in live)
        if message.id not in marks:
            live.append((rows[position].uuid, message.id))
    return preserved
