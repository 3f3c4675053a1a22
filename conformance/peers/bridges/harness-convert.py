"""harness-convert: its command, from one store into another; the session keeps its id.

It looks for both stores in one home, so it gets one that has the source's of the one home and the
target's of the other.
"""

from __future__ import annotations

from importlib.metadata import version

from finding import session_file
from running import borrowed, run
from saying import Json
from wire import serve


def convert(request: Json) -> Json:
    """Convert a session, as ``hc convert -y`` does."""
    source, target = request["agent"], request["target_agent"]
    session_id = request["session_id"]
    path = session_file(request["home"], source, session_id)
    # Of Claude Code's it wants the directory that the project's folder is named after.
    where = path.parent.name if source == "claude" else request["cwd"]
    with borrowed({source: request["home"], target: request["target_home"]}) as home:
        command = ("hc", "convert", "--from", source, "--to", target, f"--cwd={where}")
        more = ("--dest-cwd", request["cwd"], "-y", session_id)
        run((*command, *more), home, "write", HC_NO_INTERACTIVE="1")
    return {"session_id": session_id}


def main() -> None:
    """Speak the wire."""
    about = {"name": "harness-convert", "version": version("harness-convert")}
    stores = {"claude": {"convert": ["codex"]}, "codex": {"convert": ["claude"]}}
    serve({**about, "language": "Python"}, stores, {"convert": convert})


if __name__ == "__main__":
    main()
