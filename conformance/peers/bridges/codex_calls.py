"""Codex's tools and the frames around their results, as its rollouts have them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import patches
from calling import Called, answered, objects, of_server, string
from saying import Json, picture, spoken, text, words_of

_SHELLS = frozenset({"exec_command", "shell", "shell_command", "local_shell", "container.exec"})
_FRAME = re.compile(
    r"(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?"
    r"(?:Process (?:exited with code (?P<code>-?\d+)|running with session ID (?P<session>\S+))\n)?"
    r"(?:Original token count: \d+\n)?Output:(?:\n|\Z)"
)
_EXIT_FRAME = re.compile(
    r"Exit code: (?P<code>-?\d+)\nWall time: [^\n]*\n(?:Total output lines: \d+\n)?Output:(?:\n|\Z)"
)
_WALL_FRAME = re.compile(r"Wall time: [^\n]*\nOutput:(?:\n|\Z)")
_SCRIPT_FRAME = re.compile(
    r"Script (?P<fate>completed|failed|terminated|running with cell ID \S+)\n"
    r"Wall time[^\n]*\nOutput:(?:\n|\Z)"
)
_HEADING = re.compile(
    r"(?:Warning: truncated output \(original token count: \d+\)\n)?Total output lines: \d+\n\n?"
)
_PICTURE = re.compile(r"<image name=[^>]*>\n?|</image>\n?")
_PROPOSAL = re.compile(r"<proposed_plan>\n?(.*?)</proposed_plan>", re.DOTALL)
_NOTIFIED = re.compile(r"<subagent_notification>(.*)</subagent_notification>", re.DOTALL)
_CUT = re.compile(r"…\d+ (?:tokens|chars) truncated…|\[\.\.\. omitted \d+ of \d+ lines")
_CANCELLED = re.compile(
    r"(?:Wall time: [^\n]*\n)?aborted(?: by user[^\n]*)?\Z|command (?:was )?aborted"
)
_DECLINED = re.compile(
    r"(?:exec command|patch|command|apply_patch) rejected|rejected by user"
    r"|user (?:rejected|cancelled) MCP tool call"
)
_FAILED = re.compile(
    r"unsupported (?:custom tool )?call: |failed to parse function arguments|error: "
    r"|apply_patch (?:verification failed|handler received )"
    r"|(?:exec_command|write_stdin|unified exec|exec) failed|(?:execution|tool call) error: "
)
_UNHAPPY = {"cancelled": _CANCELLED, "declined": _DECLINED, "failed": _FAILED}


def message(called: Called) -> Json:
    """Return the message of a call."""
    given = called.given
    if called.name in _SHELLS:
        command = _command_line(given.get("cmd", given.get("command", called.arguments)))
        patch = patches.in_command(command or "")
        return _patch(called, patch) if patch is not None else _command(called, command or "")
    match called.name:
        case "apply_patch":
            asked = called.arguments
            patch = asked if isinstance(asked, str) else string(given.get("input"))
            return _patch(called, patch or "")
        case "update_plan":
            items = [
                {"text": string(step.get("step")) or "", "status": _state(step.get("status"))}
                for step in objects(given.get("plan"))
            ]
            said = {"content": text(string(given.get("explanation"))), "items": items}
            return {
                "kind": "Plan",
                **called.common(),
                **_result(called),
                "form": "checklist",
                **said,
            }
        case "request_user_input":
            answers: dict[str, str | None] = {
                key: ", ".join(one["answers"])
                for key, one in (_told(called).get("answers") or {}).items()
                if isinstance(one, dict) and one.get("answers")
            }
            questions = answered(given.get("questions"), answers, "id")
            fields = {**called.common(), **_result(called), "questions": questions}
            return {"kind": "UserQuestion", **fields}
        case "spawn_agent":
            return _sub_agent(called)
        case "web_search" | "web_search_call":
            action = given.get("action")
            asked: Json = action if isinstance(action, dict) else given
            query = {"query": string(asked.get("query"))}
            return {"kind": "WebSearch", **called.common(), "status": "completed", **query}
        case _:
            return _tool(called)


def typed(words: str) -> str:
    """Return what was typed, without the marks that stand around a picture's place."""
    return _PICTURE.sub("", words)


def said(words: str, **fields: Any) -> list[Json]:
    """Return what the model said: words, and a proposed plan where one stands in them."""
    found = _PROPOSAL.search(words)
    if found is None:
        return [spoken("AgentMessage", "model", text(words), **fields)]
    before = words[: found.start()].rstrip("\n")
    plan: Json = {"kind": "Plan", "author": "model", "name": "", "form": "proposal", **fields}
    spoken_before = [spoken("AgentMessage", "model", text(before), **fields)] if before else []
    return [*spoken_before, {**plan, "content": text(found[1])}]


def settled(messages: list[Json]) -> list[Json]:
    """Return a session's messages with each agent's report at the call that started it.

    Codex tells it later: in the result of a tool that waits, or in the user's place.
    """
    agents = {one.get("agent_id"): one for one in messages if one["kind"] == "SubAgent"}
    for one in messages:
        words = words_of(one.get("output") or one.get("content"))
        for agent, ended in _reports(one, words):
            if agent in agents and "completed" in ended:
                agents[agent] |= {"status": "completed", "output": text(ended["completed"])}
            elif agent in agents and "errored" in ended:
                agents[agent] |= {"status": "failed", "error": ended["errored"]}
    return messages


def _reports(one: Json, words: str) -> Iterator[tuple[str | None, Json]]:
    if one["kind"] == "ToolCall" and one["name"] in ("wait_agent", "wait"):
        states = _object(words).get("status")
        for agent, ended in states.items() if isinstance(states, dict) else ():
            yield agent, ended if isinstance(ended, dict) else {}
    elif one["kind"] == "UserMessage" and (found := _NOTIFIED.fullmatch(words.strip())):
        told = _object(found[1])
        ended = told.get("status")
        yield (
            told.get("agent_id") or told.get("agent_path"),
            ended if isinstance(ended, dict) else {},
        )


def _result(called: Called) -> Json:
    if called.output is None:
        return {"status": "unresolved"}
    words = called.words
    for status, pattern in (
        ("cancelled", _CANCELLED),
        ("declined", _DECLINED),
        ("failed", _FAILED),
    ):
        if pattern.match(words):
            return {"status": status, "error": words}
    if called.failed:
        return {"status": "failed", "error": words}
    extent = {"output_extent": "truncated"} if _is_cut(words) else {}
    return {"status": "completed", "output": called.output, **extent}


def _command(called: Called, command: str) -> Json:
    given, words = called.given, called.words
    workdir = string(given.get("workdir")) or string(given.get("cwd"))
    cwd = patches.absolute(workdir, called.cwd) if workdir else called.cwd
    frame = _FRAME.match(words) or _EXIT_FRAME.match(words)
    as_json = _json_result(words)
    if called.output is None:
        ended: Json = {"status": "unresolved"}
    elif as_json is not None:
        ended = _exited(as_json[0], as_json[1])
    elif frame is not None:
        groups = frame.groupdict()
        code, session = groups.get("code"), groups.get("session")
        ended = _exited(words[frame.end() :], None if code is None else int(code))
        if session:
            ended |= {"status": "unresolved", "background_id": session}
    else:
        ended = _result(called)
    fields = {**called.common(), **ended, "command": command, "cwd": cwd}
    return {"kind": "CommandExecution", **fields}


def _exited(body: str, code: int | None) -> Json:
    heading = _HEADING.match(body)
    shown = body[heading.end() :] if heading else body
    ended: Json = {"status": "failed" if code else "completed", "output": text(shown)}
    if heading or _CUT.search(shown):
        ended["output_extent"] = "truncated"
    if code is not None:
        ended |= {"exit_code": code, "exit_code_source": "text"}
    return ended


def _patch(called: Called, patch: str) -> Json:
    ended, words = _result(called), called.words
    inner = words[found.end() :] if (found := _WALL_FRAME.match(words)) else words
    told = _json_result(inner)
    if frame := _EXIT_FRAME.match(inner):
        told = inner[frame.end() :], int(frame["code"])
    if told is not None:
        body, code = told
        ended = {"status": "failed", "error": body} if code else _exited(body, None)
    changes = patches.edits(patch, called.cwd)
    return {"kind": "FileChange", **called.common(), **ended, "changes": changes}


def _sub_agent(called: Called) -> Json:
    given, told, ended = called.given, _told(called), _result(called)
    if ended["status"] == "completed" and ("agent_id" in told or "task_name" in told):
        # The call returns at once, with the agent's id: that is not its report.
        ended = {"status": "unresolved"}
    about = {
        "prompt": string(given.get("message")),
        "description": string(given.get("task_name")),
        "agent_type": string(given.get("agent_type")),
        "agent_id": string(told.get("agent_id")),
        "background": ended["status"] == "unresolved" and bool(told),
    }
    return {"kind": "SubAgent", **called.common(), **ended, **about}


def _tool(called: Called) -> Json:
    name, server = of_server(called.name)
    if called.server is None and server is None and "__" in name:
        server, _, name = name.partition("__")
    server = called.server or server
    output = called.output
    first = output[0].get("text", "") if output else ""
    pattern = {"exec": _SCRIPT_FRAME, "write_stdin": _FRAME}.get(name, _WALL_FRAME)
    frame = pattern.match(first)
    ended = _result(called)
    if output and server and frame is None:
        ended = {**ended, "output": [*_blocks(first), *output[1:]]}
    elif output is not None and frame is not None and ended["status"] == "completed":
        rest = first[frame.end() :]
        shown = [*(_blocks(rest) if pattern is _WALL_FRAME else text(rest)), *output[1:]]
        ended = {**ended, "output": shown}
        fate = frame.groupdict().get("fate") or ""
        if fate == "failed":
            ended = {"status": "failed", "error": "".join(p.get("text", "") for p in shown)}
        elif fate == "terminated":
            ended["status"] = "cancelled"
        elif fate.startswith("running"):
            ended["status"] = "unresolved"
    own = {"name": name, "server": server}
    return {"kind": "ToolCall", **called.common(), **ended, **own}


def _blocks(words: str) -> list[Json]:
    """Return an MCP tool's result: its words, or the content blocks that they are the JSON of."""
    if not words.startswith('[{"'):
        return text(words)
    try:
        return [part for one in json.loads(words) for part in content_of(one)]
    except (ValueError, AttributeError):
        return text(words)


def content_of(part: Any) -> list[Json]:
    """Return a part of a message or of a result, as Codex has it, as content."""
    url = part.get("image_url") if isinstance(part, dict) else None
    if isinstance(url, str) and url.startswith("data:"):
        head, _, data = url.partition(",")
        return [picture(data, head.removeprefix("data:").partition(";")[0])]
    return text(string(part.get("text"))) if isinstance(part, dict) else []


def is_listed(words: str) -> bool:
    """Whether a tool gives a result of several parts as the JSON of their list."""
    return words.startswith(('[{"type": "input_', '[{"type":"input_'))


def listed(words: str) -> list[Json]:
    """Return a result of several parts that a tool gives as the JSON of their list."""
    try:
        return [part for one in json.loads(words) for part in content_of(one)]
    except (ValueError, AttributeError):
        return text(words)


def _told(called: Called) -> Json:
    """Return a result that is a JSON object; nothing if it is none."""
    return _object(called.words)


def _object(words: str) -> Json:
    try:
        told = json.loads(words)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _json_result(words: str) -> tuple[str, int | None] | None:
    """Return output and exit code of the frame that the oldest shell tool has, or None."""
    if not words.startswith('{"output":'):
        return None
    try:
        value = json.loads(words)
        return value["output"], value["metadata"].get("exit_code")
    except (ValueError, KeyError, AttributeError):
        return None


def _command_line(words: Any) -> str | None:
    """Return an argument vector or a string as one command line, without the login shell."""
    if not isinstance(words, list):
        return string(words)
    listed = [str(word) for word in words]
    if len(listed) == 3 and listed[1] in ("-lc", "-c") and listed[0].endswith("sh"):
        return listed[2]
    return shlex.join(listed)


def _state(status: object) -> object:
    return status if status in ("pending", "in_progress", "completed") else "unknown"


def _is_cut(words: str) -> bool:
    return _HEADING.match(words) is not None or _CUT.search(words) is not None
