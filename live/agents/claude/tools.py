"""The scenarios' verbs as Claude Code's tools, by release, and what a reader must find of them.

Where a name or a wording changed, the release that changed it is named: the recordings of
two releases of one scenario differ there and nowhere else.
"""

from __future__ import annotations

from typing import Any

from live.agents.base import Expected, Translation
from live.agents.claude import verbs
from live.agents.claude.traits import Traits, traits
from live.mcp_server import SERVER
from live.model.play import WireCall
from live.model.script import (
    Call,
    Command,
    Create,
    Delete,
    Mcp,
    Read,
    Rename,
    Scenario,
    Spawn,
    Todo,
    TodoItem,
    UnknownTool,
    Update,
)

_NO_FAILING_CODE = "that a command failed is recorded, not with which exit code"
_FAILED_SILENTLY = "Error"
_UNSAID = "Error calling tool {}: undefined"
"""All that an old release shows when an MCP tool fails: it looks for the tool's words where they
are not."""


NAMES = (
    *("Bash", "Read", "Write", "Edit", "MultiEdit", "TodoWrite", "Task"),
    *(f"mcp__{SERVER}__{tool}" for tool in ("echo", "boom")),
)
"""What a release has to be told it may use, where it cannot be told that it may use all."""


def calls(scenario: Scenario, verb: type[Call]) -> bool:
    """Return whether the main thread of a scenario makes calls of a verb."""
    return any(
        isinstance(call, verb)
        for turn in scenario.turns
        for response in turn.responses
        for call in response.calls
    )


def translate(call: Call, workspace: str, version: str) -> list[Translation]:
    """Return the native calls of one scripted call."""
    has = traits(version)
    match call:
        case Command():
            return [_command(call, has)]
        case Read():
            return [_read(call, workspace)]
        case Create():
            return [_create(call, workspace)]
        case Update():
            return [_update(call, workspace)]
        case Delete():
            return [_command(Command(id=call.id, run=f"rm {call.path}"), has)]
        case Rename():
            return [_command(Command(id=call.id, run=f"mv {call.path} {call.to}"), has)]
        case UnknownTool():
            return [_unknown(call)]
        case Mcp():
            return [_mcp(call, has)]
        case Todo():
            return _tasks(call) if has.tasks else [_todo(call, has)]
        case Spawn():
            return [_spawn(call, has.agent_tool)]
        case _:
            return [verbs.translate(call, workspace)]


def _use(call_id: str, name: str, arguments: dict[str, Any]) -> WireCall:
    return WireCall(id=f"toolu_{call_id}", name=name, arguments=arguments)


def _command(call: Command, has: Traits) -> Translation:
    if call.background or call.prints is not None or call.permission is not None:
        return verbs.command(call)
    arguments = {"command": call.run, "description": f"Scripted step {call.id}"}
    unrecorded: dict[str, str] = {}
    if call.exit_code == 0:
        unrecorded = {"exit_code": verbs.NO_EXIT_CODE}
    elif not has.failing_code:
        unrecorded = {"exit_code": _NO_FAILING_CODE}
    fields: dict[str, Any] = {
        "command": call.run,
        "exit_code": call.exit_code,
        "output": _shown(call, has),
        "status": "completed" if call.exit_code == 0 else "failed",
    }
    return Translation(
        call=_use(call.id, "Bash", arguments),
        expects=(
            Expected(
                kind="CommandExecution",
                fields=fields,
                unrecorded=unrecorded,
            ),
        ),
    )


def _shown(call: Command, has: Traits) -> str:
    """Return what the model is shown of a command's two streams."""
    merged = call.stdout + call.stderr
    if call.exit_code and not merged and not has.failing_code:
        return _FAILED_SILENTLY
    if not call.exit_code or has.failing == "merged":
        return merged
    if has.failing == "twice":
        return f"{merged}\n{merged}" if merged else ""
    return "\n".join(stream for stream in (call.stderr, call.stdout) if stream)


def _read(call: Read, workspace: str) -> Translation:
    arguments = {"file_path": f"{workspace}/{call.path}"}
    fields: dict[str, Any] = {"name": "Read", "arguments": arguments}
    fields["status"] = "failed" if call.content is None else "completed"
    return Translation(
        call=_use(call.id, "Read", arguments),
        expects=(Expected(kind="ToolCall", fields=fields),),
    )


def _create(call: Create, workspace: str) -> Translation:
    path = f"{workspace}/{call.path}"
    change = {"path": path, "operation": "add", "after": call.content}
    return Translation(
        call=_use(call.id, "Write", {"file_path": path, "content": call.content}),
        expects=(Expected(kind="FileChange", fields={"changes": [change]}),),
    )


def _update(call: Update, workspace: str) -> Translation:
    path = f"{workspace}/{call.path}"
    arguments = {"file_path": path, "old_string": call.old, "new_string": call.new}
    change = {"path": path, "operation": "update", "before": call.old, "after": call.new}
    status = "failed" if call.fails else "completed"
    return Translation(
        call=_use(call.id, "Edit", arguments),
        expects=(Expected(kind="FileChange", fields={"changes": [change], "status": status}),),
    )


def _unknown(call: UnknownTool) -> Translation:
    fields = {"name": call.name, "arguments": call.arguments, "status": "failed"}
    return Translation(
        call=_use(call.id, call.name, call.arguments),
        expects=(Expected(kind="ToolCall", fields=fields),),
    )


def _mcp(call: Mcp, has: Traits) -> Translation:
    fields: dict[str, Any] = {"name": call.tool, "server": SERVER, "arguments": call.arguments}
    if call.error is None:
        fields["output"] = call.result
    else:
        error = call.error if has.mcp_errors else _UNSAID.format(call.tool)
        fields |= {"error": error, "status": "failed"}
    return Translation(
        call=_use(call.id, f"mcp__{SERVER}__{call.tool}", call.arguments),
        expects=(Expected(kind="ToolCall", fields=fields),),
    )


def _todo(call: Todo, has: Traits) -> Translation:
    todos = [
        {"content": item.text, "status": item.status}
        | (
            {"activeForm": item.text}
            if has.todo_form == "worded"
            else {"priority": "medium", "id": str(number)}
        )
        for number, item in enumerate(call.items, 1)
    ]
    return Translation(
        call=_use(call.id, "TodoWrite", {"todos": todos}),
        expects=(_plan([_item(item) for item in call.items]),),
    )


def _tasks(call: Todo) -> list[Translation]:
    """Return one call an item: created while everything is pending, updated afterwards.

    Tasks are numbered from 1 in a fresh session, so an update can name what it updates. Each
    call is an answer of its own: the results of parallel ones come before or behind the next
    call by chance.
    """
    fresh = all(item.status == "pending" for item in call.items)
    shown = [] if fresh else [TodoItem(text=item.text, status="pending") for item in call.items]
    calls: list[WireCall] = []
    plans: list[Expected] = []
    for number, item in enumerate(call.items, 1):
        if fresh:
            shown.append(item)
            name, arguments = "TaskCreate", {"subject": item.text, "description": item.text}
        elif item.status != "pending":
            shown[number - 1] = item
            name, arguments = "TaskUpdate", {"taskId": str(number), "status": item.status}
        else:
            continue
        calls.append(_use(f"{call.id}_{number}", name, arguments))
        plans.append(_plan([_item(one) for one in shown]))
    return [Translation(call=calls[0], expects=tuple(plans), then=tuple(calls[1:]))]


def _item(item: TodoItem) -> dict[str, Any]:
    return {"text": item.text, "status": item.status}


def _plan(items: list[dict[str, Any]]) -> Expected:
    return Expected(kind="Plan", fields={"form": "checklist", "items": items})


def _spawn(call: Spawn, name: str) -> Translation:
    arguments: dict[str, Any] = {
        "description": call.description,
        "prompt": call.prompt,
        "subagent_type": "general-purpose",
    }
    if name == "Agent":
        arguments["run_in_background"] = call.background
    fields: dict[str, Any] = {
        "description": call.description,
        "prompt": call.prompt,
        "background": call.background,
    }
    failure = call.responses[-1].failure
    if failure is not None:
        fields |= {"status": "failed", "error": failure.message}
    else:
        fields["report"] = call.responses[-1].text
    return Translation(
        call=_use(call.id, name, arguments),
        expects=(Expected(kind="SubAgent", fields=fields),),
    )
