"""Calls into a rollout: the call at once, and the lines that close it, to be written later.

A call of Codex's own is written as it was recorded. Another CLI's becomes the tool of the same
meaning, with nothing invented, or is told in words. Every such call is closed: where no result
is known the closing sentence says so, for Codex itself would tell its model "aborted".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transcripts.model import (
    AnyMessage,
    Call,
    CommandExecution,
    FileChange,
    Plan,
    Structured,
    SubAgent,
    ToolCall,
    UserMessage,
    UserQuestion,
    WebSearch,
)
from transcripts.narration import content_text, json_text
from transcripts.stores.codex import patches, tools
from transcripts.stores.codex.writing import items
from transcripts.stores.codex.writing.items import Payload
from transcripts.stores.codex.writing.rollout import Rollout
from transcripts.stores.codex.writing.wording import narrate, sender_of

Closing = list[tuple[str, Payload]]
"""The lines that close a call: kind of record and payload."""


class Calling:
    """The calls of one rollout; ``messages`` are all that it is to hold."""

    def __init__(self, rollout: Rollout, messages: Sequence[AnyMessage]) -> None:
        self._rollout = rollout
        self._messages = messages
        self._call_ids: set[str] = set()

    def _call_id(self, message: Call) -> str:
        wanted = message.external_id
        if not wanted or len(wanted) > items.LONGEST_CALL_ID or wanted in self._call_ids:
            wanted = f"call_{message.id.replace('-', '')[:24]}"
        self._call_ids.add(wanted)
        return wanted

    def call(self, message: Call) -> Closing:
        """Write a call and return the lines that close it."""
        if message.author in ("harness", "hook") and not self._rollout.own:
            self._rollout.lose("provenance-dropped", message, "in Codex only models make calls")
        match message:
            case CommandExecution():
                return self._command(message)
            case FileChange():
                return self._file_change(message)
            case ToolCall():
                return self._tool(message)
            case Plan() if self._rollout.own and message.name == tools.PLAN:
                return self._as_recorded(message)
            case UserQuestion():
                return self._question(message)
            case SubAgent():
                return self._sub_agent(message)
            case WebSearch() if not (message.results or message.output or message.error):
                return self._search(message)
            case _:
                narrate(self._rollout, message)
                return []

    def _begin(self, call: Payload, message: Call) -> Payload:
        turn = message.turn if self._rollout.own else None
        self._rollout.item(call | {k: v for k, v in items.tagged(None, turn, 0).items() if v})
        return call

    def _closed(self, call: Payload, message: Call, result: Any) -> Closing:
        if result is None and self._rollout.own and message.status == "unresolved":
            # Codex's own broken-off call stays as it is: its next request closes it as always.
            return []
        if result is None:
            result = items.closing(message.status)
            self._rollout.lose(
                "call-closed", message, "it has no result, and Codex would say 'aborted'"
            )
        return [("response_item", items.output(call, result))]

    def _plain_result(self, message: Call) -> Any:
        if message.error is not None:
            return message.error
        return None if message.output is None else items.result_parts(message.output)

    def _command(self, message: CommandExecution) -> Closing:
        call_id = self._call_id(message)
        if self.is_inner(message):
            self._rollout.event(items.command_end(message, call_id, self._rollout.cwd))
            return []
        if self._rollout.own and message.arguments is not None:
            call = self._recorded_call(message, call_id)
        else:
            asked = {"cmd": message.command}
            if message.cwd is not None and message.cwd != self._rollout.cwd:
                asked["workdir"] = message.cwd
            call = items.function_call("exec_command", asked, call_id)
        self._begin(call, message)
        self._rollout.lose_parts(message, message.output)
        lines: Closing = []
        self._lose_directory(message)
        told = message.exit_code_source == "field" or message.duration_ms or message.stderr
        # A call in the background has for its result that it was started; its end is an event.
        told = told or message.background_id
        if message.status == "cancelled" and message.error and not tools.failure(message.error):
            return self._closed(call, message, tools.broken_off(message.error))
        if message.error is not None or (told and message.exit_code is not None):
            lines.append(("event_msg", items.command_end(message, call_id, self._rollout.cwd)))
        if message.error is not None:
            return lines + self._closed(call, message, message.error)
        if message.output is None:
            return lines + self._closed(call, message, None)
        shown = items.command_frame(message) + content_text(message.output)
        return lines + self._closed(call, message, shown)

    def _lose_directory(self, message: CommandExecution) -> None:
        if (
            self._rollout.own
            and message.exit_code_source != "field"
            and message.arguments is not None
        ):
            _, workdir = tools.asked_command(message.name, message.arguments)
            left = patches.resolve(workdir, self._rollout.cwd) if workdir else self._rollout.cwd
            if message.cwd not in (None, left):
                self._rollout.lose("cwd-dropped", message, "the session moves to another directory")

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

    def _file_change(self, message: FileChange) -> Closing:
        call_id = self._call_id(message)
        evidence = items.patch_end(message, call_id, message.changes)
        if self.is_inner(message) and evidence is not None:
            self._rollout.event(evidence)
            return []
        recorded = self._rollout.own and message.arguments is not None
        patch = None if recorded else patches.patch_of(message.changes)
        if not recorded and patch is None:
            narrate(self._rollout, message)
            return []
        if said := content_text(message.content):
            self._rollout.answer([{"type": "output_text", "text": said}], message.turn)
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

    def _tool(self, message: ToolCall) -> Closing:
        if message.arguments is None and message.output is not None and not message.server:
            if self._rollout.own and message.external_id is None and message.name:
                result = self._plain_result(message)
                orphan: Payload = {"type": "function_call_output", "name": message.name}
                if message.provenance is not None:
                    orphan["namespace"] = message.provenance
                orphan["output"] = result
                return [("response_item", orphan)]
            if not message.name:
                words = f"(a result whose call is not recorded) {content_text(message.output)}"
                self._rollout.answer([{"type": "output_text", "text": words}], message.turn)
                self._rollout.lose("orphan-result-narrated", message, "no call to put it under")
                return []
        call_id = self._call_id(message)
        if self.is_inner(message):
            viewed = self._viewed_image(message)
            self._rollout.event(
                items.mcp_end(message, call_id)
                if viewed is None
                else items.image_viewed(call_id, viewed)
            )
            return []
        if self._rollout.own and message.name == "tool_search":
            return self._tool_search(message, call_id)
        if (
            self._rollout.own
            and message.name == tools.SCRIPT
            and isinstance(message.arguments, str)
        ):
            return self._script(message, call_id)
        own = self._own_namespace(message)
        namespace = tools.namespace_of(message.server) if message.server else own
        call = items.function_call(message.name, message.arguments, call_id, namespace)
        self._begin(call, message)
        result = self._plain_result(message)
        lines: Closing = []
        if message.server and result is not None:
            lines.append(("event_msg", items.mcp_end(message, call_id)))
        elif message.error is not None:
            lines += self._failed_tool(message, call_id)
        if not message.server:
            self._rollout.lose_parts(message, message.output)
        return lines + self._closed(call, message, result)

    @staticmethod
    def _viewed_image(message: ToolCall) -> str | None:
        """Return the image that a script had opened, of which only that is recorded."""
        asked = message.arguments if isinstance(message.arguments, dict) else {}
        alone = message.name == tools.IMAGE and not message.server and set(asked) == {"path"}
        return asked["path"] if alone and message.output is None else None

    def _own_namespace(self, message: Call) -> str | None:
        """Return the namespace of a tool of Codex's own, as it was recorded."""
        return message.provenance if self._rollout.own else None

    @staticmethod
    def _failed_tool(message: Call, call_id: str) -> Closing:
        """Return the event that says that a call failed, where its words are not Codex's own."""
        if message.error is None or tools.failure(message.error) == message.status:
            return []
        return [("event_msg", items.tool_end(message, call_id))]

    def is_inner(self, message: Call) -> bool:
        """Whether a script of code mode made the call, so that only an event records it."""
        own_id = message.external_id or ""
        return self._rollout.own and message.caller is not None and own_id.startswith("exec-")

    def _tool_search(self, message: ToolCall, call_id: str) -> Closing:
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

    def _script(self, message: ToolCall, call_id: str) -> Closing:
        call = items.function_call(message.name, message.arguments, call_id)
        self._begin(call, message)
        printed = self._plain_result(message)
        if message.error is not None and tools.failure(message.error) == message.status:
            return self._closed(call, message, message.error)
        if not isinstance(printed, str):
            return self._closed(call, message, printed)
        fates = {"completed": "completed", "failed": "failed", "cancelled": "terminated"}
        fate = fates.get(message.status, "running with cell ID 1")
        frame = f"Script {fate}\nWall time 0.0 seconds\nOutput:\n"
        texts = [{"type": "input_text", "text": words} for words in (frame, printed)]
        return self._closed(call, message, texts)

    def _as_recorded(self, message: Call) -> Closing:
        call_id = self._call_id(message)
        call = items.function_call(message.name, message.arguments, call_id)
        self._begin(call, message)
        failed = self._failed_tool(message, call_id)
        return failed + self._closed(call, message, self._plain_result(message))

    def _question(self, message: UserQuestion) -> Closing:
        if self._rollout.own and message.arguments is not None:
            return self._as_recorded(message)
        if not message.questions:
            narrate(self._rollout, message)
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

    def _sub_agent(self, message: SubAgent) -> Closing:
        call_id = self._call_id(message)
        arguments = message.arguments if self._rollout.own else None
        if arguments is None:
            asked = {
                "task_name": message.description,
                "message": message.prompt,
                "agent_type": message.agent_type,
            }
            arguments = {name: value for name, value in asked.items() if value is not None}
        call = items.function_call(tools.SPAWN, arguments, call_id, self._own_namespace(message))
        self._begin(call, message)
        lines: Closing = []
        if message.error is not None and not self._was_launched(message):
            lines += self._failed_tool(message, call_id)
        elif message.agent_id is not None:
            spawned = items.agent_spawned(
                message.agent_id, message.prompt, call_id, self._rollout.session_id
            )
            lines.append(("event_msg", spawned))
        return lines + self._closed(call, message, self._report(message))

    def _was_launched(self, message: SubAgent) -> bool:
        """Whether the call returned a handle at once: what came of the agent is told later."""
        return self._rollout.own and message.background and message.agent_id is not None

    def _report(self, message: SubAgent) -> Any:
        """Return what a spawning call returned: a handle where the report comes elsewhere."""
        if message.agent_id is not None and self._was_launched(message):
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

    def _search(self, message: WebSearch) -> Closing:
        action = message.arguments if self._rollout.own else None
        action = action or {"type": "search", "query": message.query}
        own_id = items.wire_id("ws", message.external_id) if self._rollout.own else None
        status = "failed" if message.status == "failed" else "completed"
        item: Payload = {"type": "web_search_call", "status": status, "action": action}
        self._rollout.item(item | ({"id": own_id} if own_id else {}))
        return []
