"""A transcript into a new rollout that Codex resumes, lists and shows.

The file is written the way releases up to 0.145 do, response items with their event echoes
and without ordinals ("legacy" history): every release from 0.130 to 0.171 reads that. The
provider is left out unless Codex's own sealed thoughts bind the session to one: a release
refuses to resume a session of another provider than the one it is configured for, and takes
one that names none.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import UUID

from transcripts.errors import (
    MissingWorkingDirectory,
    NothingToWrite,
    SessionExists,
    UnwritableSession,
)
from transcripts.losses import LossId
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Call,
    CompactBoundary,
    Error,
    Message,
    Opaque,
    Other,
    Reasoning,
    SubAgent,
    Transcript,
    UserMessage,
)
from transcripts.narration import has_lone_surrogate
from transcripts.records import jsonlines
from transcripts.records.placing import place_file
from transcripts.serialise import to_builtins
from transcripts.stores.base import WrittenSession
from transcripts.stores.codex import layout
from transcripts.stores.codex.reader import AGENT
from transcripts.stores.codex.reading.drafts import is_recorded
from transcripts.stores.codex.writing import items
from transcripts.stores.codex.writing.calling import Calling, Closing
from transcripts.stores.codex.writing.items import Payload
from transcripts.stores.codex.writing.proposing import propose, with_plans
from transcripts.stores.codex.writing.replacing import Replacing, kept_though_superseded
from transcripts.stores.codex.writing.rollout import Rollout, stamp
from transcripts.stores.codex.writing.wording import say

RELEASE = "0.171.0"
"""The newest release that the written form was measured with."""

_ORIGINATOR = "codex_cli_rs"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def write(
    transcript: Transcript,
    root: Path,
    *,
    session_id: str,
    cwd: str | None,
    model: str | None,
    cli_version: str | None,
    now: datetime | None,
) -> WrittenSession:
    """Write a transcript as a new session under Codex's directory."""
    _check_id(session_id)
    _check_new(root, session_id)
    directory = cwd or transcript.cwd
    if not directory:
        raise MissingWorkingDirectory(
            "the transcript does not say which directory it belongs to",
            next_step="give the working directory",
        )
    own = transcript.agent == AGENT
    release = cli_version or (transcript.cli_version if own else None) or RELEASE
    agents = _agents(transcript, root, session_id) if own else {}
    started_at = _start(transcript, own=own, now=now)
    rollout = Rollout(session_id, directory, started_at, own=own)
    session = _Session(transcript, rollout, agent=None)
    session.leave_threads(agents)
    session.open(started_at, release, model)
    session.tell()
    losses = list(rollout.losses)
    files: dict[Path, Rollout] = {}
    for agent, parent in agents.items():
        file, thread = _agent_thread(transcript, root, agent, parent, directory, release, model)
        files[file] = thread
        losses += thread.losses
    # The main thread comes last: once it is there, so are the threads that it speaks of.
    path = layout.target(root, session_id, started_at)
    files[path] = rollout
    _place(files)
    return WrittenSession(session_id=session_id, path=path, losses=tuple(losses))


def _check_new(root: Path, session_id: str) -> None:
    """See that the id is free: a file's name has the time too, and so is no proof of it."""
    there = layout.find(root, session_id)
    if there is not None:
        raise SessionExists(
            "there is a session of this id already",
            path=there,
            next_step="choose another session id",
        )


def _place(files: Mapping[Path, Rollout]) -> None:
    """Put all files into the store, or none."""
    placed: list[Path] = []
    try:
        for path, rollout in files.items():
            place_file(path, jsonlines.encode(rollout.lines))
            placed.append(path)
    except BaseException:
        for path in placed:
            path.unlink()
        raise


def _agents(transcript: Transcript, root: Path, session_id: str) -> dict[str, str]:
    """Return the spawned agents whose own threads are written too, each with its parent.

    An agent keeps its id, which the calls and results of its parent name; one whose id is
    taken in this store stays behind.
    """
    spawns = {
        one.agent_id: one.agent or session_id
        for one in transcript.messages
        if isinstance(one, SubAgent) and one.agent_id is not None
    }
    threads = dict.fromkeys(one.agent for one in transcript.messages if one.agent is not None)
    return {
        agent: spawns[agent]
        for agent in threads
        if agent in spawns and _is_uuid(agent) and layout.find(root, agent) is None
    }


def _agent_thread(
    transcript: Transcript,
    root: Path,
    agent: str,
    parent: str,
    cwd: str,
    release: str,
    model: str | None,
) -> tuple[Path, Rollout]:
    """Return the thread of a spawned agent as the session of its own that it is."""
    times = (one.at for one in transcript.messages if one.agent == agent and one.at is not None)
    started_at = next(times, transcript.created_at or _EPOCH).astimezone(UTC)
    rollout = Rollout(agent, cwd, started_at, own=True)
    session = _Session(transcript, rollout, agent=agent)
    spawned = {"parent_thread_id": parent, "depth": 1}
    session.open(
        started_at,
        release,
        model,
        source={"subagent": {"thread_spawn": spawned}},
        thread_source="subagent",
        parent_thread_id=parent,
    )
    session.tell()
    return layout.target(root, agent, started_at), rollout


def _check_id(session_id: str) -> None:
    if not _is_uuid(session_id):
        raise UnwritableSession(
            f"Codex takes only a UUID as a session id, not {session_id!r}",
            next_step="choose one of the form xxxxxxxx-xxxx-7xxx-xxxx-xxxxxxxxxxxx",
        )


def _is_uuid(session_id: str) -> bool:
    try:
        return str(UUID(session_id)) == session_id
    except ValueError:
        return False


def _start(transcript: Transcript, *, own: bool, now: datetime | None) -> datetime:
    """Return when the session began: the first time that what is carried has."""
    started = transcript.created_at if own else None
    main = [one for one in transcript.messages if one.agent is None]
    kept = kept_though_superseded(main) if own else set[str]()
    times = (one.at for one in main if one.at is not None and _stays(one, kept) is None)
    first = next(times, None) or started or now or _EPOCH
    return min(first, started or first).astimezone(UTC)


def _stays(message: Message, kept: Container[str]) -> tuple[LossId, str] | None:
    """Return why a message stays behind, or None; ``kept`` are superseded ones that need not."""
    if message.superseded_by is not None and message.id not in kept:
        return "superseded-dropped", f"superseded by a {message.superseded_by.why}"
    if isinstance(message, Error):
        return "withheld-error", "a failure of the last provider"
    return None


def _stays_elsewhere(message: Message) -> tuple[LossId, str] | None:
    """Return why another CLI's message stays behind, or None."""
    shown = isinstance(message, UserMessage) or (isinstance(message, Other) and message.in_context)
    if shown and message.author == "harness":
        return "harness-dropped", "Codex gives its model a context of its own"
    if not message.in_context and isinstance(
        message, Call | UserMessage | AgentMessage | Reasoning
    ):
        loss: LossId = "thread-flattened" if message.caller else "superseded-dropped"
        return loss, "the model never saw it"
    return None


class _Session:
    """One thread of a transcript on its way into one rollout; ``agent`` None is the main one."""

    def __init__(self, transcript: Transcript, rollout: Rollout, agent: str | None) -> None:
        self._transcript = transcript
        self._agent = agent
        self._rollout = rollout
        self._messages = list(self._carried())
        self._calling = Calling(rollout, self._messages)
        self._replacing = Replacing(rollout, self._messages)
        self._late = self._told_late()
        self._turn_open: str | None = None
        self._tokens: dict[str, int] = {}
        self._model: str | None = None
        self._one_model = False

    def _carried(self) -> Iterable[AnyMessage]:
        thread = [one for one in self._transcript.messages if one.agent == self._agent]
        kept = kept_though_superseded(thread) if self._rollout.own else set[str]()
        for message in thread:
            reason = _stays(message, kept)
            if reason is None and not self._rollout.own:
                reason = _stays_elsewhere(message)
            if reason is None:
                yield message
            else:
                self._rollout.lose(reason[0], message, reason[1])

    def _told_late(self) -> dict[str, Call]:
        """Return the calls of scripts that ended when the conversation had long gone on.

        Codex records such a call when it ends: its place is behind what was said meanwhile.
        """
        late: dict[str, Call] = {}
        following: datetime | None = None
        for message in reversed(self._messages):
            if message.at is None:
                continue
            inner = (
                message if isinstance(message, Call) and self._calling.is_inner(message) else None
            )
            if inner is not None and following is not None and message.at > following:
                late[message.id] = inner
            elif inner is None:
                following = message.at if following is None else min(following, message.at)
        return late

    def leave_threads(self, carried: Container[str]) -> None:
        """Say which messages of agents stay behind: those of threads that are not carried."""
        for message in self._transcript.messages:
            if message.agent is not None and message.agent not in carried:
                self._rollout.lose(
                    "thread-flattened", message, "an agent's own messages stay behind"
                )

    def open(self, started_at: datetime, release: str, model: str | None, **spawned: Any) -> None:
        """Write what says which session this is, and which model it begins with.

        A model given by the caller holds for all of it; else each of Codex's own messages
        keeps the one that it was recorded with.
        """
        meta: Payload = {
            "id": self._rollout.session_id,
            "timestamp": stamp(started_at),
            "cwd": self._rollout.cwd,
            "originator": _ORIGINATOR,
            "cli_version": release,
            "source": "cli",
            **spawned,
        }
        provider = self._sealed_by()
        if provider is not None:
            meta["model_provider"] = provider
        if self._transcript.git_branch is not None:
            meta["git"] = {"branch": self._transcript.git_branch}
        self._rollout.line("session_meta", meta)
        if self._transcript.title is not None and self._agent is None:
            name = {"thread_id": self._rollout.session_id, "thread_name": self._transcript.title}
            self._rollout.event({"type": "thread_name_updated", **name})
        recorded = [one.model for one in self._messages if one.model is not None]
        if not self._rollout.own:
            recorded = []
            if self._transcript.model is not None and model is None:
                self._rollout.lose("model-dropped", None, "another provider's model")
        elif self._transcript.model is not None and self._agent is None:
            recorded.append(self._transcript.model)
        self._one_model = model is not None
        first = model or next(iter(recorded), None)
        self._run_by(first)

    def tell(self) -> None:
        """Write the conversation; :class:`NothingToWrite` if there is none."""
        opened = len(self._rollout.lines)
        for _, answer in groupby(self._messages, key=_answer_of):
            self._say_together([one for one in answer if one.id not in self._late])
        self._end_turn()
        for message in sorted(self._late.values(), key=lambda one: one.at or _EPOCH):
            self._rollout.go_on(message.at, message)
            self._calling.call(message)
        self._replacing.go_back()
        if len(self._rollout.lines) == opened:
            raise NothingToWrite(
                "no message of the transcript has a form in a Codex session",
                next_step="look at it with `transcripts show`",
            )
        if not self._rollout.own and any(message.usage for message in self._messages):
            self._rollout.lose("usage-dropped", None, "another provider counted the tokens")
        if self._transcript.side_stores:
            self._rollout.lose("side-store-dropped", None, "what lies beside stays behind")

    def _run_by(self, model: str | None) -> None:
        """Say which model goes on, where it is another than before."""
        if model is None or model == self._model:
            return
        self._model = model
        self._rollout.line("turn_context", _turn_context(self._rollout.cwd, model, self._turn_open))

    def _sealed_by(self) -> str | None:
        """Return the provider to which Codex's own sealed thoughts bind the session."""
        for message in self._messages if self._rollout.own else ():
            for part in message.content if isinstance(message, Reasoning) else ():
                if isinstance(part, Opaque) and part.provider is not None:
                    return part.provider
        return None

    def _say_together(self, group: list[AnyMessage]) -> None:
        """Write an answer's messages; its calls first, then what came of them, as they ended."""
        closings: list[tuple[Call, Closing]] = []
        for message in group:
            if has_lone_surrogate(to_builtins(message)):
                self._rollout.lose("replacement-character", message, "half a surrogate pair")
        for message, plan in with_plans(group, own=self._rollout.own):
            if self._replacing.goes_back_before(message):
                self._end_turn()
                self._replacing.go_back()
            self._replacing.note(message)
            self._turn(message)
            self._rollout.speaking = message.id
            if plan is None:
                self._rollout.go_on(message.at, message)
            if self._rollout.own and not self._one_model:
                self._run_by(message.model)
            if plan is not None:
                propose(self._rollout, plan, message if isinstance(message, AgentMessage) else None)
            elif isinstance(message, CompactBoundary) and self._rollout.own:
                self._replacing.replace(message)
            elif isinstance(message, Call):
                lines = self._calling.call(message)
                self._lose_duration(message, lines)
                closings.append((message, lines))
            else:
                say(self._rollout, message)
        self._count_tokens(group)
        ended = [message.ended_at for message, _ in closings]
        if None not in ended:
            closings.sort(key=lambda closing: closing[0].ended_at or _EPOCH)
        for message, lines in closings:
            if lines:
                self._rollout.go_on(message.ended_at)
            self._rollout.speaking = message.id
            for kind, payload in lines:
                if kind == "response_item":
                    self._rollout.item(payload)
                else:
                    self._rollout.line(kind, payload)

    def _lose_duration(self, message: Call, lines: Closing) -> None:
        written = [payload for _, payload in lines] or [self._rollout.lines[-1]["payload"]]
        if message.duration_ms is not None and not any("duration" in one for one in written):
            self._rollout.lose("duration-dropped", message, "Codex has no field for it here")

    def _turn(self, message: Message) -> None:
        """End the turn before and begin the message's, where it has one of Codex's own."""
        turn = message.turn if self._rollout.own else None
        if turn == self._turn_open:
            return
        self._end_turn()
        if turn is not None:
            self._rollout.go_on(message.at)
            self._rollout.event(
                {"type": "task_started", "turn_id": turn, "model_context_window": None}
            )
            self._turn_open = turn

    def _end_turn(self) -> None:
        if self._turn_open is not None:
            last = self._rollout.last_answer
            self._rollout.event(
                {"type": "task_complete", "turn_id": self._turn_open, "last_agent_message": last}
            )
        self._turn_open = self._rollout.last_answer = None

    def _count_tokens(self, group: Sequence[AnyMessage]) -> None:
        if not self._rollout.own:
            return
        for message in group:
            usage = message.usage
            if usage is None or message.response is None or usage.accounting != "delta":
                continue
            counts = {
                "input_tokens": usage.input,
                "cached_input_tokens": usage.cache_read,
                "cache_write_input_tokens": usage.cache_write,
                "output_tokens": usage.output,
                "reasoning_output_tokens": usage.reasoning,
                "total_tokens": usage.total,
            }
            given = {name: count for name, count in counts.items() if count is not None}
            for name, count in given.items():
                self._tokens[name] = self._tokens.get(name, 0) + count
            if is_recorded(message.response):
                ids = {
                    "thread_id": self._rollout.session_id,
                    "turn_id": message.turn or "",
                    "session_id": self._rollout.session_id,
                    "response_id": message.response,
                }
                self._rollout.line("token_usage_record", {**ids, "usage": given})
            self._rollout.event(items.token_count(dict(self._tokens), given))


def _answer_of(message: AnyMessage) -> tuple[str, str]:
    """Messages with equal keys that follow each other are one answer of the model."""
    if message.response is not None and message.author == "model":
        return ("response", message.response)
    return ("message", message.id)


def _turn_context(cwd: str, model: str, turn: str | None) -> Payload:
    """Return the record that names a model.

    It needs policies to be read at all. Resumed, 0.130 and 0.171 take theirs from the
    configuration and not from here, so the strictest are no promise and no change.
    """
    return {
        **({"turn_id": turn} if turn else {}),
        "cwd": cwd,
        "approval_policy": "on-request",
        "sandbox_policy": {"type": "read-only"},
        "model": model,
        "summary": "auto",
    }
