"""A call as it is written: what was requested, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from transcripts.ids import derive
from transcripts.model import (
    Asset,
    Call,
    CommandExecution,
    FileChange,
    FileEdit,
    Message,
    Plan,
    Structured,
    UserQuestion,
)
from transcripts.narration import content_text
from transcripts.stores.copilot import tools
from transcripts.stores.copilot.assets import kind
from transcripts.stores.copilot.writing.eventlog import EventLog
from transcripts.stores.copilot.writing.ledger import Ledger

# What every provider takes as the id of a call.
_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FREE_TEXT = "custom_"

_INTERRUPTED = "No result of this call is recorded: it was interrupted."
_DECLINED = "This call was declined."
_FAILED = "This call failed."


class Request:
    """One request of a tool; ``complete`` are the fields of its completion.

    They are empty where the call was broken off: Copilot leaves it without a result, and tells
    the next request that it was interrupted.
    """

    def __init__(self, call_id: str, name: str, arguments: Any, fields: dict[str, Any]) -> None:
        self.id = call_id
        self.name = name
        self.arguments = arguments
        self.fields = fields
        self.complete: dict[str, Any] = {}

    def requested(self) -> dict[str, Any]:
        """Return the request as an answer holds it."""
        return {
            "toolCallId": self.id,
            "name": self.name,
            "arguments": self.arguments,
            **self.fields,
        }

    def started(self) -> dict[str, Any]:
        """Return the fields of ``tool.execution_start``."""
        served = {name: value for name, value in self.fields.items() if name != "type"}
        return {
            "toolCallId": self.id,
            "toolName": self.name,
            "arguments": self.arguments,
            **served,
        }


class Requests:
    """Makes the requests of one session: their ids are told apart, shells are counted."""

    def __init__(self, log: EventLog, ledger: Ledger) -> None:
        self._log = log
        self._ledger = ledger
        self._native = log.native
        self._ids: set[str] = set()
        self._shells = 0

    def of(self, message: Call) -> Request:
        """Return a call as the request that it was, a command as one of Copilot's own shell."""
        name, arguments = message.name, message.arguments
        if isinstance(message, CommandExecution):
            if not self._native or name not in tools.SHELLS:
                name, arguments = "bash", {"command": message.command}
            request = self._request(message, name, arguments)
            self._complete_command(message, request)
        else:
            request = self._request(message, name, arguments)
            self._complete(message, request)
        return request

    def of_edits(self, message: FileChange) -> list[Request]:
        """Return a foreign change as calls of Copilot's own editors; none if any is not whole."""
        calls = [call for edit in message.changes if (call := _editor_call(edit)) is not None]
        if not calls or len(calls) < len(message.changes):
            return []
        requests: list[Request] = []
        for edit, (name, arguments, words) in zip(message.changes, calls, strict=True):
            request = self._request(message, name, arguments, server=False)
            self._complete(message, request)
            result = request.complete.get("result")
            if result is not None:
                if requests or not result["content"]:
                    result["content"] = words
                edited = "create" if edit.operation == "add" else "edit"
                request.complete["fileEdits"] = [{"path": edit.path, "kind": edited}]
            requests.append(request)
        return requests

    def _request(self, message: Call, name: str, arguments: Any, *, server: bool = True) -> Request:
        fields: dict[str, Any] = {"type": "custom" if isinstance(arguments, str) else "function"}
        of_server = message.server if server else None
        if of_server is not None:
            fields |= {"mcpServerName": of_server, "mcpToolName": name}
        if of_server is not None or not self._native:
            name = tools.wire_name(name, of_server)
        call_id = self._id(message, _FREE_TEXT if isinstance(arguments, str) else "")
        return Request(call_id, name or "unknown", {} if arguments is None else arguments, fields)

    def _id(self, message: Call, prefix: str) -> str:
        """Return the call's own id where every provider takes it, else a derived one.

        By its prefix the CLI knows a call of free text: without it the result goes to the
        Responses wire as that of another kind of call, which has none then.
        """
        own = (message.external_id or "").removeprefix(_FREE_TEXT)
        own = own and prefix + own
        call_id = own if _CALL_ID.fullmatch(own) else f"{prefix}call_{derive(message.id)[:23]}"
        count = 1
        while call_id in self._ids:
            count += 1
            call_id = f"{prefix}call_{derive(message.id, count)[:23]}"
        self._ids.add(call_id)
        return call_id

    # What came of it.

    def _complete(self, message: Call, request: Request) -> None:
        if is_broken_off(message):
            return
        text = self._result_text(message)
        failure = self._failure(message, text)
        if failure is not None:
            request.complete |= failure
            return
        if message.output is None:
            # What came of it is not recorded; every call gets a result here.
            self._ledger.lose("call-closed", message, message.status)
        result: dict[str, Any] = {"content": text}
        binaries: list[dict[str, Any]] = []
        for part in message.output or ():
            if isinstance(part, Structured) and self._native:
                result["structuredContent"] = part.value
            elif isinstance(part, Asset) and (held := self._log.store(part)):
                named = {"description": part.name} if part.name else {}
                binaries.append({"type": kind(held["mimeType"]), **held, **named})
        if binaries:
            result["binaryResultsForLlm"] = binaries
        request.complete |= {"success": True, "result": result}

    def _complete_command(self, command: CommandExecution, request: Request) -> None:
        if is_broken_off(command):
            return
        text = self._result_text(command)
        complete = request.complete
        if self._native and command.name == tools.USER_SHELL and command.exit_code:
            complete |= {"success": False, "error": {"message": text}}
            complete["shellExecution"] = {"exitCode": command.exit_code}
            return
        failure = None if command.exit_code is not None else self._failure(command, text)
        if failure is not None:
            complete |= failure
            return
        shell = self._shell(request.arguments)
        if command.output_extent != "elsewhere":
            # The CLI's own record tells the end of what it began where somebody looked at it.
            told = self._native and command.background_id is not None
            code = None if told else command.exit_code
            text = tools.command_text(text, code, shell, command.background_id)
        complete |= {"success": True, "result": {"content": text}}
        told_by_text = self._native and command.exit_code_source == "text"
        if command.exit_code is not None and not told_by_text:
            complete["shellExecution"] = {"exitCode": command.exit_code}

    def _shell(self, arguments: Any) -> str:
        named: Any = arguments.get("shellId") if isinstance(arguments, Mapping) else None
        if isinstance(named, str) and named and not re.search(r"[\n<>]", named):
            return named
        self._shells += 1
        return str(self._shells - 1)

    def _result_text(self, message: Call) -> str:
        """Return a result's words, and those for every part that has no form here."""
        said: list[Any] = []
        for part in message.output or ():
            if isinstance(part, Structured) and self._native:
                continue
            if isinstance(part, Asset) and (part.data is not None or self._native):
                continue
            said.append(part)
        self._ledger.lose_parts(tuple(said), message)
        return content_text(said)

    def _failure(self, message: Call, text: str) -> dict[str, Any] | None:
        """Return how a call is said to have failed, or None if it did not: none stays open."""
        words = message.error if message.error is not None else text
        code = "failure"
        match message.status:
            case "declined":
                words, code = words or _DECLINED, "denied"
            case "cancelled" if message.error is not None:
                # What another CLI says of the end is shown to the model as Copilot shows no
                # more than that there was one.
                code = tools.CANCELLED
            case "failed":
                words = words or _FAILED
            case "unresolved" if message.output is None:
                words = words or _INTERRUPTED
                self._ledger.lose("call-closed", message, message.status)
            case _ if message.error is None:
                return None
            case _:
                pass
        return {"success": False, "error": {"message": words, "code": code}}


def is_broken_off(call: Message) -> bool:
    """Whether a call ended with its turn and nothing more is known of it."""
    if not isinstance(call, Call) or call.status != "cancelled":
        return False
    return call.error is None and call.output is None


def _editor_call(edit: FileEdit) -> tuple[str, dict[str, Any], str] | None:
    """Return a change as a call of ``create`` or ``edit`` with its result, or None."""
    if edit.operation == "add" and edit.after is not None:
        arguments = {"path": edit.path, "file_text": edit.after}
        return "create", arguments, f"Created file {edit.path} with {len(edit.after)} characters"
    if edit.operation == "update" and edit.before is not None and edit.after is not None:
        arguments = {"path": edit.path, "old_str": edit.before, "new_str": edit.after}
        return "edit", arguments, f"File {edit.path} updated with changes."
    return None


def human_response(call: Call, request: Request) -> dict[str, Any] | None:
    """Return what the person answered, where the result's text alone does not say it."""
    if isinstance(call, UserQuestion) and call.questions:
        text = request.complete.get("result", {}).get("content")
        if tools.questions(call.arguments, {}, text) == call.questions:
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
