"""A call and what came of it, which stand apart in the file, made one message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, UnsetType

from transcripts.model import (
    AnyMessage,
    CommandExecution,
    Content,
    FileChange,
    Part,
    Plan,
    Status,
    Structured,
    SubAgent,
    Text,
    ToolCall,
    UserQuestion,
    WebSearch,
)
from transcripts.records import jsonlines
from transcripts.stores.copilot import tools
from transcripts.stores.copilot.assets import Assets
from transcripts.stores.copilot.foreign import mapping, mappings, string
from transcripts.stores.copilot.reading.events import Event
from transcripts.stores.copilot.reading.index import Index
from transcripts.stores.copilot.reading.skimming import Asked, Result


class OpenCall:
    """A call whose result may still come.

    ``fields`` are those of its message so far; ``waits`` says that the file holds a result.
    """

    def __init__(self, fields: dict[str, Any], cwd: str | None, *, waits: bool) -> None:
        self.fields = fields
        self.waits = waits
        self.complete: Event | None = None
        self._cwd = cwd

    def add_source(self, event: Event) -> None:
        """Note another record of the call."""
        self.fields["sources"] = (*self.fields["sources"], event.location)

    def message(self, index: Index, assets: Assets) -> AnyMessage:
        """Return the message, with the result if one has come."""
        fields = self.fields
        fields |= _outcome(self, index, assets)
        name: str = fields["name"]
        if fields["server"] is not None:
            return ToolCall(**fields)
        if name in tools.SHELLS:
            return _command(fields, self.complete, index)
        if name in tools.EDITORS:
            edits = tools.file_edits(name, fields["arguments"], self._cwd)
            # This one editor of older releases also shows files.
            if edits or name != "str_replace_editor":
                return FileChange(**fields, changes=edits)
        return _particular(name, fields, index)


def requested(request: Asked, start: Asked) -> dict[str, Any]:
    """Return a call's name, server and arguments from its request, else from its start."""
    written = string(request.name) or string(request.tool_name)
    name, server = tools.own_name(
        written or string(start.tool_name) or "unknown",
        start.mcp_server_name if request.mcp_server_name is UNSET else request.mcp_server_name,
        start.mcp_tool_name if request.mcp_tool_name is UNSET else request.mcp_tool_name,
    )
    arguments: Any = start.arguments if request.arguments is UNSET else request.arguments
    if arguments is UNSET:
        arguments = None
    if isinstance(arguments, str) and request.type != "custom":
        arguments = _parsed(arguments)
    return {"name": name, "server": server, "arguments": arguments}


def _parsed(text: str) -> Any:
    try:
        value: Any = jsonlines.parse_text(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text


# ------------------------------------------------------------------ what came of it


def _outcome(opened: OpenCall, index: Index, assets: Assets) -> dict[str, Any]:
    event = opened.complete
    if event is None:
        aborted = opened.fields["external_id"] in index.aborted
        return {"status": "cancelled" if aborted else "unresolved"}
    data = event.data
    found: dict[str, Any] = {"ended_at": event.at}
    if data.success is False or (data.error is not UNSET and data.result is UNSET):
        error, code = _failure(data.error)
        status: Status = tools.FATES.get(code or "", "failed")
        return found | {"status": status, "error": error}
    output = _result(data.result, assets)
    found |= {"status": "completed", "output": output}
    path = tools.overflow_path(_words(output))
    if path is not None:
        found |= {"output_extent": "elsewhere", "overflow_path": path}
    return found


def _failure(error: Any) -> tuple[str, str | None]:
    if isinstance(error, dict):
        return string(error.get("message")) or "", string(error.get("code"))
    return (error if isinstance(error, str) else ""), None


def _result(result: Result | str | UnsetType | None, assets: Assets) -> Content:
    if isinstance(result, str):
        return (Text(text=result),) if result else ()
    if not isinstance(result, Result):
        return ()
    parts: list[Part] = []
    if (text := string(result.content)) is not None:
        parts.append(Text(text=text))
    if result.structured_content is not None:
        parts.append(Structured(value=result.structured_content))
    parts.extend(assets.part(item) for item in mappings(result.binary_results_for_llm))
    return tuple(parts)


def _words(output: Content) -> str:
    return output[0].text if output and isinstance(output[0], Text) else ""


# ------------------------------------------------------------------ the kinds


def _command(fields: dict[str, Any], complete: Event | None, index: Index) -> CommandExecution:
    arguments: Any = fields["arguments"]
    command = arguments.get("command") if isinstance(arguments, dict) else arguments
    shell = None if complete is None else complete.data.shell_execution
    recorded = mapping(shell).get("exitCode")
    output: Content | None = fields.get("output")
    error: str | None = fields.get("error")
    if output is None and error is not None and isinstance(recorded, int):
        # A command that the person ran themselves: its output stands where errors stand.
        output, fields["error"] = ((Text(text=error),) if error else ()), None
    ending = tools.Ending("")
    if output is not None:
        said = _words(output)
        ending = tools.command_ending(said, recorded)
        shown = (Text(text=ending.output),) if ending.output else ()
        fields["output"] = (*shown, *(output[1:] if said else output))
        if ending.background is not None and complete is not None:
            # That it was started is no end; a later look at the shell tells one.
            code = index.end_of(ending.background, complete.line)
            fields["status"] = "unresolved" if code is None else "completed"
            ending = ending._replace(exit_code=code, source="none" if code is None else "text")
        if ending.exit_code:
            fields["status"] = "failed"
    return CommandExecution(
        **fields,
        command=command if isinstance(command, str) else "",
        exit_code=ending.exit_code,
        exit_code_source=ending.source,
        background_id=ending.background,
    )


def _particular(name: str, fields: dict[str, Any], index: Index) -> AnyMessage:
    """Return a call of one of the tools that are more than a tool."""
    arguments: Any = fields["arguments"]
    given: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
    call: str = fields["external_id"] or ""
    response = index.responses.get(call, {})
    if name == tools.SUB_AGENT:
        return SubAgent(
            **fields,
            agent_id=index.agents.get(call),
            agent_type=string(given.get("agent_type")),
            description=string(given.get("description")),
            prompt=string(given.get("prompt")),
            background=given.get("mode") == "background",
        )
    if name == tools.PLAN:
        plan = string(response.get("planContent")) or string(given.get("summary"))
        return Plan(**fields, form="proposal", content=(Text(text=plan),) if plan else ())
    if name in tools.CHECKLISTS and (items := tools.checklist(arguments)):
        return Plan(**fields, form="checklist", items=items)
    if name == tools.QUESTION:
        answer = _words(fields.get("output") or ()) or None
        if asked := tools.questions(arguments, response, answer):
            return UserQuestion(**fields, questions=asked)
    if name == tools.WEB_SEARCH:
        return WebSearch(**fields, query=string(given.get("query")))
    return ToolCall(**fields)
