"""agent-session-bridge: its readers' intermediate form as our messages, and its converter.

What its form keeps only as the untouched source record (``raw``) is not looked at: that is the
file, not what the tool makes of it. Its ``register-codex`` wants a home in which Codex has made
its index already; what it would write there is put where Codex looks, without the index.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import claude_calls
import codex_calls
from calling import Called
from finding import session_file
from saying import Json, numbered, picture, spoken, text
from wire import serve, tool

HARNESSES = {"claude": "claude-code", "codex": "codex"}


def transcript(session: Any, agent: str, session_id: str) -> Json:
    """Return a session of the tool's form (``session_bridge.ir.Session``) as a transcript."""
    results = {
        block.call_id: block
        for said in session.messages
        for block in said.content
        if block.type.value == "tool_result"
    }
    claude = agent == "claude"
    messages: list[Json] = []
    tasks: dict[str, Json] = {}
    for said in session.messages:
        fields: Json = {"at": said.timestamp, "external_id": said.uid}
        words: list[Json] = []
        for block in said.content:
            if block.type.value == "tool_call":
                called = _called(block, results.get(block.call_id), session.meta, fields)
                made = (
                    claude_calls.message(called, tasks) if claude else codex_calls.message(called)
                )
                messages.append(made)
            elif block.type.value == "reasoning":
                messages.append(spoken("Reasoning", "model", text(block.text), **fields))
            elif block.type.value in ("text", "raw") and said.role.value == "assistant":
                messages += codex_calls.said(block.text or "", **fields)
            elif block.type.value in ("text", "raw"):
                words += _content(block, claude)
        if words:
            messages.append(_in_users_place(said.role.value, words, claude, fields))
    meta = session.meta
    return {
        "agent": agent,
        "session_id": meta.session_id or session_id,
        "cwd": meta.cwd,
        "model": meta.model,
        "cli_version": meta.version,
        "git_branch": meta.extra.get("gitBranch"),
        "messages": numbered(session_id, codex_calls.settled(messages)),
    }


def _in_users_place(role: str, words: list[Json], claude: bool, fields: Json) -> Json:
    if role == "user":
        return spoken("UserMessage", "human", words, **fields)
    origin = "system" if claude else "developer"
    return spoken("UserMessage", "harness", words, provenance=origin, **fields)


def _content(block: Any, claude: bool) -> list[Json]:
    """Return what a block of a prompt holds: words, or what the tool only passes on."""
    if block.type.value == "raw":
        return _attached(block.raw_block)
    typed = claude_calls.typed if claude else codex_calls.typed
    return text(typed(block.text or ""))


def _attached(block: Json) -> list[Json]:
    source = block.get("source")
    if isinstance(source, dict) and source.get("data"):
        return [picture(source["data"], source.get("media_type"))]
    return codex_calls.content_of(block)


def _called(block: Any, result: Any, meta: Any, fields: Json) -> Called:
    given = block.tool_input or {}
    output = None
    if result is not None:
        output = _shown(result.text or "")
        for part in result.result_parts:
            output += _attached(part)
    return Called(
        name=block.tool_name or "",
        arguments=given["_value"] if set(given) == {"_value"} else given,
        output=output,
        failed=None if result is None else result.is_error,
        cwd=meta.cwd,
        release=meta.version,
        fields={**fields, "external_id": block.call_id},
    )


def _shown(words: str) -> list[Json]:
    return codex_calls.listed(words) if codex_calls.is_listed(words) else text(words)


def read(request: Json) -> Json:
    """Read a session."""
    agent = request["agent"]
    path = session_file(request["home"], agent, request["session_id"])
    with tool("read"):
        session = import_module("session_bridge.convert").read_session(HARNESSES[agent], path)
    return {"transcript": transcript(session, agent, request["session_id"])}


def convert(request: Json) -> Json:
    """Convert a session, as ``convert --no-handshake --stub-open-calls`` does, and place it."""
    source, target = HARNESSES[request["agent"]], request["target_agent"]
    path = session_file(request["home"], request["agent"], request["session_id"])
    home, cwd, session_id = request["target_home"], request["cwd"], request["new_session_id"]
    tools = import_module("session_bridge.convert")
    with tool("read"):
        made = tools.convert(
            source, HARNESSES[target], path, inject_handshake=False, stub_open_calls=True
        )
    with tool("write"):
        if target == "claude":
            place = import_module("session_bridge.place")
            claude_home = Path(home) / ".claude"
            place.place_claude_code(made.records, cwd, session_id, claude_home=claude_home)
        else:
            tools.dump_jsonl(_rollout(made.session, cwd, session_id), _target(home, session_id))
    return {"session_id": session_id}


def _rollout(session: Any, cwd: str, session_id: str) -> list[Json]:
    """Return the records that ``register-codex`` would write, with its own default provider."""
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.000Z}"
    about = {"session_id": session_id, "cwd": cwd, "model_provider": "openai"}
    closed = import_module("session_bridge.handshake").stub_open_tool_calls(session)
    written = replace(closed, meta=replace(closed.meta, **about))
    records, _ = import_module("session_bridge.writers.codex").write_codex(written, timestamp=now)
    return records


def _target(home: str, session_id: str) -> Path:
    """Return where Codex looks for a rollout: its index, which the tool wants, is not there."""
    now = datetime.now(UTC)
    day = Path(home) / ".codex" / "sessions" / f"{now:%Y/%m/%d}"
    day.mkdir(parents=True, exist_ok=True)
    return day / f"rollout-{now:%Y-%m-%dT%H-%M-%S}-{session_id}.jsonl"


def main() -> None:
    """Speak the wire."""
    about = {"name": "agent-session-bridge", "version": version("agent-session-bridge")}
    stores = {
        "claude": {"read": True, "convert": ["codex"]},
        "codex": {"read": True, "convert": ["claude"]},
    }
    serve({**about, "language": "Python"}, stores, {"read": read, "convert": convert})


if __name__ == "__main__":
    main()
