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

import msgspec
from msgspec import UNSET

from transcripts.model import Usage
from transcripts.records import jsonlines
from transcripts.records.spilling import Keyed, Spilling
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
from transcripts.stores.copilot.reading.totals import Totals
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


class Call(msgspec.Struct, kw_only=True, gc=False, array_like=True):
    """What is known of a call before its message is made.

    Of a start whose request ``gave`` the arguments only what it adds is kept: ``named`` tells
    which of the tools' names that is, and the start lies whole at ``place``, an offset and a
    length.
    """

    requested: bool = False
    gave: bool = False
    completed: bool = False
    named: int | None = None
    place: tuple[int, int] | None = None


class Response(msgspec.Struct, kw_only=True, gc=False, array_like=True):
    """What is known of an answer of the model by its response's id."""

    answered: bool = False
    usage: Usage | None = None


_UNHEARD_OF = Call()


class Index:
    """The links of one session's events; ``sparing`` ones are held on the disk if they are many."""

    def __init__(self, events: Iterable[Event], path: Path, *, sparing: bool) -> None:
        self.session_id: str | None = None
        self.aborted: set[str] = set()
        self._ends: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self.threads: dict[str, str] = {}
        self.agents: dict[str, str] = {}
        self.decisions: dict[str, Mapping[str, Any]] = {}
        self.responses: dict[str, Mapping[str, Any]] = {}
        self.thoughts: dict[str, Answer] = {}
        self.repeated: set[str | int] = set()
        self.compactions: list[Compaction] = []
        self.forked_from: str | None = None
        self.fork_line = 0
        self.fork_cut: str | None = None
        self.totals = Totals()
        self._answer: Event | None = None
        self._path = path
        self._calls: Keyed[Call] = Spilling(Call) if sparing else {}
        self._responses: Keyed[Response] = Spilling(Response) if sparing else {}
        self._starts: dict[str, Asked] = {}
        self._names: list[Asked] = []
        self._numbers: dict[tuple[str | None, ...], int] = {}
        self._start_events: Keyed[bytes] = Spilling(bytes) if sparing else {}
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

    def call(self, call: str | None) -> Call:
        """Return what is known of a call."""
        return (None if call is None else self._calls.get(call)) or _UNHEARD_OF

    def start(self, call: str | None) -> Asked:
        """Return what a call's start adds to its request."""
        known = self.call(call)
        if known.named is not None:
            return self._names[known.named]
        return self._starts.get(call or "", NO_DATA)

    def usage(self, response: str | None) -> Usage | None:
        """Return what the answer of a response took, if that is recorded apart from it."""
        known = None if response is None else self._responses.get(response)
        return None if known is None else known.usage

    def whole_start(self, call: str | None) -> Asked:
        """Return all that a call's start says: for a result that stands alone."""
        known = self.call(call)
        if known.place is None:
            return self.start(call)
        offset, length = known.place
        with self._path.open("rb") as file:
            again = jsonlines.read_again(file.fileno(), self._path, offset, length)
        return of_whole(again).data

    def completed_call(self, event: Event) -> str | None:
        """Return the call that a completion is of: as it says, or as its parent event says."""
        call = string(event.data.tool_call_id)
        if call is None and event.parent is not None:
            started = self._start_events.get(event.parent)
            return None if started is None else started.decode("utf-8", "surrogatepass")
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
        self.totals.answered(event)
        for request in data.tool_requests or ():
            if (call := string(request.tool_call_id)) is not None:
                self._request(call, event, gave=request.arguments is not UNSET)
        if (answer := string(data.api_call_id)) is not None:
            known = self._responses.get(answer) or Response()
            if not known.answered:
                known.answered = True
                self._responses[answer] = known
                self._unanswered.pop(answer, None)

    def _asked_by_person(self, event: Event) -> None:
        if (call := string(event.data.tool_call_id)) is not None:
            self._request(call, event, gave=False)

    def _request(self, call: str, event: Event, *, gave: bool) -> None:
        known = self._calls.get(call) or Call()
        known.requested = True
        known.gave = known.gave or gave
        self._calls[call] = known
        self._pending[call] = event.agent

    def _started(self, event: Event) -> None:
        data = event.data
        if (call := string(data.tool_call_id)) is None:
            return
        known = self._calls.get(call) or Call()
        if known.gave:
            place = event.location
            known.named = self._number_of_name(data)
            known.place = (place.offset or 0, place.length or 0)
        else:
            known.named = known.place = None
            self._starts[call] = data
        self._calls[call] = known
        if event.id is not None:
            self._start_events[event.id] = call.encode("utf-8", "surrogatepass")
        if not known.requested:
            self._pending[call] = event.agent

    def _number_of_name(self, data: Data) -> int:
        """Return which of the names a tool has: the same few are called again and again."""
        names = (data.tool_name, data.mcp_server_name, data.mcp_tool_name)
        tool, server, own = map(string, names)
        number = self._numbers.setdefault((tool, server, own), len(self._names))
        if number == len(self._names):
            self._names.append(Asked(tool_name=tool, mcp_server_name=server, mcp_tool_name=own))
        return number

    def _completed(self, event: Event) -> None:
        call = self.completed_call(event)
        if call is None:
            return
        known = self._calls.get(call) or Call()
        if not known.completed:
            known.completed = True
            self._calls[call] = known
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
            known = self._responses.get(response) or Response()
            known.usage = Usage(
                scope="response",
                accounting="delta",
                input=usage.input_tokens,
                output=usage.output_tokens,
                cache_read=usage.cache_read_tokens,
                cache_write=usage.cache_write_tokens,
                reasoning=usage.reasoning_tokens,
            )
            self._responses[response] = known
            if known.answered:
                return
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
            self.totals.forked()

    def _shut_down(self, event: Event) -> None:
        self.totals.shut_down(event)

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
        "session.shutdown": _shut_down,
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
