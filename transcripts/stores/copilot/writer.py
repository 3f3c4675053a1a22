"""Messages into a session that Copilot CLI resumes.

The CLI validates every line before it loads any: envelope ids are UUIDs, results are
objects, ``workspace.yaml`` has no time with an offset, or it refuses the session, some
releases without a word (:mod:`.faults` names each). The records are those that 1.0.60 to
1.0.102 share, with the fields that the newer one added; older readers ignore those.

What the model is shown after a resume decides the form: a call crosses as a request and its
result, everything that Copilot has no record for as marked prose.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from transcripts.errors import MissingWorkingDirectory, NothingToWrite, UnwritableSession
from transcripts.model import (
    AgentMessage,
    Asset,
    Call,
    CommandExecution,
    CompactBoundary,
    Content,
    Error,
    FileChange,
    Message,
    Opaque,
    Other,
    PermissionRequest,
    Reasoning,
    Structured,
    SubAgent,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
)
from transcripts.narration import content_text, prose, scrub_value
from transcripts.records.placing import place_directory
from transcripts.stores.base import WrittenSession
from transcripts.stores.copilot.layout import EVENTS, SESSIONS, WORKSPACE
from transcripts.stores.copilot.reading.context import detail
from transcripts.stores.copilot.writing.composing import Composer
from transcripts.stores.copilot.writing.eventlog import UUID, EventLog, stamp
from transcripts.stores.copilot.writing.foresight import aborted, begun, taken_over
from transcripts.stores.copilot.writing.ledger import Ledger
from transcripts.stores.copilot.writing.requests import Requests

AGENT = "copilot"
WRITES_FOR = "GitHub Copilot CLI 1.0.60 to 1.0.102"
_VERSION = "1.0.102"
_FOLDERS = ("checkpoints", "files", "research")
_DELIVERIES = {"typed": "idle", "queued": "queued", "steered": "steering", "programmatic": "idle"}


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
    """Write a session directory under a root; typed errors before anything is on the disk."""
    if UUID.fullmatch(session_id) is None:
        raise UnwritableSession(
            f"the session id {session_id!r} is no UUID",
            next_step="Copilot CLI takes only UUIDs: give one, such as uuid4() makes",
        )
    directory = cwd or transcript.cwd
    if not directory:
        raise MissingWorkingDirectory(
            "the transcript does not say which directory it belongs to",
            path=transcript.source_path,
            next_step="give one with --cwd",
        )
    native = transcript.agent == AGENT
    start = _start(transcript, now)
    ledger = Ledger()
    log = EventLog(session_id, start, ledger, native=native)
    log.emit(
        "session.start",
        _opening(
            transcript,
            session_id=session_id,
            start=start,
            cwd=directory,
            model=model or (transcript.model if native else None),
            version=cli_version or (transcript.cli_version if native else None) or _VERSION,
        ),
    )
    _Writing(log, ledger, directory, transcript).write()
    if len(log) == 1:
        raise NothingToWrite(
            "no message of the transcript has a form in a Copilot CLI session",
            path=transcript.source_path,
            next_step="`transcripts show` prints what it holds",
        )
    files = {
        EVENTS: log.data(),
        WORKSPACE: _workspace(transcript, session_id, directory, start, log.clock),
    }
    target = root / SESSIONS / session_id
    place_directory(target, files, _FOLDERS)
    return WrittenSession(session_id=session_id, path=target / EVENTS, losses=tuple(ledger.losses))


def _start(transcript: Transcript, now: datetime | None) -> datetime:
    """Return when the session began, from its records; the clock is asked only without any."""
    times = [message.at for message in transcript.messages if message.at is not None]
    if transcript.created_at is not None:
        times.append(transcript.created_at)
    return min(times) if times else now or datetime.now(UTC)


def _opening(
    transcript: Transcript,
    *,
    session_id: str,
    start: datetime,
    cwd: str,
    model: str | None,
    version: str,
) -> dict[str, Any]:
    context: dict[str, Any] = {"cwd": cwd}
    if transcript.git_branch:
        context["branch"] = transcript.git_branch
    data: dict[str, Any] = {
        "sessionId": session_id,
        "version": 1,
        "producer": "copilot-agent",
        "copilotVersion": version,
        "startTime": stamp(start),
        "context": context,
        "alreadyInUse": False,
        "remoteSteerable": False,
    }
    return data | ({"selectedModel": model} if model else {})


def _workspace(
    transcript: Transcript, session_id: str, cwd: str, start: datetime, end: datetime
) -> bytes:
    """Return ``workspace.yaml`` with its times as 1.0.80 and newer require them."""
    fields: dict[str, Any] = {"id": session_id, "cwd": cwd}
    if transcript.git_branch:
        fields["branch"] = transcript.git_branch
    fields["client_name"] = "github/cli"
    if transcript.title:
        fields["name"] = transcript.title
    fields |= {"user_named": False, "summary_count": 0, "fork_count": 0}
    text: str = yaml.safe_dump(
        scrub_value(fields), allow_unicode=True, sort_keys=False, width=1_000_000
    )
    return f"{text}created_at: {stamp(start)}\nupdated_at: {stamp(end)}\n".encode()


class _Writing:
    """Gives each message its form."""

    def __init__(self, log: EventLog, ledger: Ledger, cwd: str, transcript: Transcript) -> None:
        self._log = log
        self._ledger = ledger
        self._cwd = cwd
        self._native = log.native
        self._transcript = transcript
        messages = transcript.messages
        self._compactions = begun(messages) if self._native else taken_over(messages)
        self._composer = Composer(log, ledger, aborted(messages if self._native else ()))
        self._requests = Requests(log, ledger)

    def write(self) -> None:
        """Write all messages."""
        for message in self._transcript.messages:
            if isinstance(message, SubAgent) and message.agent_id:
                self._log.serve(message.agent_id, message.external_id)
        for message in self._transcript.messages:
            for boundary in self._compactions.get(message.id, ()):
                self._composer.close(None)
                attempt = {"compactionAttemptId": self._log.uuid("compaction", boundary)}
                self._log.emit("session.compaction_start", attempt)
            self._message(message)
        self._composer.close(None)
        for store in self._transcript.side_stores:
            self._ledger.lose("side-store-dropped", None, store.name)

    def _message(self, message: Message) -> None:
        if isinstance(message, Error):
            self._ledger.lose("withheld-error", message)
            return
        if not self._native:
            if self._ledger.stays_behind(message):
                return
            self._ledger.bookkeeping(message, self._cwd)
        elif self._own_record(message):
            return
        match message:
            case UserMessage():
                self._user(message)
            case AgentMessage():
                self._say(message, content_text(message.content), message.content)
            case CommandExecution() | ToolCall():
                self._composer.call(message, [self._requests.of(message)])
            case FileChange() if requests := self._requests.of_edits(message):
                said = content_text(message.content)
                if said.strip():
                    self._say(message, said, message.content)
                self._composer.call(message, requests)
            case CompactBoundary():
                self._summary(message)
            case _:
                self._narrate(message)

    def _own_record(self, message: Message) -> bool:
        """Write a message of this same store by its own record; False where it has none."""
        match message:
            case Reasoning():
                self._composer.think(message)
            case Call() if message.name and message.author == "human":
                self._user_shell(message)
            case Call() if message.name:
                self._composer.call(message, [self._requests.of(message)])
            case CompactBoundary():
                self._compaction(message)
            case PermissionRequest():
                self._composer.permit(message)
            case Other():
                self._composer.close(message.agent)
                value = message.value if isinstance(message.value, Mapping) else {}
                self._log.emit(message.record, dict(value), message)
            case _:
                return False
        return True

    def _say(self, message: Message, words: str, content: Content) -> None:
        self._ledger.lose_parts(content, message)
        if words:
            self._composer.say(message, words)
        else:
            self._ledger.lose("empty-dropped", message)

    def _summary(self, message: CompactBoundary) -> None:
        """Write what another CLI compacted as a compaction, if that hides nothing besides.

        Else it is said in the user's place, where the CLI itself puts a summary: a provider
        may refuse a conversation that an answer opens.
        """
        if any(message.id in begun_there for begun_there in self._compactions.values()):
            self._ledger.lose_parts(message.summary or (), message)
            self._compaction(message)
            return
        self._ledger.lose("narrated", message)
        self._composer.close(message.agent)
        data = {"content": prose(message) or "", "source": "compaction"}
        self._log.emit("user.message", data, message)

    def _narrate(self, message: Message) -> None:
        words = prose(message)
        if isinstance(message, Reasoning) and any(isinstance(p, Opaque) for p in message.content):
            self._ledger.lose("reasoning-opaque-dropped", message)
        if words is None:
            self._ledger.lose("empty-dropped", message)
        else:
            self._ledger.lose("narrated", message)
            self._composer.say(message, words)

    # Prompts.

    def _user(self, message: UserMessage) -> None:
        self._composer.close(message.agent)
        interaction = self._composer.begin_turn(message)
        if self._native and (message.provenance or "").startswith("system.notification"):
            self._notification(message)
            return
        words, attachments = self._prompt(message)
        if not words and not attachments and not self._native:
            self._ledger.lose("empty-dropped", message)
            return
        data: dict[str, Any] = {
            "content": words,
            "messageId": self._log.uuid("message", message.id),
            "interactionId": interaction,
            "attachments": attachments,
        }
        if message.delivery is not None:
            data["delivery"] = _DELIVERIES[message.delivery]
        if self._native and message.provenance:
            data["source"] = message.provenance
        self._log.emit("user.message", data, message)

    def _notification(self, message: UserMessage) -> None:
        """Write a notification with its kind whole: 1.0.60 refuses one that lacks an id."""
        kinds = [part.value for part in message.content if isinstance(part, Structured)]
        words = [part for part in message.content if isinstance(part, Text)]
        kind = kinds[0] if kinds else {"type": "unclassified"}
        data = {"content": content_text(words), "kind": kind}
        self._log.emit("system.notification", data, message)

    def _prompt(self, message: UserMessage) -> tuple[str, list[dict[str, Any]]]:
        words: list[Any] = []
        attachments: list[dict[str, Any]] = []
        for part in message.content:
            match part:
                case Asset() if (attachment := self._attachment(part)) is not None:
                    attachments.append(attachment)
                case Structured() if self._native and isinstance(part.value, Mapping):
                    attachments.append(dict(part.value))
                case _:
                    words.append(part)
        self._ledger.lose_parts(tuple(words), message)
        return content_text(words), attachments

    def _attachment(self, asset: Asset) -> dict[str, Any] | None:
        """Return an attachment, or None if there are neither bytes nor a file of this store's.

        Bytes stand in the event itself: 1.0.60 refuses a blob without, 1.0.102 takes either.
        """
        if self._native and asset.path is not None:
            name = asset.name or Path(asset.path).name
            found: dict[str, Any] = {"type": "file", "path": asset.path, "displayName": name}
            return found | self._log.store(asset)
        if asset.data is None:
            return None
        found = {"type": "blob", "data": asset.data}
        found["mimeType"] = asset.media_type or "application/octet-stream"
        return found | ({"displayName": asset.name} if asset.name else {})

    # What only this store records.

    def _user_shell(self, call: Call) -> None:
        """Write a command that the person ran themselves: no answer of the model holds it."""
        self._composer.close(call.agent)
        request = self._requests.of(call)
        fields = {"toolCallId": request.id, "toolName": request.name}
        self._log.emit("tool.user_requested", fields | {"arguments": request.arguments}, call)
        if request.complete:
            request.complete["isUserRequested"] = True
        self._composer.complete(call, request)

    def _compaction(self, message: CompactBoundary) -> None:
        self._composer.close(message.agent)
        if message.provenance == "session.context_cleared":
            self._log.emit(message.provenance, {"messagesCleared": 0}, message)
            return
        data: dict[str, Any] = {
            "success": True,
            "compactionAttemptId": self._log.uuid("compaction", message.id),
            "summaryContent": content_text(message.summary),
        }
        trigger = detail(message.provenance) if self._native else ""
        if not trigger and message.trigger is not None:
            trigger = "manual" if message.trigger == "manual" else "threshold"
        if trigger:
            data["trigger"] = trigger
        if message.pre_tokens is not None:
            data["preCompactionTokens"] = message.pre_tokens
        if message.post_tokens is not None:
            data["postCompactionTokens"] = message.post_tokens
        self._log.emit("session.compaction_complete", data, message)
