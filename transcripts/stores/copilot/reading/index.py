"""What stands later in a file and must be known before: the first of two passes.

Only what links events is kept, no text of the conversation, so that the second pass can
stream.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from msgspec import UNSET

from transcripts.records import jsonlines
from transcripts.stores.copilot import tools
from transcripts.stores.copilot.foreign import mapping, string
from transcripts.stores.copilot.reading.events import Event
from transcripts.stores.copilot.reading.skimming import (
    NO_DATA,
    Asked,
    Counts,
    Data,
    Result,
    of_whole,
)
from transcripts.stores.copilot.thoughts import thoughts

_FORKED_FROM = re.compile(r"\AForked from .*\(([0-9A-Fa-f-]{36})\) as ", re.DOTALL)


USAGE = "session.usage_record"
_NOTHING_COUNTED = Counts()


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

    def __init__(self, events: Iterable[Event], path: Path) -> None:
        self.session_id: str | None = None
        self.answers: set[str] = set()
        self.requested: set[str] = set()
        self.completed: set[str] = set()
        self.starts: dict[str, Asked] = {}
        self.aborted: set[str] = set()
        self._ends: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self.threads: dict[str, str] = {}
        self.agents: dict[str, str] = {}
        self.decisions: dict[str, Mapping[str, Any]] = {}
        self.responses: dict[str, Mapping[str, Any]] = {}
        self.usages: dict[str, Counts] = {}
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
        self._named: dict[tuple[str | None, ...], Asked] = {}
        self._start_events: dict[str, str] = {}
        self._pending: dict[str, str | None] = {}
        self._compacting: dict[str, int] = {}
        self._unanswered: Counter[str | None] = Counter()
        for event in events:
            lesson = self.lessons.get(event.type)
            if lesson is not None:
                lesson(self, event)

    @property
    def unanswered(self) -> int:
        """How many records of usage are of no answer that the file holds."""
        return self._unanswered.total()

    def whole_start(self, call: str | None) -> Asked:
        """Return all that a call's start says: for a result that stands alone."""
        place = self._places.get(call or "")
        if place is None:
            return self.starts.get(call or "", NO_DATA)
        offset, length = place
        with self._path.open("rb") as file:
            again = jsonlines.read_again(file.fileno(), self._path, offset, length)
        return of_whole(again).data

    def completed_call(self, event: Event) -> str | None:
        """Return the call that a completion is of: as it says, or as its parent event says."""
        call = string(event.data.tool_call_id)
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

    # What is learnt of which events: of most there is nothing to learn.

    def _answered(self, event: Event) -> None:
        data = event.data
        self._answer = event
        for request in data.tool_requests or ():
            call = string(request.tool_call_id)
            self._request(call, event)
            if request.arguments is not UNSET:
                self._given.add(call)
        if (answer := string(data.api_call_id)) is not None:
            self.answers.add(answer)
            self._unanswered.pop(answer, None)

    def _asked_by_person(self, event: Event) -> None:
        self._request(string(event.data.tool_call_id), event)

    def _request(self, call: str | None, event: Event) -> None:
        if call is not None:
            self.requested.add(call)
            self._pending[call] = event.agent

    def _started(self, event: Event) -> None:
        data = event.data
        if (call := string(data.tool_call_id)) is None:
            return
        self._places.pop(call, None)
        if call in self._given:
            # Of a call whose request gave the arguments only what the start adds. The same few
            # tools are called again and again: what names one is kept once.
            self.starts[call] = self._named_once(data)
            place = event.location
            self._places[call] = (place.offset or 0, place.length or 0)
        else:
            self.starts[call] = data
        if event.id is not None:
            self._start_events[event.id] = call
        if call not in self.requested:
            self._pending[call] = event.agent

    def _named_once(self, data: Data) -> Asked:
        names = (data.tool_name, data.mcp_server_name, data.mcp_tool_name)
        tool, server, own = map(string, names)
        known = self._named.get((tool, server, own))
        if known is None:
            known = Asked(tool_name=tool, mcp_server_name=server, mcp_tool_name=own)
            self._named[tool, server, own] = known
        return known

    def _completed(self, event: Event) -> None:
        call = self.completed_call(event)
        if call is None:
            return
        self.completed.add(call)
        self._pending.pop(call, None)
        result = event.data.result
        end = tools.told_end(string(result.content) or "") if isinstance(result, Result) else None
        if end is not None:
            self._ends[end[0]].append((event.line, end[1]))

    def _aborted(self, event: Event) -> None:
        self.aborted.update(call for call, at in self._pending.items() if at == event.agent)

    def _agent_started(self, event: Event) -> None:
        if (call := string(event.data.tool_call_id)) is not None:
            agent = event.agent or call
            self.threads[agent] = call
            self.agents[call] = agent

    def _responded(self, event: Event) -> None:
        if (call := string(event.data.tool_call_id)) is not None:
            self.responses[call] = mapping(event.whole.get("response"))

    def _decided(self, event: Event) -> None:
        if (request := string(event.whole.get("requestId"))) is not None:
            self.decisions[request] = event.whole

    def _thought(self, event: Event) -> None:
        """0.0.384 writes a thought behind its answer, as an event of its own that names it."""
        answer = self._answer
        if answer is None or event.parent is None or event.parent != answer.id:
            return
        if thoughts(answer.data):
            self.repeated.add(event.own_id)
            return
        message = string(answer.data.message_id)
        self.thoughts[event.parent] = Answer(
            message=message,
            response=string(answer.data.api_call_id) or message,
            call=string(answer.data.parent_tool_call_id),
        )

    def _session_started(self, event: Event) -> None:
        if self.session_id is None:
            self.session_id = string(event.whole.get("sessionId"))

    def _used(self, event: Event) -> None:
        usage = event.data.usage or _NOTHING_COUNTED
        response = string(usage.api_call_id)
        if response is not None:
            self.usages[response] = usage
        if response not in self.answers:
            self._unanswered[response] += 1

    def _compaction_started(self, event: Event) -> None:
        if event.agent is None:
            self._compacting[string(event.whole.get("compactionAttemptId")) or ""] = event.line

    def _compacted(self, event: Event) -> None:
        if event.agent is None and summarised(event):
            attempt = string(event.whole.get("compactionAttemptId")) or ""
            replaced = self._compacting.get(attempt, event.line)
            self.compactions.append(Compaction(event.own_id, event.line, replaced))

    def _cleared(self, event: Event) -> None:
        if event.agent is None:
            line = event.line
            self.compactions.append(Compaction(event.own_id, line, line, cleared=True))

    def _told(self, event: Event) -> None:
        if event.whole.get("infoType") != "fork":
            return
        found = _FORKED_FROM.match(string(event.whole.get("message")) or "")
        if found is not None:
            self.forked_from, self.fork_line, self.fork_cut = found[1], event.line, event.before

    lessons: ClassVar[dict[str, Callable[[Index, Event], None]]] = {
        "abort": _aborted,
        "assistant.message": _answered,
        "assistant.reasoning": _thought,
        "human_response.recorded": _responded,
        "permission.completed": _decided,
        "session.compaction_complete": _compacted,
        "session.compaction_start": _compaction_started,
        "session.context_cleared": _cleared,
        "session.info": _told,
        "session.start": _session_started,
        "session.usage_record": _used,
        "subagent.started": _agent_started,
        "tool.execution_complete": _completed,
        "tool.execution_start": _started,
        "tool.user_requested": _asked_by_person,
    }


TEACHING = Index.lessons.keys()
"""The kinds of events of which something is learnt."""


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
    data = event.whole
    return data.get("success") is not False and isinstance(data.get("summaryContent"), str)
