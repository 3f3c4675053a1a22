"""hypabolic-trajectory, asked over the wire: its records (``normalize_to_ir``) as messages.

What it reports in diagnostics is not in the conversation and becomes no message.
"""

from __future__ import annotations

import hypabolic_trajectory as hypabolic
from calling import parsed
from finding import session_file
from halves import Telling
from saying import Json, text
from wire import serve, tool

_SOURCES = {"claude": "claude-code", "codex": "codex"}


def read(request: Json) -> Json:
    """Return a session."""
    agent, session_id = request["agent"], request["session_id"]
    path = session_file(request["home"], agent, session_id)
    with tool("read"):
        normalised = hypabolic.normalize_to_ir(
            hypabolic.NormalizeRequest(source=_SOURCES[agent], transcript=path.read_bytes())
        )
    telling = Telling(agent, session_id)
    for record in normalised.records:
        at = record.source_timestamp_ms
        match record.kind, record.role:
            case "meta", _:
                telling.about(
                    cwd=record.cwd,
                    cli_version=record.producer_version,
                    model=record.model,
                    git_branch=record.git_branch,
                )
            case "message", "user":
                telling.prompt(text(record.content), at=at)
            case "message", "reasoning":
                telling.thought(text(record.content), at=at)
            case "message", _:
                telling.answer(record.content or "", at=at)
            case "assistant_tool_calls", _:
                for call in record.tool_calls:
                    telling.begin(call.id, call.name, parsed(call.arguments_json), at=at)
            case _:
                telling.end(record.tool_call_id, text(record.content), record.is_error)
    return {"transcript": telling.transcript()}


serve(
    {"name": "hypabolic-trajectory", "version": hypabolic.PACKAGE_VERSION, "language": "Python"},
    {agent: {"read": True} for agent in _SOURCES},
    {"read": read},
)
