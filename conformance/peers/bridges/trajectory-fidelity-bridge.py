"""trajectory-fidelity-bridge: the ATIF steps that ``tfb import`` makes, as our messages."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from finding import session_file
from halves import Telling
from running import borrowed, run
from saying import Json, text
from wire import serve

_PACKAGE = "atomicdjt-trajectory-fidelity-bridge"


def transcript(trajectory: Json, session_id: str) -> Json:
    """Return an ATIF trajectory of Claude Code, as the tool writes it, as a transcript."""
    agent: Json = trajectory["agent"]
    about = {"cli_version": agent.get("version"), "model": agent.get("model_name")}
    telling = Telling("claude", session_id, **about)
    for step in trajectory["steps"]:
        fields = {"at": step.get("timestamp"), "model": step.get("model_name")}
        content = _content(step.get("message"))
        if step.get("reasoning_content"):
            telling.thought(text(step["reasoning_content"]), **fields)
        if step["source"] == "agent" and content:
            telling.answer("\n".join(part["text"] for part in content), **fields)
        elif step["source"] == "user" and content:
            telling.prompt(content, **fields)
        elif content:
            telling.prompt(content, "harness", provenance=telling.harness(), **fields)
        for call in step.get("tool_calls") or ():
            named = (call["tool_call_id"], call["function_name"], call["arguments"])
            telling.begin(*named, **fields)
        for result in (step.get("observation") or {}).get("results") or ():
            failed = (result.get("extra") or {}).get("is_error")
            telling.end(result.get("source_call_id"), _content(result.get("content")), failed)
    return telling.transcript()


def _content(value: Any) -> list[Json]:
    """Return ATIF content: words, or parts of which those that are words are kept."""
    if isinstance(value, list):
        return [part for one in value for part in text(one.get("text"))]
    return text(value)


def read(request: Json) -> Json:
    """Read a session, as ``tfb import --from claude-code`` does."""
    path = session_file(request["home"], "claude", request["session_id"])
    with borrowed({}) as home:
        output = Path(home) / "trajectory.json"
        source = ("--from", "claude-code", "--source", str(path), "--output", str(output))
        run(("tfb", "import", *source), home)
        trajectory = json.loads(output.read_text(encoding="utf-8"))
    return {"transcript": transcript(trajectory, request["session_id"])}


def main() -> None:
    """Speak the wire."""
    about = {"name": "trajectory-fidelity-bridge", "version": version(_PACKAGE)}
    stores = {"claude": {"read": True}}
    serve({**about, "language": "Python"}, stores, {"read": read})


if __name__ == "__main__":
    main()
