"""openaidr: the tokens that it says each response of a session took, summed up.

It tells of a session who had a turn and which tools ran, and keeps no words, no arguments and no
results, by its own choice: so only its numbers are compared.
"""

from __future__ import annotations

import json
from importlib.metadata import version

from finding import session_file
from running import borrowed, run
from saying import Json
from wire import Failure, serve

KINDS = {"claude": "claude-code", "codex": "codex"}
_FIELDS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
    "reasoning": "reasoning_tokens",
}


def transcript(report: Json, agent: str, session_id: str) -> Json:
    """Return the usage of a session's responses as one message of totals."""
    wanted = f"{KINDS[agent]}:{session_id}"
    found = [one for one in report["sessions"] if one["session_id"] == wanted]
    if not found:
        raise Failure("read", f"it does not list {wanted}")
    used = [response["usage"] for response in found[0]["responses"]]
    usage: Json = {
        name: sum(one[theirs] for one in used if one.get(theirs) is not None)
        for name, theirs in _FIELDS.items()
    }
    usage |= {"scope": "session", "accounting": "cumulative"}
    message = {"kind": "Other", "id": f"{session_id}-1", "author": "harness", "record": "totals"}
    about = {"agent": agent, "session_id": session_id, "cwd": found[0].get("working_directory")}
    return {**about, "model": found[0].get("model"), "messages": [{**message, "usage": usage}]}


def read(request: Json) -> Json:
    """Read a session's totals, as ``openaidr sessions --detail`` tells them."""
    agent, session_id = request["agent"], request["session_id"]
    session_file(request["home"], agent, session_id)
    with borrowed({agent: request["home"]}) as home:
        asked = ("--agent-kind", KINDS[agent], "--since", "3650d", "--format", "json", "--detail")
        said = run(("openaidr", "sessions", *asked), home)
    return {"transcript": transcript(json.loads(said), agent, session_id)}


def main() -> None:
    """Speak the wire."""
    about = {"name": "openaidr", "version": version("openaidr"), "language": "Python"}
    serve(about, {agent: {"read": True} for agent in KINDS}, {"read": read})


if __name__ == "__main__":
    main()
