"""A transcript into a new rollout that Codex resumes, lists and shows.

The file is written the way releases up to 0.145 do, response items with their event echoes
and without ordinals ("legacy" history): every release from 0.130 to 0.171 reads that, later
ones convert it themselves. The provider is left out, because a release refuses to resume a
session of another provider than the one it is configured for, and takes one that names none.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import UUID

from transcripts.errors import MissingWorkingDirectory, NothingToWrite, UnwritableSession
from transcripts.losses import Loss, LossId
from transcripts.model import (
    AgentMessage,
    AnyMessage,
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
    Plan,
    Reasoning,
    Structured,
    SubAgent,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
    UserQuestion,
    WebSearch,
)
from transcripts.narration import content_text, has_lone_surrogate, json_text, prose, scrub_value
from transcripts.records import jsonlines
from transcripts.records.placing import place_file
from transcripts.serialise import to_builtins
from transcripts.stores.base import WrittenSession
from transcripts.stores.codex import authors, items, layout, patches, tools
from transcripts.stores.codex.drafts import is_recorded
from transcripts.stores.codex.items import Payload
from transcripts.stores.codex.reader import AGENT

RELEASE = "0.171.0"
"""The newest release that the written form was measured with."""

_ORIGINATOR = "codex_cli_rs"
_SUMMARY = "compaction.summary"
_NOTE = "harness.note"
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
    directory = cwd or transcript.cwd
    if not directory:
        raise MissingWorkingDirectory(
            "the transcript does not say which directory it belongs to",
            next_step="give the working directory",
        )
    own = transcript.agent == AGENT
    rollout = _Rollout(transcript, session_id, directory, own=own, now=now)
    rollout.write(
        model=model or (transcript.model if own else None),
        cli_version=cli_version or (transcript.cli_version if own else None) or RELEASE,
        foreign_model=None if own else transcript.model,
    )
    path = layout.target(root, session_id, rollout.created_at)
    place_file(path, jsonlines.encode(rollout.lines))
    return WrittenSession(session_id=session_id, path=path, losses=tuple(rollout.losses))


def _check_id(session_id: str) -> None:
    try:
        canonical = str(UUID(session_id))
    except ValueError:
        canonical = None
    if canonical != session_id:
        raise UnwritableSession(
            f"Codex takes only a UUID as a session id, not {session_id!r}",
            next_step="choose one of the form xxxxxxxx-xxxx-7xxx-xxxx-xxxxxxxxxxxx",
        )


class _Rollout:
    """The lines of one file in the making, the time reached, and what was lost."""

    def __init__(
        self,
        transcript: Transcript,
        session_id: str,
        cwd: str,
        *,
        own: bool,
        now: datetime | None,
    ) -> None:
        self._transcript = transcript
        self._session_id = session_id
        self._cwd = cwd
        self._own = own
        self.lines: list[dict[str, Any]] = []
        self.losses: list[Loss] = []
        self._history: list[Payload] = []
        self._call_ids: set[str] = set()
        self._turn_open: str | None = None
        self._last_answer: str | None = None
        self._tokens: dict[str, int] = {}
        self._model: str | None = None
        self._one_model = False
        self._messages = self._chosen()
        times = [message.at for message in self._messages if message.at is not None]
        started = transcript.created_at if own else None
        first = times[0] if times else started or now or _EPOCH
        self.created_at = min(first, started or first).astimezone(UTC)
        self._time = self.created_at

    def write(self, *, model: str | None, cli_version: str, foreign_model: str | None) -> None:
        """Make all lines."""
        self._one_model = model is not None and model != self._transcript.model
        first = next((one.model for one in self._messages if one.model is not None), None)
        self._open(model if self._one_model or first is None else first, cli_version)
        said = len(self.lines)
        for _, group in groupby(self._messages, key=_answer_of):
            self._say_together(list(group))
        self._end_turn()
        if len(self.lines) == said:
            raise NothingToWrite(
                "no message of the transcript has a form in a Codex session",
                next_step="look at it with `transcripts show`",
            )
        if foreign_model is not None and model is None:
            self._lose("model-dropped", None, "Codex runs models of its own provider")
        if not self._own and any(message.usage for message in self._messages):
            self._lose("usage-dropped", None, "the tokens were counted by another provider")
        if self._transcript.side_stores:
            self._lose("side-store-dropped", None, "what lies beside the transcript stays behind")

    # ------------------------------------------------------------------ what is carried

    def _chosen(self) -> list[AnyMessage]:
        chosen: list[AnyMessage] = []
        flattened: set[str] = set()
        for message in self._transcript.messages:
            if message.agent is not None:
                if message.agent not in flattened:
                    flattened.add(message.agent)
                    self._lose("thread-flattened", message, "an agent's own messages stay behind")
            elif message.superseded_by is not None:
                why = f"superseded by a {message.superseded_by.why}"
                self._lose("superseded-dropped", message, why)
            elif isinstance(message, Error):
                self._lose("withheld-error", message, "a failure of the last provider")
            elif self._is_carried(message):
                chosen.append(message)
        return chosen

    def _is_carried(self, message: AnyMessage) -> bool:
        if self._own:
            return True
        if isinstance(message, UserMessage) and message.author == "harness":
            self._lose("harness-dropped", message, "Codex gives its model a context of its own")
            return False
        if not message.in_context and isinstance(
            message, Call | UserMessage | AgentMessage | Reasoning
        ):
            loss: LossId = "thread-flattened" if message.caller else "superseded-dropped"
            self._lose(loss, message, "the model never saw it")
            return False
        return True

    # ------------------------------------------------------------------ lines

    def _open(self, model: str | None, cli_version: str) -> None:
        meta: Payload = {
            "id": self._session_id,
            "timestamp": _stamp(self.created_at),
            "cwd": self._cwd,
            "originator": _ORIGINATOR,
            "cli_version": cli_version,
            "source": "cli",
        }
        provider = self._sealed_by()
        if provider is not None:
            meta["model_provider"] = provider
        if self._transcript.git_branch is not None:
            meta["git"] = {"branch": self._transcript.git_branch}
        self._line("session_meta", meta)
        if self._transcript.title is not None:
            name = {"thread_id": self._session_id, "thread_name": self._transcript.title}
            self._event({"type": "thread_name_updated", **name})
        if model is not None:
            self._run_by(model)

    def _run_by(self, model: str) -> None:
        self._model = model
        self._line("turn_context", _turn_context(self._cwd, model, self._turn_open))

    def _sealed_by(self) -> str | None:
        """Return the provider to which Codex's own sealed thoughts bind the session."""
        for message in self._messages if self._own else ():
            for part in message.content if isinstance(message, Reasoning) else ():
                if isinstance(part, Opaque) and part.provider is not None:
                    return part.provider
        return None

    def _line(self, kind: str, payload: Payload) -> None:
        clean = scrub_value(payload)
        self.lines.append({"timestamp": _stamp(self._time), "type": kind, "payload": clean})

    def _item(self, payload: Payload) -> None:
        self._history.append(payload)
        self._line("response_item", payload)

    def _event(self, payload: Payload) -> None:
        self._line("event_msg", payload)

    def _at(self, time: datetime | None, message: AnyMessage | None = None) -> None:
        """Go on to a time; times never fall."""
        if time is None:
            return
        if time >= self._time:
            self._time = time.astimezone(UTC)
        elif message is not None:
            self._lose("time-moved", message, "it was recorded after a later message")

    def _lose(self, loss: LossId, message: Message | None, why: str) -> None:
        self.losses.append(Loss(loss=loss, message=message.id if message else None, why=why))

    # ------------------------------------------------------------------ messages

    def _say_together(self, group: list[AnyMessage]) -> None:
        """Write an answer's messages; its calls first, then what came of them, as they ended."""
        closings: list[tuple[Call, list[tuple[str, Payload]]]] = []
        for message in group:
            if has_lone_surrogate(to_builtins(message)):
                self._lose("replacement-character", message, "half a surrogate pair")
            self._turn(message)
            self._at(message.at, message)
            if self._own and not self._one_model and message.model not in (None, self._model):
                self._run_by(message.model or "")
            if isinstance(message, Call):
                lines = self._call(message)
                self._lose_duration(message, lines)
                closings.append((message, lines))
            else:
                self._say(message)
        self._count_tokens(group)
        ended = [message.ended_at for message, _ in closings]
        if None not in ended:
            closings.sort(key=lambda closing: closing[0].ended_at or self._time)
        for message, lines in closings:
            if lines:
                self._at(message.ended_at)
            for kind, payload in lines:
                if kind == "response_item":
                    self._item(payload)
                else:
                    self._line(kind, payload)

    def _lose_duration(self, message: Call, lines: Sequence[tuple[str, Payload]]) -> None:
        written = [payload for _, payload in lines] or [self.lines[-1]["payload"]]
        if message.duration_ms is not None and not any("duration" in one for one in written):
            self._lose("duration-dropped", message, "Codex has no field for it here")

    def _turn(self, message: Message) -> None:
        """End the turn before and begin the message's, where it has one of Codex's own."""
        turn = message.turn if self._own else None
        if turn == self._turn_open:
            return
        self._end_turn()
        if turn is not None:
            self._at(message.at)
            self._event({"type": "task_started", "turn_id": turn, "model_context_window": None})
            self._turn_open = turn

    def _end_turn(self) -> None:
        if self._turn_open is not None:
            last = self._last_answer
            self._event(
                {"type": "task_complete", "turn_id": self._turn_open, "last_agent_message": last}
            )
        self._turn_open = self._last_answer = None

    def _say(self, message: AnyMessage) -> None:
        match message:
            case UserMessage():
                self._user_message(message)
            case AgentMessage():
                self._agent_message(message)
            case Reasoning() if self._own:
                self._reasoning(message)
            case CompactBoundary() if self._own:
                self._compaction(message)
            case Other() if self._own and message.record.startswith("event_msg/"):
                self._other(message)
            case CompactBoundary():
                self._narrate_compaction(message)
            case _:
                self._narrate(message)

    def _user_message(self, message: UserMessage) -> None:
        content = items.parts(message.content, "input_text")
        if not content:
            self._lose("empty-dropped", message, "nothing in it")
            return
        self._lose_parts(message, message.content)
        sender = sender_of(message) if self._own else None
        if sender is not None:
            content = [{"type": "input_text", "text": authors.heading(sender)}, *content]
        typed = message.author == "human" or (message.author == "agent" and self._own)
        human = typed and sender is None
        provenance = message.provenance or ""
        developer = self._own and provenance.split("/")[0] == "developer"
        kinds = self._kinds(message, provenance, developer=developer, human=human)
        passed = items.tagged(kinds, message.turn if self._own else None, len(content))
        role = "developer" if developer else "user"
        own_id = message.external_id if self._own else None
        self._item(items.message(role, content, own_id, **passed))
        if human:
            self._event(items.user_message(content))
        if not self._own and message.provenance is not None:
            self._lose("provenance-dropped", message, "where it came from has no field")

    def _kinds(
        self, message: UserMessage, provenance: str, *, developer: bool, human: bool
    ) -> list[str | None] | None:
        if self._own:
            named = provenance.split("/", 1)[-1] if "/" in provenance else provenance
            if named and named != "developer" and "." in named:
                return list(named.split(","))
            if sender_of(message) is not None:
                return [authors.LETTER]
            shaped = authors.is_by_harness(message.content)
            return None if human or developer or shaped else [_NOTE]
        return None if human or developer else [_NOTE]

    def _agent_message(self, message: AgentMessage) -> None:
        content = items.parts(message.content, "output_text")
        if not content:
            self._lose("empty-dropped", message, "nothing in it")
            return
        self._lose_parts(message, message.content, images=False)
        for part in content:
            if part["type"] == "input_image":
                part.clear()
                part.update({"type": "output_text", "text": "(attached: image)"})
        phase = message.provenance if self._own else None
        self._answer(content, message.external_id if self._own else None, message.turn, phase)

    def _answer(
        self, content: list[Payload], own_id: str | None, turn: str | None, phase: str | None
    ) -> None:
        words = "".join(part["text"] for part in content)
        self._last_answer = words
        self._event(items.agent_message(words, phase))
        passed = items.tagged(None, turn if self._own else None, len(content))
        self._item(items.message("assistant", content, own_id, phase=phase, **passed))

    def _reasoning(self, message: Reasoning) -> None:
        texts = [part.text for part in message.content if isinstance(part, Text)]
        sealed = [part.data for part in message.content if isinstance(part, Opaque)]
        for words in texts:
            self._event({"type": "agent_reasoning", "text": words})
        self._item(items.reasoning(texts, next(iter(sealed), None), message.external_id))

    def _compaction(self, message: CompactBoundary) -> None:
        words = content_text(message.summary)
        history = list(self._history)
        if words:
            summary = [{"type": "input_text", "text": words}]
            history.append(
                items.message("user", summary, None, **items.tagged([_SUMMARY], None, 1))
            )
        sealed = [part.data for part in message.summary or () if isinstance(part, Opaque)]
        history += [{"type": "compaction", "encrypted_content": data} for data in sealed]
        self._line("compacted", {"message": words, "replacement_history": history})
        self._history = history

    def _other(self, message: Other) -> None:
        value = message.value if isinstance(message.value, dict) else {}
        if message.record.startswith("event_msg/item_completed/"):
            ids = {"thread_id": self._session_id, "turn_id": message.turn or ""}
            self._event({"type": "item_completed", **ids, "item": value})
        else:
            self._event(value)

    def _narrate_compaction(self, message: CompactBoundary) -> None:
        words = prose(message) or ""
        content = [{"type": "input_text", "text": words}]
        self._item(items.message("user", content, None, **items.tagged([_SUMMARY], None, 1)))
        self._lose("narrated", message, "what another CLI compacted is told in words")

    def _narrate(self, message: Message) -> None:
        words = prose(message)
        if words is None:
            sealed = isinstance(message, Reasoning) and message.content
            loss: LossId = "reasoning-opaque-dropped" if sealed else "empty-dropped"
            self._lose(loss, message, "nothing in it that can be said")
            return
        self._answer([{"type": "output_text", "text": words}], None, message.turn, None)
        self._lose("narrated", message, f"Codex has no record of its own for this {message.kind}")
        if isinstance(message, Reasoning) and any(
            isinstance(part, Opaque) for part in message.content
        ):
            self._lose("reasoning-opaque-dropped", message, "only its own provider reads it")

    def _lose_parts(
        self, message: AnyMessage, content: Content | None, *, images: bool = True
    ) -> None:
        for part in content or ():
            if isinstance(part, Structured):
                self._lose("structured-as-text", message, "a JSON value became its text")
            elif isinstance(part, Asset) and not (images and items.takes_image(part)):
                self._lose("asset-dropped", message, "Codex takes only the bytes of an image")

    def _count_tokens(self, group: Sequence[AnyMessage]) -> None:
        if not self._own:
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
                    "thread_id": self._session_id,
                    "turn_id": message.turn or "",
                    "session_id": self._session_id,
                    "response_id": message.response,
                }
                self._line("token_usage_record", {**ids, "usage": given})
            self._event(items.token_count(dict(self._tokens), given))

    # ------------------------------------------------------------------ calls

    def _call_id(self, message: Call) -> str:
        wanted = message.external_id
        if not wanted or len(wanted) > items.LONGEST_CALL_ID or wanted in self._call_ids:
            wanted = f"call_{message.id.replace('-', '')[:24]}"
        self._call_ids.add(wanted)
        return wanted

    def _call(self, message: Call) -> list[tuple[str, Payload]]:
        """Write a call and return the lines that close it."""
        match message:
            case CommandExecution():
                return self._command(message)
            case FileChange():
                return self._file_change(message)
            case ToolCall():
                return self._tool(message)
            case Plan() if self._own and message.name == tools.PLAN:
                return self._as_recorded(message)
            case UserQuestion():
                return self._question(message)
            case SubAgent():
                return self._sub_agent(message)
            case WebSearch() if not (message.results or message.output or message.error):
                return self._search(message)
            case _:
                self._narrate(message)
                return []

    def _begin(self, call: Payload, message: Call) -> Payload:
        turn = message.turn if self._own else None
        self._item(call | {k: v for k, v in items.tagged(None, turn, 0).items() if v})
        return call

    def _closed(self, call: Payload, message: Call, result: Any) -> list[tuple[str, Payload]]:
        if result is None:
            result = items.closing(message.status)
            self._lose("call-closed", message, "it has no result, and Codex would say 'aborted'")
        return [("response_item", items.output(call, result))]

    def _plain_result(self, message: Call) -> Any:
        if message.error is not None:
            return message.error
        return None if message.output is None else items.result_parts(message.output)

    def _command(self, message: CommandExecution) -> list[tuple[str, Payload]]:
        call_id = self._call_id(message)
        if self._is_inner(message):
            self._event(items.command_end(message, call_id, self._cwd))
            return []
        if self._own and message.arguments is not None:
            call = self._recorded_call(message, call_id)
        else:
            asked = {"cmd": message.command}
            if message.cwd is not None and message.cwd != self._cwd:
                asked["workdir"] = message.cwd
            call = items.function_call("exec_command", asked, call_id)
        self._begin(call, message)
        self._lose_parts(message, message.output)
        lines: list[tuple[str, Payload]] = []
        self._lose_directory(message)
        told = message.exit_code_source == "field" or message.duration_ms or message.stderr
        if message.error is not None or (told and message.exit_code is not None):
            lines.append(("event_msg", items.command_end(message, call_id, self._cwd)))
        if message.error is not None:
            return lines + self._closed(call, message, message.error)
        if message.output is None:
            return lines + self._closed(call, message, None)
        shown = items.command_frame(message) + content_text(message.output)
        return lines + self._closed(call, message, shown)

    def _lose_directory(self, message: CommandExecution) -> None:
        if self._own and message.exit_code_source != "field" and message.arguments is not None:
            _, workdir = tools.asked_command(message.name, message.arguments)
            left = patches.resolve(workdir, self._cwd) if workdir else self._cwd
            if message.cwd not in (None, left):
                self._lose("cwd-dropped", message, "the session moves to another directory")

    def _recorded_call(self, message: Call, call_id: str) -> Payload:
        """Return a call of Codex's own just as it was recorded."""
        if message.name == "local_shell":
            return {
                "type": "local_shell_call",
                "call_id": call_id,
                "status": "completed",
                "action": message.arguments,
            }
        return items.function_call(message.name, message.arguments, call_id)

    def _file_change(self, message: FileChange) -> list[tuple[str, Payload]]:
        call_id = self._call_id(message)
        evidence = items.patch_end(message, call_id, message.changes)
        if self._is_inner(message) and evidence is not None:
            self._event(evidence)
            return []
        recorded = self._own and message.arguments is not None
        patch = None if recorded else patches.patch_of(message.changes)
        if not recorded and patch is None:
            self._narrate(message)
            return []
        if said := content_text(message.content):
            self._answer([{"type": "output_text", "text": said}], None, message.turn, None)
        call = (
            self._recorded_call(message, call_id)
            if recorded
            else items.function_call(tools.PATCH, patch, call_id)
        )
        self._begin(call, message)
        happened = message.status in ("completed", "failed")
        lines = [("event_msg", evidence)] if evidence is not None and happened else []
        if message.error is not None:
            known = tools.failure(message.error) is not None
            frame = "" if known else items.patch_frame(1)
            return lines + self._closed(call, message, frame + message.error)
        if message.output is None:
            return lines + self._closed(call, message, None)
        shown = items.patch_frame(0) + content_text(message.output)
        return lines + self._closed(call, message, shown)

    def _tool(self, message: ToolCall) -> list[tuple[str, Payload]]:
        if message.arguments is None and message.output is not None and not message.server:
            if self._own and message.external_id is None and message.name:
                result = self._plain_result(message)
                orphan: Payload = {"type": "function_call_output", "name": message.name}
                if message.provenance is not None:
                    orphan["namespace"] = message.provenance
                orphan["output"] = result
                return [("response_item", orphan)]
            if not message.name:
                words = f"(a result whose call is not recorded) {content_text(message.output)}"
                self._answer([{"type": "output_text", "text": words}], None, message.turn, None)
                self._lose("orphan-result-narrated", message, "no call to put it under")
                return []
        call_id = self._call_id(message)
        if self._is_inner(message):
            self._event(items.mcp_end(message, call_id))
            return []
        if self._own and message.name == "tool_search":
            return self._tool_search(message, call_id)
        if self._own and message.name == tools.SCRIPT and isinstance(message.arguments, str):
            return self._script(message, call_id)
        own = self._own_namespace(message)
        namespace = tools.namespace_of(message.server) if message.server else own
        call = items.function_call(message.name, message.arguments, call_id, namespace)
        self._begin(call, message)
        result = self._plain_result(message)
        lines: list[tuple[str, Payload]] = []
        if message.server and result is not None:
            lines.append(("event_msg", items.mcp_end(message, call_id)))
        elif message.error is not None:
            lines += self._failed_tool(message, call_id)
        if not message.server:
            self._lose_parts(message, message.output)
        return lines + self._closed(call, message, result)

    def _own_namespace(self, message: Call) -> str | None:
        """Return the namespace of a tool of Codex's own, as it was recorded."""
        return message.provenance if self._own else None

    @staticmethod
    def _failed_tool(message: Call, call_id: str) -> list[tuple[str, Payload]]:
        """Return the event that says that a call failed, where its words are not Codex's own."""
        if message.error is None or tools.failure(message.error) == message.status:
            return []
        return [("event_msg", items.tool_end(message, call_id))]

    def _is_inner(self, message: Call) -> bool:
        """Whether a script of code mode made the call, so that only an event records it."""
        own_id = message.external_id or ""
        return self._own and message.caller is not None and own_id.startswith("exec-")

    def _tool_search(self, message: ToolCall, call_id: str) -> list[tuple[str, Payload]]:
        call = {
            "type": "tool_search_call",
            "call_id": call_id,
            "status": "completed",
            "execution": "client",
            "arguments": message.arguments,
        }
        self._begin(call, message)
        found = [part.value for part in message.output or () if isinstance(part, Structured)]
        closed = {
            "type": "tool_search_output",
            "call_id": call_id,
            "status": "completed",
            "execution": "client",
            "tools": found[0] if found else [],
        }
        return [("response_item", closed)]

    def _script(self, message: ToolCall, call_id: str) -> list[tuple[str, Payload]]:
        call = items.function_call(message.name, message.arguments, call_id)
        self._begin(call, message)
        printed = self._plain_result(message)
        if not isinstance(printed, str):
            return self._closed(call, message, printed)
        fates = {"completed": "completed", "failed": "failed", "cancelled": "terminated"}
        fate = fates.get(message.status, "running with cell ID 1")
        frame = f"Script {fate}\nWall time 0.0 seconds\nOutput:\n"
        texts = [{"type": "input_text", "text": words} for words in (frame, printed)]
        return self._closed(call, message, texts)

    def _as_recorded(self, message: Call) -> list[tuple[str, Payload]]:
        call_id = self._call_id(message)
        call = items.function_call(message.name, message.arguments, call_id)
        self._begin(call, message)
        failed = self._failed_tool(message, call_id)
        return failed + self._closed(call, message, self._plain_result(message))

    def _question(self, message: UserQuestion) -> list[tuple[str, Payload]]:
        if self._own and message.arguments is not None:
            return self._as_recorded(message)
        if not message.questions:
            self._narrate(message)
            return []
        asked = [
            {
                "id": f"q{number}",
                "header": "",
                "question": question.text,
                "options": [{"label": one, "description": ""} for one in question.options],
            }
            for number, question in enumerate(message.questions, 1)
        ]
        answers = {
            f"q{number}": {"answers": [question.answer]}
            for number, question in enumerate(message.questions, 1)
            if question.answer is not None
        }
        call = items.function_call(tools.QUESTION, {"questions": asked}, self._call_id(message))
        self._begin(call, message)
        if message.error is not None:
            failed = self._failed_tool(message, call["call_id"])
            return failed + self._closed(call, message, message.error)
        return self._closed(call, message, json_text({"answers": answers}) if answers else None)

    def _sub_agent(self, message: SubAgent) -> list[tuple[str, Payload]]:
        call_id = self._call_id(message)
        arguments = message.arguments if self._own else None
        if arguments is None:
            asked = {
                "task_name": message.description,
                "message": message.prompt,
                "agent_type": message.agent_type,
            }
            arguments = {name: value for name, value in asked.items() if value is not None}
        call = items.function_call(tools.SPAWN, arguments, call_id, self._own_namespace(message))
        self._begin(call, message)
        lines: list[tuple[str, Payload]] = []
        if message.error is not None:
            lines += self._failed_tool(message, call_id)
        elif message.agent_id is not None:
            spawned = items.agent_spawned(
                message.agent_id, message.prompt, call_id, self._session_id
            )
            lines.append(("event_msg", spawned))
        return lines + self._closed(call, message, self._report(message))

    def _report(self, message: SubAgent) -> Any:
        """Return what a spawning call returned: a handle where the report comes elsewhere."""
        if self._own and message.background and message.agent_id and message.error is None:
            for one in self._messages:
                sender = sender_of(one) if isinstance(one, UserMessage) else None
                if sender is not None and sender.rsplit("/", 1)[-1] == message.description:
                    return json_text({"task_name": sender})
            told = (
                content_text(one.content if isinstance(one, UserMessage) else one.output)
                for one in self._messages
                if isinstance(one, UserMessage | ToolCall)
            )
            if message.output is None or any(message.agent_id in words for words in told):
                return json_text({"agent_id": message.agent_id, "nickname": None})
        return self._plain_result(message)

    def _search(self, message: WebSearch) -> list[tuple[str, Payload]]:
        action = message.arguments if self._own else None
        action = action or {"type": "search", "query": message.query}
        own_id = message.external_id if self._own else None
        self._event(
            {
                "type": "web_search_end",
                "call_id": own_id or self._call_id(message),
                "query": message.query or "",
                "action": action,
            }
        )
        status = "failed" if message.status == "failed" else "completed"
        item: Payload = {"type": "web_search_call", "status": status, "action": action}
        self._item(item | ({"id": own_id} if own_id else {}))
        return []


def _answer_of(message: AnyMessage) -> tuple[str, str]:
    """Messages with equal keys that follow each other are one answer of the model."""
    if message.response is not None and message.author == "model":
        return ("response", message.response)
    return ("message", message.id)


def sender_of(message: UserMessage) -> str | None:
    """Return the agent that wrote the message to another; None if it is no such letter."""
    written, _, sender = (message.provenance or "").partition("/")
    return sender if written == "agent_message" else None


def _stamp(time: datetime) -> str:
    precise = time.microsecond % 1000 != 0
    return time.isoformat(timespec="microseconds" if precise else "milliseconds").replace(
        "+00:00", "Z"
    )


def _turn_context(cwd: str, model: str, turn: str | None) -> Payload:
    return {
        **({"turn_id": turn} if turn else {}),
        "cwd": cwd,
        "approval_policy": "on-request",
        "sandbox_policy": {"type": "read-only"},
        "model": model,
        "summary": "auto",
    }
