"""The MCP server of the scenarios: says back what it is told, as a result or as a failure.

Standard library only: it runs inside the sandbox, under whatever Python the recorder has.
``echo`` answers with its ``text``, ``boom`` fails with its ``message``; so the scenario
decides both.
"""

from __future__ import annotations

import json
import sys
from typing import Any

SERVER = "scenario"
_PROTOCOL = "2024-11-05"

_TOOLS = [
    {
        "name": name,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": {argument: {"type": "string"}},
            "required": [argument],
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }
    for name, description, argument in (
        ("echo", "Say the text back.", "text"),
        ("boom", "Fail with the message.", "message"),
    )
]


def answer(request: dict[str, Any]) -> dict[str, Any] | None:
    """Answer one JSON-RPC message; None to a notification."""
    if "id" not in request:
        return None
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
    parameters = request.get("params") or {}
    match request.get("method"):
        case "initialize":
            reply["result"] = {
                "protocolVersion": parameters.get("protocolVersion", _PROTOCOL),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": SERVER, "version": "1.0.0"},
            }
        case "ping":
            reply["result"] = {}
        case "tools/list":
            reply["result"] = {"tools": _TOOLS}
        case "tools/call":
            reply["result"] = _call(parameters.get("name"), parameters.get("arguments") or {})
        case method:
            reply["error"] = {"code": -32601, "message": f"no method {method}"}
    return reply


def _call(name: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    if name == "echo":
        return {"content": [{"type": "text", "text": str(arguments.get("text"))}]}
    text = str(arguments.get("message")) if name == "boom" else f"no tool {name}"
    return {"isError": True, "content": [{"type": "text", "text": text}]}


def main() -> None:
    """Serve JSON lines on standard input and output until the input ends."""
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        reply = answer(json.loads(line))
        if reply is not None:
            sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
