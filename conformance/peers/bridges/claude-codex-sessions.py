"""claude-codex-sessions: its command, which brings a project's Codex sessions into Claude Code.

It is given a Codex home with the one session in it, and the folder of the target's project; the
new id is its own. Tools' output is asked for: without being asked it leaves it out.
"""

from __future__ import annotations

import json
import re
import tempfile
from importlib.metadata import version
from pathlib import Path

from finding import session_file
from running import borrowed, run
from saying import Json
from wire import Failure, serve

_COMMAND = "claude-codex-sessions"


def convert(request: Json) -> Json:
    """Convert a session, as ``claude-codex-sessions import --with-tool-output`` does."""
    path = session_file(request["home"], "codex", request["session_id"])
    folder = re.sub(r"[^A-Za-z0-9]", "-", request["cwd"])
    target = Path(request["target_home"]) / ".claude" / "projects" / folder
    target.mkdir(parents=True, exist_ok=True)
    before = {file.name for file in target.iterdir()}
    with borrowed({}) as home, tempfile.TemporaryDirectory(prefix="peer-") as place:
        below = path.relative_to(Path(request["home"]) / ".codex").parent
        (Path(place) / below).mkdir(parents=True)
        (Path(place) / below / path.name).symlink_to(path.resolve())
        listed = run((_COMMAND, "list", "--all", "--format", "json", "--codex-home", place), home)
        where = directory(json.loads(listed))
        homes = ("--claude-project-dir", str(target), "--codex-home", place)
        command = (_COMMAND, "import", "--path", where, *homes, "--with-tool-output")
        said = run(command, home, "write")
    made = sorted({file.name for file in target.glob("*.jsonl")} - before)
    if not made:
        raise Failure("write", f"it imported nothing: {' '.join(said.split())[-300:]}")
    return {"session_id": made[0].removesuffix(".jsonl")}


def directory(listed: Json) -> str:
    """Return the directory of the one session that the tool lists."""
    if not listed["sessions"]:
        raise Failure("read", "it lists no session in a home that has one")
    return listed["sessions"][0]["directory"]


def main() -> None:
    """Speak the wire."""
    about = {"name": _COMMAND, "version": version(_COMMAND), "language": "Python"}
    serve(about, {"codex": {"convert": ["claude"]}}, {"convert": convert})


if __name__ == "__main__":
    main()
