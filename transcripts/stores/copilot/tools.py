"""Copilot CLI's tools and the words of their results, both ways.

The tool names are those of 1.0.x; ``str_replace_editor``, ``str_replace``, ``update_todo`` and
``shell`` are older. How a command's end is worded changed in 1.0.60, and 1.0.102 added fields
for it: all of it is read here and nowhere else.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from transcripts.model import FileEdit, PlanItem, Question
from transcripts.narration import split_name

SHELLS = frozenset({"bash", "powershell", "shell", "local_shell"})
EDITORS = frozenset({"create", "edit", "str_replace", "str_replace_editor", "apply_patch"})
SUB_AGENT = "task"
QUESTION = "ask_user"
PLAN = "exit_plan_mode"
CHECKLISTS = frozenset({"update_todo", "update_todos"})
WEB_SEARCH = "web_search"
USER_SHELL = "local_shell"

CANCELLED = "cancelled"
"""How an error is marked that is what another CLI says of a call that was broken off.

The code is free text. Copilot itself records no result of such a call, only ``abort``.
"""
FATES: dict[str, Literal["declined", "cancelled"]] = {
    "denied": "declined",
    # What somebody refuses without a word (1.0.60): the turn ends with it.
    "rejected": "declined",
    CANCELLED: "cancelled",
}
"""What the code of an error says of a call, where it did not simply fail."""

# A command's end, and nothing of the command's own: only at the very end of a result, after
# a newline that the CLI puts there even when there was no output (1.0.60, 1.0.102). A shell
# is called by a number unless the model names it.
_EXIT = re.compile(
    r"<(?:exited|shellId: (?P<shell>[^\n<>]+?) completed) with exit code (?P<code>-?\d{1,10})>"
)
_BACKGROUND = re.compile(r"\A<command started in background with shellId: (?P<shell>[^\n<>]+)>\Z")
_TO_BACKGROUND = re.compile(r"\A<command with shellId: (?P<shell>[^\n<>]+?) moved to background")
_OVERFLOW = re.compile(
    r"\AOutput too large to read at once \([^()\n]*\)\. Saved to: (?P<path>[^\n]+)\n"
)

_PATCH_FILE = re.compile(r"^\*\*\* (Add|Delete|Update) File: (.+)$")
_PATCH_MOVE = re.compile(r"^\*\*\* Move to: (.+)$")
_TODO_LINE = re.compile(r"^\s*[-*+]\s*\[(?P<box>[ xX~>/\-])\]\s*(?P<text>.*\S)\s*$")
_BOXES: dict[str, Literal["pending", "in_progress", "completed"]] = {
    " ": "pending",
    "x": "completed",
    "X": "completed",
}


class Ending(NamedTuple):
    """What the text of a command's result says beside its output."""

    output: str
    exit_code: int | None = None
    source: Literal["field", "text", "none"] = "none"
    background: str | None = None


def own_name(name: str, server: Any, tool: Any) -> tuple[str, str | None]:
    """Return a tool's own name and its MCP server, from the fields or else from the name."""
    if isinstance(server, str) and server:
        if isinstance(tool, str) and tool:
            return tool, server
        return name.removeprefix(f"{server}-") or name, server
    return split_name(name)


def wire_name(name: str, server: str | None) -> str:
    """Return the name under which the model knows a tool; providers take no other characters."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", f"{server}-{name}" if server else name)[:64]


# ------------------------------------------------------------------ commands


def command_ending(text: str, recorded: Any) -> Ending:
    """Split a command's result into its output and how it ended.

    ``recorded`` is ``shellExecution.exitCode`` (1.0.102). The field wins; words that
    contradict it were printed by the command itself and stay in the output.
    """
    code = recorded if isinstance(recorded, int) and not isinstance(recorded, bool) else None
    told = _told_exit(text)
    if told is not None and (code is None or code == told[1]):
        output, told_code = told
        return Ending(output, told_code, "text" if code is None else "field")
    if code is not None:
        return Ending(text, code, "field")
    if started := _BACKGROUND.match(text):
        return Ending("", background=started["shell"])
    moved = _TO_BACKGROUND.match(text)
    return Ending(text, background=moved["shell"] if moved else None)


def told_end(text: str) -> tuple[str, int] | None:
    """Return which shell a result says has come to its end, and its status; None if none."""
    found = _EXIT.fullmatch(text, text.rfind("\n") + 1)
    if found is None or found["shell"] is None:
        return None
    return found["shell"], int(found["code"])


def _told_exit(text: str) -> tuple[str, int] | None:
    """Return the output and the status that a result's last line tells, or None."""
    end = text.rfind("\n")
    found = _EXIT.fullmatch(text, end + 1)
    return None if found is None else (text[: max(end, 0)], int(found["code"]))


def command_text(output: str, exit_code: int | None, shell: str, background: str | None) -> str:
    """Return a command's result as 1.0.60 and later word it."""
    if exit_code is not None:
        return f"{output}\n<shellId: {shell} completed with exit code {exit_code}>"
    if background is not None and not output:
        return f"<command started in background with shellId: {background}>"
    # Words that only look like the CLI's own must not be at the very end.
    framed = _told_exit(output) is not None or _BACKGROUND.match(output)
    return f"{output}\n" if framed else output


def overflow_path(text: str) -> str | None:
    """Return where the CLI put a result that was too large to show, or None."""
    found = _OVERFLOW.match(text)
    return found["path"] if found else None


# ------------------------------------------------------------------ files


def file_edits(name: str, arguments: Any, cwd: str | None) -> tuple[FileEdit, ...]:
    """Return what a call of an editing tool changes, as far as its arguments say."""
    if isinstance(arguments, str):
        return patch_edits(arguments, cwd)
    if not isinstance(arguments, Mapping):
        return ()
    patch = _text(arguments, "patch", "input")
    if name == "apply_patch" and patch is not None:
        return patch_edits(patch, cwd)
    path = _text(arguments, "path", "file_path")
    if path is None:
        return ()
    path = absolute(path, cwd)
    verb = _text(arguments, "command") if name == "str_replace_editor" else name
    if verb == "create":
        after = _text(arguments, "file_text", "content")
        return (FileEdit(path=path, operation="add", after=after, whole=True),)
    if verb in {"edit", "str_replace"}:
        return (
            FileEdit(
                path=path,
                operation="update",
                before=_text(arguments, "old_str"),
                after=_text(arguments, "new_str"),
            ),
        )
    if verb == "insert":
        inserted = _text(arguments, "new_str", "insert_text")
        return (FileEdit(path=path, operation="update", after=inserted),)
    return ()


def patch_edits(patch: str, cwd: str | None) -> tuple[FileEdit, ...]:
    """Return the changes of an ``apply_patch`` text; what is not in that form gives none."""
    sections: list[tuple[str, str, list[str]]] = []
    for line in patch.split("\n"):
        line = line.removesuffix("\r")  # noqa: PLW2901
        if head := _PATCH_FILE.match(line):
            sections.append((head[1], head[2].strip(), []))
        elif line.startswith(("*** Begin Patch", "*** End Patch")):
            continue
        elif sections:
            sections[-1][2].append(line)
    return tuple(_section_edit(verb, path, lines, cwd) for verb, path, lines in sections)


def _section_edit(verb: str, path: str, lines: list[str], cwd: str | None) -> FileEdit:
    path = absolute(path, cwd)
    if verb == "Delete":
        return FileEdit(path=path, operation="delete")
    if verb == "Add":
        added = "".join(f"{line[1:]}\n" for line in lines if line.startswith("+"))
        return FileEdit(path=path, operation="add", after=added, whole=True)
    moved: str | None = None
    if lines and (target := _PATCH_MOVE.match(lines[0])):
        moved = absolute(target[1].strip(), cwd)
        lines = lines[1:]
    while lines and not lines[-1]:
        lines = lines[:-1]
    hunks = _hunks(lines)
    before = after = diff = None
    if len(hunks) == 1:
        before = "\n".join(line[1:] for line in hunks[0] if not line.startswith("+"))
        after = "\n".join(line[1:] for line in hunks[0] if not line.startswith("-"))
    elif hunks:
        diff = "\n".join(lines)
    return FileEdit(
        path=path,
        operation="update" if moved is None else "move",
        before=before,
        after=after,
        diff=diff,
        moved_to=moved,
    )


def _hunks(lines: list[str]) -> list[list[str]]:
    hunks: list[list[str]] = []
    for line in lines:
        if line.startswith("@@"):
            hunks.append([])
        elif line.startswith("*** "):
            continue
        else:
            if not hunks:
                hunks.append([])
            # A context line that lost its leading blank is still a context line.
            hunks[-1].append(line if line[:1] in {"+", "-", " "} else f" {line}")
    return [hunk for hunk in hunks if hunk]


def absolute(path: str, cwd: str | None) -> str:
    """Return a path joined to the session's directory; absolute paths stay as they are."""
    if cwd is None or posixpath.isabs(path) or re.match(r"[A-Za-z]:[\\/]|~", path):
        return path
    return posixpath.normpath(posixpath.join(cwd, path))


# ------------------------------------------------------------------ checklists and questions


def checklist(arguments: Any) -> tuple[PlanItem, ...]:
    """Return the items of an ``update_todo`` call: Markdown boxes, or a list of objects."""
    if not isinstance(arguments, Mapping):
        return ()
    todos: Any = arguments.get("todos")
    if isinstance(todos, str):
        found = (_TODO_LINE.match(line) for line in todos.split("\n"))
        return tuple(
            PlanItem(text=item["text"], status=_BOXES.get(item["box"], "in_progress"))
            for item in found
            if item
        )
    if isinstance(todos, list):
        return tuple(item for todo in todos if (item := _todo(todo)) is not None)
    return ()


def _todo(todo: Any) -> PlanItem | None:
    if not isinstance(todo, Mapping):
        return None
    text = _text(todo, "title", "content", "text")
    if text is None:
        return None
    match todo.get("status"):
        case "pending" | "blocked":
            status = "pending"
        case "in_progress":
            status = "in_progress"
        case "done" | "completed":
            status = "completed"
        case _:
            status = "unknown"
    number = todo.get("id")
    return PlanItem(text=text, status=status, id=None if number is None else str(number))


def questions(arguments: Any, response: Any, output: str | None) -> tuple[Question, ...]:
    """Return what ``ask_user`` asked and, where it is recorded, what was answered.

    ``response`` is the ``human_response.recorded`` (1.0.102); without one the result's text
    is the answer.
    """
    if not isinstance(arguments, Mapping):
        return ()
    text = _text(arguments, "message", "question")
    if text is None:
        return ()
    answer = _answer(response)
    if answer is None and output is not None:
        answer = output.removeprefix("User responded: ").removeprefix("User selected: ")
    return (Question(text=text, options=_options(arguments), answer=answer),)


def _options(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    choices: Any = arguments.get("choices")
    schema: Any = arguments.get("requestedSchema")
    if not isinstance(choices, list) and isinstance(schema, Mapping):
        properties: Any = schema.get("properties")
        fields = list(properties.values()) if isinstance(properties, Mapping) else []
        if len(fields) == 1 and isinstance(fields[0], Mapping):
            choices = fields[0].get("enum")
    if not isinstance(choices, list):
        return ()
    return tuple(choice for choice in choices if isinstance(choice, str))


def _answer(response: Any) -> str | None:
    if not isinstance(response, Mapping):
        return None
    given: Any = response.get("answer", response.get("content"))
    if isinstance(given, Mapping) and len(given) == 1:
        given = next(iter(given.values()))
    if given is None or isinstance(given, str):
        return given
    return json.dumps(given, ensure_ascii=False)


def _text(fields: Mapping[str, Any], *names: str) -> str | None:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str):
            return value
    return None
