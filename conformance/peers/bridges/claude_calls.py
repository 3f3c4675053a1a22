"""Claude Code's tools and the words around their results, as its session files have them."""

from __future__ import annotations

import json
import re

from calling import Called, answered, objects, of_server, string
from claude_details import detailed
from saying import Json, text, words_of

_EXIT_CODE = re.compile(r"Exit code (-?\d+)(?:\n|\Z)")
_ERROR = re.compile(r"<tool_use_error>(.*)</tool_use_error>", re.DOTALL)
_REFUSED = re.compile(
    r"The user doesn't want to (?:proceed with this tool use|take this action right now)\."
    r"|Claude requested permissions? to |Permission to use \S+ .*denied",
    re.DOTALL,
)
_STOPPED = "stopped while running"
_NEVER_RAN = re.compile(r"<tool_use_error>|InputValidationError\b|PreToolUse:")
_KEPT_APART = re.compile(
    r"<persisted-output>.*?saved to: (?P<path>[^\n]+)\n\n"
    r"Preview \(first [^\n]*\n(?P<shown>.*?)(?:\n\.\.\.)?\n?</persisted-output>",
    re.DOTALL,
)
_IN_BACKGROUND = re.compile(r"Command running in background with ID: (\w+)")
_AGENT_ID = re.compile(r"(?:\A|\n)agentId:.*\Z", re.DOTALL)
_ANSWER = re.compile(r'"([^"]+)"="([^"]*)"')
_LINKS = re.compile(r"Links: (\[.*?\])(?:\n|\Z)", re.DOTALL)
_SLASH = re.compile(r"<command-(name|message|args|contents)>(.*?)</command-\1>", re.DOTALL)


def message(called: Called, tasks: dict[str, Json]) -> Json:
    """Return the message of a call; ``tasks`` is the session's checklist, brought forward."""
    return detailed(_message(called, tasks), called)


def _message(called: Called, tasks: dict[str, Json]) -> Json:
    match called.name:
        case "Bash" | "PowerShell":
            return _command(called)
        case "Write" | "Edit" | "MultiEdit" | "NotebookEdit":
            changes = _changes(called)
            return {"kind": "FileChange", **called.common(), **_result(called), "changes": changes}
        case "Task" | "Agent":
            return _sub_agent(called)
        case "TodoWrite":
            items = [
                _item(string(todo.get("content")), todo.get("status"), string(todo.get("id")))
                for todo in objects(called.given.get("todos"))
            ]
            return _plan(called, "checklist", items=items)
        case "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet":
            return _plan(called, "checklist", items=_tasks(called, tasks))
        case "ExitPlanMode" | "EnterPlanMode":
            return _plan(called, "proposal", content=text(string(called.given.get("plan"))))
        case "WebSearch":
            return _web_search(called)
        case "AskUserQuestion":
            answers = dict[str, str | None](_ANSWER.findall(called.words))
            questions = answered(called.given.get("questions"), answers)
            fields = {**called.common(), **_result(called), "questions": questions}
            return {"kind": "UserQuestion", **fields}
        case _:
            name, server = of_server(called.name)
            own = {"name": name, "server": called.server or server}
            return {"kind": "ToolCall", **called.common(), **_result(called), **own}


def typed(words: str) -> str:
    """Return a typed slash command as it was typed, and all other words as they are."""
    fields = {name: inner.strip() for name, inner in _SLASH.findall(words)}
    if not fields.get("name") or _SLASH.sub("", words).strip():
        return words
    return " ".join(filter(None, (fields["name"], fields.get("args"))))


def _result(called: Called) -> Json:
    if called.output is None:
        return {"status": "unresolved"}
    words = called.words
    if called.failed or (called.failed is None and _says_failed(words)):
        error = found[1] if (found := _ERROR.fullmatch(words)) else words
        if not _REFUSED.match(words):
            return {"status": "failed", "error": error}
        return {"status": "cancelled" if _STOPPED in words else "declined", "error": error}
    if words == f"({called.name} completed with no output)":
        return {"status": "completed", "output": []}
    if kept := _KEPT_APART.fullmatch(words.strip()):
        apart = {"output_extent": "elsewhere", "overflow_path": kept["path"].strip()}
        return {"status": "completed", "output": text(kept["shown"]), **apart}
    return {"status": "completed", "output": called.output}


def _says_failed(words: str) -> bool:
    """Whether a result's own words say that the call failed, where the tool keeps no mark of it."""
    return any(one.match(words) for one in (_ERROR, _REFUSED, _EXIT_CODE))


def _command(called: Called) -> Json:
    ended = _result(called)
    words = called.words
    if ended["status"] == "failed":
        code = _EXIT_CODE.match(words)
        if code:
            ended = {"status": "failed", "output": text(words[code.end() :])}
            ended |= {"exit_code": int(code[1]), "exit_code_source": "text"}
        elif not _says_codes(called.release) and not _NEVER_RAN.match(words):
            # Without a code in words the error is what the command printed.
            ended = {"status": "failed", "output": called.output}
    elif ended["status"] == "completed":
        background = _IN_BACKGROUND.match(words)
        if background or called.given.get("run_in_background") is True:
            ended["status"] = "unknown"
            ended["background_id"] = background[1] if background else None
        elif called.failed is False:
            # Of a command Claude Code marks as an error whatever did not end with 0.
            ended |= {"exit_code": 0, "exit_code_source": "field"}
    command = string(called.given.get("command")) or ""
    fields = {**called.common(), **ended, "command": command, "cwd": called.cwd}
    return {"kind": "CommandExecution", **fields}


def _says_codes(release: str | None) -> bool:
    """Whether a release tells in words with which code a command failed: 2.0.77 does."""
    numbers = re.findall(r"\d+", release or "")
    return len(numbers) < 3 or tuple(map(int, numbers[:3])) > (2, 0, 0)


def _changes(called: Called) -> list[Json]:
    given = called.given
    path = string(given.get("file_path")) or string(given.get("notebook_path")) or ""
    if called.name == "Write":
        operation = "update" if "has been updated" in called.words else "add"
        after = string(given.get("content"))
        return [{"path": path, "operation": operation, "after": after, "whole": True}]
    if called.name == "NotebookEdit":
        after = string(given.get("new_source"))
        return [{"path": path, "operation": "update", "after": after}]
    made = objects(given.get("edits")) if called.name == "MultiEdit" else [given]
    return [_replaced(path, edit) for edit in made]


def _replaced(path: str, edit: Json) -> Json:
    before, after = string(edit.get("old_string")), string(edit.get("new_string"))
    if before == "":
        return {"path": path, "operation": "add", "after": after, "whole": True}
    return {"path": path, "operation": "update", "before": before, "after": after}


def _sub_agent(called: Called) -> Json:
    given, ended = called.given, _result(called)
    output = ended.get("output")
    background = given.get("run_in_background") is True
    if background and ended["status"] == "completed":
        # The call returns at once; what it returned is no report.
        ended = {"status": "unknown"}
    elif output:
        ended["output"] = _without_agent_id(output)
    about = {
        "description": string(given.get("description")),
        "prompt": string(given.get("prompt")),
        "agent_type": string(given.get("subagent_type")),
        "background": background,
    }
    return {"kind": "SubAgent", **called.common(), **ended, **about}


def _without_agent_id(output: list[Json]) -> list[Json]:
    """Return a report without the id and the counts that the CLI puts behind it."""
    *before, last = output
    report = _AGENT_ID.sub("", last.get("text", ""))
    return [*before, {**last, "text": report}] if report else before


def _plan(called: Called, form: str, **more: list[Json]) -> Json:
    return {"kind": "Plan", **called.common(), **_result(called), "form": form, **more}


def _item(words: str | None, status: object, identity: str | None) -> Json:
    known = ("pending", "in_progress", "completed")
    state = status if status in known else "unknown"
    return {"text": words or "", "status": state, "id": identity}


def _tasks(called: Called, tasks: dict[str, Json]) -> list[Json]:
    """Return the checklist as a call leaves it: each call records only one change of it."""
    given, after = called.given, dict(tasks)
    if called.name == "TaskCreate":
        identity = str(len(after) + 1)
        after[identity] = _item(string(given.get("subject")), "pending", identity)
    elif called.name == "TaskUpdate":
        identity = string(given.get("taskId")) or ""
        known = after.get(identity, _item(None, None, identity or None))
        words = string(given.get("subject")) or known["text"]
        status = given.get("status") or known["status"]
        after[identity] = _item(words, status, known["id"])
        if status == "deleted":
            del after[identity]
    if called.output is not None and not called.failed:
        tasks.clear()
        tasks.update(after)
    return list(after.values())


def _web_search(called: Called) -> Json:
    hits: list[Json] = []
    for found in _LINKS.findall(words_of(called.output)):
        try:
            listed = objects(json.loads(found))
        except ValueError:
            continue
        hits += [
            {"url": string(hit.get("url")), "title": string(hit.get("title"))} for hit in listed
        ]
    query = string(called.given.get("query"))
    fields = {**called.common(), **_result(called), "query": query, "results": hits}
    return {"kind": "WebSearch", **fields}
