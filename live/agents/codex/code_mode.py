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

from live.agents.base import Expected, Translation
from live.agents.codex import words
from live.agents.codex.traits import Traits
from live.mcp_server import SERVER
from live.model.play import WireCall
from live.model.script import Call, Command, Create, Delete, Mcp, Read, Rename, Spawn, Update

Step = Command | Read | Create | Update | Delete | Rename | Mcp
"""What is a function of the script; other calls are tools of their own in code mode too."""

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
    if is_step(call):
        return together([call], files, workspace, (), has)
    if isinstance(call, Spawn):
        return words.spawned_by_name(call)
    return words.classic(call, files, workspace, has)


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
                expression=f"tools.exec_command({{cmd: {_js(words.shell_command(call))}}})",
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


def _js(value: Any) -> str:
    """Return a JSON value as JavaScript, which has the same literals."""
    return json.dumps(value, ensure_ascii=False)
