"""Codex's words for our verbs, for a model in code mode.

Such a model is offered one tool, ``exec``, which takes JavaScript; commands, patches and MCP
tools are functions in it. The record holds the script as one call, and what it did as events
that bear ids of their own. Separate ``exec`` calls of one answer run one after another, so
parallel calls are made from inside one script, as such models do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import msgspec

from live.agents.base import CannotDo, Expected, Translation
from live.agents.codex import offered, words
from live.agents.codex.traits import Traits
from live.mcp_server import SERVER
from live.model.play import WireCall
from live.model.script import (
    Call,
    Collect,
    Command,
    Create,
    Delete,
    Mcp,
    Read,
    Rename,
    Scenario,
    SearchWeb,
    Spawn,
    Update,
    ViewImage,
)
from live.pictures import digest

Step = Command | Read | Create | Update | Delete | Rename | Mcp
"""What is a function of the script; other calls are tools of their own in code mode too."""

_NO_SEARCH = (
    "a model in code mode is offered no search: neither among its tools nor among the functions"
    " of its scripts"
)
_CONTENT = 'content.map((part) => part.text).join("\\n")'


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """A step as an expression, and what comes of it.

    ``printed`` is an expression on ``r``, the awaited result, and ``prints`` what it comes to
    where the scenario says so. ``leaves`` is what a reader must find beside the script: a
    patch that is refused leaves nothing, and breaks the script.
    """

    expression: str
    printed: str
    prints: str | None
    leaves: Expected | None
    breaks: bool = False


def is_step(call: Call) -> TypeGuard[Step]:
    """Say whether a call is made from inside a script."""
    return isinstance(call, Step)


def translate(call: Call, files: Mapping[str, str], workspace: str, has: Traits) -> Translation:
    """Put one call into the words of a model in code mode."""
    if isinstance(call, Command) and call.background:
        return _left_running(call)
    if is_step(call):
        return together([call], files, workspace, (), has)
    if isinstance(call, Spawn):
        return words.spawned_by_name(call)
    if isinstance(call, SearchWeb):
        raise CannotDo(_NO_SEARCH)
    return words.classic(call, files, workspace, has)


def _left_running(call: Command) -> Translation:
    """Leave a command running: the script keeps its session for the one that collects it."""
    asked = {"cmd": call.run, "yield_time_ms": offered.YIELD_MS}
    script = (
        f"const r = await tools.exec_command({_js(asked)});\n"
        f"store({_js(call.id)}, r.session_id);\n"
        "text(r.output);\n"
    )
    return Translation(
        call=WireCall(id=call.id, name="exec", arguments=script, custom=True),
        expects=(_printing(script, ""),),
    )


def collected(call: Collect, started: Command, has: Traits) -> Translation:
    """Collect it; only when it has ended is the command itself recorded, as an event."""
    script = (
        f"const r = await tools.write_stdin({{session_id: load({_js(call.of)}), "
        f'chars: "", yield_time_ms: {offered.COLLECT_MS}}});\n'
        "text(r.output);\n"
    )
    return Translation(
        call=WireCall(id=call.id, name="exec", arguments=script, custom=True),
        expects=(_printing(script, call.stdout), words.executed(started, has)),
    )


def viewed(call: ViewImage, scenario: Scenario, workspace: str) -> Translation:
    """Look at a picture, and show it to the model: the script's result holds it."""
    asked = {"path": f"{workspace}/{call.path}"}
    script = f"const r = await tools.view_image({_js(asked)});\nimage(r.image_url);\n"
    shown = {"assets": [digest(scenario.pictures[call.path])], "status": "completed"}
    looked = {"name": "view_image", "arguments": asked, "status": "completed"}
    return Translation(
        call=WireCall(id=call.id, name="exec", arguments=script, custom=True),
        expects=(
            Expected(kind="ToolCall", fields={"name": "exec", "arguments": script, **shown}),
            Expected(kind="ToolCall", fields=looked),
        ),
    )


def _printing(script: str, printed: str) -> Expected:
    fields = {"name": "exec", "arguments": script, "output": printed, "status": "completed"}
    return Expected(kind="ToolCall", fields=fields)


def together(
    calls: Sequence[Step],
    files: Mapping[str, str],
    workspace: str,
    finish_order: Sequence[str],
    has: Traits,
) -> Translation:
    """Put calls into one script; what they leave is recorded in the order they finish."""
    lines = {call.id: _line(call, files, workspace, has) for call in calls}
    if len(calls) == 1:
        (line,) = lines.values()
        script = f"const r = await {line.expression};\ntext({line.printed});\n"
    else:
        parts = [f"  {line.expression}.then((r) => {line.printed}),\n" for line in lines.values()]
        script = (
            f"const results = await Promise.all([\n{''.join(parts)}]);\n"
            "for (const result of results) text(result);\n"
        )
    order = [*finish_order, *(one for one in lines if one not in finish_order)]
    left = [lines[one].leaves for one in order]
    wire = WireCall(id=calls[0].id, name="exec", arguments=script, custom=True)
    return Translation(
        call=wire,
        expects=(_script(script, list(lines.values())), *(one for one in left if one)),
    )


def _script(script: str, lines: Sequence[_Line]) -> Expected:
    broken = any(line.breaks for line in lines)
    status = "failed" if broken else "completed"
    fields: dict[str, Any] = {"name": "exec", "arguments": script, "status": status}
    printed = [line.prints for line in lines if line.prints is not None]
    if len(printed) == len(lines) and not broken:
        fields["output"] = "".join(printed)
    return Expected(kind="ToolCall", fields=fields)


def _line(call: Step, files: Mapping[str, str], workspace: str, has: Traits) -> _Line:
    match call:
        case Command() | Read():
            left = words.executed(call, has)
            return _Line(
                expression=f"tools.exec_command({_asked(call)})",
                printed="r.output",
                prints=left.fields.get("output"),
                leaves=left,
            )
        case Create() | Update() | Delete() | Rename():
            patch, change = words.patched(call, files, workspace, has)
            refused = change.fields["status"] == "failed"
            return _Line(
                expression=f"tools.apply_patch({_js(patch)})",
                printed="r",
                prints=None if refused else "{}",
                leaves=None if refused else change,
                breaks=refused,
            )
        case Mcp():
            name = f"mcp__{SERVER}__{call.tool}"
            return _Line(
                expression=f"tools.{name}({_js(call.arguments)})",
                printed=f"r.{_CONTENT}",
                prints=call.result if call.error is None else call.error,
                leaves=words.answered(call, has),
            )


def _asked(call: Command | Read) -> str:
    """Return what a command's function is given."""
    given = f"cmd: {_js(words.shell_command(call))}"
    if isinstance(call, Command) and call.permission is not None:
        given += "".join(f", {key}: {_js(one)}" for key, one in offered.OUTSIDE_THE_SANDBOX.items())
    return f"{{{given}}}"


def _js(value: Any) -> str:
    """Return a JSON value as JavaScript, which has the same literals."""
    return json.dumps(value, ensure_ascii=False)
