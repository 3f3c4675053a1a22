"""claude-code-log, asked over the wire: its JSON export, everything in it, as messages.

Asked for all of its depth (``--depth hook``) and for pictures themselves. What it labels as
something else than the person's words (a command's output, what a slash command stands for) is the
harness's here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import redirect_stderr
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from claude_code_log.cli import main as command
from finding import session_file
from halves import Telling
from saying import Json, picture, text
from wire import Failure, serve, tool


def read(request: Json) -> Json:
    """Return a session."""
    agent, session_id = request["agent"], request["session_id"]
    path = session_file(request["home"], agent, session_id)
    os.environ["HOME"] = request["home"]
    with TemporaryDirectory() as place:
        exported = Path(place) / "session.json"
        asked = [str(path), "--no-cache"]
        if agent == "codex":
            asked = ["--provider", "codex", "--session-id", session_id]
        form = ["--format", "json", "--depth", "hook", "--image-export-mode", "embedded"]
        with tool("read"):
            _run([*asked, *form, "--output", str(exported)])
            session = json.loads(exported.read_text("utf-8"))
    telling = Telling(agent, session_id)
    for message in _flat(session["messages"]):
        _tell(telling, message)
    return {"transcript": telling.transcript()}


def _run(arguments: list[str]) -> None:
    """Run the tool's command; where it ends by itself its last words say why."""
    said = StringIO()
    try:
        with redirect_stderr(said):
            command(arguments, standalone_mode=False)
    except SystemExit as error:
        if error.code:
            raise Failure(
                "read", " ".join(said.getvalue().split()) or f"exit {error.code}"
            ) from None


def _flat(messages: list[Json]) -> Iterator[Json]:
    """Yield messages with those that hang on them, in the order in which the tool counts them."""
    found: list[Json] = []
    waiting = list(messages)
    while waiting:
        message = waiting.pop()
        found.append(message)
        waiting += message.get("children") or []
    yield from sorted(found, key=lambda one: one["index"])


def _tell(telling: Telling, message: Json) -> None:
    kind, title = message["type"], message.get("title") or ""
    content = message["content"]
    fields: Json = {"at": message.get("timestamp"), "external_id": message.get("uuid")}
    if message.get("is_sidechain"):
        fields["agent"] = message.get("agent_id") or "agent"
    if kind == "tool_use":
        given = content["input"]
        if isinstance(given, dict):
            given = {name: value for name, value in given.items() if value is not None}
        telling.begin(content["tool_use_id"], content["tool_name"], given, **fields)
    elif kind == "tool_result":
        telling.end(content["tool_use_id"], _output(content["output"]), content["is_error"])
    elif kind == "thinking":
        telling.thought(text(content["thinking"]), **fields)
    elif kind == "assistant":
        telling.answer("\n".join(_words(content)), **fields)
    elif kind == "user" and title == "Slash Command":
        typed = f"{content['command_name']} {content['command_args'] or ''}".strip()
        telling.prompt(text(typed), **fields)
    elif kind == "user" and "items" in content:
        if "steering" in title:
            fields["delivery"] = "steered"
        telling.prompt(list(_parts(content["items"])), **fields)
    elif kind == "user":
        telling.prompt(text("\n".join(_words(content))), author="harness", **fields)
    elif kind == "system" and content.get("compact_trigger"):
        telling.boundary(trigger=content["compact_trigger"], **fields)


def _parts(items: list[Json]) -> Iterator[Json]:
    for item in items:
        if item.get("type") == "text":
            yield from text(item["text"])
        elif item.get("type") == "image":
            source = item.get("source") or {}
            yield picture(source.get("data"), source.get("media_type"))


def _output(output: Any) -> list[Json]:
    """Return a result: as it was, or all the values of the tool's own form for it."""
    inner = output.get("content") if isinstance(output, dict) else output
    if isinstance(inner, str):
        return text(inner)
    if isinstance(inner, list) and all(isinstance(one, dict) for one in inner):
        return list(_parts(inner))
    return text("\n".join(_words(output)))


def _words(value: Any) -> Iterator[str]:
    """Yield the strings that a value holds, but no names and kinds."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            if name not in ("type", "token_usage", "fragment_key"):
                yield from _words(one)
    elif isinstance(value, list):
        for one in value:
            yield from _words(one)


serve(
    {
        "name": "claude-code-log",
        "version": version("claude-code-log"),
        "language": "Python",
    },
    {"claude": {"read": True}, "codex": {"read": True}},
    {"read": read},
)
