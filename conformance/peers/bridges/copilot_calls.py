"""Copilot CLI's tools and the words around their results, as its event logs have them."""

from __future__ import annotations

import re
from typing import Any

import patches
from calling import Called, objects, of_server, string
from saying import Json, text

_SHELLS = frozenset({"bash", "powershell", "shell", "local_shell"})
_EXIT = re.compile(r"\n?<(?:exited|shellId: [^\n<>]+? completed) with exit code (-?\d{1,10})>\Z")
_BACKGROUND = re.compile(r"<command started in background with shellId: ([^\n<>]+)>\Z")
_KEPT_APART = re.compile(r"Output too large to read at once \([^()\n]*\)\. Saved to: ([^\n]+)\n")
_ANSWERS = ("User responded: ", "User selected: ")
_BOX = re.compile(r"\s*[-*+]\s*\[([ xX~>/\-])\]\s*(.*\S)\s*")
_STATES = {" ": "pending", "x": "completed", "X": "completed"}


def message(called: Called) -> Json:
    """Return the message of a call."""
    given = called.given
    if called.name in _SHELLS:
        return _command(called)
    match called.name:
        case "create" | "edit" | "str_replace" | "str_replace_editor" | "apply_patch":
            fields = {**called.common(), **called.result(), "changes": _changes(called)}
            return {"kind": "FileChange", **fields}
        case "task":
            about = {
                name: string(given.get(name)) for name in ("description", "prompt", "agent_type")
            }
            background = given.get("mode") == "background"
            fields = {**called.common(), **called.result(), **about, "background": background}
            return {"kind": "SubAgent", **fields}
        case "update_todo" | "update_todos":
            items = {"form": "checklist", "items": _items(given.get("todos"))}
            return {"kind": "Plan", **called.common(), **called.result(), **items}
        case "exit_plan_mode":
            words = string(given.get("plan_content")) or string(given.get("summary"))
            plan = {"form": "proposal", "content": text(words)}
            return {"kind": "Plan", **called.common(), **called.result(), **plan}
        case "web_search":
            query = {"query": string(given.get("query"))}
            return {"kind": "WebSearch", **called.common(), **called.result(), **query}
        case "ask_user":
            fields = {**called.common(), **called.result(), "questions": [_question(called)]}
            return {"kind": "UserQuestion", **fields}
        case _:
            name, server = of_server(called.name)
            own = {"name": name, "server": called.server or server}
            return {"kind": "ToolCall", **called.common(), **called.result(), **own}


def _command(called: Called) -> Json:
    ended, words = called.result(), called.words
    if exited := _EXIT.search(words):
        code = int(exited[1])
        ended = {
            "status": "failed" if code else "completed",
            "output": text(words[: exited.start()]),
        }
        ended |= {"exit_code": code, "exit_code_source": "text"}
    elif started := _BACKGROUND.match(words):
        ended = {"status": "unknown", "output": [], "background_id": started[1]}
    if kept := _KEPT_APART.match(words):
        ended |= {"output_extent": "elsewhere", "overflow_path": kept[1]}
    command = string(called.given.get("command")) or ""
    fields = {**called.common(), **ended, "command": command, "cwd": called.cwd}
    return {"kind": "CommandExecution", **fields}


def _changes(called: Called) -> list[Json]:
    given, asked = called.given, called.arguments
    patch = asked if isinstance(asked, str) else string(given.get("patch") or given.get("input"))
    if patch is not None:
        return patches.edits(patch, called.cwd)
    path = string(given.get("path")) or string(given.get("file_path"))
    if path is None:
        return []
    path = patches.absolute(path, called.cwd)
    verb = given.get("command") if called.name == "str_replace_editor" else called.name
    if verb == "create":
        after = string(given.get("file_text"))
        return [{"path": path, "operation": "add", "after": after, "whole": True}]
    before, after = string(given.get("old_str")), string(given.get("new_str"))
    return [{"path": path, "operation": "update", "before": before, "after": after}]


def _items(todos: object) -> list[Json]:
    if isinstance(todos, str):
        boxes = filter(None, map(_BOX.fullmatch, todos.split("\n")))
        return [{"text": box[2], "status": _STATES.get(box[1], "in_progress")} for box in boxes]
    known = {"done": "completed", "completed": "completed", "in_progress": "in_progress"}
    return [
        {
            "text": string(todo.get("title") or todo.get("content")) or "",
            "status": known.get(str(todo.get("status")), "pending"),
        }
        for todo in objects(todos)
    ]


def _question(called: Called) -> Json:
    given = called.given
    answer = None if called.output is None else called.words
    for before in _ANSWERS:
        answer = None if answer is None else answer.removeprefix(before)
    asked = string(given.get("message")) or string(given.get("question")) or ""
    options = [one for one in _choices(given) if isinstance(one, str)]
    return {"text": asked, "options": options, "answer": answer}


def _choices(given: Json) -> list[Any]:
    schema: Any = given.get("requestedSchema")
    fields: Any = schema.get("properties") if isinstance(schema, dict) else None
    if given.get("choices") or not isinstance(fields, dict) or len(fields) != 1:
        return given.get("choices") or []
    return next(iter(fields.values())).get("enum") or []
