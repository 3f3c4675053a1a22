"""coding-agent-session-manager: its command, from one store into another.

It moves what was said and no more; it chooses the new id, from the source's.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

from finding import session_file
from running import DIRECTORIES, borrowed, run
from saying import Json
from wire import Failure, serve


def convert(request: Json) -> Json:
    """Convert a session, as ``session-manager convert --write`` does."""
    source, target = request["agent"], request["target_agent"]
    path = session_file(request["home"], source, request["session_id"])
    store = Path(request["target_home"]) / DIRECTORIES[target]
    with borrowed({}) as home:
        command = ("session-manager", "convert", source, target, str(path))
        homes = (
            "--source-home",
            str(Path(request["home"]) / DIRECTORIES[source]),
            "--target-home",
            str(store),
        )
        said = run((*command, *homes, "--write", "--json"), home, "write")
    return {"session_id": new_id(json.loads(said))}


def new_id(said: Json | list[Json]) -> str:
    """Return the id of the session that was written, from what the command prints."""
    told = said[0] if isinstance(said, list) else said
    identity = told.get("target_id")
    if not isinstance(identity, str):
        raise Failure("write", f"it says of no session that it wrote it: {json.dumps(told)[:200]}")
    return identity


def main() -> None:
    """Speak the wire."""
    package = "coding-agent-session-manager"
    stores = {"claude": {"convert": ["codex"]}, "codex": {"convert": ["claude"]}}
    about = {"name": package, "version": version(package), "language": "Python"}
    serve(about, stores, {"convert": convert})


if __name__ == "__main__":
    main()
