"""What a reader makes of a session that a kill or a crash cut off: the beginning of the whole.

A CLI appends; whoever reads while it runs, or after it was killed, sees a prefix of the file.
A prefix must give a typed error, or a recovered reading in which every message is one of the
whole session's, with the same id, in the same order, and different only in what a later
record may still change. Ids that move with the end of the file, calls that swap places and
texts that depend on what comes after are how incremental readers lose conversations.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from conformance.corpus import Case, opened
from transcripts.errors import TranscriptError
from transcripts.model import (
    AnyMessage,
    Call,
    CommandExecution,
    CompactBoundary,
    Error,
    FileChange,
    Message,
    PermissionRequest,
    Plan,
    Reasoning,
    SubAgent,
    Transcript,
    UserMessage,
    UserQuestion,
    WebSearch,
)
from transcripts.stores.base import store_class

_LATER: dict[type[Message], frozenset[str]] = {
    Message: frozenset({"status", "superseded_by", "in_context", "usage", "sources"}),
    Call: frozenset(
        {"output", "output_extent", "overflow_path", "error", "duration_ms", "ended_at"}
    ),
    CommandExecution: frozenset(
        {"stdout", "stderr", "exit_code", "exit_code_source", "background_id", "cwd"}
    ),
    FileChange: frozenset({"changes", "content"}),
    Plan: frozenset({"items", "content"}),
    WebSearch: frozenset({"query", "results"}),
    SubAgent: frozenset({"agent_id", "agent_type", "background"}),
    UserQuestion: frozenset({"questions"}),
    PermissionRequest: frozenset({"decision", "decided_by"}),
    CompactBoundary: frozenset({"summary", "pre_tokens", "post_tokens", "preserved"}),
    Error: frozenset({"raw"}),
}
"""What a later record may still change, by class: results, outcomes and what replaces them."""

_LATER_ON_A_THREAD = frozenset({"caller", "caller_evidence", "turn"})
"""What a subagent's own file does not say: the call that it serves names it by its result."""


def departures(whole: Transcript, part: Transcript) -> Iterator[str]:
    """Yield everything in which a prefix's reading is not a beginning of the whole one."""
    places = {message.id: index for index, message in enumerate(whole.messages)}
    last: dict[str | None, int] = {}
    responses: dict[str | None, str | None] = {}
    for message in part.messages:
        place = places.get(message.id)
        if place is None:
            if not _waits(message, whole):
                yield f"{message.kind} {message.id} is in no reading of the whole session"
            continue
        if place <= last.get(message.agent, -1):
            yield f"{message.kind} {message.id} stands in another order"
        last[message.agent] = max(last.get(message.agent, -1), place)
        yield from _changed(message, whole.messages[place])
        after = whole.messages[place].response
        if responses.setdefault(message.response, after) != after:
            yield f"{message.kind} {message.id} is no longer of the response {message.response}"


def cuts(content: bytes) -> list[int]:
    """Return the lengths to cut a file of lines to: each line's end, and one byte to each side."""
    ends = [index + 1 for index, byte in enumerate(content) if byte == 0x0A]
    around = {end + step for end in ends for step in (-1, 0, 1)}
    return sorted(cut for cut in around if 0 < cut < len(content))


class Cutting:
    """One case's session, read at any length; use it as a context manager."""

    def __init__(self, case: Case, scratch: Path) -> None:
        self._store = store_class(case.facts.agent)
        home = scratch / "home"
        with opened(case) as recorded:
            shutil.copytree(recorded, home)
        self._session = home / case.facts.session_path
        self.file = next(self._session.glob("*.jsonl")) if self._session.is_dir() else self._session
        self.content = self.file.read_bytes()
        self.whole = self.read()

    def read(self, *, recover: bool = False) -> Transcript:
        """Read the session as it stands."""
        return self._store.read_path(self._session, recover=recover)

    def at(self, length: int) -> Iterator[str]:
        """Cut the file to so many bytes, read it both ways, and yield what is wrong."""
        self.file.write_bytes(self.content[:length])
        for recover in (False, True):
            try:
                part = self.read(recover=recover)
            except TranscriptError:
                continue
            for departure in departures(self.whole, part):
                yield f"{length} bytes, {'recovered' if recover else 'strict'}: {departure}"


def _waits(message: AnyMessage, whole: Transcript) -> bool:
    """Whether a prompt was typed ahead and not yet given: what is given later, in a record of
    its own with an id of its own, is the same words."""
    return (
        isinstance(message, UserMessage)
        and message.delivery == "queued"
        and not message.in_context
        and any(
            isinstance(one, UserMessage) and one.content == message.content
            for one in whole.messages
        )
    )


def _changed(part: AnyMessage, whole: AnyMessage) -> Iterator[str]:
    if part.kind != whole.kind:
        yield f"{part.kind} {part.id} becomes a {whole.kind}"
        return
    later = frozenset[str]().union(
        *(names for kind, names in _LATER.items() if isinstance(part, kind)),
        {"response"},  # its name may come later; who shares one is judged above
        _LATER_ON_A_THREAD if part.agent is not None else (),
    )
    for field in msgspec.structs.fields(type(part)):
        before, after = getattr(part, field.name), getattr(whole, field.name)
        if before == after or field.name in later:
            continue
        if isinstance(part, Reasoning) and field.name == "content":
            # The words come first, what only their provider can read may come behind them.
            after = after[: len(before)]
        if before != after:
            yield f"{part.kind} {part.id}: {field.name} was {before!r:.80} and is {after!r:.80}"
