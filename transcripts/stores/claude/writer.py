"""A transcript as a new session that Claude Code resumes with the whole history, in order.

Measured by resuming hand-made files: all parallel calls and their results stand in *one* line
of rows, for 2.0.77 loads one branch and would lose the others of the tree that the CLI itself
writes; ``sourceToolAssistantUUID`` still names each result's call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from transcripts.errors import (
    MissingWorkingDirectory,
    NothingToWrite,
    SessionExists,
    UnwritableSession,
)
from transcripts.ids import derive
from transcripts.losses import Loss
from transcripts.model import AnyMessage, SubAgent, Transcript
from transcripts.narration import scrub_value
from transcripts.records import jsonlines
from transcripts.records.placing import place_file
from transcripts.stores.base import WrittenSession
from transcripts.stores.claude import layout, wordings
from transcripts.stores.claude.reader import AGENT, session_scope, typed_words
from transcripts.stores.claude.reading.titles import first_line
from transcripts.stores.claude.writing.chain import Chain
from transcripts.stores.claude.writing.composing import Composer
from transcripts.stores.claude.writing.responses import Settings

WRITES_FOR = "2.0.77 to 2.1.332"

_RELEASE = "2.1.332"
_MODEL = "claude-sonnet-4-5"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_AGENT_ID = re.compile(r"[A-Za-z0-9_-]+")


def write(
    root: Path,
    transcript: Transcript,
    *,
    session_id: str,
    cwd: str | None,
    model: str | None,
    cli_version: str | None,
    now: datetime | None,
) -> WrittenSession:
    """Write a transcript as a new session of a working directory."""
    directory = cwd or transcript.cwd
    if not directory:
        raise MissingWorkingDirectory(
            "neither the transcript nor the caller names a working directory",
            next_step="name one with --cwd",
        )
    _check_new(root, session_id)
    own = transcript.agent == AGENT
    settings = Settings(
        scope=session_scope(session_id),
        own=own,
        model=model or (transcript.model if own else None) or _MODEL,
        every_model=model is not None,
    )
    envelope = {
        "isSidechain": False,
        "userType": "external",
        "entrypoint": "cli",
        "cwd": directory,
        "sessionId": session_id,
        "version": cli_version or (transcript.cli_version if own else None) or _RELEASE,
        "gitBranch": transcript.git_branch or "",
    }
    session = _Session(transcript, settings, envelope, now)
    session.compose()
    path = layout.session_file(root, directory, session_id)
    main = _encoded(session.rows)
    for name, data in session.agent_files().items():
        place_file(path.parent / session_id / "subagents" / name, data)
    place_file(path, main)
    return WrittenSession(session_id=session_id, path=path, losses=tuple(session.losses))


def _check_new(root: Path, session_id: str) -> None:
    try:
        canonical = str(UUID(session_id)) == session_id.lower()
    except ValueError:
        canonical = False
    if not canonical:
        raise UnwritableSession(
            f"{session_id!r} is no UUID, and the CLI resumes nothing else",
            next_step="choose a UUID for the session id",
        )
    there = layout.find(root, session_id)
    if there is not None:
        raise SessionExists(
            "there is a session of this id already",
            path=there,
            next_step="choose another session id",
        )


class _Session:
    """The files of a session while they are made: the main thread's and each subagent's."""

    def __init__(
        self,
        transcript: Transcript,
        settings: Settings,
        envelope: dict[str, Any],
        now: datetime | None,
    ) -> None:
        self.losses: list[Loss] = [
            Loss(loss="side-store-dropped", why=f"{store.name} stays behind")
            for store in transcript.side_stores
        ]
        self.rows: list[dict[str, Any]] = []
        self._transcript = transcript
        self._settings = settings
        self._envelope = envelope
        self._start = _start(transcript, now)
        self._calls: dict[str, str] = {}
        self._agents: dict[str, list[dict[str, Any]]] = {}

    def compose(self) -> None:
        """Make the rows of every thread that crosses."""
        messages = self._transcript.messages
        self.rows = self._thread(None, [one for one in messages if one.agent is None])
        if not any(row["type"] in ("user", "assistant") for row in self.rows):
            raise NothingToWrite(
                "no message of the transcript has a form in a Claude Code session",
                path=self._transcript.source_path,
                next_step="check what `transcripts show` says of it",
            )
        self._add_title()
        for agent in dict.fromkeys(one.agent for one in messages if one.agent is not None):
            thread = [one for one in messages if one.agent == agent]
            if self._settings.own:
                self._agents[agent] = self._thread(agent, thread)
                continue
            why = "a subagent's own messages stay behind, its report crosses"
            self.losses += [
                Loss(loss="thread-flattened", message=one.id, why=why) for one in thread
            ]

    def _thread(self, agent: str | None, messages: Sequence[AnyMessage]) -> list[dict[str, Any]]:
        envelope = self._envelope
        if agent is not None:
            envelope = {**envelope, "isSidechain": True, "agentId": agent}
        chain = Chain(
            scope=self._settings.scope,
            thread=agent,
            envelope=envelope,
            start=self._start,
            rising=not (
                self._settings.own and wordings.goes_by_file_order(str(envelope["version"]))
            ),
        )
        composer = Composer(chain, self._settings, messages, self._calls)
        composer.write()
        self.losses += composer.losses
        return chain.rows

    def _add_title(self) -> None:
        title = self._transcript.title
        if title and title != first_line(typed_words(self._transcript.messages)):
            session_id = self._envelope["sessionId"]
            row = {"type": "custom-title", "customTitle": title, "sessionId": session_id}
            self.rows.append(row)

    def agent_files(self) -> dict[str, bytes]:
        """Return the subagents' files by name: their rows, and the note of the call they serve."""
        files: dict[str, bytes] = {}
        for agent, rows in self._agents.items():
            if not rows:
                continue
            known = _AGENT_ID.fullmatch(agent) is not None
            name = agent if known else derive(self._settings.scope, "agent", agent)
            files[f"agent-{name}.jsonl"] = _encoded(rows)
            note = self._note(agent)
            if note is not None:
                files[f"agent-{name}.meta.json"] = _encoded([note])
        return files

    def _note(self, agent: str) -> dict[str, Any] | None:
        messages = self._transcript.messages
        caller = next((one.caller for one in messages if one.agent == agent), None)
        call = next((one for one in messages if one.id == caller), None)
        if not isinstance(call, SubAgent) or call.id not in self._calls:
            return None
        note = {
            "agentType": call.agent_type,
            "description": call.description,
            "toolUseId": self._calls[call.id],
        }
        return {name: value for name, value in note.items() if value is not None}


def _start(transcript: Transcript, now: datetime | None) -> datetime:
    """Return when a session begins whose first messages have no time."""
    times = [one.at for one in transcript.messages if one.at is not None]
    return min(times) if times else transcript.created_at or now or _EPOCH


def _encoded(rows: Sequence[dict[str, Any]]) -> bytes:
    """Return rows as lines of strict UTF-8, halves of surrogate pairs replaced."""
    return jsonlines.encode(scrub_value(row) for row in rows)
