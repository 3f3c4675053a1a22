"""Copilot CLI's events into messages.

A session is one file of events in the order in which they happened. What a call came to
stands apart from it (``tool.execution_complete``, in the order of finishing) and what a
subagent did stands inline between the events of the thread that called it. Here each call
stands once, where the model requested it, and every message knows its thread.

Reading makes two passes: :class:`_Index` learns what comes later in the file (which calls
will be closed, what a compaction replaced), then :class:`_Reading` makes the messages in
order and holds back no more than what waits for a result.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from transcripts.errors import NoMessages, NotATranscript
from transcripts.ids import derive
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Asset,
    Author,
    CallerEvidence,
    CommandExecution,
    CompactBoundary,
    Content,
    Damage,
    Delivery,
    Error,
    FileChange,
    Inherited,
    Lineage,
    Location,
    Opaque,
    Other,
    Part,
    PermissionRequest,
    Plan,
    Reasoning,
    Status,
    Structured,
    SubAgent,
    Superseded,
    Text,
    ToolCall,
    Transcript,
    Unread,
    Usage,
    UserMessage,
    UserQuestion,
    WebSearch,
)
from transcripts.records import Record, jsonlines
from transcripts.stores.copilot import tools
from transcripts.stores.copilot.layout import Place, moment, place, side_stores, workspace

SCOPE = "GithubCopilotCli"
"""What ids are derived under, beside the session id."""

# Known records that say nothing in the conversation: bookkeeping, display, permissions.
_BOOKKEEPING = frozenset(
    """
    assistant.fusion_phase_completed assistant.fusion_phase_failed assistant.intent
    assistant.turn_end assistant.turn_start external_tool.requested hook.end hook.start
    human_response.recorded mcp.oauth_recovery_completed model.message model.messages_snapshot
    model.model_call_started model.model_call_success model.response model.turn_ended
    model.turn_started permission.assentDetected permission.carriedForward permission.completed
    permission.contextualAuthorization permission.messageAuthorization
    permission.messageAuthorizationDegraded permission.messageAuthorizationRead
    session.auto_mode_resolved session.autopilot_objective_changed session.binary_asset
    session.canvas.recorded session.canvas.removed session.compaction_start
    session.completion_receipt session.context_changed session.context_cleared
    session.fusion_change_checkpoint session.fusion_commit_started session.fusion_completed
    session.fusion_handoff session.fusion_resolved session.fusion_route_failed session.handoff
    session.import_legacy session.info session.mode_changed session.mode_notice_delivered
    session.model_change session.model_deselected session.permission_recovery
    session.permissions_changed session.plan_changed session.remote_steerable_changed
    session.request_body_compression_disabled session.resume session.schedule_cancelled
    session.schedule_created session.schedule_rearmed session.session_limits_changed
    session.shutdown session.start session.task_complete session.title_changed session.truncation
    session.usage_checkpoint session.usage_record session.warning session.workspace_file_changed
    skill.invoked_ref subagent.completed subagent.configured subagent.deselected subagent.failed
    subagent.selected subagent.started tool.execution_start tool_search.activated
    workflow.run_started
    """.split()  # noqa: SIM905
)

_DELIVERIES: dict[str, Delivery] = {"idle": "typed", "queued": "queued", "steering": "steered"}
_FORKED_FROM = re.compile(r"\AForked from .*\(([0-9A-Fa-f-]{36})\) as ", re.DOTALL)
_DENIED = ("denied", "rejected")


class _Event(NamedTuple):
    """One record as an event; a part of an odd type is as good as missing."""

    record: Record
    type: str
    data: Mapping[str, Any]
    id: str | None
    parent: str | None
    at: datetime | None
    agent: str | None

    @property
    def own_id(self) -> str | int:
        """What the event's messages are told apart by: its id, else its line."""
        return self.id if self.id is not None else self.record.line


def _event(record: Record) -> _Event:
    value = record.value
    data = value.get("data")
    kind = value.get("type")
    return _Event(
        record=record,
        type=kind if isinstance(kind, str) else "(no type)",
        data=data if isinstance(data, dict) else {},
        id=_string(value, "id"),
        parent=_string(value, "parentId"),
        at=moment(value.get("timestamp")),
        agent=_string(value, "agentId"),
    )


def _string(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) and value else None


def _integer(fields: Mapping[str, Any], name: str) -> int | None:
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _object(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def _objects(fields: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = fields.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


# ------------------------------------------------------------------ what comes later in a file


class _Compaction(NamedTuple):
    """A summary's place: what stands before line ``replaced`` made way for it."""

    own_id: str | int
    line: int
    replaced: int


class _Index:
    """What the first pass learns, for messages that stand before it in the file."""

    def __init__(self, events: Iterable[_Event]) -> None:
        self.session_id: str | None = None
        self.answers: set[str] = set()
        self.completions: Counter[str] = Counter()
        self.requested: Counter[str] = Counter()
        self.starts: dict[str, Mapping[str, Any]] = {}
        self.threads: dict[str, str] = {}
        self.agents: dict[str, str] = {}
        self.decisions: dict[str, Mapping[str, Any]] = {}
        self.responses: dict[str, Mapping[str, Any]] = {}
        self.usages: dict[str, Mapping[str, Any]] = {}
        self.compactions: list[_Compaction] = []
        self.aborted: set[str] = set()
        self.forked_from: str | None = None
        self.fork_line = 0
        self.fork_cut: str | None = None
        self._pending: dict[str, str | None] = {}
        started: dict[str, int] = {}
        last_id: str | None = None
        for event in events:
            self._learn(event, started, last_id)
            last_id = event.id or last_id

    def _learn(self, event: _Event, started: dict[str, int], last_id: str | None) -> None:
        data = event.data
        call = _string(data, "toolCallId")
        match event.type:
            case "session.start" if self.session_id is None:
                self.session_id = _string(data, "sessionId")
            case "assistant.message":
                if (answer := _string(data, "apiCallId")) is not None:
                    self.answers.add(answer)
                for request in _objects(data, "toolRequests"):
                    if (requested := _string(request, "toolCallId")) is not None:
                        self.requested[requested] += 1
                        self._pending[requested] = event.agent
            case "tool.execution_start" if call is not None:
                self.starts[call] = data
                if not self.requested[call]:
                    self._pending[call] = event.agent
            case "tool.user_requested" if call is not None:
                self.requested[call] += 1
                self._pending[call] = event.agent
            case "tool.execution_complete" if call is not None:
                self.completions[call] += 1
                self._pending.pop(call, None)
            case "abort":
                cut = [open_call for open_call, at in self._pending.items() if at == event.agent]
                self.aborted.update(cut)
            case "subagent.started" if call is not None:
                agent = event.agent or call
                self.threads[agent] = call
                self.agents[call] = agent
            case "permission.completed" if (request := _string(data, "requestId")) is not None:
                self.decisions[request] = data
            case "human_response.recorded" if call is not None:
                self.responses[call] = _object(data, "response")
            case "session.usage_record":
                usage = _object(data, "usage")
                if (response := _string(usage, "apiCallId")) is not None:
                    self.usages[response] = usage
            case "session.compaction_start" if event.agent is None:
                started[_string(data, "compactionAttemptId") or ""] = event.record.line
            case "session.compaction_complete" if event.agent is None and _summarised(data):
                attempt = _string(data, "compactionAttemptId") or ""
                line = event.record.line
                self.compactions.append(_Compaction(event.own_id, line, started.get(attempt, line)))
            case "session.info" if _string(data, "infoType") == "fork":
                found = _FORKED_FROM.match(_string(data, "message") or "")
                if found is not None:
                    self.forked_from = found[1]
                    self.fork_line = event.record.line
                    self.fork_cut = last_id
            case _:
                pass

    def superseding(self, line: int) -> _Compaction | None:
        """Return the first compaction that replaced what stands on a line."""
        for compaction in self.compactions:
            if line < compaction.replaced:
                return compaction
        return None


def _summarised(data: Mapping[str, Any]) -> bool:
    return data.get("success") is not False and isinstance(data.get("summaryContent"), str)


# ------------------------------------------------------------------ messages in order


class _Open:
    """A call whose result may still come; ``finish`` makes the message of it."""

    def __init__(
        self,
        request: _Event,
        common: Mapping[str, Any],
        finish: Callable[[_Open], AnyMessage],
        *,
        waits: bool,
    ) -> None:
        self.request = request
        self.common = dict(common)
        self.finish = finish
        self.waits = waits
        self.complete: _Event | None = None


class _Thread:
    """What is remembered of one thread from event to event."""

    def __init__(self) -> None:
        self.last: str | None = None
        self.turn: str | None = None
        self.model: str | None = None


class _Reading:
    """The second pass over one session."""

    def __init__(self, session_id: str, index: _Index) -> None:
        self.scope = derive(SCOPE, session_id)
        self.index = index
        self.unread: Counter[str] = Counter()
        self.cwd: str | None = None
        self.branch: str | None = None
        self.version: str | None = None
        self.created_at: datetime | None = None
        self.updated_at: datetime | None = None
        self._threads: dict[str | None, _Thread] = {}
        self._ids: set[str] = set()
        self._open: dict[str, deque[_Open]] = {}
        self._queue: deque[AnyMessage | _Open] = deque()
        self._assets: dict[str, str] = {}
        self._previous: _Event | None = None
        self._notified: set[str] = set()

    @property
    def model(self) -> str | None:
        """The model that the main thread talked to last."""
        return self._thread(None).model

    def messages(self, events: Iterable[_Event]) -> Iterator[AnyMessage]:
        """Yield the messages of all events, in order."""
        for event in events:
            made = self._handle(event)
            if not made:
                self.unread[event.type] += 1
            if event.at is not None:
                self.updated_at = event.at
            self._previous = event
            yield from self._ready(everything=False)
        yield from self._ready(everything=True)

    def _ready(self, *, everything: bool) -> Iterator[AnyMessage]:
        queue = self._queue
        while queue:
            first = queue[0]
            if isinstance(first, _Open):
                if first.waits and first.complete is None and not everything:
                    return
                queue.popleft()
                yield first.finish(first)
            else:
                queue.popleft()
                yield first

    def _handle(self, event: _Event) -> bool:
        """Take one event in; whether it is part of the conversation."""
        match event.type:
            case "user.message":
                return self._user_message(event)
            case "assistant.message":
                return self._assistant_message(event)
            case "tool.execution_complete":
                return self._completion(event)
            case "tool.execution_start":
                return self._start(event)
            case "tool.user_requested":
                return self._user_shell(event)
            case "permission.requested":
                return self._permission(event)
            case "session.compaction_complete":
                return self._compaction(event)
            case "session.error":
                return self._error(event)
            case "system.notification":
                return self._notification(event)
            case (
                "system.message"
                | "skill.invoked"
                | "skill.context_delivered"
                | "skill.context_delivered_ref"
                | "abort"
            ):
                return self._other(event)
            case "session.binary_asset":
                self._asset(event.data)
                return True
            case "session.usage_record":
                return _string(_object(event.data, "usage"), "apiCallId") in self.index.answers
            case "permission.completed" | "human_response.recorded":
                return True
            case _:
                self._bookkeeping(event)
                return False

    # What all messages share.

    def _thread(self, agent: str | None) -> _Thread:
        return self._threads.setdefault(agent, _Thread())

    def _agent(self, event: _Event) -> str | None:
        if event.agent is not None:
            return event.agent
        parent = _string(event.data, "parentToolCallId")
        return None if parent is None else self.index.agents.get(parent, parent)

    def _id(self, *parts: str | int) -> str:
        """Derive an id; an id that the session records twice is told apart by its count."""
        made = derive(self.scope, *parts)
        count = 0
        while made in self._ids:
            count += 1
            made = derive(self.scope, *parts, count)
        self._ids.add(made)
        return made

    def _common(
        self,
        event: _Event,
        *parts: str | int,
        external: str | None,
        author: Author,
        response: str | None = None,
    ) -> dict[str, Any]:
        """Return the fields that every message of an event has, and put it on its thread."""
        agent = self._agent(event)
        thread = self._thread(agent)
        made = self._id(*parts)
        caller, evidence = self._caller(event, agent)
        superseded = None if agent is not None else self.index.superseding(event.record.line)
        fields: dict[str, Any] = {
            "id": made,
            "external_id": external,
            "at": event.at,
            "at_source": None if event.at is None else "record",
            "follows": thread.last,
            "turn": _string(event.data, "interactionId") or thread.turn,
            "response": response,
            "agent": agent,
            "caller": caller,
            "caller_evidence": evidence,
            "author": author,
            "sources": (event.record.location,),
        }
        if superseded is not None:
            boundary = derive(self.scope, superseded.own_id)
            fields["superseded_by"] = Superseded(id=boundary, why="compaction")
        if event.record.line < self.index.fork_line:
            fields["inherited_from"] = Inherited(session=self.index.forked_from, id=external)
        thread.last = made
        return fields

    def _caller(self, event: _Event, agent: str | None) -> tuple[str | None, CallerEvidence]:
        call = _string(event.data, "parentToolCallId")
        if call is None and agent is not None:
            call = self.index.threads.get(agent)
        if call is None:
            return None, "none"
        return derive(self.scope, call), "native"

    # Prompts.

    def _user_message(self, event: _Event) -> bool:
        agent = self._agent(event)
        source = _string(event.data, "source")
        author: Author = "human" if agent is None else "agent"
        if event.data.get("isAutopilotContinuation") is True:
            author = "harness"
        elif source is not None and source != "user":
            author = "agent" if source.startswith("agent-") else "harness"
        delivery = _DELIVERIES.get(_string(event.data, "delivery") or "")
        if author != "human" and delivery == "typed":
            delivery = "programmatic"
        thread = self._thread(agent)
        thread.turn = _string(event.data, "interactionId") or event.id
        common = self._common(event, event.own_id, external=event.id, author=author)
        self._queue.append(
            UserMessage(
                **common,
                content=self._prompt(event.data, of_harness=author == "harness"),
                delivery=delivery,
                provenance=source,
            )
        )
        return True

    def _prompt(self, data: Mapping[str, Any], *, of_harness: bool) -> Content:
        """Return what was said; ``transformedContent`` is what the CLI made of it.

        Only where the CLI speaks itself (autopilot going on), that is all there is.
        """
        parts: list[Part] = []
        text = _string(data, "content")
        if text is None and of_harness:
            text = _string(data, "transformedContent")
        if text is not None:
            parts.append(Text(text=text))
        parts.extend(self._attachment(item) for item in _objects(data, "attachments"))
        return tuple(parts)

    def _attachment(self, item: dict[str, Any]) -> Part:
        if item.get("type") not in {"file", "blob"}:
            return Structured(value=item)
        return self._binary(item)

    def _binary(self, item: Mapping[str, Any]) -> Asset:
        data = _string(item, "data")
        digest = _string(item, "assetId")
        if digest is not None:
            digest = digest.removeprefix("sha256:")
            data = data or self._assets.get(digest)
        elif data is not None:
            digest = _sha256(data)
        return Asset(
            sha256=digest,
            media_type=_string(item, "mimeType"),
            data=data,
            path=_string(item, "path"),
            name=_string(item, "displayName") or _string(item, "description"),
            size=_integer(item, "byteLength"),
        )

    def _asset(self, data: Mapping[str, Any]) -> None:
        digest, content = _string(data, "assetId"), _string(data, "data")
        if digest is not None and content is not None:
            self._assets[digest.removeprefix("sha256:")] = content

    def _notification(self, event: _Event) -> bool:
        text = _string(event.data, "content")
        if text is None:
            return False
        if event.id is not None:
            self._notified.add(event.id)
        kind = _object(event.data, "kind")
        common = self._common(event, event.own_id, external=event.id, author="harness")
        self._queue.append(
            UserMessage(
                **common,
                content=(Text(text=text), *((Structured(value=kind),) if kind else ())),
                delivery="programmatic",
                provenance=_detailed(event.type, _string(kind, "type")),
            )
        )
        return True

    # Answers.

    def _assistant_message(self, event: _Event) -> bool:
        data = event.data
        thread = self._thread(self._agent(event))
        model = _string(data, "model")
        thread.model = model or thread.model
        message = _string(data, "messageId")
        own: str | int = message if message is not None else event.own_id
        response = _string(data, "apiCallId") or message
        author: Author = "harness" if self._synthetic(event) else "model"
        usage = self._usage(data)
        made = False
        thoughts = _thoughts(data)
        if thoughts:
            common = self._common(
                event, own, "reasoning", external=message, author=author, response=response
            )
            self._queue.append(Reasoning(**common, content=thoughts, model=model, usage=usage))
            usage, made = None, True
        if (text := _string(data, "content")) is not None:
            common = self._common(event, own, external=message, author=author, response=response)
            self._queue.append(
                AgentMessage(**common, content=(Text(text=text),), model=model, usage=usage)
            )
            usage, made = None, True
        for number, request in enumerate(_objects(data, "toolRequests")):
            call = _string(request, "toolCallId")
            parts: tuple[str | int, ...] = (call,) if call is not None else (own, "call", number)
            common = self._common(event, *parts, external=call, author=author, response=response)
            common |= {"model": model, "usage": usage}
            common["sources"] = (event.record.at(f"/data/toolRequests/{number}"),)
            self._open_call(event, common, request, call)
            usage, made = None, True
        return made

    def _synthetic(self, event: _Event) -> bool:
        """Whether the CLI itself wrote the answer, to fetch what a notification announced."""
        data = event.data
        if any(_string(data, name) for name in ("model", "apiCallId", "turnId")):
            return False
        previous = self._previous
        return event.parent in self._notified or (
            previous is not None and previous.type == "system.notification"
        )

    def _usage(self, data: Mapping[str, Any]) -> Usage | None:
        recorded = self.index.usages.get(_string(data, "apiCallId") or "")
        if recorded is not None:
            return Usage(
                scope="response",
                accounting="delta",
                input=_integer(recorded, "inputTokens"),
                output=_integer(recorded, "outputTokens"),
                cache_read=_integer(recorded, "cacheReadTokens"),
                cache_write=_integer(recorded, "cacheWriteTokens"),
                reasoning=_integer(recorded, "reasoningTokens"),
            )
        output = _integer(data, "outputTokens")
        if output is None:
            return None
        return Usage(scope="response", accounting="delta", output=output)

    # Calls and what came of them.

    def _open_call(
        self,
        event: _Event,
        common: dict[str, Any],
        request: Mapping[str, Any],
        call: str | None,
    ) -> _Open:
        start = self.index.starts.get(call, {}) if call is not None else {}
        written = _string(request, "name") or _string(request, "toolName")
        name, server = tools.own_name(
            written or _string(start, "toolName") or "unknown",
            request.get("mcpServerName", start.get("mcpServerName")),
            request.get("mcpToolName", start.get("mcpToolName")),
        )
        arguments = request.get("arguments", start.get("arguments"))
        if isinstance(arguments, str) and request.get("type") != "custom":
            arguments = _parsed(arguments)
        common |= {"name": name, "server": server, "arguments": arguments}
        waits = call is not None and self.index.completions[call] > 0
        opened = _Open(event, common, self._finish, waits=waits)
        self._queue.append(opened)
        if call is not None:
            self._open.setdefault(call, deque()).append(opened)
        return opened

    def _completion(self, event: _Event) -> bool:
        call = _string(event.data, "toolCallId")
        waiting = self._open.get(call) if call is not None else None
        if waiting:
            opened = waiting.popleft()
            opened.complete = event
            opened.common["sources"] = (*opened.common["sources"], event.record.location)
            return True
        return self._orphan(event, call)

    def _orphan(self, event: _Event, call: str | None) -> bool:
        """A result whose request is gone stands where it was recorded."""
        parts: tuple[str | int, ...] = (call,) if call is not None else (event.own_id,)
        common = self._common(event, *parts, external=call, author="model")
        self._open_call(event, common, {}, call).complete = event
        if call is not None:
            self._open[call].pop()
        return True

    def _start(self, event: _Event) -> bool:
        """A start is part of its request; without one it is the call itself."""
        call = _string(event.data, "toolCallId")
        if call is None:
            return False
        if waiting := self._open.get(call):
            waiting[0].common["sources"] = (*waiting[0].common["sources"], event.record.location)
            return True
        if self.index.requested[call]:
            return False
        common = self._common(event, call, external=call, author="model")
        self._open_call(event, common, event.data, call)
        return True

    def _user_shell(self, event: _Event) -> bool:
        call = _string(event.data, "toolCallId")
        parts: tuple[str | int, ...] = (call,) if call is not None else (event.own_id,)
        common = self._common(event, *parts, external=call, author="human")
        common["provenance"] = event.type
        self._open_call(event, common, event.data, call)
        return True

    def _finish(self, opened: _Open) -> AnyMessage:
        common = opened.common
        name: str = common["name"]
        outcome = self._outcome(opened)
        if common["server"] is None:
            if name in tools.SHELLS:
                return self._command(opened, common | outcome)
            if name in tools.EDITORS:
                edits = tools.file_edits(name, common["arguments"], self.cwd)
                view = name == "str_replace_editor" and not edits
                if not view:
                    return FileChange(**common, **outcome, changes=edits)
            if name == tools.SUB_AGENT:
                return self._sub_agent(common | outcome)
            if (special := self._special(common | outcome)) is not None:
                return special
        return ToolCall(**common, **outcome)

    def _outcome(self, opened: _Open) -> dict[str, Any]:
        event = opened.complete
        if event is None:
            aborted = opened.common["external_id"] in self.index.aborted
            return {"status": "cancelled" if aborted else "unresolved"}
        data = event.data
        fields: dict[str, Any] = {"ended_at": event.at}
        if data.get("success") is False or ("error" in data and "result" not in data):
            error, code = _failure(data.get("error"))
            status: Status = "declined" if code == "denied" else "failed"
            return fields | {"status": status, "error": error}
        output = self._result(data.get("result"))
        fields |= {"status": "completed", "output": output}
        text = output[0].text if output and isinstance(output[0], Text) else ""
        path = tools.overflow_path(text)
        if path is not None:
            fields |= {"output_extent": "elsewhere", "overflow_path": path}
        return fields

    def _result(self, result: Any) -> Content:
        if isinstance(result, str):
            return (Text(text=result),) if result else ()
        if not isinstance(result, dict):
            return ()
        parts: list[Part] = []
        if (text := _string(result, "content")) is not None:
            parts.append(Text(text=text))
        if result.get("structuredContent") is not None:
            parts.append(Structured(value=result["structuredContent"]))
        parts.extend(self._binary(item) for item in _objects(result, "binaryResultsForLlm"))
        return tuple(parts)

    def _command(self, opened: _Open, fields: dict[str, Any]) -> CommandExecution:
        arguments: Any = fields["arguments"]
        command = arguments.get("command") if isinstance(arguments, dict) else arguments
        data: Mapping[str, Any] = {} if opened.complete is None else opened.complete.data
        recorded = _object(data, "shellExecution").get("exitCode")
        output: Content | None = fields.get("output")
        error: str | None = fields.get("error")
        ending = tools.Ending("")
        if output is None and error is not None and isinstance(recorded, int):
            # A command that the person ran themselves: its output stands where errors stand.
            output, fields["error"] = ((Text(text=error),) if error else ()), None
        if output is not None:
            said = output[0].text if output and isinstance(output[0], Text) else ""
            rest = output[1:] if output and isinstance(output[0], Text) else output
            ending = tools.command_ending(said, recorded)
            shown = (Text(text=ending.output),) if ending.output else ()
            fields["output"] = (*shown, *rest)
            if ending.exit_code:
                fields["status"] = "failed"
        return CommandExecution(
            **fields,
            command=command if isinstance(command, str) else "",
            exit_code=ending.exit_code,
            exit_code_source=ending.source,
            background_id=ending.background,
        )

    def _sub_agent(self, fields: dict[str, Any]) -> SubAgent:
        arguments: Any = fields["arguments"]
        given: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
        return SubAgent(
            **fields,
            agent_id=self.index.agents.get(fields["external_id"] or ""),
            agent_type=_string(given, "agent_type"),
            description=_string(given, "description"),
            prompt=_string(given, "prompt"),
            background=given.get("mode") == "background",
        )

    def _special(self, fields: dict[str, Any]) -> AnyMessage | None:
        arguments: Any = fields["arguments"]
        given: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
        response = self.index.responses.get(fields["external_id"] or "", {})
        output: Content = fields.get("output") or ()
        text = output[0].text if output and isinstance(output[0], Text) else None
        name = fields["name"]
        if name == tools.PLAN:
            plan = _string(response, "planContent") or _string(given, "summary")
            content = (Text(text=plan),) if plan else ()
            return Plan(**fields, form="proposal", content=content)
        if name in tools.CHECKLISTS and (items := tools.checklist(arguments)):
            return Plan(**fields, form="checklist", items=items)
        if name == tools.QUESTION and (asked := tools.questions(arguments, response, text)):
            return UserQuestion(**fields, questions=asked)
        if name == tools.WEB_SEARCH:
            return WebSearch(**fields, query=_string(given, "query"))
        return None

    # The rest of the conversation.

    def _permission(self, event: _Event) -> bool:
        data = event.data
        request = _string(data, "requestId")
        asked = _object(data, "permissionRequest")
        decided = self.index.decisions.get(request or "", {})
        result = _string(_object(decided, "result"), "kind") or ""
        decision = None
        if result.startswith("approved"):
            decision = "allowed"
        elif result.startswith(_DENIED) or result == "cancelled":
            decision = "denied"
        status: Status = "completed" if decided else "unresolved"
        if result == "cancelled":
            status = "cancelled"
        common = self._common(event, event.own_id, external=event.id, author="harness")
        call = _string(asked, "toolCallId")
        if call is not None:
            common |= {"caller": derive(self.scope, call), "caller_evidence": "native"}
        self._queue.append(
            PermissionRequest(
                **common,
                status=status,
                in_context=False,
                request_id=request,
                tool=_string(asked, "kind"),
                arguments=dict(asked),
                reason=_string(asked, "intention"),
                decision=decision,
                decided_by=_string(decided, "decisionSource"),
                provenance=_detailed(event.type, result),
            )
        )
        return True

    def _compaction(self, event: _Event) -> bool:
        data = event.data
        if not _summarised(data):
            return False
        common = self._common(event, event.own_id, external=event.id, author="harness")
        trigger = _string(data, "trigger")
        self._queue.append(
            CompactBoundary(
                **common,
                trigger=None if trigger is None else "manual" if trigger == "manual" else "auto",
                pre_tokens=_integer(data, "preCompactionTokens"),
                post_tokens=_integer(data, "postCompactionTokens"),
                summary=(Text(text=data["summaryContent"]),),
                provenance=_detailed(event.type, trigger),
            )
        )
        return True

    def _error(self, event: _Event) -> bool:
        data = event.data
        common = self._common(event, event.own_id, external=event.id, author="harness")
        self._queue.append(
            Error(
                **common,
                status="failed",
                in_context=False,
                provenance=event.type,
                text=_string(data, "message") or "",
                failure=_string(data, "errorType"),
                status_code=_integer(data, "statusCode"),
                raw=_string(data, "errorType"),
            )
        )
        return True

    def _other(self, event: _Event) -> bool:
        # SIGTERM is recorded as an abort by the person, too: nobody in particular did it.
        status: Status = "cancelled" if event.type == "abort" else "completed"
        common = self._common(event, event.own_id, external=event.id, author="harness")
        self._queue.append(
            Other(
                **common,
                status=status,
                # A skill is in context by what was delivered of it, which refers to it.
                in_context=event.type not in {"abort", "skill.invoked"},
                provenance=event.type,
                record=event.type,
                value={name: value for name, value in event.data.items() if value is not None},
            )
        )
        return True

    def _bookkeeping(self, event: _Event) -> None:
        data = event.data
        if event.type in {"session.start", "session.resume"}:
            context = _object(data, "context")
            self.cwd = _string(context, "cwd") or self.cwd
            self.branch = _string(context, "branch") or self.branch
            self.version = _string(data, "copilotVersion") or self.version
            model = _string(data, "selectedModel")
            self._thread(None).model = model or self._thread(None).model
            if self.created_at is None:
                self.created_at = moment(data.get("startTime")) or event.at
        elif event.type == "session.context_changed":
            self.cwd = _string(data, "cwd") or self.cwd
            self.branch = _string(data, "branch") or self.branch
        elif event.type == "session.model_change":
            thread = self._thread(event.agent)
            thread.model = _string(data, "newModel") or thread.model
        elif event.type == "session.auto_mode_resolved":
            thread = self._thread(event.agent)
            thread.model = _string(data, "chosenModel") or thread.model


def _thoughts(data: Mapping[str, Any]) -> Content:
    """Return what an answer records of the model's thinking, in the provider's own blocks.

    1.0.102 keeps the blocks verbatim and repeats parts of them as bare fields, which is all
    that older releases have.
    """
    blocks = _object(data, "reasoningBlocks")
    provider = _string(blocks, "provider")
    parts: list[Part] = []
    for block in _objects(blocks, "blocks"):
        parts.extend(_thought_block(block, provider))
    if parts:
        return tuple(parts)
    if (text := _string(data, "reasoningText")) is not None:
        parts.append(Text(text=text))
    if (opaque := _string(data, "reasoningOpaque")) is not None:
        parts.append(Opaque(form="signature", data=opaque))
    if (sealed := _string(data, "encryptedContent")) is not None:
        parts.append(Opaque(form="encrypted", data=sealed))
    return tuple(parts)


def _thought_block(block: Mapping[str, Any], provider: str | None) -> Iterator[Part]:
    match block.get("type"):
        case "thinking":
            if (text := _string(block, "thinking")) is not None:
                yield Text(text=text)
            if (signature := _string(block, "signature")) is not None:
                yield Opaque(form="signature", data=signature, provider=provider)
        case "redacted_thinking":
            if (sealed := _string(block, "data")) is not None:
                yield Opaque(form="redacted", data=sealed, provider=provider)
        case "reasoning":
            for summary in _objects(block, "summary"):
                if (text := _string(summary, "text")) is not None:
                    yield Text(text=text)
            if (own := _string(block, "id")) is not None:
                yield Opaque(form="signature", data=own, provider=provider)
            if (sealed := _string(block, "encrypted_content")) is not None:
                yield Opaque(form="encrypted", data=sealed, provider=provider)
        case _:
            yield Structured(value=dict(block))


def _detailed(record: str, detail: str | None) -> str:
    """Return which record a message came from, with the word that the record has for it."""
    return f"{record}:{detail}" if detail else record


def _failure(error: Any) -> tuple[str, str | None]:
    if isinstance(error, dict):
        return _string(error, "message") or "", _string(error, "code")
    return (error if isinstance(error, str) else ""), None


def _parsed(text: str) -> Any:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


def _sha256(data: str) -> str | None:
    try:
        return hashlib.sha256(base64.b64decode(data, validate=True)).hexdigest()
    except (binascii.Error, ValueError):
        return None


# ------------------------------------------------------------------ whole sessions


def read(path: Path, *, recover: bool = False) -> Transcript:
    """Read a session whole: its messages, and what it and its directory say of it."""
    spot = place(path)
    file = jsonlines.read(spot.events, spot.root, recover=recover)
    index = _Index(map(_event, file.records))
    session_id = _session_id(index, spot)
    reading = _Reading(session_id, index)
    messages = tuple(_preserving(reading.messages(map(_event, file.records)), index, reading))
    if not messages:
        raise _no_messages(spot, file.damage)
    about = workspace(spot.directory)
    return Transcript(
        agent="copilot",
        session_id=session_id,
        cwd=reading.cwd or about.cwd,
        cli_version=reading.version,
        model=reading.model,
        title=about.title,
        git_branch=reading.branch or about.branch,
        created_at=reading.created_at or about.created_at,
        updated_at=reading.updated_at or about.updated_at,
        source_path=spot.events.relative_to(spot.root).as_posix(),
        lineage=Lineage(forked_from=index.forked_from, fork_cut=index.fork_cut),
        messages=messages,
        damage=tuple(file.damage),
        unread=_unread(reading.unread),
        side_stores=side_stores(spot),
    )


def iterate(path: Path, *, recover: bool = False) -> Iterator[AnyMessage]:
    """Yield the messages of a session in bounded memory: the file is gone through twice."""
    spot = place(path)
    damage: list[Damage] = []
    index = _Index(map(_event, jsonlines.iterate(spot.events, spot.root, [], recover=recover)))
    reading = _Reading(_session_id(index, spot), index)
    records = jsonlines.iterate(spot.events, spot.root, damage, recover=recover)
    found = False
    for message in _preserving(reading.messages(map(_event, records)), index, reading):
        found = True
        yield message
    if not found:
        raise _no_messages(spot, damage)


def _preserving(
    messages: Iterable[AnyMessage], index: _Index, reading: _Reading
) -> Iterator[AnyMessage]:
    """Tell each boundary which messages, recorded while the summary was made, it left alone."""
    recent: list[tuple[int, str]] = []
    boundaries = {compaction.line: compaction for compaction in index.compactions}
    for message in messages:
        line = _line(message.sources)
        if isinstance(message, CompactBoundary):
            compaction = boundaries.get(line)
            replaced = compaction.replaced if compaction is not None else line
            kept = tuple(made for at, made in recent if at > replaced)
            recent.clear()
            yield msgspec.structs.replace(message, preserved=kept)
            continue
        if boundaries and message.agent is None and message.in_context:
            recent.append((line, message.id))
        yield message


def _line(sources: tuple[Location, ...]) -> int:
    return (sources[0].line or 0) if sources else 0


def _session_id(index: _Index, spot: Place) -> str:
    if index.session_id is not None:
        return index.session_id
    return spot.events.stem if spot.directory is None else spot.directory.name


def _unread(counts: Counter[str]) -> tuple[Unread, ...]:
    known = _BOOKKEEPING | {"user.message", "assistant.message", "session.compaction_complete"}
    known |= {"system.notification"}
    return tuple(
        Unread(record=record, count=count, known=record in known)
        for record, count in sorted(counts.items())
    )


def _no_messages(spot: Place, damage: list[Damage]) -> NoMessages | NotATranscript:
    if spot.events.stat().st_size == 0:
        return NotATranscript(
            "the file is empty", path=spot.events, next_step="nothing was recorded in it"
        )
    why = "records were read and no message came of them"
    if damage:
        why = f"no message came of it; first damage: {damage[0].kind} at line {damage[0].line}"
    return NoMessages(
        why, path=spot.events, next_step="check that this is a session's events.jsonl"
    )
