"""Copilot CLI's events into messages.

A session is one file of events in the order in which they happened. What a call came to
stands apart from it (``tool.execution_complete``, in the order of finishing) and what a
subagent did stands inline between the events of the thread that called it. Here each call
stands once, where the model requested it, and every message knows its thread.

First the index learns what comes later in the file (which calls will be closed, what a
compaction replaced), then the messages are made in order, holding back no more than what waits
for a result.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace

from transcripts.errors import NoMessages, NotATranscript
from transcripts.model import (
    AnyMessage,
    CompactBoundary,
    Damage,
    Lineage,
    Transcript,
    Unread,
    UserMessage,
)
from transcripts.records.collecting import uncollected
from transcripts.stores.copilot.assets import Assets
from transcripts.stores.copilot.foreign import string
from transcripts.stores.copilot.layout import Place, place, side_stores, workspace
from transcripts.stores.copilot.reading import harness
from transcripts.stores.copilot.reading.answers import answer, prompt, thought_apart
from transcripts.stores.copilot.reading.calls import OpenCall, requested
from transcripts.stores.copilot.reading.context import Placing
from transcripts.stores.copilot.reading.events import (
    KNOWN,
    OTHERS,
    Event,
)
from transcripts.stores.copilot.reading.frame import FRAMING, Frame
from transcripts.stores.copilot.reading.index import USAGE, Index, thoughts_first
from transcripts.stores.copilot.reading.passes import PASSED_OVER, Passes
from transcripts.stores.copilot.reading.skimming import NO_DATA
from transcripts.stores.notes import Notes


def read(path: Path, *, recover: bool = False) -> Transcript:
    """Read a session whole: its messages, and what it and its directory say of it."""
    spot = place(path)
    damage: list[Damage] = []
    kept: deque[Event] = deque()
    passes, index = _learnt(spot, damage, recover=recover, kept=kept)
    session_id = _session_id(index, spot)
    reading = _Reading(session_id, index, sparing=False)
    messages = tuple(reading.messages(_let_go(kept)))
    if not messages:
        raise _no_messages(spot, damage)
    about = workspace(spot.directory)
    frame = reading.frame
    return Transcript(
        agent="copilot",
        session_id=session_id,
        cwd=frame.cwd or about.cwd,
        cli_version=frame.version,
        model=reading.model,
        title=about.title,
        git_branch=frame.branch or about.branch,
        created_at=frame.created_at or about.created_at,
        updated_at=passes.ended_at or frame.updated_at or about.updated_at,
        source_path=spot.events.relative_to(spot.root).as_posix(),
        lineage=Lineage(forked_from=index.forked_from, fork_cut=index.fork_cut),
        messages=messages,
        damage=tuple(damage),
        unread=_unread(reading.unread + _passed_over(passes, index)),
        side_stores=side_stores(spot),
    )


def iterate(
    path: Path, *, recover: bool = False, notes: Notes | None = None
) -> Iterator[AnyMessage]:
    """Yield the messages of a session in bounded memory: the file is gone through twice."""
    spot = place(path)
    damage: list[Damage] = []
    with uncollected():
        passes, index = _learnt(spot, damage, recover=recover)
    reading = _Reading(_session_id(index, spot), index, sparing=True)
    found = False
    for message in reading.messages(passes.second()):
        found = True
        yield message
    if not found:
        raise _no_messages(spot, damage)
    if notes is not None:
        _take_down(notes, spot, passes, index, reading)


def _take_down(notes: Notes, spot: Place, passes: Passes, index: Index, reading: _Reading) -> None:
    """Take down what a session's events say beside its messages."""
    about, frame = workspace(spot.directory), reading.frame
    notes.agent = "copilot"
    notes.session_id = _session_id(index, spot)
    notes.cwd = frame.cwd or about.cwd
    notes.cli_version = frame.version
    notes.lineage = Lineage(forked_from=index.forked_from, fork_cut=index.fork_cut)
    notes.first_at = None if index.forked_from else passes.began_at
    notes.last_at = passes.ended_at or frame.updated_at
    index.totals.take_down(notes)
    notes.unread = _unread(reading.unread + _passed_over(passes, index))


def _learnt(
    spot: Place, damage: list[Damage], *, recover: bool, kept: deque[Event] | None = None
) -> tuple[Passes, Index]:
    """Go through a session for what must be known before, and keep its events if they are to be."""
    passes = Passes(spot, damage, recover=recover)
    index = Index(passes.first(kept), spot.events, sparing=kept is None)
    if passes.overlooked:
        damage.clear()
        if kept is not None:
            kept.clear()
        passes = Passes(spot, damage, recover=recover, twice=passes.overlooked)
        index = Index(passes.first(kept), spot.events, sparing=kept is None)
    return passes, index


def _let_go(kept: deque[Event]) -> Iterator[Event]:
    """Yield events and keep none that a message was made of."""
    while kept:
        yield kept.popleft()


def _passed_over(passes: Passes, index: Index) -> Counter[str]:
    """Return how many records of each kind were only counted; a usage that an answer has is
    part of that."""
    counts = passes.counts.copy()
    if USAGE in counts:
        counts[USAGE] = index.unanswered
    return counts


class _Reading:
    """The second pass over one session."""

    def __init__(self, session_id: str, index: Index, *, sparing: bool) -> None:
        self.frame = Frame()
        self.unread: Counter[str] = Counter()
        self._index = index
        self._placing = Placing(session_id, index, sparing=sparing)
        self._assets = Assets()
        self._open: dict[str, list[OpenCall]] = {}
        self._queue: deque[AnyMessage | OpenCall] = deque()
        self._previous: Event | None = None
        self._notified: set[str] = set()

    @property
    def model(self) -> str | None:
        """The model that the main thread talked to last."""
        return self._placing.thread(None).model

    def messages(self, events: Iterable[Event]) -> Iterator[AnyMessage]:
        """Yield the messages of all events, in order."""
        if self._index.thoughts:
            events = thoughts_first(events, self._index)
        messages = self._joined(events)
        return self._preserving(messages) if self._index.compactions else messages

    def _joined(self, events: Iterable[Event]) -> Iterator[AnyMessage]:
        frame, queue, takers = self.frame, self._queue, self._takers
        index, assets = self._index, self._assets
        for event in events:
            if event is not PASSED_OVER:
                kind = event.type
                if event.at is not None:
                    frame.updated_at = event.at
                if kind in FRAMING:
                    frame.learn(event, self._placing)
                take = takers.get(kind)
                if take is None or not take(self, event):
                    self.unread[kind] += 1
                while queue:
                    first = queue[0]
                    if isinstance(first, OpenCall):
                        if first.waits and first.complete is None:
                            break
                        first = first.message(index, assets)
                    yield first
                    queue.popleft()
            self._previous = event
        for left in queue:
            yield left.message(index, assets) if isinstance(left, OpenCall) else left

    # What takes an event in says whether it is part of a message.

    def _add(self, message: AnyMessage | OpenCall | None) -> bool:
        if message is not None:
            self._queue.append(message)
        return message is not None

    def _answer(self, event: Event) -> bool:
        synthetic = self._is_synthetic(event)
        made = False
        for part in answer(event, self._placing, self._index, self.frame, synthetic=synthetic):
            made = self._add(part)
            if isinstance(part, OpenCall):
                self._keep_open(part.fields["external_id"], part)
        return made

    def _is_synthetic(self, event: Event) -> bool:
        data = event.data
        if string(data.model) or string(data.api_call_id) or string(data.turn_id):
            return False
        previous = self._previous
        return event.parent in self._notified or (
            previous is not None and previous.type == "system.notification"
        )

    # Calls and their results.

    def _keep_open(self, call: str | None, opened: OpenCall) -> None:
        if call is not None:
            self._open.setdefault(call, []).append(opened)

    def _start(self, event: Event) -> bool:
        """A start is part of its request; without one it is the call itself."""
        call = string(event.data.tool_call_id)
        if call is None:
            return False
        if waiting := self._open.get(call):
            waiting[0].add_source(event)
            return True
        if self._index.call(call).requested:
            return False
        fields = self._placing.fields(event, call, external=call, author="model")
        fields |= requested(event.data, NO_DATA)
        waits = self._index.call(call).completed
        opened = OpenCall(fields, self.frame.cwd, waits=waits)
        self._keep_open(call, opened)
        return self._add(opened)

    def _user_shell(self, event: Event) -> bool:
        """A command that the person ran themselves has no answer of the model around it."""
        call = string(event.data.tool_call_id)
        own = event.own_id if call is None else call
        fields = self._placing.fields(event, own, external=call, author="human")
        fields |= requested(event.data, NO_DATA) | {"provenance": event.type}
        waits = self._index.call(call).completed
        opened = OpenCall(fields, self.frame.cwd, waits=waits)
        self._keep_open(call, opened)
        return self._add(opened)

    def _complete(self, event: Event) -> bool:
        call = self._index.completed_call(event)
        if call is not None and (waiting := self._open.get(call)):
            opened = waiting.pop(0)
            if not waiting:
                del self._open[call]
            opened.complete = event
            opened.add_source(event)
            return True
        # A result whose request is gone stands where it was recorded.
        own = event.own_id if call is None else call
        fields = self._placing.fields(event, own, external=call, author="model")
        fields |= requested(NO_DATA, self._index.whole_start(call))
        orphan = OpenCall(fields, self.frame.cwd, waits=False)
        orphan.complete = event
        return self._add(orphan)

    def _prompt(self, event: Event) -> bool:
        return self._add(prompt(event, self._placing, self._assets))

    def _thought(self, event: Event) -> bool:
        made = thought_apart(event, self._placing, self._index)
        return self._add(made) or event.own_id in self._index.repeated

    def _notification(self, event: Event) -> bool:
        if event.id is not None:
            self._notified.add(event.id)
        return self._add(harness.notification(event, self._placing))

    def _permission(self, event: Event) -> bool:
        return self._add(harness.permission(event, self._placing, self._index))

    def _compaction(self, event: Event) -> bool:
        return self._add(harness.compaction(event, self._placing))

    def _failure(self, event: Event) -> bool:
        return self._add(harness.failure(event, self._placing))

    def _asset(self, event: Event) -> bool:
        self._assets.store(event.whole)
        return True

    def _known_before(self, event: Event) -> bool:
        """What the index learnt for another event is part of that one's message."""
        return True

    def _other(self, event: Event) -> bool:
        return self._add(harness.other(event, self._placing))

    _takers: ClassVar[dict[str, Callable[[_Reading, Event], bool]]] = {
        "assistant.message": _answer,
        "assistant.reasoning": _thought,
        "human_response.recorded": _known_before,
        "permission.completed": _known_before,
        "permission.requested": _permission,
        "session.binary_asset": _asset,
        "session.compaction_complete": _compaction,
        "session.context_cleared": _compaction,
        "session.error": _failure,
        "system.notification": _notification,
        "tool.execution_complete": _complete,
        "tool.execution_start": _start,
        "tool.user_requested": _user_shell,
        "user.message": _prompt,
        **dict.fromkeys(OTHERS, _other),
    }

    # Compactions.

    def _preserving(self, messages: Iterable[AnyMessage]) -> Iterator[AnyMessage]:
        """Tell each boundary which messages it left alone: those recorded while it was made, and
        the person's prompts."""
        replaced = {one.line: one.replaced for one in self._index.compactions}
        recent: list[tuple[int, str]] = []
        standing: set[str] = set()
        for message in messages:
            line = message.sources[0].line or 0
            if isinstance(message, CompactBoundary):
                since = replaced.get(line, line)
                kept = tuple(made for at, made in recent if at > since or made in standing)
                recent = [one for one in recent if one[1] in standing]
                yield replace(message, preserved=kept)
                continue
            if message.agent is None and message.in_context:
                recent.append((line, message.id))
                if message.superseded_by is None and isinstance(message, UserMessage):
                    standing.add(message.id)
            yield message


def _session_id(index: Index, spot: Place) -> str:
    if index.session_id is not None:
        return index.session_id
    return spot.events.stem if spot.directory is None else spot.directory.name


def _unread(counts: Counter[str]) -> tuple[Unread, ...]:
    return tuple(
        Unread(record=record, count=count, known=record in KNOWN)
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
