"""Messages into a session that Copilot CLI resumes.

The CLI validates every line before it loads any: envelope ids are UUIDs, results are
objects, ``workspace.yaml`` has no time with an offset, or it refuses the session, some
releases without a word (:mod:`.faults` names each). The records are those that 1.0.60 to
1.0.102 share, with the fields that the newer one added; older readers ignore those.

What the model is shown after a resume decides the form: a call crosses as a request and its
result, everything that Copilot has no record for as marked prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from transcripts.errors import MissingWorkingDirectory, NothingToWrite, UnwritableSession
from transcripts.ids import derive
from transcripts.losses import Loss, LossId
from transcripts.model import (
    AgentMessage,
    Asset,
    Call,
    CommandExecution,
    CompactBoundary,
    Content,
    Error,
    FileChange,
    FileEdit,
    Message,
    Opaque,
    Other,
    PermissionRequest,
    Plan,
    Reasoning,
    Structured,
    SubAgent,
    Text,
    ToolCall,
    Transcript,
    Usage,
    UserMessage,
    UserQuestion,
)
from transcripts.narration import content_text, has_lone_surrogate, part_losses, prose, scrub_value
from transcripts.records.jsonlines import encode
from transcripts.records.placing import place_directory
from transcripts.stores.base import WrittenSession
from transcripts.stores.copilot import tools
from transcripts.stores.copilot.layout import EVENTS, SESSIONS, WORKSPACE

AGENT = "copilot"
WRITES_FOR = "GitHub Copilot CLI 1.0.60 to 1.0.102"
_VERSION = "1.0.102"
_FOLDERS = ("checkpoints", "files", "research")

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# What every provider takes as the id of a call.
_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_INTERRUPTED = "No result of this call is recorded: it was interrupted."
_DECLINED = "This call was declined."
_FAILED = "This call failed."
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
    if _UUID.fullmatch(session_id) is None:
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
    writing = _Writing(
        session_id,
        native=native,
        cwd=directory,
        model=model or (transcript.model if native else None),
        version=cli_version or (transcript.cli_version if native else None) or _VERSION,
        start=_start(transcript, now),
    )
    writing.transcript(transcript)
    target = root / SESSIONS / session_id
    files = {EVENTS: writing.data(), WORKSPACE: writing.workspace(transcript)}
    place_directory(target, files, _FOLDERS)
    return WrittenSession(session_id=session_id, path=target / EVENTS, losses=tuple(writing.losses))


def _start(transcript: Transcript, now: datetime | None) -> datetime:
    """Return when the session began, from its records; the clock is asked only without any."""
    times = [message.at for message in transcript.messages if message.at is not None]
    if transcript.created_at is not None:
        times.append(transcript.created_at)
    return min(times) if times else now or datetime.now(UTC)


# ------------------------------------------------------------------ one answer of the model


class _Answer:
    """The messages that become one ``assistant.message``: a thought, words, calls."""

    def __init__(self, first: Message) -> None:
        self.agent = first.agent
        self.response = first.response
        self.author = first.author
        self.thought: Reasoning | None = None
        self.text: str | None = None
        self.text_of: Message | None = None
        self.calls: list[tuple[Call, list[_Request]]] = []
        self.permissions: list[PermissionRequest] = []

    @property
    def members(self) -> list[Message]:
        """The messages, in order."""
        found: list[Message] = [self.thought] if self.thought is not None else []
        if self.text_of is not None and not any(self.text_of is call for call, _ in self.calls):
            found.append(self.text_of)
        return [*found, *(call for call, _ in self.calls)]

    def takes(self, message: Message, role: str) -> bool:
        """Whether a further message can be part of this answer without losing its place."""
        if message.agent != self.agent or message.author != self.author:
            return False
        if message.response != self.response:
            return False
        match role:
            case "thought":
                return False
            case "text":
                return self.text is None and not self.calls
            case _:
                # Without the provider's id nothing says that two calls were made at once.
                return self.response is not None or not self.calls


class _Request:
    """One call as it is written: request, start and completion."""

    def __init__(self, call_id: str, name: str, arguments: Any, **fields: Any) -> None:
        self.id = call_id
        self.name = name
        self.arguments = arguments
        self.fields = fields
        self.complete: dict[str, Any] = {}


class _Writing:
    """One session in the making."""

    def __init__(
        self,
        session_id: str,
        *,
        native: bool,
        cwd: str,
        model: str | None,
        version: str,
        start: datetime,
    ) -> None:
        self.session_id = session_id
        self.native = native
        self.cwd = cwd
        self.model = model
        self.version = version
        self.start = start
        self.losses: list[Loss] = []
        self._clock = start
        self._events: list[dict[str, Any]] = []
        self._used: set[str] = set()
        self._calls: set[str] = set()
        self._agents: dict[str, str | None] = {}
        self._assets: set[str] = set()
        self._turns: dict[str | None, int] = {}
        self._interaction: dict[str | None, str] = {}
        self._shells = 0
        self._answer: _Answer | None = None
        self._closing: list[tuple[SubAgent, _Request]] = []
        self._said: set[tuple[LossId, str | None]] = set()

    # The whole.

    def transcript(self, transcript: Transcript) -> None:
        """Make the events of all messages."""
        context: dict[str, Any] = {"cwd": self.cwd}
        if transcript.git_branch:
            context["branch"] = transcript.git_branch
        start: dict[str, Any] = {
            "sessionId": self.session_id,
            "version": 1,
            "producer": "copilot-agent",
            "copilotVersion": self.version,
            "startTime": _stamp(self.start),
            "context": context,
            "alreadyInUse": False,
            "remoteSteerable": False,
        }
        if self.model:
            start["selectedModel"] = self.model
        self._emit("session.start", start)
        for message in transcript.messages:
            if isinstance(message, SubAgent) and message.agent_id:
                self._agents[message.agent_id] = message.external_id
        boundaries = _preserved_from(transcript) if self.native else {}
        for message in transcript.messages:
            if message.id in boundaries:
                self._flush(None)
                attempt = self._uuid("compaction", boundaries[message.id])
                self._emit("session.compaction_start", {"compactionAttemptId": attempt})
            self._message(message)
        self._flush(None)
        if self.native and transcript.side_stores:
            for store in transcript.side_stores:
                self._lose("side-store-dropped", None, store.name)
        if len(self._events) == 1:
            raise NothingToWrite(
                "no message of the transcript has a form in a Copilot CLI session",
                path=transcript.source_path,
                next_step="`transcripts show` prints what it holds",
            )

    def data(self) -> bytes:
        """Return the events file."""
        return encode(self._events)

    def workspace(self, transcript: Transcript) -> bytes:
        """Return ``workspace.yaml`` with its times as 1.0.80 and newer require them."""
        fields: dict[str, Any] = {"id": self.session_id, "cwd": self.cwd}
        if transcript.git_branch:
            fields["branch"] = transcript.git_branch
        fields["client_name"] = "github/cli"
        if transcript.title:
            fields["name"] = transcript.title
        fields |= {"user_named": False, "summary_count": 0, "fork_count": 0}
        text: str = yaml.safe_dump(
            scrub_value(fields), allow_unicode=True, sort_keys=False, width=1_000_000
        )
        times = f"created_at: {_stamp(self.start)}\nupdated_at: {_stamp(self._clock)}\n"
        return (text + times).encode()

    # Messages.

    def _message(self, message: Message) -> None:
        if isinstance(message, Error):
            self._lose("withheld-error", message)
            return
        if not self.native and self._stays_behind(message):
            return
        self._session_losses(message)
        if self.native and self._native(message):
            return
        match message:
            case UserMessage():
                self._user(message)
            case AgentMessage():
                self._words(message, content_text(message.content), message.content)
            case CommandExecution() | ToolCall():
                self._call(message, self._requests(message))
            case FileChange() if requests := self._file_requests(message):
                said = content_text(message.content)
                if said.strip():
                    self._words(message, said, message.content)
                self._call(message, requests)
            case _:
                self._narrated(message)

    def _stays_behind(self, message: Message) -> bool:
        """Whether a foreign message does not cross at all, and why."""
        if message.superseded_by is not None:
            self._lose("superseded-dropped", message, message.superseded_by.why)
        elif message.agent is not None:
            self._lose("thread-flattened", message)
        elif message.author in {"harness", "hook"} and isinstance(message, UserMessage | Other):
            self._lose("harness-dropped", message, message.provenance or "")
        else:
            return False
        return True

    def _native(self, message: Message) -> bool:
        """Write a message of this same store by its own record; False where it has none."""
        match message:
            case Reasoning():
                self._join(message, "thought").thought = message
            case Plan() | UserQuestion() | SubAgent() | FileChange() if message.name:
                self._call(message, self._requests(message))
            case Call() if message.name:
                self._call(message, self._requests(message))
            case CompactBoundary():
                self._compaction(message)
            case PermissionRequest():
                self._permission(message)
            case Other():
                self._flush(message.agent)
                value = message.value if isinstance(message.value, Mapping) else {}
                self._emit(message.record, dict(value), message)
            case _:
                return False
        return True

    def _narrated(self, message: Message) -> None:
        words = prose(message)
        opaque = isinstance(message, Reasoning) and _has(message.content, Opaque)
        if opaque:
            self._lose("reasoning-opaque-dropped", message)
        if words is None:
            self._lose("empty-dropped", message)
            return
        self._lose("narrated", message)
        self._words(message, words, ())

    # Prompts.

    def _user(self, message: UserMessage) -> None:
        self._flush(message.agent)
        notified = (message.provenance or "").startswith("system.notification")
        self._interaction[message.agent] = self._uuid("interaction", message.id)
        self._turns[message.agent] = 0
        if self.native and notified:
            self._notification(message)
            return
        words, attachments = self._prompt(message)
        if not words and not attachments and not self.native:
            self._lose("empty-dropped", message)
            return
        data: dict[str, Any] = {
            "content": words,
            "messageId": self._uuid("message", message.id),
            "interactionId": self._interaction[message.agent],
            "attachments": attachments,
        }
        if message.delivery is not None:
            data["delivery"] = _DELIVERIES[message.delivery]
        if self.native and message.provenance:
            data["source"] = message.provenance
        self._emit("user.message", data, message)

    def _notification(self, message: UserMessage) -> None:
        """Write a notification with its kind whole: 1.0.60 refuses one that lacks an id."""
        kinds = [part.value for part in message.content if isinstance(part, Structured)]
        words = [part for part in message.content if isinstance(part, Text)]
        kind = kinds[0] if kinds else {"type": "unclassified"}
        self._emit("system.notification", {"content": content_text(words), "kind": kind}, message)

    def _prompt(self, message: UserMessage) -> tuple[str, list[dict[str, Any]]]:
        words: list[Any] = []
        attachments: list[dict[str, Any]] = []
        for part in message.content:
            match part:
                case Asset() if (attachment := self._attachment(part)) is not None:
                    attachments.append(attachment)
                case Structured() if self.native and isinstance(part.value, Mapping):
                    attachments.append(dict(part.value))
                case _:
                    words.append(part)
        for loss in part_losses(tuple(words)):
            self._lose(loss, message)
        return content_text(words), attachments

    def _attachment(self, asset: Asset) -> dict[str, Any] | None:
        """Return an attachment, or None if there are neither bytes nor a file of this store's.

        Bytes stand in the event itself: 1.0.60 refuses a blob without, 1.0.102 takes either.
        """
        if self.native and asset.path is not None:
            name = asset.name or Path(asset.path).name
            return {"type": "file", "path": asset.path, "displayName": name} | self._binary(asset)
        if asset.data is None:
            return None
        found: dict[str, Any] = {"type": "blob", "data": asset.data}
        found["mimeType"] = asset.media_type or "application/octet-stream"
        if asset.name:
            found["displayName"] = asset.name
        return found

    def _binary(self, asset: Asset) -> dict[str, Any]:
        """Return how an asset is referred to, after storing its bytes once."""
        if asset.sha256 is None or (asset.data is None and not self.native):
            return {}
        digest = f"sha256:{asset.sha256}"
        size = asset.size if asset.size is not None else _decoded_length(asset.data or "")
        media_type = asset.media_type or "application/octet-stream"
        if asset.data is not None and digest not in self._assets:
            self._assets.add(digest)
            self._emit(
                "session.binary_asset",
                {
                    "assetId": digest,
                    "type": "image" if media_type.startswith("image/") else "resource",
                    "mimeType": media_type,
                    "byteLength": size,
                    "data": asset.data,
                },
            )
        return {"assetId": digest, "mimeType": media_type, "byteLength": size}

    # Answers.

    def _join(self, message: Message, role: str) -> _Answer:
        """Return the answer that a message is part of, closing the one before it."""
        if self._answer is None or not self._answer.takes(message, role):
            self._flush(message.agent)
            self._answer = _Answer(message)
        return self._answer

    def _words(self, message: Message, words: str, content: Content) -> None:
        for loss in part_losses(content):
            self._lose(loss, message)
        if not words:
            self._lose("empty-dropped", message)
            return
        answer = self._join(message, "text")
        answer.text, answer.text_of = words, message

    def _call(self, message: Call, requests: list[_Request]) -> None:
        if message.author == "human" and self.native:
            self._user_shell(message, requests[0])
        else:
            self._join(message, "call").calls.append((message, requests))

    def _flush(self, agent: str | None) -> None:
        """Write the open answer before a thread's next event, and the reports it waited for.

        One record of Copilot's holds a whole answer, so answers of two threads never mix.
        """
        answer, self._answer = self._answer, None
        if answer is not None:
            self._write_answer(answer)
        waiting = self._closing
        self._closing = [
            entry for entry in waiting if agent is not None and entry[0].agent != agent
        ]
        closing = [entry for entry in waiting if entry not in self._closing]
        for call, request in sorted(closing, key=lambda entry: _ended(entry[0])):
            self._close_sub_agent(call, request)

    def _write_answer(self, answer: _Answer) -> None:
        first = answer.members[0]
        for member in answer.members[1:]:
            if member.at and first.at and _stamp(member.at) != _stamp(first.at):
                self._lose("time-moved", member, "all of an answer is recorded at one time")
        turn = str(self._turns.get(answer.agent, 0))
        self._turns[answer.agent] = int(turn) + 1
        interaction = self._interaction.setdefault(
            answer.agent, self._uuid("interaction", answer.agent or "")
        )
        by_model = answer.author != "harness"
        turn_fields = {"turnId": turn} if by_model else {}
        if by_model:
            self._emit(
                "assistant.turn_start",
                turn_fields | {"interactionId": interaction},
                first,
                own=False,
            )
        usage = next((one.usage for one in answer.members if one.usage is not None), None)
        model = next((one.model for one in answer.members if one.model is not None), None)
        data: dict[str, Any] = {
            "messageId": self._message_id(answer),
            "content": answer.text or "",
            "toolRequests": [
                _request_fields(request) for _, requests in answer.calls for request in requests
            ],
        }
        if by_model:
            data |= {"interactionId": interaction, **turn_fields}
        if self.native and model is not None:
            data["model"] = model
        if self.native and answer.response and answer.response != data["messageId"]:
            data["apiCallId"] = answer.response
        if answer.thought is not None:
            data |= _thought_fields(answer.thought.content)
        if self.native and usage is not None:
            self._usage(usage, data, first)
        self._emit("assistant.message", data, first, own=False)
        for call, requests in answer.calls:
            for request in requests:
                self._write_start(call, request, turn_fields, model)
        for permission in answer.permissions:
            self._write_permission(permission)
        for call, requests in sorted(answer.calls, key=lambda entry: _ended(entry[0])):
            for request in requests:
                if isinstance(call, SubAgent) and call.agent_id and not call.background:
                    self._closing.append((call, request))
                else:
                    self._write_complete(call, request)
        if by_model:
            self._emit("assistant.turn_end", dict(turn_fields), first, own=False, timed=False)

    def _message_id(self, answer: _Answer) -> str:
        """Return the answer's own message id where it is of this store, else a derived one."""
        for member in (answer.thought, answer.text_of):
            if self.native and member is not None and member.external_id:
                return member.external_id
        first = answer.members[0]
        if self.native and answer.author == "harness" and first.response:
            return first.response
        return self._uuid("answer", first.id)

    def _usage(self, usage: Usage, data: dict[str, Any], first: Message) -> None:
        counts = {
            "inputTokens": usage.input,
            "outputTokens": usage.output,
            "cacheReadTokens": usage.cache_read,
            "cacheWriteTokens": usage.cache_write,
            "reasoningTokens": usage.reasoning,
        }
        known = {name: count for name, count in counts.items() if count is not None}
        response = data.get("apiCallId")
        if set(known) <= {"outputTokens"} or response is None:
            data |= {name: count for name, count in known.items() if name == "outputTokens"}
            return
        fields = {"model": data.get("model", ""), "apiCallId": response, **known}
        self._emit("session.usage_record", {"usage": fields}, first, own=False)

    # Calls.

    def _requests(self, message: Call) -> list[_Request]:
        name = message.name
        arguments = message.arguments
        if isinstance(message, CommandExecution) and not (self.native and name in tools.SHELLS):
            name, arguments = "bash", {"command": message.command}
        request = self._request(message, name, arguments, message.server)
        self._complete(message, request)
        return [request]

    def _request(self, message: Call, name: str, arguments: Any, server: str | None) -> _Request:
        fields: dict[str, Any] = {"type": "function"}
        if isinstance(arguments, str):
            fields["type"] = "custom"
        if server is not None:
            fields |= {"mcpServerName": server, "mcpToolName": name}
        wire = tools.wire_name(name, server) if server or not self.native else name
        given = {} if arguments is None else arguments
        call_id = self._call_id(message, "custom_" if fields["type"] == "custom" else "")
        return _Request(call_id, wire or "unknown", given, **fields)

    def _call_id(self, message: Call, prefix: str) -> str:
        """Return the call's own id where every provider takes it, else a derived one.

        By the prefix ``custom_`` the CLI knows a call of free text: without it the result
        goes to the Responses wire as one of another kind of call, which has none then.
        """
        own = (message.external_id or "").removeprefix("custom_")
        own = own and prefix + own
        call_id = own if _CALL_ID.fullmatch(own) else f"{prefix}call_{derive(message.id)[:23]}"
        count = 1
        while call_id in self._calls:
            count += 1
            call_id = f"{prefix}call_{derive(message.id, count)[:23]}"
        self._calls.add(call_id)
        return call_id

    def _complete(self, message: Call, request: _Request) -> None:
        """Say what came of a call, in the words and fields of the newest release."""
        complete = request.complete
        text = self._result_text(message)
        if isinstance(message, CommandExecution):
            self._complete_command(message, request, text)
            return
        failure = _failure(message, text)
        if failure is not None:
            if message.status in {"unresolved", "cancelled"}:
                self._lose("call-closed", message, message.status)
            complete |= failure
            return
        result: dict[str, Any] = {"content": text}
        binaries: list[dict[str, Any]] = []
        for part in message.output or ():
            if isinstance(part, Structured) and self.native:
                result["structuredContent"] = part.value
            elif isinstance(part, Asset) and (binary := self._result_binary(part)) is not None:
                binaries.append(binary)
        if binaries:
            result["binaryResultsForLlm"] = binaries
        complete |= {"success": True, "result": result}

    def _complete_command(self, command: CommandExecution, request: _Request, text: str) -> None:
        complete = request.complete
        if command.name == tools.USER_SHELL and self.native and command.exit_code:
            complete |= {"success": False, "error": {"message": text}}
            complete["shellExecution"] = {"exitCode": command.exit_code}
            return
        failure = None if command.exit_code is not None else _failure(command, text)
        if failure is not None:
            if command.status in {"unresolved", "cancelled"}:
                self._lose("call-closed", command, command.status)
            complete |= failure
            return
        shell = self._shell(request.arguments)
        if command.output_extent == "elsewhere":
            content = text
        else:
            content = tools.command_text(text, command.exit_code, shell, command.background_id)
        complete |= {"success": True, "result": {"content": content}}
        told_by_text = self.native and command.exit_code_source == "text"
        if command.exit_code is not None and not told_by_text:
            complete["shellExecution"] = {"exitCode": command.exit_code}

    def _shell(self, arguments: Any) -> str:
        named: Any = arguments.get("shellId") if isinstance(arguments, Mapping) else None
        if isinstance(named, str) and named and not re.search(r"[\n<>]", named):
            return named
        self._shells += 1
        return str(self._shells - 1)

    def _result_text(self, message: Call) -> str:
        """Return a result's text, each part that has no form here as words."""
        kept: list[Any] = []
        for part in message.output or ():
            if isinstance(part, Structured) and self.native:
                continue
            if isinstance(part, Asset) and (part.data is not None or self.native):
                continue
            kept.append(part)
        for loss in part_losses(tuple(kept)):
            self._lose(loss, message)
        return content_text(kept)

    def _result_binary(self, asset: Asset) -> dict[str, Any] | None:
        fields = self._binary(asset)
        if not fields:
            return None
        kind = "image" if fields["mimeType"].startswith("image/") else "resource"
        named = {"description": asset.name} if asset.name else {}
        return {"type": kind, **fields, **named}

    def _file_requests(self, message: FileChange) -> list[_Request]:
        """Return a foreign change as calls of Copilot's own editors; none if any is not whole."""
        calls = [_editor_call(edit) for edit in message.changes]
        if not calls or any(call is None for call in calls):
            return []
        requests: list[_Request] = []
        for number, (edit, call) in enumerate(zip(message.changes, calls, strict=True)):
            assert call is not None
            request = self._request(message, call[0], call[1], None)
            self._complete(message, request)
            result = request.complete.get("result")
            if result is not None:
                if number > 0 or not result["content"]:
                    result["content"] = call[2]
                kind = "create" if edit.operation == "add" else "edit"
                request.complete["fileEdits"] = [{"path": edit.path, "kind": kind}]
            requests.append(request)
        return requests

    def _write_start(
        self,
        call: Call,
        request: _Request,
        turn_fields: Mapping[str, str],
        model: str | None,
    ) -> None:
        data: dict[str, Any] = {
            "toolCallId": request.id,
            "toolName": request.name,
            "arguments": request.arguments,
            **turn_fields,
        }
        if self.native and model is not None:
            data["model"] = model
        data |= {name: value for name, value in request.fields.items() if name != "type"}
        self._emit("tool.execution_start", data, call, own=False)
        if isinstance(call, SubAgent) and call.agent_id:
            self._emit(
                "subagent.started",
                {
                    "toolCallId": request.id,
                    "agentName": call.agent_type or "task",
                    "agentDisplayName": call.agent_type or "task",
                    "agentDescription": call.description or "",
                    "executionMode": "background" if call.background else "sync",
                },
                call,
                own=False,
                agent=call.agent_id,
            )

    def _write_complete(self, call: Call, request: _Request) -> None:
        response = _recorded_response(call, request) if self.native else None
        if response is not None:
            fields = {
                "requestId": self._uuid("response", request.id),
                "toolCallId": request.id,
                "actor": "unknown",
                "response": response,
            }
            self._emit("human_response.recorded", fields, call, own=False, timed=False)
        if call.ended_at is not None:
            self._tick(call.ended_at)
        self._emit(
            "tool.execution_complete",
            {"toolCallId": request.id, **request.complete},
            call,
            own=False,
            timed=False,
        )

    def _close_sub_agent(self, call: SubAgent, request: _Request) -> None:
        """Write a subagent's report, after what its thread did."""
        failed = request.complete.get("success") is False
        data: dict[str, Any] = {
            "toolCallId": request.id,
            "agentName": call.agent_type or "task",
            "agentDisplayName": call.agent_type or "task",
        }
        if failed:
            data["error"] = request.complete["error"]["message"]
        event = "subagent.failed" if failed else "subagent.completed"
        self._emit(event, data, call, own=False, timed=False, agent=call.agent_id)
        self._write_complete(call, request)

    def _user_shell(self, call: Call, request: _Request) -> None:
        """Write a command that the person ran themselves: no answer of the model holds it."""
        self._flush(call.agent)
        fields = {"toolCallId": request.id, "toolName": request.name}
        self._emit("tool.user_requested", fields | {"arguments": request.arguments}, call)
        request.complete["isUserRequested"] = True
        self._write_complete(call, request)

    # What only this store records.

    def _compaction(self, message: CompactBoundary) -> None:
        self._flush(message.agent)
        data: dict[str, Any] = {
            "success": True,
            "summaryContent": content_text(message.summary),
        }
        if message.preserved:
            data["compactionAttemptId"] = self._uuid("compaction", message.id)
        if trigger := _detail(message):
            data["trigger"] = trigger
        for name, count in (
            ("preCompactionTokens", message.pre_tokens),
            ("postCompactionTokens", message.post_tokens),
        ):
            if count is not None:
                data[name] = count
        self._emit("session.compaction_complete", data, message)

    def _permission(self, message: PermissionRequest) -> None:
        answer = self._answer
        if answer is not None and any(call.id == message.caller for call, _ in answer.calls):
            answer.permissions.append(message)
            return
        self._flush(message.agent)
        self._write_permission(message)

    def _write_permission(self, message: PermissionRequest) -> None:
        request_id = message.request_id or self._uuid("permission", message.id)
        asked = dict(message.arguments) if isinstance(message.arguments, Mapping) else {}
        self._emit(
            "permission.requested", {"requestId": request_id, "permissionRequest": asked}, message
        )
        if message.status == "unresolved":
            return
        kind = _detail(message) or ("approved" if message.decision == "allowed" else "denied")
        data: dict[str, Any] = {"requestId": request_id, "result": {"kind": kind}}
        if isinstance(asked.get("toolCallId"), str):
            data["toolCallId"] = asked["toolCallId"]
        if message.decided_by:
            data["decisionSource"] = message.decided_by
        self._emit("permission.completed", data, message, own=False)

    # Events.

    def _emit(
        self,
        type_: str,
        data: dict[str, Any],
        message: Message | None = None,
        *,
        own: bool = True,
        timed: bool = True,
        agent: str | None = None,
    ) -> None:
        """Add an event; ``own`` if its id may be the message's own record's."""
        if message is not None and timed:
            self._tick(message.at)
            if message.at is None:
                self._lose("time-moved", None, "some messages have no time of their own")
        event_id = self._event_id(message if own else None)
        agent = agent or (message.agent if message is not None else None)
        record: dict[str, Any] = {"type": type_, "data": data}
        if agent is not None:
            record["agentId"] = agent
            caller = self._agents.get(agent)
            if caller is not None and type_.startswith(("assistant.", "tool.")):
                data["parentToolCallId"] = caller
        record |= {
            "id": event_id,
            "timestamp": _stamp(self._clock),
            "parentId": self._events[-1]["id"] if self._events else None,
        }
        if has_lone_surrogate(record):
            self._lose("replacement-character", message)
            record = scrub_value(record)
        self._events.append(record)

    def _tick(self, at: datetime | None) -> None:
        """Move the clock to a message's time; it never goes back."""
        if at is None:
            return
        if at < self._clock:
            if _stamp(at) != _stamp(self._clock):
                self._lose("time-moved", None, "some messages were recorded out of order")
            return
        self._clock = at

    def _event_id(self, message: Message | None) -> str:
        own = message.external_id if message is not None and self.native else None
        if own is not None and _UUID.fullmatch(own) and own not in self._used:
            self._used.add(own)
            return own
        made = self._uuid("event", len(self._events))
        self._used.add(made)
        return made

    def _uuid(self, *parts: str | int) -> str:
        return derive("GithubCopilotCli", self.session_id, *parts)

    # Losses.

    def _lose(self, loss: LossId, message: Message | None, why: str = "") -> None:
        key = (loss, why if message is None else message.id)
        if key not in self._said:
            self._said.add(key)
            self.losses.append(
                Loss(loss=loss, message=None if message is None else message.id, why=why)
            )

    def _session_losses(self, message: Message) -> None:
        """Say once for the session what no foreign message keeps."""
        if self.native:
            return
        if message.usage is not None:
            self._lose("usage-dropped", None)
        if message.model is not None:
            self._lose("model-dropped", None)
        if isinstance(message, Call) and message.duration_ms is not None:
            self._lose("duration-dropped", None)
        if isinstance(message, CommandExecution) and message.cwd not in {None, self.cwd}:
            self._lose("cwd-dropped", message)


def _request_fields(request: _Request) -> dict[str, Any]:
    return {
        "toolCallId": request.id,
        "name": request.name,
        "arguments": request.arguments,
        **request.fields,
    }


def _failure(message: Call, text: str) -> dict[str, Any] | None:
    """Return how a call is said to have failed, or None if it did not."""
    words = message.error if message.error is not None else text
    match message.status:
        case "declined":
            return {"success": False, "error": {"message": words or _DECLINED, "code": "denied"}}
        case "failed":
            return {"success": False, "error": {"message": words or _FAILED, "code": "failure"}}
        case "unresolved" | "cancelled" if message.output is None:
            said = words or _INTERRUPTED
            return {"success": False, "error": {"message": said, "code": "failure"}}
        case _ if message.error is not None:
            return {"success": False, "error": {"message": words, "code": "failure"}}
        case _:
            return None


def _editor_call(edit: FileEdit) -> tuple[str, dict[str, Any], str] | None:
    """Return a change as a call of ``create`` or ``edit`` with its result, or None."""
    if edit.operation == "add" and edit.after is not None:
        arguments = {"path": edit.path, "file_text": edit.after}
        return "create", arguments, f"Created file {edit.path} with {len(edit.after)} characters"
    if edit.operation == "update" and edit.before is not None and edit.after is not None:
        arguments = {"path": edit.path, "old_str": edit.before, "new_str": edit.after}
        return "edit", arguments, f"File {edit.path} updated with changes."
    return None


def _thought_fields(content: Content) -> dict[str, Any]:
    """Return a thought of this same store in the fields and blocks it was recorded in."""
    provider = next((p.provider for p in content if isinstance(p, Opaque) and p.provider), None)
    text = "\n\n".join(part.text for part in content if isinstance(part, Text))
    fields: dict[str, Any] = {"reasoningText": text} if text else {}
    for part in content:
        if isinstance(part, Opaque) and part.form == "signature":
            fields.setdefault("reasoningOpaque", part.data)
        elif isinstance(part, Opaque) and part.form == "encrypted":
            fields.setdefault("encryptedContent", part.data)
    if provider is not None:
        fields["reasoningBlocks"] = {
            "provider": provider,
            "blocks": list(_thought_blocks(content, provider)),
        }
    return fields


def _thought_blocks(content: Content, provider: str) -> Iterator[dict[str, Any]]:
    if provider.startswith("openai"):
        yield from _summary_blocks(content)
        return
    thinking: str | None = None
    for part in content:
        match part:
            case Text():
                if thinking is not None:
                    yield {"type": "thinking", "thinking": thinking}
                thinking = part.text
            case Opaque() if part.form == "signature":
                yield {"type": "thinking", "thinking": thinking or "", "signature": part.data}
                thinking = None
            case Opaque() if part.form == "redacted":
                yield {"type": "redacted_thinking", "data": part.data}
            case Structured() if isinstance(part.value, Mapping):
                yield dict(part.value)
            case _:
                pass
    if thinking is not None:
        yield {"type": "thinking", "thinking": thinking}


def _summary_blocks(content: Content) -> Iterator[dict[str, Any]]:
    block: dict[str, Any] = {"type": "reasoning", "summary": []}
    for part in content:
        if isinstance(part, Text) and ("id" in block or "encrypted_content" in block):
            yield block
            block = {"type": "reasoning", "summary": []}
        match part:
            case Text():
                block["summary"].append({"type": "summary_text", "text": part.text})
            case Opaque() if part.form == "signature":
                block["id"] = part.data
            case Opaque() if part.form == "encrypted":
                block["encrypted_content"] = part.data
            case _:
                pass
    yield block


def _recorded_response(call: Call, request: _Request) -> dict[str, Any] | None:
    """Return what the person answered, where the result's text alone does not say it."""
    text = request.complete.get("result", {}).get("content")
    if isinstance(call, UserQuestion):
        if tools.questions(call.arguments, {}, text) == call.questions or not call.questions:
            return None
        asked = call.questions[0]
        return {
            "responseKind": "user_input",
            "question": asked.text,
            "answer": asked.answer or "",
            "wasFreeform": True,
        }
    if isinstance(call, Plan) and call.form == "proposal" and isinstance(call.arguments, Mapping):
        plan = content_text(call.content)
        summary = call.arguments.get("summary")
        if plan == (summary or ""):
            return None
        return {
            "responseKind": "exit_plan_mode",
            "summary": summary if isinstance(summary, str) else "",
            "planContent": plan,
            "actions": [],
            "recommendedAction": "exit_only",
            "approved": call.status == "completed",
        }
    return None


def _preserved_from(transcript: Transcript) -> dict[str, str]:
    """Return, by the first message that a compaction left alone, the boundary's id."""
    return {
        message.preserved[0]: message.id
        for message in transcript.messages
        if isinstance(message, CompactBoundary) and message.preserved
    }


def _ended(call: Call) -> datetime:
    """Return when a call ended, for the order of results; without a time it is the last."""
    return call.ended_at or datetime.max.replace(tzinfo=UTC)


def _detail(message: Message) -> str:
    """Return the word that this store's record had for a message, as the reader keeps it."""
    return (message.provenance or "").partition(":")[2]


def _has(content: Sequence[Any], kind: type) -> bool:
    return any(isinstance(part, kind) for part in content)


def _decoded_length(data: str) -> int:
    return len(data) * 3 // 4 - data[-2:].count("=")


def _stamp(at: datetime) -> str:
    """Return a time in the only form that every release takes: milliseconds and Z."""
    utc = at.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"
