"""What the events of a log can prove about each other, read from the payloads alone.

Two events are held against each other field by field. A field that both have and that differs
rejects; one that both have and that is equal adds its weight; one that either lacks says
nothing, and an empty string is a lack. Values are compared as structures (sets of members,
sequences, the text of a number), not as a canonical text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from conformance.hooks.happenings import Part
from conformance.hooks.payloads import DIALECTS, Dialect

Role = Literal["end", "before", "after", "file", "permission", "stop"]

_SHELL = {"command": 100, "directory": 20, "sandbox": 5}
_MCP = {"input": 100, "server": 40, "url": 30, "tool": 20, "command": 20}
_FILE = {"path": 100}
_CALL = {"input": 100}
_EDITORS = frozenset({"Write", "StrReplace", "EditNotebook"})
_DRIVE = re.compile(r"[A-Za-z]:[\\/]|\\\\\w")
_TURN = 36


class Seen(NamedTuple):
    """An event as its payload tells it.

    ``turn`` tells the turns of a log apart; its second half is None where an event that should
    name its turn does not.
    """

    line: int
    part: Part
    layer: str
    turn: tuple[str, Any]
    name: str | None
    id: str | None
    values: Mapping[str, Any]
    again: bool = False
    agent: str | None = None


class Number(str):
    """A number, which is its own text."""


def parsed(line: bytes | str) -> Any:
    """Return a JSON value whose numbers keep their text."""
    return json.loads(line, parse_int=Number, parse_float=Number)


def structure(value: Any) -> Any:
    """Return what two JSON values have in common exactly if they are the same."""
    if isinstance(value, str) and not isinstance(value, Number) and value.lstrip()[:1] in "{[":
        try:
            inner = parsed(value)
        except ValueError:
            inner = value
        if isinstance(inner, dict | list):
            return _structure(inner)
    return _structure(value)


def _structure(value: Any) -> Any:
    if isinstance(value, dict):
        members: dict[str, Any] = value
        return "object", frozenset((key, _structure(inside)) for key, inside in members.items())
    if isinstance(value, list):
        items: list[Any] = value
        return "array", tuple(_structure(inside) for inside in items)
    return type(value).__name__, value


def directory_or_file(path: str) -> tuple[str, ...]:
    """Return what all spellings of one path have in common."""
    path = path.strip()
    if _DRIVE.match(path):
        return "windows", *(part.lower() for part in re.split(r"[\\/]", path) if part)
    return "posix", path.rstrip("/") or path


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def _argument(value: Any) -> Any:
    """Return what all spellings of one argument have in common, that of a path too."""
    if isinstance(value, str) and _DRIVE.match(value):
        return directory_or_file(value)
    return structure(_line_ends(value) if isinstance(value, str) else value)


def _first(payload: Mapping[str, Any], inside: Any, *places: str) -> str | None:
    """Return the first of several places that says something; a dot means: in the input."""
    for place in places:
        holder: Any = inside if place.startswith(".") else payload
        if isinstance(holder, dict):
            fields: dict[str, Any] = holder
            if found := _text(fields.get(place.lstrip("."))):
                return found
    return None


def _values(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything that any rule compares, as far as the payload has it."""
    given = payload.get("tool_input", payload.get("toolArgs"))
    inside: Any = given
    if isinstance(given, str):
        try:
            inside = parsed(given)
        except ValueError:
            inside = None
    values: dict[str, Any] = {}
    if given is not None and not (isinstance(given, str) and not given.strip()):
        values["input"] = structure(given)
    if isinstance(inside, dict):
        arguments: dict[str, Any] = inside
        values["arguments"] = {
            name: _argument(value) for name, value in arguments.items() if value not in ("", None)
        }
    if command := _first(payload, inside, "command", ".command"):
        values["command"] = _line_ends(command)
    if place := _first(payload, inside, ".working_directory", ".cwd", "cwd"):
        values["directory"] = directory_or_file(place)
    sandbox = payload.get("sandbox")
    if sandbox is None and isinstance(inside, dict):
        sandbox = inside.get("sandbox")
    if isinstance(sandbox, bool):
        values["sandbox"] = sandbox
    if path := _first(payload, inside, "file_path", ".file_path", ".path", ".target_notebook"):
        values["path"] = directory_or_file(path)
    if server := _text(payload.get("mcp_server_name")):
        values["server"] = server
    if url := _text(payload.get("url")):
        values["url"] = url
    if tool := _text(payload.get("tool_name")):
        values["tool"] = tool.removeprefix("MCP:")
    return values


class Reading(NamedTuple):
    """A log, read: its events and the dialect that they are in."""

    dialect: Dialect
    events: tuple[Seen, ...]


def read(lines: Iterable[bytes], agent: str, dialect: Dialect | None = None) -> Reading:
    """Return what a log's lines tell; lines that are no JSON object tell nothing.

    The dialect is found out if it is not given.
    """
    rows: list[tuple[int, str | None, Mapping[str, Any]]] = []
    for number, line in enumerate(lines, start=1):
        try:
            row = parsed(line)
        except ValueError:
            continue
        payload = row.get("payload", row)
        if isinstance(payload, dict):
            rows.append((number, row.get("event"), payload))
    if dialect is None:
        dialect = _dialect(agent, [payload for _, _, payload in rows])
    parts = {name: _part(what) for what, name in dialect.events.items()}
    events: list[Seen] = []
    prompts: dict[str, int] = {}
    known: set[str] = set()
    for number, configured, payload in rows:
        name = payload.get("hook_event_name", configured)
        found = parts.get(name)
        if found is None:
            continue
        part, layer = found
        session = _first(payload, None, "conversation_id", "session_id", "sessionId") or ""
        if part == "prompt":
            prompts[session] = prompts.get(session, 0) + 1
        again = False
        if part == "pre" and payload.get("tool_name") in _redelivered(dialect):
            spelled = json.dumps({k: v for k, v in payload.items() if k != "observed_at"})
            again = spelled in known
            known.add(spelled)
        native = _text(
            payload.get("generation_id", payload.get("prompt_id", payload.get("turn_id")))
        )
        turn: Any = native
        if native is not None:
            turn = native[:_TURN]
        elif dialect.agent != "cursor":
            turn = prompts.get(session, 0)
        identity = "subagent_id" if layer == "subagent" else "tool_use_id"
        if layer == "subagent" and dialect.agent != "cursor":
            identity = "agent_id"
        events.append(
            Seen(
                number,
                part,
                layer,
                (session, turn),
                _text(payload.get("tool_name", payload.get("toolName"))),
                _text(payload.get(identity)),
                _values(payload),
                again,
                _text(payload.get("agent_id")),
            )
        )
    return Reading(dialect, tuple(events))


def _redelivered(dialect: Dialect) -> frozenset[str]:
    return frozenset(dialect.tools[verb] for verb in dialect.redelivers)


_PARTS: Mapping[str, tuple[Part, str]] = {
    "prompt": ("prompt", "none"),
    "pre": ("pre", "call"),
    "post": ("post", "call"),
    "failure": ("failure", "call"),
    "shell-before": ("before", "shell"),
    "shell-after": ("after", "shell"),
    "mcp-before": ("before", "mcp"),
    "mcp-after": ("after", "mcp"),
    "read-file": ("file", "read"),
    "edit-file": ("file", "edit"),
    "permission": ("permission", "call"),
    "subagent-start": ("subagent-start", "subagent"),
    "subagent-stop": ("subagent-stop", "subagent"),
}


def _part(what: str) -> tuple[Part, str]:
    return _PARTS.get(what, ("remark" if what in ("thought", "response") else "boundary", "none"))


def _dialect(agent: str, payloads: Sequence[Mapping[str, Any]]) -> Dialect:
    """Return the dialect that an agent's payloads are in."""
    fields = {field for payload in payloads for field in payload}
    matching: Mapping[str, Callable[[], bool]] = {
        "claude": lambda: "prompt_id" in fields,
        "claude-without-prompt-ids": lambda: "tool_use_id" in fields,
        "claude-without-ids": lambda: True,
        # A hook registered in the one spelling gets a few events in the other one all the same.
        "copilot": lambda: "sessionId" in fields and "session_id" not in fields,
        "copilot-pascal": lambda: True,
    }
    for dialect in DIALECTS:
        if dialect.agent == agent and matching.get(dialect.name, lambda: True)():
            return dialect
    raise ValueError(f"no dialect of {agent}")


# How much one event can be the partner of another


def admits(dialect: Dialect, end: Seen, start: Seen) -> int | None:
    """Return how much evidence makes a pair of the two; None where something forbids it.

    The order of arrival is no matter here, nor what has closed meanwhile.
    """
    if end.turn != start.turn and end.layer != "subagent":
        return None
    match end.part, start.part:
        case (("post" | "failure"), "pre"):
            return _admits_end(dialect, end, start)
        case "before", "pre":
            return _owned(end, start)
        case "after", "before" if end.layer == start.layer:
            return _shared(end, start, _SHELL if end.layer == "shell" else _MCP) or None
        case "after", "pre":
            return _owned(end, start)
        case "file", "pre":
            owners = frozenset({"Read"}) if end.layer == "read" else _EDITORS
            return (_shared(end, start, _FILE) or None) if start.name in owners else None
        case "permission", "pre":
            same = (end.name, end.agent) == (start.name, start.agent)
            return _requested(end, start) if same else None
        case "subagent-stop", "subagent-start":
            same = end.turn[0] == start.turn[0] and end.id is not None and end.id == start.id
            return 1 if same else None
        case _:
            return None


def _admits_end(dialect: Dialect, end: Seen, start: Seen) -> int | None:
    if end.name is None or end.name != start.name:
        return None
    if dialect.ids == "none":
        return _shared(end, start, _CALL) or None
    if end.id is None or end.id != start.id:
        return None
    return 1 if dialect.ids == "unique" else _shared(end, start, _CALL)


def _owned(inner: Seen, call: Seen) -> int | None:
    if inner.layer == "shell":
        return (_shared(inner, call, _SHELL) or None) if call.name == "Shell" else None
    is_mcp = call.name is not None and call.name.startswith("MCP:")
    # What an MCP server is started with is no argument of the call.
    return (_shared(inner, call, {**_MCP, "command": 0}) or None) if is_mcp else None


def _requested(request: Seen, call: Seen) -> int | None:
    """A request for permission may say more or less of an input than its call does."""
    arguments = [event.values.get("arguments", {}) for event in (request, call)]
    shared = arguments[0].keys() & arguments[1].keys()
    if not shared:
        return _shared(request, call, _CALL) or None
    return None if any(arguments[0][name] != arguments[1][name] for name in shared) else 100


def _shared(one: Seen, other: Seen, weights: Mapping[str, int]) -> int | None:
    total = 0
    for field, weight in weights.items():
        if field in one.values and field in other.values:
            if one.values[field] != other.values[field]:
                return None
            total += weight
    return total
