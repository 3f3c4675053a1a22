"""atif-make, asked over the wire: the steps of its ATIF trajectory as messages.

A step is one response of the model: reasoning, words and calls, in this order, with what came of
the calls. A step that the tool marks as meta is the harness's, and so is one of the system.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from atif_make.cli import main as command
from finding import session_file
from halves import Telling
from saying import Json, picture, text
from wire import serve, tool

_AGENTS = ("claude", "codex", "copilot")


def read(request: Json) -> Json:
    """Return a session."""
    agent, session_id = request["agent"], request["session_id"]
    path = session_file(request["home"], agent, session_id)
    with TemporaryDirectory() as place:
        # Pictures come inline only in a document on standard output; files stand beside this one.
        converted = Path(place) / "session.json"
        with tool("read"):
            status = command(["convert", str(path), "--output", str(converted), "--quiet"])
            if status:
                raise ValueError(f"atif-make ended with {status}")
            trajectory = json.loads(converted.read_text("utf-8"))
        by = trajectory["agent"]
        release = by.get("version")
        telling = Telling(agent, session_id)
        telling.about(
            cwd=(by.get("extra") or {}).get("cwd"),
            model=by.get("model_name"),
            cli_version=None if release == "unknown" else release,
        )
        _tell(telling, trajectory, Path(place), None)
    return {"transcript": telling.transcript()}


def _tell(telling: Telling, trajectory: Json, place: Path, thread: str | None) -> None:
    for step in trajectory["steps"]:
        fields: Json = {"at": step.get("timestamp"), "agent": thread}
        content = list(_parts(step.get("message"), place))
        if step["source"] == "user":
            meta = (step.get("extra") or {}).get("meta")
            telling.prompt(content, author="harness" if meta else "human", **fields)
        elif step["source"] == "system":
            telling.prompt(content, author="harness", **fields)
        else:
            if step.get("reasoning_content"):
                telling.thought(text(step["reasoning_content"]), **fields)
            if content:
                telling.answer("".join(part.get("text", "") for part in content), **fields)
            _tell_calls(telling, step, place, fields)
    for inner in trajectory.get("subagent_trajectories") or ():
        _tell(telling, inner, place, inner.get("trajectory_id") or inner.get("session_id"))


def _tell_calls(telling: Telling, step: Json, place: Path, fields: Json) -> None:
    for call in step.get("tool_calls") or ():
        telling.begin(call["tool_call_id"], call["function_name"], _given(call), **fields)
    for result in (step.get("observation") or {}).get("results") or ():
        # No mark of an error is what it writes where there was none.
        failed = bool((result.get("extra") or {}).get("is_error"))
        output = list(_parts(result.get("content"), place))
        telling.end(result.get("source_call_id"), output, failed)


def _given(call: Json) -> Any:
    """Return a call's arguments: ATIF wants an object, so free text stands in one under a name."""
    given = call.get("arguments") or {}
    return next(iter(given.values())) if set(given) in ({"input"}, {"raw"}) else given


def _parts(content: Any, place: Path) -> Iterator[Json]:
    if isinstance(content, str):
        yield from text(content)
        return
    for part in content or ():
        if part["type"] == "image":
            yield _picture(part.get("source") or {}, place)
        else:
            yield from text(part.get("text"))


def _picture(source: Json, place: Path) -> Json:
    path, form = source.get("path") or "", source.get("media_type")
    if path.startswith("data:"):
        return picture(path.partition(",")[2], form)
    file = place / path
    return picture(b64encode(file.read_bytes()).decode() if file.is_file() else None, form)


serve(
    {"name": "atif-make", "version": version("atif-make"), "language": "Python"},
    {agent: {"read": True} for agent in _AGENTS},
    {"read": read},
)
