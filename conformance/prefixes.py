"""What a reader makes of a session that a kill or a crash cut off: the beginning of the whole.

A CLI appends; whoever reads while it runs, or after it was killed, sees a prefix of the file.
A prefix must give a typed error, or a recovered reading in which every message is one of the
whole session's, with the same id, in the same order, and different only in what a later
record may still change. Ids that move with the end of the file, calls that swap places and
texts that depend on what comes after are how incremental readers lose conversations.
"""

from __future__ import annotations

import shutil
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

import msgspec

from conformance.corpus import Case, opened
from transcripts.errors import TranscriptError
from transcripts.model import (
    AgentMessage,
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
    ToolCall,
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
    # Its provenance names the record and, once it is decided, how.
    PermissionRequest: frozenset({"decision", "decided_by", "provenance"}),
    CompactBoundary: frozenset({"summary", "pre_tokens", "post_tokens", "preserved"}),
    Error: frozenset({"raw"}),
}
"""What a later record may still change, by class: results, outcomes and what replaces them."""

_TOLD_LATER: dict[type[Message], frozenset[str]] = {
    # Codex 0.145 tells words and thoughts in an event without an id before the item that has one.
    # A fork begins with copies. That they are some is told behind them: by Copilot in a record of
    # its own, by Claude Code in the first answer to a request of another session.
    Message: frozenset({"external_id", "inherited_from"}),
    # Codex does not say who wants a history replaced: what else happens in the turn says it.
    CompactBoundary: frozenset({"trigger"}),
    # Copilot until 0.0.423 tells which part of a name is the server's when the call begins.
    ToolCall: frozenset({"server"}),
}
"""What may be None until a later record tells it, and may not change from then on."""

_LATER_ON_A_THREAD = frozenset({"caller", "caller_evidence", "turn"})
"""What a subagent's own file does not say: the call that it serves names it by its result."""


def departures(whole: Transcript, part: Transcript) -> Iterator[str]:
    """Yield everything in which a prefix's reading is not a beginning of the whole one."""
    places = {message.id: index for index, message in enumerate(whole.messages)}
    lines = Lines(whole, part)
    last: dict[str | None, int] = {}
    responses: dict[str | None, str | None] = {}
    for message in part.messages:
        place = places.get(message.id)
        if place is None:
            if not _waits(message, whole) and not _sums_up(message, whole):
                yield f"{message.kind} {message.id} is in no reading of the whole session"
            continue
        if place <= last.get(message.agent, -1):
            yield f"{message.kind} {message.id} stands in another order"
        last[message.agent] = max(last.get(message.agent, -1), place)
        yield from _changed(message, whole.messages[place])
        if not lines.agree(message.id):
            yield f"{message.kind} {message.id} follows another message"
        after = whole.messages[place].response
        if responses.setdefault(message.response, after) != after:
            yield f"{message.kind} {message.id} is no longer of the response {message.response}"


class Lines:
    """Whether messages follow the same ones in both readings, of those that both hold.

    What is told late may come in between (a thought that is recorded behind its answer), and
    what goes into another message no longer stands there (a prompt that waited).
    """

    def __init__(self, whole: Transcript, part: Transcript) -> None:
        self._whole = {message.id: message.follows for message in whole.messages}
        self._part = {message.id: message.follows for message in part.messages}

    def agree(self, message_id: str) -> bool:
        """Whether a message of both follows the same message of both."""
        after = self._before(message_id, self._whole, self._part)
        return self._before(message_id, self._part, self._whole) == after

    @staticmethod
    def _before(
        message_id: str, line: Mapping[str, str | None], other: Container[str]
    ) -> str | None:
        before = line[message_id]
        while before is not None and before in line and before not in other:
            before = line[before]
        return before


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
        rewritten(self.file, self.content[:length])
        for recover in (False, True):
            try:
                part = self.read(recover=recover)
            except TranscriptError:
                continue
            for departure in departures(self.whole, part):
                yield f"{length} bytes, {'recovered' if recover else 'strict'}: {departure}"


def rewritten(path: Path, content: bytes) -> None:
    """Put a file of this content in the place of another one.

    Some file systems bring a file that was emptied and written again to the disk at once; done
    for every byte of a session, that is most of the time.
    """
    path.unlink(missing_ok=True)
    path.write_bytes(content)


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


def _sums_up(message: AnyMessage, whole: Transcript) -> bool:
    """Whether an answer turned out to be the summary in the place of the history: Codex records
    it as any other answer, and what it was asked for in the record behind it."""
    return isinstance(message, AgentMessage) and any(
        isinstance(one, CompactBoundary)
        and one.summary == message.content
        and all(source in one.sources for source in message.sources)
        for one in whole.messages
    )


def _changed(part: AnyMessage, whole: AnyMessage) -> Iterator[str]:
    if part.kind != whole.kind:
        yield f"{part.kind} {part.id} becomes a {whole.kind}"
        return
    later = _of(part, _LATER).union(
        {"response"},  # its name may come later; who shares one is judged above
        {"follows"},  # judged above too
        _LATER_ON_A_THREAD if part.agent is not None else (),
    )
    told_later = _of(part, _TOLD_LATER)
    for field in msgspec.structs.fields(type(part)):
        before, after = getattr(part, field.name), getattr(whole, field.name)
        if before == after or field.name in later:
            continue
        if isinstance(part, Reasoning) and field.name == "content":
            # The words come first, what only their provider can read may come behind them.
            after = after[: len(before)]
        if field.name == "name" and _named_apart(part, whole):
            continue
        if before != after and not (before is None and field.name in told_later):
            yield f"{part.kind} {part.id}: {field.name} was {before!r:.80} and is {after!r:.80}"


def _named_apart(part: AnyMessage, whole: AnyMessage) -> bool:
    """Whether a call's name was told together with its server's, before they were told apart."""
    if not isinstance(part, ToolCall) or not isinstance(whole, ToolCall):
        return False
    return part.server is None and part.name == f"{whole.server}-{whole.name}"


def _of(message: AnyMessage, listed: Mapping[type[Message], frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(
        *(names for kind, names in listed.items() if isinstance(message, kind))
    )
