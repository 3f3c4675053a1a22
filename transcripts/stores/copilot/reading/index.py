"""What stands later in a file and must be known before: the first of two passes.

Only what links events is kept, no text of the conversation, so that the second pass can
stream.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from transcripts.records import Record, jsonlines
from transcripts.stores.copilot import tools
from transcripts.stores.copilot.reading.events import (
    Event,
    event_of,
    integer,
    mapping,
    mappings,
    string,
)
from transcripts.stores.copilot.thoughts import thoughts

_FORKED_FROM = re.compile(r"\AForked from .*\(([0-9A-Fa-f-]{36})\) as ", re.DOTALL)


COUNTED = (
    "inputTokens",
    "outputTokens",
    "cacheReadTokens",
    "cacheWriteTokens",
    "reasoningTokens",
)
"""What is kept of a record of usage."""

USAGE = "session.usage_record"


class Compaction(NamedTuple):
    """A summary's place: what stands before line ``replaced`` made way for it.

    It is given to the model behind every prompt of the person's, word for word, unless the
    context was ``cleared``.
    """

    own_id: str | int
    line: int
    replaced: int
    cleared: bool = False


class Answer(NamedTuple):
    """What links a thought to the answer that it led to; ``call`` is the subagent's, if any."""

    message: str | None
    response: str | None
    call: str | None


class Index:
    """The links of one session's events."""

    def __init__(self, records: Iterable[Record], path: Path) -> None:
        self.session_id: str | None = None
        self.answers: set[str] = set()
        self.requested: Counter[str] = Counter()
        self.completions: Counter[str] = Counter()
        self.starts: dict[str, Mapping[str, Any]] = {}
        self.aborted: set[str] = set()
        self._ends: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self.threads: dict[str, str] = {}
        self.agents: dict[str, str] = {}
        self.decisions: dict[str, Mapping[str, Any]] = {}
        self.responses: dict[str, Mapping[str, Any]] = {}
        self.usages: dict[str, tuple[int | None, ...]] = {}
        self.thoughts: dict[str, Answer] = {}
        self.repeated: set[str | int] = set()
        self.compactions: list[Compaction] = []
        self.forked_from: str | None = None
        self.fork_line = 0
        self.fork_cut: str | None = None
        self._answer: Event | None = None
        self._path = path
        self._given: set[str | None] = set()
        self._places: dict[str, tuple[int, int]] = {}
        self._named: dict[str, Mapping[str, Any]] = {}
        self._start_events: dict[str, str] = {}
        self._pending: dict[str, str | None] = {}
        self._compacting: dict[str, int] = {}
        self._last_id: str | None = None
        self._unanswered: Counter[str | None] = Counter()
        taught = self._taught()
        for record in records:
            kind = record.value.get("type")
            lessons = taught.get(kind, ()) if isinstance(kind, str) else ()
            if lessons:
                event = event_of(record, timed=False)
                for learn in lessons:
                    learn(event)
            self._last_id = string(record.value, "id") or self._last_id

    def _taught(self) -> dict[str, tuple[Callable[[Event], None], ...]]:
        """Return what is learnt from which events: of most there is nothing to learn."""
        return {
            "abort": (self._learn_calls,),
            "assistant.message": (self._learn_calls, self._learn_thoughts, self._learn_session),
            "assistant.reasoning": (self._learn_thoughts,),
            "human_response.recorded": (self._learn_threads,),
            "permission.completed": (self._learn_threads,),
            "session.compaction_complete": (self._learn_session,),
            "session.compaction_start": (self._learn_session,),
            "session.context_cleared": (self._learn_session,),
            "session.info": (self._learn_session,),
            "session.start": (self._learn_session,),
            USAGE: (self._learn_session,),
            "subagent.started": (self._learn_threads,),
            "tool.execution_complete": (self._learn_calls,),
            "tool.execution_start": (self._learn_calls,),
            "tool.user_requested": (self._learn_calls,),
        }

    @property
    def unanswered(self) -> int:
        """How many records of usage are of no answer that the file holds."""
        return self._unanswered.total()

    def whole_start(self, call: str | None) -> Mapping[str, Any]:
        """Return all that a call's start says: for a result that stands alone."""
        place = self._places.get(call or "")
        if place is None:
            return self.starts.get(call or "", {})
        offset, length = place
        with self._path.open("rb") as file:
            again = jsonlines.read_again(file.fileno(), self._path, offset, length)
        return mapping(again, "data")

    def _started(self, call: str, event: Event) -> None:
        """Keep what a start says; of one whose request gave the arguments only what it adds."""
        self._places.pop(call, None)
        self.starts[call] = event.data
        if call in self._given:
            names = ("toolName", "mcpServerName", "mcpToolName")
            added = {name: event.data[name] for name in names if name in event.data}
            # The same few tools are called again and again: what names one is kept once.
            self.starts[call] = self._named.setdefault(repr(added), added)
            self._places[call] = (event.record.offset, event.record.length)

    def completed_call(self, event: Event) -> str | None:
        """Return the call that a completion is of: as it says, or as its parent event says."""
        call = string(event.data, "toolCallId")
        if call is None and event.parent is not None:
            return self._start_events.get(event.parent)
        return call

    def end_of(self, shell: str, line: int) -> int | None:
        """Return the status with which a shell in the background ended, as told behind a line."""
        return next((code for at, code in self._ends.get(shell, ()) if at > line), None)

    def superseding(self, line: int, *, prompt: bool) -> Compaction | None:
        """Return the first compaction that replaced what stands on a line."""
        for compaction in self.compactions:
            if line < compaction.replaced and (compaction.cleared or not prompt):
                return compaction
        return None

    def _learn_calls(self, event: Event) -> None:
        data = event.data
        call = string(data, "toolCallId")
        match event.type:
            case "assistant.message":
                for request in mappings(data, "toolRequests"):
                    self._request(string(request, "toolCallId"), event)
                    if "arguments" in request:
                        self._given.add(string(request, "toolCallId"))
            case "tool.user_requested":
                self._request(call, event)
            case "tool.execution_start" if call is not None:
                self._started(call, event)
                if event.id is not None:
                    self._start_events[event.id] = call
                if not self.requested[call]:
                    self._pending[call] = event.agent
            case "tool.execution_complete" if (done := self.completed_call(event)) is not None:
                self.completions[done] += 1
                self._pending.pop(done, None)
                end = tools.told_end(string(mapping(data, "result"), "content") or "")
                if end is not None:
                    self._ends[end[0]].append((event.record.line, end[1]))
            case "abort":
                cut = [pending for pending, at in self._pending.items() if at == event.agent]
                self.aborted.update(cut)
            case _:
                pass

    def _request(self, call: str | None, event: Event) -> None:
        if call is not None:
            self.requested[call] += 1
            self._pending[call] = event.agent

    def _learn_threads(self, event: Event) -> None:
        data = event.data
        call = string(data, "toolCallId")
        if event.type == "subagent.started" and call is not None:
            agent = event.agent or call
            self.threads[agent] = call
            self.agents[call] = agent
        elif event.type == "human_response.recorded" and call is not None:
            self.responses[call] = mapping(data, "response")
        elif event.type == "permission.completed":
            request = string(data, "requestId")
            if request is not None:
                self.decisions[request] = data

    def _learn_thoughts(self, event: Event) -> None:
        """0.0.384 writes a thought behind its answer, as an event of its own that names it."""
        if event.type == "assistant.message":
            self._answer = event
        elif event.type == "assistant.reasoning" and (answer := self._answer) is not None:
            if event.parent is None or event.parent != answer.id:
                return
            if thoughts(answer.data):
                self.repeated.add(event.own_id)
                return
            message = string(answer.data, "messageId")
            self.thoughts[event.parent] = Answer(
                message=message,
                response=string(answer.data, "apiCallId") or message,
                call=string(answer.data, "parentToolCallId"),
            )

    def _learn_session(self, event: Event) -> None:
        data = event.data
        line = event.record.line
        match event.type:
            case "session.start" if self.session_id is None:
                self.session_id = string(data, "sessionId")
            case "assistant.message" if (answer := string(data, "apiCallId")) is not None:
                self.answers.add(answer)
                self._unanswered.pop(answer, None)
            case kind if kind == USAGE:
                usage = mapping(data, "usage")
                if (response := string(usage, "apiCallId")) is not None:
                    self.usages[response] = tuple(integer(usage, name) for name in COUNTED)
                if response not in self.answers:
                    self._unanswered[response] += 1
            case "session.compaction_start" if event.agent is None:
                self._compacting[string(data, "compactionAttemptId") or ""] = line
            case "session.compaction_complete" if event.agent is None and summarised(event):
                attempt = string(data, "compactionAttemptId") or ""
                replaced = self._compacting.get(attempt, line)
                self.compactions.append(Compaction(event.own_id, line, replaced))
            case "session.context_cleared" if event.agent is None:
                self.compactions.append(Compaction(event.own_id, line, line, cleared=True))
            case "session.info" if string(data, "infoType") == "fork":
                found = _FORKED_FROM.match(string(data, "message") or "")
                if found is not None:
                    self.forked_from, self.fork_line, self.fork_cut = found[1], line, self._last_id
            case _:
                pass


def thoughts_first(events: Iterable[Event], index: Index) -> Iterator[Event]:
    """Yield events as they happened: a thought before the answer that it is recorded behind."""
    awaited: str | None = None
    held: list[Event] = []
    for event in events:
        if awaited is None and event.type == "assistant.message" and event.id in index.thoughts:
            awaited, held = event.id, [event]
        elif awaited is None:
            yield event
        elif event.type == "assistant.reasoning" and event.parent == awaited:
            yield event
            yield from held
            awaited, held = None, []
        else:
            held.append(event)
    yield from held


def summarised(event: Event) -> bool:
    """Whether a compaction came to a summary: one that failed or was called off changes nothing."""
    data = event.data
    return data.get("success") is not False and isinstance(data.get("summaryContent"), str)
