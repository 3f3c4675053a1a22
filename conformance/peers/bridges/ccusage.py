"""ccusage: the token totals that its report of a session says.

It sums by project folder, so it is given a directory with the one session in it (and what hangs on
it); so the sum is the session's. Prices are left out.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from finding import session_file
from running import borrowed, run
from saying import Json
from wire import Failure, serve

_VERSION = "18.0.11"
_FIELDS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cache_read": "cacheReadTokens",
    "cache_write": "cacheCreationTokens",
    "total": "totalTokens",
}


def transcript(report: Json, session_id: str) -> Json:
    """Return what ``ccusage session --json`` sums up as one message of totals."""
    totals = report.get("totals")
    if not report.get("sessions") or not isinstance(totals, dict):
        raise Failure("read", "it reports no session in a directory that has one")
    usage: Json = {name: totals.get(theirs) for name, theirs in _FIELDS.items()}
    usage |= {"scope": "session", "accounting": "cumulative"}
    message = {"kind": "Other", "id": f"{session_id}-1", "author": "harness", "record": "totals"}
    messages = [{**message, "usage": usage}]
    return {"agent": "claude", "session_id": session_id, "messages": messages}


def read(request: Json) -> Json:
    """Read a session's totals, as ``ccusage session --json --offline`` does."""
    path = session_file(request["home"], "claude", request["session_id"])
    with borrowed({}) as home, tempfile.TemporaryDirectory(prefix="peer-") as place:
        folder = Path(place) / "projects" / path.parent.name
        folder.mkdir(parents=True)
        for part in (path, path.with_suffix("")):
            if part.exists():
                (folder / part.name).symlink_to(part.resolve())
        command = ("ccusage", "session", "--json", "--offline")
        said = run(command, home, CLAUDE_CONFIG_DIR=place)
    report = json.loads(said) if said.strip() else {}
    return {"transcript": transcript(report or {}, request["session_id"])}


def main() -> None:
    """Speak the wire."""
    about = {"name": "ccusage", "version": _VERSION, "language": "TypeScript"}
    serve(about, {"claude": {"read": True}}, {"read": read})


if __name__ == "__main__":
    main()
