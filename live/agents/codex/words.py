"""Codex's words for our verbs, for a model with the classic tools.

A reader must find the same messages whichever way they were said: what each call leaves in
the record is in ``expects`` beside it. Paths are absolute there, as Codex records them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

import msgspec

from live.agents import patches
from live.agents.base import CannotDo, Expected, Translation, Untaught
from live.agents.codex import offered
from live.agents.codex.traits import Traits
from live.mcp_server import SERVER
from live.model.play import WireCall
from live.model.script import (
    Ask,
    Call,
    Collect,
    Command,
    Create,
    Delete,
    Mcp,
    Propose,
    Read,
    Rename,
    SearchWeb,
    Spawn,
    Todo,
    UnknownTool,
    Update,
)

SEALED = "the provider seals what one agent tells another: only the model reads it"
_WAIT_MS = 30_000
_SHOWN_LINES = 50
_WAITING = "-wait"


def classic(call: Call, files: Mapping[str, str], workspace: str, has: Traits) -> Translation:
    """Put a call into the words of a model that is offered the classic tools.

    ``files`` is the workspace at the moment of the call.
    """
    match call:
        case Command(background=True):
            return offered.started(call)
        case Collect():
            return offered.collected(call)
        case SearchWeb():
            return offered.searched(call)
        case Ask():
            return offered.asked(call)
        case Propose():
            return offered.proposed(call)
        case Command() | Read():
            return Translation(call=_shell(call, has), expects=(executed(call, has),))
        case Create() | Update() | Delete() | Rename():
            patch, change = patched(call, files, workspace, has)
            return Translation(call=_patch(call, patch, has), expects=(change,))
        case Mcp():
            return Translation(call=_mcp(call, has), expects=(answered(call, has),))
        case UnknownTool():
            return unknown_tool(call)
        case Todo():
            return todo(call, has)
        case Spawn():
            return spawned_by_id(call, has)
        case _:
            raise Untaught(f"no way is known to make {type(call).__name__} with Codex")


def _shell(call: Command | Read, has: Traits) -> WireCall:
    line = shell_command(call)
    arguments: dict[str, Any]
    match has.shell:
        case "exec_command":
            arguments = {"cmd": line}
        case "shell_command":
            arguments = {"command": line}
        case "shell":
            arguments = {"command": ["bash", "-lc", line]}
    return WireCall(id=call.id, name=has.shell, arguments=arguments)


def _patch(call: Call, patch: str, has: Traits) -> WireCall:
    if has.patch_tool:
        return WireCall(id=call.id, name="apply_patch", arguments=patch, custom=True)
    # No such program is on the PATH: Codex takes the words and applies the patch itself.
    return WireCall(id=call.id, name=has.shell, arguments={"command": ["apply_patch", patch]})


def _mcp(call: Mcp, has: Traits) -> WireCall:
    namespace = has.mcp_namespace
    return WireCall(
        id=call.id,
        name=has.mcp_name.format(SERVER, call.tool) if namespace is None else call.tool,
        namespace=None if namespace is None else namespace.format(SERVER),
        arguments=call.arguments,
    )


def shell_command(call: Command | Read) -> str:
    """Return the command line; Codex has no tool that reads a text file."""
    return call.run if isinstance(call, Command) else f"cat {shlex.quote(call.path)}"


def executed(call: Command | Read, has: Traits) -> Expected:
    """Return what a reader must find of a command."""
    fields: dict[str, Any] = {"command": shell_command(call)}
    unrecorded: dict[str, str] = {}
    if isinstance(call, Command):
        fields |= {"exit_code": call.exit_code, **_printed(call, has)}
        if "stdout" in fields:
            unrecorded["stdout"] = "of a command that fails only the errors are kept"
    elif call.content is not None:
        fields |= {"exit_code": 0, "output": call.content}
    else:
        missing = f"cat: {call.path}: No such file or directory\n"
        fields |= {"exit_code": 1, "output": missing}
    fields["status"] = "failed" if fields["exit_code"] else "completed"
    return Expected(kind="CommandExecution", fields=fields, unrecorded=unrecorded)


def _printed(call: Command, has: Traits) -> dict[str, Any]:
    """Return what a reader must find of a command's output, of which Codex shows the model so
    much: the first lines and the last ones."""
    if call.prints is None:
        if call.exit_code and call.stdout and not has.joined_output:
            return {"output": call.stderr, "stdout": call.stdout}
        return {"output": call.stdout + call.stderr}
    return {"output_start": call.prints.first(_SHOWN_LINES), "output_extent": "truncated"}


def patched(
    call: Create | Update | Delete | Rename, files: Mapping[str, str], workspace: str, has: Traits
) -> tuple[str, Expected]:
    """Return the patch for an edit and what a reader must find of it."""
    root = f"{workspace}/" if has.directory else ""
    path = f"{root}{call.path}"
    status = "completed"
    change: dict[str, Any]
    lost: dict[str, Any] = {}
    match call:
        case Create():
            patch = patches.create(call)
            change = {"path": path, "operation": "add", "after": call.content}
        case Update():
            patch, before, after = patches.update(call, files.get(call.path))
            change = {"path": path, "operation": "update", "before": before, "after": after}
            status = "failed" if call.fails else "completed"
        case Delete():
            patch = patches.delete(call)
            change = {"path": path, "operation": "delete"}
            if call.path in files:
                told = change if has.call_events else lost
                told["before" if has.call_events else "deleted"] = files[call.path]
        case Rename():
            patch = patches.rename(call, files.get(call.path))
            change = {"path": path, "operation": "move", "moved_to": f"{root}{call.to}"}
    fields = {"changes": [change], "status": status, **lost}
    unrecorded = dict.fromkeys(lost, "a patch names the file that it deletes and quotes nothing")
    return patch, Expected(kind="FileChange", fields=fields, unrecorded=unrecorded)


_NO_FAILURE = "a tool's failure is recorded like an answer, by no word or flag told from one"


def answered(call: Mcp, has: Traits) -> Expected:
    """Return what a reader must find of a call of the scenario's MCP server."""
    fields: dict[str, Any] = {
        "name": call.tool,
        "server": SERVER,
        "arguments": call.arguments,
        "status": "completed" if call.error is None else "failed",
    }
    if call.error is not None:
        fields["error"] = call.error
    elif call.result is not None:
        fields["output"] = call.result
    if call.error is not None and not has.call_events:
        unrecorded = {"status": _NO_FAILURE, "error": _NO_FAILURE}
        fields["output"] = call.error
        return Expected(kind="ToolCall", fields=fields, unrecorded=unrecorded)
    return Expected(kind="ToolCall", fields=fields)


def unknown_tool(call: UnknownTool) -> Translation:
    """Call what was never offered: every release answers ``unsupported call: <name>``."""
    wire = WireCall(id=call.id, name=call.name, arguments=call.arguments)
    fields = {"name": call.name, "arguments": call.arguments, "status": "failed"}
    return Translation(call=wire, expects=(Expected(kind="ToolCall", fields=fields),))


def todo(call: Todo, has: Traits) -> Translation:
    """Set the checklist where there is one."""
    if not has.update_plan:
        raise CannotDo(has.no_plan)
    plan = [{"step": item.text, "status": item.status} for item in call.items]
    wire = WireCall(id=call.id, name="update_plan", arguments={"plan": plan})
    items = [{"text": item.text, "status": item.status} for item in call.items]
    fields = {"items": items, "status": "completed"}
    return Translation(call=wire, expects=(Expected(kind="Plan", fields=fields),))


def spawned_by_id(call: Spawn, has: Traits) -> Translation:
    """Spawn an agent, then wait for the report by the id that spawning told.

    ``spawn_agent`` returns at once; the report comes with ``wait_agent``'s result.
    """
    agents = has.agents
    if agents is None:
        raise CannotDo(
            "no agents: spawn_agent is offered to no model before 0.92 and is answered with"
            " 'unsupported call: spawn_agent'"
        )
    spawn = WireCall(
        id=call.id,
        name="spawn_agent",
        namespace=agents.namespace,
        arguments={"message": call.prompt},
    )
    wait = WireCall(
        id=waiting(call.id),
        name=agents.wait,
        namespace=agents.namespace,
        arguments={
            agents.waited_for: [{"$result": [call.id, "agent_id"]}],
            "timeout_ms": _WAIT_MS,
        },
    )
    return _waited_for(call, spawn, wait, reported(call, agents.wait))


def waiting(call_id: str) -> str:
    """Return the id of the call that waits for what a spawning call began."""
    return f"{call_id}{_WAITING}"


def is_waiting(call_id: str) -> bool:
    """Say whether a call waits for a spawned agent, by its id."""
    return call_id.endswith(_WAITING)


def spawned_by_name(call: Spawn) -> Translation:
    """Spawn an agent under a name of ours, then wait for its message (multi-agent version 2)."""
    spawn = WireCall(
        id=call.id,
        name="spawn_agent",
        namespace="collaboration",
        arguments={"task_name": task_name(call), "message": call.prompt},
    )
    wait = WireCall(
        id=waiting(call.id),
        name="wait_agent",
        namespace="collaboration",
        arguments={"timeout_ms": _WAIT_MS},
    )
    spawned, waited = reported(call, wait.name)
    spawned = msgspec.structs.replace(spawned, unrecorded={"prompt": SEALED})
    if call.fails:
        # Its failure reaches the other agent by itself, and a wait would only time out.
        return Translation(call=spawn, expects=(spawned,))
    return _waited_for(call, spawn, wait, (spawned, waited))


def _waited_for(
    call: Spawn, spawn: WireCall, wait: WireCall, expects: tuple[Expected, ...]
) -> Translation:
    """Wait at once, or for an agent in the background with the next words: the agent works
    beside either way, and a turn that ends would leave its report to the next one."""
    if not call.background:
        return Translation(call=spawn, expects=expects, then=(wait,))
    spawned, waited = expects
    later = Translation(call=wait, expects=(waited,))
    return Translation(call=spawn, expects=(spawned,), afterwards=(later,))


def task_name(call: Spawn) -> str:
    """Return the agent's name: letters, digits and underscores are all that is allowed."""
    return re.sub(r"[^a-z0-9]+", "_", call.id.lower()).strip("_")


def reported(call: Spawn, waits_by: str) -> tuple[Expected, ...]:
    """Return what a reader must find of a task handed over: the call and the wait for it.

    No tool of Codex takes the description.
    """
    report = next((one.text for one in reversed(call.responses) if one.text), None)
    fields: dict[str, Any] = {"prompt": call.prompt, "status": "completed"}
    if call.background:
        fields["background"] = True
    failure = next((one.failure for one in call.responses if one.failure), None)
    if report is not None:
        fields["report"] = report
    elif failure is not None:
        fields |= {"status": "failed", "error": failure.message}
    wait = {"name": waits_by, "status": "completed"}
    return (Expected(kind="SubAgent", fields=fields), Expected(kind="ToolCall", fields=wait))
