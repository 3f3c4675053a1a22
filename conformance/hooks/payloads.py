"""The payloads of each dialect, in the shapes that were captured or are documented.

Only what a correlator could look at is varied; the rest is there because it is there in life,
and must not confuse anybody. Field names are the vendors', values are ours.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

Verb = Literal["shell", "mcp", "read", "search", "write", "edit", "notebook", "task", "web"]
Silence = Literal["says all", "no input", "no input at the end", "no id at the end", "no turn"]
"""What the events of a call leave out. An end never says more than its start."""

Ids = Literal["shared", "unique", "none"]
"""Whether calls have ids: none, unique ones, or ids that several calls of a turn may share."""

WORKSPACE = "/srv/project"


class TrueCall(NamedTuple):
    """A call as the model made it. ``where`` is the directory that it really ran in.

    ``changed``: the harness changes the input before the call runs, and its end says the new one.
    """

    number: int
    verb: Verb
    name: str
    id: str | None
    input: Mapping[str, Any]
    where: str
    server: str | None = None
    agent: str | None = None
    silence: Silence = "says all"
    changed: bool = False


class Place(NamedTuple):
    """The session and the turn that an event belongs to, in the words of its payload."""

    session: str
    turn: str
    tick: int


class Manner(NamedTuple):
    """How one conversation's harness words things, the same all through it.

    ``sandbox``: shell hooks say whether they ran in a sandbox. ``servers``: which layer names
    the MCP server. ``folded``: a file hook writes a Windows path with other slashes and case.
    """

    sandbox: bool = True
    remote: bool = False
    folded: bool = True
    encoded_arguments: bool = False


class Dialect(NamedTuple):
    """What a harness sends, and what it can't say."""

    name: str
    agent: str
    ids: Ids
    tools: Mapping[Verb, str]
    layers: bool
    failures: bool
    native_turns: bool
    subagents: bool
    redelivers: frozenset[Verb]
    events: Mapping[str, str]
    build: Callable[[Dialect, str, Place, Manner, TrueCall | None], dict[str, Any]]

    def payload(
        self, what: str, place: Place, manner: Manner, call: TrueCall | None = None
    ) -> tuple[str, dict[str, Any]] | None:
        """Return the event's name and payload; None where the dialect has no such event."""
        name = self.events.get(_hook(what, call))
        if name is None:
            return None
        payload = self.build(self, what, place, manner, call)
        if call is not None:
            payload = _with_less(payload, what, call)
        if "hook_event_name" in payload:
            payload["hook_event_name"] = name
        return name, payload


def _hook(what: str, call: TrueCall | None) -> str:
    if call is None or what not in ("before", "after", "file"):
        return what
    if what == "file":
        return "read-file" if call.verb == "read" else "edit-file"
    return f"{call.verb}-{what}"


_OF_A_TURN = ("generation_id", "prompt_id", "turn_id")


def _with_less(payload: dict[str, Any], what: str, call: TrueCall) -> dict[str, Any]:
    """Return a payload without what its call's events leave out, and with what was changed."""
    is_end = what in ("post", "failure")
    given = [field for field in ("tool_input", "toolArgs") if field in payload]
    if is_end and call.changed and given:
        payload |= {given[0]: {"answers": ["yes"]}}
    match call.silence:
        case "no input" if what == "pre" or is_end:
            gone = given
        case "no input at the end" if is_end:
            gone = given
        case "no id at the end" if is_end:
            gone = ["tool_use_id"]
        case "no turn":
            return payload | dict.fromkeys(set(_OF_A_TURN) & payload.keys(), "")
        case _:
            return payload
    return {field: value for field, value in payload.items() if field not in gone}


def turned(value: Any) -> Any:
    """Return the same JSON value with the keys of every object in another order."""
    if isinstance(value, dict):
        fields: dict[str, Any] = value
        return {key: turned(fields[key]) for key in reversed(fields)}
    if isinstance(value, list):
        items: list[Any] = value
        return [turned(item) for item in items]
    return value


def _input(call: TrueCall, what: str) -> Any:
    """Return the input as the start or an end writes it: same value, other spelling."""
    value = dict(call.input)
    if what == "pre":
        return value
    if call.number % 3 == 1:
        return turned(value)
    if call.number % 3 == 2 and what in ("post", "failure"):
        return json.dumps(turned(value), ensure_ascii=False)
    return value


def cursor(
    dialect: Dialect, what: str, place: Place, manner: Manner, call: TrueCall | None
) -> dict[str, Any]:
    """Return a payload of Cursor's."""
    del dialect
    payload: dict[str, Any] = {
        "conversation_id": place.session,
        "generation_id": place.turn,
        "model": "default",
        "hook_event_name": "",
        "cursor_version": "3.18.25",
        "workspace_roots": [WORKSPACE],
        "user_email": "someone@example.invalid",
        "transcript_path": None,
        "session_id": place.session,
    }
    if call is None:
        payload |= _CURSOR_SAYS.get(what, {})
        if what == "thought":
            # Some releases append to the turn's id here.
            payload["generation_id"] = f"{place.turn}-{place.tick % 97}-a1b2"
    elif what in ("before", "after") and call.verb == "shell":
        payload |= _cursor_shell(what, manner, call)
    elif what in ("before", "after"):
        payload |= _cursor_mcp(what, manner, call)
    elif what == "file":
        payload["file_path"] = _other_spelling(_path(call), manner)
        if call.verb == "read":
            payload |= {"content": "x", "attachments": []}
        else:
            payload["edits"] = [{"old_string": "a", "new_string": "b"}]
    elif what.startswith("subagent"):
        payload |= {"subagent_id": call.id, "subagent_type": "explore", "task": "look"}
        payload["generation_id"] = place.session
        if what == "subagent-start":
            payload |= {"parent_conversation_id": place.session, "tool_call_id": call.id}
        else:
            payload |= {"status": "completed", "duration_ms": 40}
    else:
        payload |= _cursor_call(what, call)
    return payload


_CURSOR_SAYS: Mapping[str, Mapping[str, Any]] = {
    "prompt": {"prompt": "go on", "attachments": []},
    "thought": {"text": "let me see", "duration_ms": 12},
    "response": {"text": "done", "input_tokens": 5, "output_tokens": 7},
    "turn-end": {"status": "completed", "loop_count": 0},
    "session-end": {"reason": "completed", "duration_ms": 5},
}


def _cursor_call(what: str, call: TrueCall) -> dict[str, Any]:
    payload: dict[str, Any] = {"tool_name": call.name, "tool_use_id": call.id}
    payload["tool_input"] = _input(call, what)
    if what == "pre" and call.verb == "shell":
        payload["cwd"] = ""
    elif what == "post":
        output = json.dumps({"output": "ok", "exitCode": 0})
        payload |= {"tool_output": output, "duration": 5.5, "cwd": ""}
    elif what == "failure":
        payload |= {"failure_type": "error", "error_message": "no", "is_interrupt": False}
        payload |= {"duration": 7.25, "cwd": ""}
    return payload


def _cursor_shell(what: str, manner: Manner, call: TrueCall) -> dict[str, Any]:
    payload: dict[str, Any] = {"command": call.input["command"]}
    if what == "before":
        payload["cwd"] = call.where
    else:
        payload |= {"output": "ok", "duration": 3.5}
    if manner.sandbox:
        payload["sandbox"] = bool(call.number % 2)
    return payload


def _cursor_mcp(what: str, manner: Manner, call: TrueCall) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "tool_name": call.name.removeprefix("MCP:"),
        "tool_input": json.dumps(dict(call.input), ensure_ascii=False),
        "mcp_server_name": call.server,
    }
    if what == "after":
        return payload | {"result_json": "{}", "duration": 0.25}
    payload["tool_input"] = json.dumps(turned(dict(call.input)), ensure_ascii=False)
    if manner.remote:
        url = f"http://127.0.0.1/{call.server}"
        return payload | {"url": url, "mcp_server_url": url}
    return payload | {"command": call.server}


def _path(call: TrueCall) -> str:
    for key in ("file_path", "path", "target_notebook"):
        if key in call.input:
            return str(call.input[key])
    return ""


def _other_spelling(path: str, manner: Manner) -> str:
    if manner.folded and path[1:2] == ":":
        return path[0].lower() + path[1:].replace("\\", "/")
    return path


def claude(
    dialect: Dialect, what: str, place: Place, manner: Manner, call: TrueCall | None
) -> dict[str, Any]:
    """Return a payload of Claude Code's, with ids or from before there were any."""
    del manner
    payload: dict[str, Any] = {
        "session_id": place.session,
        "transcript_path": f"/srv/home/.claude/projects/-srv-project/{place.session}.jsonl",
        "cwd": WORKSPACE,
        "hook_event_name": "",
    }
    if dialect.native_turns:
        payload["prompt_id"] = place.turn
    if what == "prompt":
        payload["prompt"] = "go on"
    elif what == "turn-end":
        payload["stop_hook_active"] = False
    elif what == "session-start":
        payload["source"] = "startup"
    elif what == "session-end":
        payload["reason"] = "other"
    if call is None:
        return payload
    if what in ("subagent-start", "subagent-stop"):
        payload |= {"agent_id": call.agent, "agent_type": "general-purpose"}
        return payload
    if call.agent is not None and call.verb != "task":
        payload |= {"agent_id": call.agent, "agent_type": "general-purpose"}
    payload |= {"tool_name": call.name, "tool_input": _input(call, "pre")}
    if what == "permission":
        return payload | {"permission_suggestions": []}
    if call.id is not None:
        payload["tool_use_id"] = call.id
    if what == "post":
        payload["tool_input"] = turned(payload["tool_input"])
        payload |= {"tool_response": {"stdout": "exit 1"}}
        if dialect.native_turns:
            payload["duration_ms"] = 4
    elif what == "failure":
        payload |= {"error": "no", "is_interrupt": False, "duration_ms": 4}
    return payload


def codex(
    dialect: Dialect, what: str, place: Place, manner: Manner, call: TrueCall | None
) -> dict[str, Any]:
    """Return a payload of Codex's."""
    payload = claude(dialect, what, place, manner, call)
    payload.pop("prompt_id", None)
    payload |= {"turn_id": place.turn, "model": "model", "permission_mode": "default"}
    payload["transcript_path"] = f"/srv/home/.codex/sessions/rollout-{place.session}.jsonl"
    if what == "post":
        payload.pop("duration_ms", None)
        payload["tool_response"] = ""
    if what in ("session-start", "session-end"):
        payload.pop("turn_id")
    return payload


def copilot_camel(
    dialect: Dialect, what: str, place: Place, manner: Manner, call: TrueCall | None
) -> dict[str, Any]:
    """Return a payload of Copilot CLI's own dialect: no call id, no turn, no event name."""
    del dialect
    payload: dict[str, Any] = {
        "sessionId": place.session,
        "timestamp": _EPOCH + place.tick,
        "cwd": WORKSPACE,
    }
    match what:
        case "prompt":
            payload["prompt"] = "go on"
        case "session-start":
            payload |= {"source": "new", "initialPrompt": "go on"}
        case "session-end":
            payload["reason"] = "complete"
        case "turn-end":
            payload |= {"stopReason": "end_turn", "transcriptPath": "/srv/home/events.jsonl"}
        case _:
            pass
    if call is None:
        return payload
    if what in ("subagent-start", "subagent-stop"):
        return payload | {"agentId": call.agent, "agentName": "explore", "agentType": "explore"}
    arguments: Any = _input(call, "pre")
    if what != "pre":
        arguments = turned(arguments)
    if manner.encoded_arguments:
        arguments = json.dumps(arguments)
    payload |= {"toolName": call.name, "toolArgs": arguments}
    if what == "post":
        payload["toolResult"] = {"resultType": "success", "textResultForLlm": "exit 1"}
    elif what == "failure":
        payload["error"] = "no"
    return payload


def pascal(
    dialect: Dialect, what: str, place: Place, manner: Manner, call: TrueCall | None
) -> dict[str, Any]:
    """Return a payload of Copilot CLI's other dialect, or of VS Code's."""
    del manner
    payload: dict[str, Any] = {
        "hook_event_name": "",
        "session_id": place.session,
        "timestamp": moment(place.tick),
        "cwd": WORKSPACE,
        "transcript_path": "/srv/home/events.jsonl",
    }
    if what == "prompt":
        payload["prompt"] = "go on"
    elif what == "session-start":
        payload["source"] = "new"
    if call is None:
        return payload
    if what in ("subagent-start", "subagent-stop"):
        return payload | {"agent_id": call.agent, "agent_type": "explore"}
    payload |= {"tool_name": call.name, "tool_input": _input(call, "pre")}
    if call.id is not None:
        payload["tool_use_id"] = call.id
    if what == "post" and dialect.agent == "vscode":
        payload["tool_response"] = "exit 1"
    elif what == "post":
        payload["tool_input"] = turned(payload["tool_input"])
        payload["tool_result"] = {"result_type": "success", "text_result_for_llm": "exit 1"}
    elif what == "failure":
        payload["error"] = "no"
    return payload


def moment(tick: int) -> str:
    """Return a moment of the generated world as these two write it."""
    seconds, milliseconds = divmod(tick, 1000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return f"2026-01-{1 + days % 28:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z"


_EPOCH = 1_767_225_600_000
"""The generated world begins with the year 2026."""

_CURSOR_EVENTS = {
    "prompt": "beforeSubmitPrompt",
    "thought": "afterAgentThought",
    "response": "afterAgentResponse",
    "pre": "preToolUse",
    "post": "postToolUse",
    "failure": "postToolUseFailure",
    "shell-before": "beforeShellExecution",
    "shell-after": "afterShellExecution",
    "mcp-before": "beforeMCPExecution",
    "mcp-after": "afterMCPExecution",
    "read-file": "beforeReadFile",
    "edit-file": "afterFileEdit",
    "subagent-start": "subagentStart",
    "subagent-stop": "subagentStop",
    "turn-end": "stop",
    "session-end": "sessionEnd",
}
_CLAUDE_EVENTS = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "pre": "PreToolUse",
    "post": "PostToolUse",
    "failure": "PostToolUseFailure",
    "permission": "PermissionRequest",
    "subagent-start": "SubagentStart",
    "subagent-stop": "SubagentStop",
    "turn-end": "Stop",
    "session-end": "SessionEnd",
}


def _only(events: Mapping[str, str], *without: str) -> dict[str, str]:
    return {what: name for what, name in events.items() if what not in without}


DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        name="cursor",
        agent="cursor",
        ids="shared",
        tools={
            "shell": "Shell",
            "mcp": "MCP:",
            "read": "Read",
            "search": "Grep",
            "write": "Write",
            "edit": "StrReplace",
            "notebook": "EditNotebook",
            "task": "Task",
            "web": "WebSearch",
        },
        layers=True,
        failures=True,
        native_turns=True,
        subagents=True,
        redelivers=frozenset({"read", "search"}),
        events=_CURSOR_EVENTS,
        build=cursor,
    ),
    Dialect(
        name="claude",
        agent="claude",
        ids="unique",
        tools={
            "shell": "Bash",
            "mcp": "mcp__",
            "read": "Read",
            "edit": "Edit",
            "search": "Grep",
            "task": "Task",
        },
        layers=False,
        failures=True,
        native_turns=True,
        subagents=True,
        redelivers=frozenset(),
        events=_CLAUDE_EVENTS,
        build=claude,
    ),
    Dialect(
        name="claude-without-prompt-ids",
        agent="claude",
        ids="unique",
        tools={"shell": "Bash", "mcp": "mcp__", "read": "Read", "edit": "Edit", "task": "Task"},
        layers=False,
        failures=True,
        native_turns=False,
        subagents=True,
        redelivers=frozenset(),
        events=_CLAUDE_EVENTS,
        build=claude,
    ),
    Dialect(
        name="claude-without-ids",
        agent="claude",
        ids="none",
        tools={
            "shell": "Bash",
            "mcp": "mcp__",
            "read": "Read",
            "edit": "Edit",
            "search": "Grep",
        },
        layers=False,
        failures=False,
        native_turns=False,
        subagents=False,
        redelivers=frozenset(),
        events=_only(_CLAUDE_EVENTS, "failure", "permission", "subagent-start", "subagent-stop"),
        build=claude,
    ),
    Dialect(
        name="codex",
        agent="codex",
        ids="unique",
        tools={"shell": "Bash", "mcp": "mcp__", "edit": "apply_patch"},
        layers=False,
        failures=False,
        native_turns=True,
        subagents=True,
        redelivers=frozenset(),
        events=_only(_CLAUDE_EVENTS, "failure"),
        build=codex,
    ),
    Dialect(
        name="copilot",
        agent="copilot",
        ids="none",
        tools={"shell": "bash", "read": "view", "edit": "edit", "search": "grep", "mcp": "lab-"},
        layers=False,
        failures=True,
        native_turns=False,
        subagents=False,
        redelivers=frozenset(),
        events={
            "session-start": "sessionStart",
            "prompt": "userPromptSubmitted",
            "pre": "preToolUse",
            "post": "postToolUse",
            "failure": "postToolUseFailure",
            "turn-end": "agentStop",
            "session-end": "sessionEnd",
        },
        build=copilot_camel,
    ),
    Dialect(
        name="copilot-pascal",
        agent="copilot",
        ids="none",
        tools={"shell": "Bash", "read": "Read", "edit": "Edit", "search": "Grep", "mcp": "lab-"},
        layers=False,
        failures=True,
        native_turns=False,
        subagents=False,
        redelivers=frozenset(),
        events=_only(_CLAUDE_EVENTS, "permission", "subagent-start", "subagent-stop"),
        build=pascal,
    ),
    Dialect(
        name="vscode",
        agent="vscode",
        ids="unique",
        tools={
            "shell": "run_in_terminal",
            "read": "read_file",
            "edit": "replace_string_in_file",
            "search": "grep_search",
            "task": "runSubagent",
        },
        layers=False,
        failures=False,
        native_turns=False,
        subagents=True,
        redelivers=frozenset(),
        events=_only(_CLAUDE_EVENTS, "failure", "permission", "session-end"),
        build=pascal,
    ),
)
BY_NAME: Mapping[str, Dialect] = {dialect.name: dialect for dialect in DIALECTS}
