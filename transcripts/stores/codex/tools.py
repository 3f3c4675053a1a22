"""Codex's tool names and the words around their results, read and written.

Codex puts what it knows of a result into the text that the model is shown, in another frame
each few releases. Only a frame at the very start is one: ``exited with code 3`` inside
ordinary output is output.
"""

from __future__ import annotations

import re
import shlex
from typing import Any, NamedTuple
from urllib.parse import unquote

from transcripts.model import Status
from transcripts.narration import split_name
from transcripts.records import jsonlines
from transcripts.stores.codex.foreign import integer, items, mapping, text

COMMANDS = frozenset({"exec_command", "shell", "shell_command", "local_shell", "container.exec"})
EXEC = "exec_command"
PATCH = "apply_patch"
SCRIPT = "exec"
PLAN = "update_plan"
QUESTION = "request_user_input"
SPAWN = "spawn_agent"
IMAGE = "view_image"
WAITS = frozenset({"wait_agent", "wait"})
STDIN = "write_stdin"

WITHOUT_RESULT: dict[Status, str] = {
    "unresolved": "(no result of this call is recorded: it was interrupted)",
    "cancelled": "(this call was cancelled before it had a result)",
    "declined": "(this call was declined)",
    "failed": "(this call failed, nothing more is recorded)",
    "completed": "(this call was completed, its result is not recorded)",
    "unknown": "(what came of this call is not recorded)",
}
"""How the writer closes a call without a result; read back as what each stands for."""

_CLOSED: dict[str, Status] = {sentence: status for status, sentence in WITHOUT_RESULT.items()}

_LONGEST_CLOSED = max(map(len, _CLOSED))

_BROKEN_OFF = f"{WITHOUT_RESULT['cancelled']}\n"

_EXEC_FRAME = re.compile(
    r"(?:Chunk ID: [^\n]*\n)?"
    r"(?:Wall time: [^\n]*\n)?"
    r"(?:Process (?:exited with code (?P<code>-?\d+)|running with session ID (?P<session>\S+))\n)?"
    r"(?:Original token count: \d+\n)?"
    r"Output:\n"
)
_EXIT_FRAME = re.compile(
    r"Exit code: (?P<code>-?\d+)\nWall time: [^\n]*\n(?:Total output lines: \d+\n)?Output:\n"
)
_WALL_FRAME = re.compile(r"Wall time: [^\n]*\nOutput:(?:\n|$)")
_SCRIPT_FRAME = re.compile(
    r"Script (?P<fate>completed|failed|terminated|running with cell ID (?P<cell>\S+))\n"
    r"Wall time[^\n]*\nOutput:\n"
)
_TRUNCATED = re.compile(
    r"…\d+ (?:tokens|chars) truncated…"
    r"|\[\.\.\. omitted \d+ of \d+ lines"
    r"|\n\.\.\. command output truncated for persistence \.\.\.\n"
)
_CUT_HEADING = re.compile(
    r"(?:Warning: truncated output \(original token count: \d+\)\n)?"
    r"Total output lines: \d+\n\n?"
)
_TOTAL_LINES = re.compile(r"Total output lines: \d+\n\n?")

_FAILURES: dict[Status, re.Pattern[str]] = {
    "failed": re.compile(
        r"unsupported (?:custom tool )?call: "
        r"|failed to parse function arguments"
        r"|apply_patch (?:verification failed|handler received )"
        r"|(?:exec_command|write_stdin|unified exec|exec) failed"
        r"|(?:execution|tool call) error: "
        r"|invalid agent id "
        r"|request_user_input is unavailable in "
    ),
    "declined": re.compile(
        r"(?:exec command|patch|command|apply_patch) rejected"
        r"|rejected by user"
        r"|user (?:rejected|cancelled) MCP tool call"
    ),
    "cancelled": re.compile(
        r"(?:Wall time: [^\n]*\n)?aborted(?: by user(?: after [^\n]*)?)?$"
        r"|command (?:was )?aborted by user"
    ),
}


_REFUSED_PATCH = "error: "
"""How 0.20 begins to say that a patch does not fit; later it is ``verification failed``."""


class Framed(NamedTuple):
    """A result without its frame, and what the frame said."""

    body: str
    exit_code: int | None = None
    background_id: str | None = None
    is_cut: bool = False


def broken_off(words: str) -> str:
    """Return the result of a call that was broken off: our own sentence, and what was said of it.

    Codex has no status for that, only words of its own, and these are another CLI's.
    """
    return _BROKEN_OFF + words


def words_of_broken_off(output: str) -> str | None:
    """Return the words behind our own sentence that a call was broken off; None without it."""
    return output.removeprefix(_BROKEN_OFF) if output.startswith(_BROKEN_OFF) else None


def failure(output: str) -> Status | None:
    """Return the status that a bare result's own words give it; None if it is no failure."""
    for status, pattern in _FAILURES.items():
        if pattern.match(output):
            return status
    return None


def patch_failure(output: str) -> Status | None:
    """Return the status that a patch's bare result gives it; None if it is no failure."""
    return "failed" if output.startswith(_REFUSED_PATCH) else failure(output)


def closed(output: str) -> Status | None:
    """Return the status of a call that was closed without a result; None if it has one."""
    return _CLOSED.get(output) if len(output) <= _LONGEST_CLOSED else None


def command_result(name: str, output: str) -> Framed | None:
    """Return what a shell tool's result says; None if it has no frame, so never ran."""
    as_json = _json_result(output)
    if as_json is not None:
        return as_json
    # exec_command has always framed its result; the older tools have their own frame.
    frame = _EXEC_FRAME if name == "exec_command" else _EXIT_FRAME
    found = frame.match(output) or (_EXIT_FRAME if frame is _EXEC_FRAME else _EXEC_FRAME).match(
        output
    )
    if found is None:
        return None
    groups = found.groupdict()
    code = groups.get("code")
    body = output[found.end() :]
    heading = _CUT_HEADING.match(body)
    return Framed(
        body if heading is None else body[heading.end() :],
        None if code is None else int(code),
        groups.get("session"),
        heading is not None,
    )


def may_be_in_background(output: str) -> bool:
    """Whether a command's result could say that it goes on: a quick look for the words."""
    return "running with session ID" in output


def patch_result(output: str) -> Framed | None:
    """Return what a patch's result says, also inside the frame of an intercepted command."""
    wall = _WALL_FRAME.match(output)
    inner = output[wall.end() :] if wall else output
    as_json = _json_result(inner)
    if as_json is not None:
        return as_json
    found = _EXIT_FRAME.match(inner)
    return Framed(inner[found.end() :], int(found["code"])) if found else None


def tool_result(output: str) -> str:
    """Return an MCP tool's result without its frame, if it has one."""
    found = _WALL_FRAME.match(output)
    return output[found.end() :] if found else output


class ScriptResult(NamedTuple):
    """What a script in code mode printed, and whether it ended well."""

    body: str
    status: Status
    cell: str | None


def script_result(output: Any) -> ScriptResult | None:
    """Return what a code-mode script printed; None where the frame is not one."""
    texts = [output] if isinstance(output, str) else [_input_text(part) for part in items(output)]
    if not texts:
        return None
    found = _SCRIPT_FRAME.match(texts[0])
    if found is None:
        return None
    fates: dict[str, Status] = {
        "completed": "completed",
        "failed": "failed",
        "terminated": "cancelled",
    }
    printed = [texts[0][found.end() :], *texts[1:]]
    return ScriptResult("".join(printed), fates.get(found["fate"], "unresolved"), found["cell"])


def is_truncated(output: str) -> bool:
    """Whether Codex cut the result before the model saw it."""
    return (
        _CUT_HEADING.match(output) is not None
        or _TOTAL_LINES.match(output) is not None
        or (_may_be_truncated(output) and _TRUNCATED.search(output) is not None)
    )


def _may_be_truncated(output: str) -> bool:
    # An output may be long, and a string is found much faster than a pattern.
    return " truncated" in output or "[... omitted " in output


def _input_text(part: Any) -> str:
    return text(mapping(part).get("text")) or ""


def _json_result(output: str) -> Framed | None:
    """Read ``{"output", "metadata": {"exit_code"}}``, the frame of the shell tool."""
    if not output.startswith('{"output":') or not output.endswith("}"):
        return None
    try:
        value = mapping(jsonlines.parse_text(output))
    except ValueError:
        return None
    body = text(value.get("output"))
    if body is None or not isinstance(value.get("metadata"), dict):
        return None
    return Framed(body, integer(value["metadata"].get("exit_code")))


# ------------------------------------------------------------------ commands


def command_line(words: Any) -> str | None:
    """Return an argument vector or a string as one command line, without the login shell."""
    if isinstance(words, str):
        return words
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return None
    shell = words[0].rsplit("/", 1)[-1] if words else ""
    if len(words) == 3 and shell in ("bash", "sh", "zsh") and words[1] in ("-lc", "-c", "-ic"):
        return words[2]
    if shell in ("powershell", "pwsh", "powershell.exe", "pwsh.exe") and words[-2:-1] == [
        "-Command"
    ]:
        return words[-1]
    return shlex.join(words)


def asked_command(name: str, arguments: Any) -> tuple[str | None, str | None]:
    """Return the command and the working directory that a shell tool was asked for."""
    value = mapping(arguments)
    command = value.get("cmd") if name == "exec_command" else value.get("command")
    return command_line(command), text(value.get("workdir")) or text(value.get("cwd"))


def path_of(location: Any) -> str | None:
    """Return the path of a ``file://`` URL, or the string as it is."""
    value = text(location)
    if value is None or not value.startswith("file://"):
        return value
    return unquote(value.removeprefix("file://"))


# ------------------------------------------------------------------ names


def server_of(namespace: str | None) -> str | None:
    """Return the MCP server that a call's namespace names (``mcp__lab``, ``mcp__lab__``)."""
    if namespace is None or not namespace.startswith("mcp__"):
        return None
    return namespace.removeprefix("mcp__").removesuffix("__") or None


def of_server(name: str) -> tuple[str, str | None]:
    """Return a tool's own name and its server, by a name without a namespace.

    ``mcp__server__tool`` from 0.77 to 0.110, ``server__tool`` before.
    """
    tool, server = split_name(name)
    if server is not None:
        return tool, server
    before, found, after = name.partition("__")
    return (after, before) if before and found and after else (name, None)


def namespace_of(server: str) -> str:
    """Return the namespace in which the targeted releases call a server's tools."""
    return f"mcp__{server}"
