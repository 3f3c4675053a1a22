"""A scripted call in the words of one Copilot CLI release, and what its record then says.

The tools are much the same in all releases (read off the tool lists that they send); how
they word their results is not. Deleting and moving have no tool of their own on a wire
without ``apply_patch``, and since 0.0.423 a checklist is rows in a table that the ``sql`` tool
fills: such calls are recorded as the command or query that they are, and that is what must
be found.

Of a failure in the CLI's own words only the status must be found: the file keeps fewer of
them ("No match found") than the model is told, and neither comes from the script.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import singledispatchmethod
from typing import Any

import msgspec

from live.agents import patches
from live.agents.base import CannotDo, Expected, Translation, Untaught
from live.agents.copilot.traits import traits
from live.mcp_server import SERVER
from live.model.play import WireCall
from live.model.script import (
    Ask,
    Collect,
    Command,
    Create,
    Delete,
    Lines,
    Mcp,
    Permission,
    Propose,
    Read,
    Rename,
    SearchWeb,
    Spawn,
    Todo,
    UnknownTool,
    Update,
    UseSkill,
    ViewImage,
)

PATCH = "apply-patch"
"""The dialect in which files are changed by ``apply_patch``, as with the Codex models."""

_AGENT = "general-purpose"
_WAIT_SECONDS = 60
_COLLECT_SECONDS = 10

# A shell that a command ends prints this on the terminal that releases before 1.0.80 record.
_ENDS_SHELL = re.compile(r"(?:^|[;&|\n])\s*exit\b[^;&|\n]*$")

_TODO_STATUS = {"pending": "pending", "in_progress": "in_progress", "completed": "done"}
_TODO_BOX = {"pending": " ", "in_progress": "~", "completed": "x"}


class Words:
    """The words of one release in one dialect, for one workspace.

    ``files`` are the workspace's files as a call finds them: a patch quotes them.
    ``pictures`` are the digests of the scenario's pictures, by path.
    """

    def __init__(
        self,
        version: str,
        dialect: str | None,
        workspace: str,
        files: Mapping[str, str],
        pictures: Mapping[str, str],
    ) -> None:
        self._version = version
        self._traits = traits(version)
        self._patches = dialect == PATCH
        self._workspace = workspace.rstrip("/")
        self._files = files
        self._pictures = pictures

    @singledispatchmethod
    def say(self, call: Any) -> Translation:
        """Return the translation; :class:`Untaught` if there are no words for it."""
        raise Untaught(f"no Copilot tool is known for {type(call).__name__}")

    @say.register
    def _(self, call: Command) -> Translation:
        if call.background:
            return self._started(call)
        if call.prints is not None:
            return self._printed(call.id, call.run, call.prints)
        said = self._bash(
            call.id, call.run, call.stdout + call.stderr, call.exit_code, "Run a command"
        )
        return _permitted(said, call.permission)

    @say.register
    def _(self, call: Collect) -> Translation:
        arguments = {"shellId": call.of, "delay": _COLLECT_SECONDS}
        printed = call.stdout.removesuffix("\n")
        output = f"{printed}\n<shellId: {call.of} completed with exit code {call.exit_code}>"
        fields = {"name": "read_bash", "arguments": arguments, "output": output}
        return Translation(
            call=self._call(call.id, "read_bash", arguments),
            expects=(Expected(kind="ToolCall", fields=fields),),
        )

    @say.register
    def _(self, call: ViewImage) -> Translation:
        arguments = {"path": self._absolute(call.path)}
        assets = [self._pictures[call.path]]
        fields = {"name": "view", "arguments": arguments, "assets": assets}
        lost: dict[str, str] = {}
        if not self._traits.keeps_seen_pictures:
            lost = {"assets": "of a picture that it looked at the release keeps that it did"}
        return Translation(
            call=self._call(call.id, "view", arguments),
            expects=(Expected(kind="ToolCall", fields=fields, unrecorded=lost),),
        )

    @say.register
    def _(self, call: SearchWeb) -> Translation:
        del call
        # Read off the tools that both releases offer on the Anthropic and the Responses wire,
        # with and without the switch that is named after it.
        raise CannotDo(
            "without an account the CLI offers the model nothing that searches the web: its own "
            "tool for it is GitHub's, and it does not ask the provider for theirs"
        )

    @say.register
    def _(self, call: UseSkill) -> Translation:
        arguments = {"skill": call.name}
        fields = {"name": "skill", "arguments": arguments}
        return Translation(
            call=self._call(call.id, "skill", arguments),
            expects=(Expected(kind="ToolCall", fields=fields),),
        )

    @say.register
    def _(self, call: Ask) -> Translation:
        (asked,) = call.questions
        if self._traits.asks_by_form:
            field = {"type": "string", "title": asked.header, "enum": list(asked.options)}
            schema = {"properties": {"choice": field}, "required": ["choice"]}
            arguments = {"message": asked.question, "requestedSchema": schema}
        else:
            arguments = {"question": asked.question, "choices": list(asked.options)}
        question = {
            "question": asked.question,
            "options": list(asked.options),
            "answer": asked.answer,
        }
        return Translation(
            call=self._call(call.id, "ask_user", arguments),
            expects=(Expected(kind="UserQuestion", fields={"questions": [question]}),),
        )

    @say.register
    def _(self, call: Propose) -> Translation:
        arguments = {"summary": call.plan}
        fields: dict[str, Any] = {"form": "proposal", "text": call.plan}
        return Translation(
            call=self._call(call.id, "exit_plan_mode", arguments),
            expects=(Expected(kind="Plan", fields=fields),),
        )

    @say.register
    def _(self, call: Delete) -> Translation:
        path = self._absolute(call.path)
        if self._patches:
            patch = patches.delete(msgspec.structs.replace(call, path=path))
            return self._patch(call.id, patch, {"path": path, "operation": "delete"})
        return self._bash(call.id, f"rm {shlex.quote(path)}", "", 0, "Delete a file")

    @say.register
    def _(self, call: Rename) -> Translation:
        path, to = self._absolute(call.path), self._absolute(call.to)
        if self._patches:
            moved = msgspec.structs.replace(call, path=path, to=to)
            patch = patches.rename(moved, self._files.get(call.path))
            change = {"path": path, "operation": "move", "moved_to": to}
            return self._patch(call.id, patch, change)
        command = f"mv {shlex.quote(path)} {shlex.quote(to)}"
        return self._bash(call.id, command, "", 0, "Move a file")

    @say.register
    def _(self, call: Read) -> Translation:
        arguments = {"path": self._absolute(call.path)}
        fields: dict[str, Any] = {"name": "view", "arguments": arguments}
        if call.content is None:
            fields["status"] = "failed"
        else:
            fields["output"] = self._viewed(call.content)
        return Translation(
            call=self._call(call.id, "view", arguments),
            expects=(Expected(kind="ToolCall", fields=fields),),
        )

    @say.register
    def _(self, call: Create) -> Translation:
        path = self._absolute(call.path)
        change = {"path": path, "operation": "add", "after": call.content}
        if self._patches:
            patch = patches.create(msgspec.structs.replace(call, path=path))
            return self._patch(call.id, patch, change)
        arguments = {"path": path, "file_text": call.content}
        fields = {"changes": [change]}
        said = Translation(
            call=self._call(call.id, "create", arguments),
            expects=(Expected(kind="FileChange", fields=fields),),
        )
        return _permitted(said, call.permission)

    @say.register
    def _(self, call: Update) -> Translation:
        path = self._absolute(call.path)
        change = {"path": path, "operation": "update", "before": call.old, "after": call.new}
        if self._patches:
            changed = msgspec.structs.replace(call, path=path)
            patch, before, after = patches.update(changed, self._files.get(call.path))
            change |= {"before": before, "after": after}
            return self._patch(call.id, patch, change, fails=call.fails)
        arguments = {"path": path, "old_str": call.old, "new_str": call.new}
        fields: dict[str, Any] = {"changes": [change]}
        if call.fails:
            fields["status"] = "failed"
        return Translation(
            call=self._call(call.id, "edit", arguments),
            expects=(Expected(kind="FileChange", fields=fields),),
        )

    @say.register
    def _(self, call: UnknownTool) -> Translation:
        if not self._traits.survives_unknown_tools:
            raise CannotDo(
                f"{self._version} ends the run when the model calls a tool that does not exist:"
                ' it writes a session.error "invalid tool", no result, and exits with 1'
            )
        fields = {"name": call.name, "arguments": call.arguments, "status": "failed"}
        return Translation(
            call=self._call(call.id, call.name, call.arguments),
            expects=(Expected(kind="ToolCall", fields=fields),),
        )

    @say.register
    def _(self, call: Mcp) -> Translation:
        fields: dict[str, Any] = {
            "name": call.tool,
            "server": SERVER,
            "arguments": call.arguments,
        }
        lost: dict[str, str] = {}
        if not self._traits.keeps_servers:
            fields["name"] = f"{SERVER}-{call.tool}"
            lost = {"server": "this release keeps one name for both server and tool"}
        if call.error is not None:
            frame = f"MCP server '{SERVER}': " if self._traits.frames_mcp_errors else ""
            fields |= {"status": "failed", "error": frame + call.error}
        elif call.result is not None:
            fields["output"] = call.result
        return Translation(
            call=self._call(call.id, f"{SERVER}-{call.tool}", call.arguments),
            expects=(Expected(kind="ToolCall", fields=fields, unrecorded=lost),),
        )

    @say.register
    def _(self, call: Todo) -> Translation:
        if not self._traits.keeps_todos_in_table:
            return self._markdown(call)
        rows = ", ".join(
            f"('{number}', {_quoted(item.text)}, '{_TODO_STATUS[item.status]}')"
            for number, item in enumerate(call.items, 1)
        )
        query = "DELETE FROM todos"
        if rows:
            query += f"; INSERT INTO todos (id, title, status) VALUES {rows}"
        arguments = {"description": "Set the checklist", "query": query}
        return Translation(
            call=self._call(call.id, "sql", arguments),
            expects=(Expected(kind="ToolCall", fields={"name": "sql", "arguments": arguments}),),
        )

    @say.register
    def _(self, call: Spawn) -> Translation:
        report = call.responses[-1].text
        name = {"name": call.id} if self._traits.names_agents else {}
        arguments = {
            "description": call.description,
            "prompt": call.prompt,
            "agent_type": _AGENT,
            "mode": "background" if call.background else "sync",
        }
        fields: dict[str, Any] = {"description": call.description, "prompt": call.prompt}
        if call.background:
            fields["background"] = True
        elif report is not None:
            fields["report"] = report
        if call.fails:
            fields["status"] = "failed"
        return Translation(
            call=self._call(call.id, "task", {**name, **arguments}),
            expects=(Expected(kind="SubAgent", fields=fields),),
        )

    def _markdown(self, call: Todo) -> Translation:
        """Return a checklist in the form that ``update_todo`` takes: Markdown, in one text."""
        boxes = [f"- [{_TODO_BOX[item.status]}] {item.text}" for item in call.items]
        items = [{"text": item.text, "status": item.status} for item in call.items]
        return Translation(
            call=self._call(call.id, "update_todo", {"todos": "\n".join(boxes)}),
            expects=(Expected(kind="Plan", fields={"form": "checklist", "items": items}),),
        )

    def _bash(self, id: str, command: str, output: str, exit_code: int, why: str) -> Translation:
        ends = _ENDS_SHELL.search(command) is not None
        lost: dict[str, str] = {}
        if ends and self._traits.loses_ended_shells:
            reason = "a command that ends its shell has an empty result in this release"
            lost = {"exit_code": reason} | ({"output": reason} if output else {})
        elif self._traits.terminal:
            output = output.replace("\r\n", "\n") + ("exit\n" if ends else "")
        fields: dict[str, Any] = {"command": command, "exit_code": exit_code, "output": output}
        if exit_code != 0 and not lost:
            fields["status"] = "failed"
        # The shell's name comes back in the result; left out, it is a number that depends on
        # which of several parallel calls was started first.
        arguments = {
            "command": command,
            "description": why,
            self._traits.keeps_shells_as: id,
            "mode": "sync",
            "initial_wait": _WAIT_SECONDS,
        }
        return Translation(
            call=self._call(id, "bash", arguments),
            expects=(Expected(kind="CommandExecution", fields=fields, unrecorded=lost),),
        )

    def _started(self, call: Command) -> Translation:
        """Return a command that goes on in the background: it is only said to have begun."""
        arguments = {
            "command": call.run,
            "description": "Run a command",
            self._traits.keeps_shells_as: call.id,
            "mode": "async",
        }
        fields = {"command": call.run, "background": True}
        return Translation(
            call=self._call(call.id, "bash", arguments),
            expects=(Expected(kind="CommandExecution", fields=fields),),
        )

    def _printed(self, id: str, command: str, lines: Lines) -> Translation:
        """Return a command that prints more than is shown: the rest goes to a file."""
        said = self._bash(id, command, "", 0, "Run a command")
        (ran,) = said.expects
        fields = {name: value for name, value in ran.fields.items() if name != "output"}
        fields |= {"output_extent": "elsewhere"}
        lost: dict[str, str] = {}
        if not self._traits.keeps_code_of_long_output:
            lost = {"exit_code": "what the release says of it goes with the output that it cuts"}
        ran = msgspec.structs.replace(ran, fields=fields, unrecorded=lost)
        return msgspec.structs.replace(said, expects=(ran,))

    def _patch(
        self, id: str, patch: str, change: dict[str, Any], *, fails: bool = False
    ) -> Translation:
        fields: dict[str, Any] = {"changes": [change]}
        if fails:
            fields["status"] = "failed"
        return Translation(
            call=WireCall(id=f"call_{id}", name="apply_patch", arguments=patch, custom=True),
            expects=(Expected(kind="FileChange", fields=fields),),
        )

    def _call(self, id: str, name: str, arguments: dict[str, Any]) -> WireCall:
        return WireCall(id=f"call_{id}", name=name, arguments=arguments)

    def _absolute(self, path: str) -> str:
        return f"{self._workspace}/{path}"

    def _viewed(self, content: str) -> str:
        """Return a file as ``view`` shows it."""
        if not self._traits.numbers_lines:
            return content
        lines = content.split("\n")
        return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


def _permitted(said: Translation, permission: Permission | None) -> Translation:
    """Return a call with what the person said when they were asked whether it may run."""
    if permission is None:
        return said
    (ran,) = said.expects
    asked = Expected(
        kind="PermissionRequest",
        fields={"decision": "allowed" if permission.answer == "approved" else "denied"},
        author="harness",
    )
    if permission.answer == "denied":
        fields = {name: ran.fields[name] for name in ("command", "changes") if name in ran.fields}
        fields["status"] = "declined"
        if permission.feedback is not None:
            fields["error"] = permission.feedback
        ran = msgspec.structs.replace(ran, fields=fields)
    return msgspec.structs.replace(said, expects=(ran, asked))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
