"""portable-resume: the turns that ``show`` prints, as our messages.

A turn of a tool of Claude Code is one text, with what was asked before what came of it, each under
its heading; of Copilot CLI it has the tool's name and no more.
"""

from __future__ import annotations

import json
from importlib.metadata import version

from calling import parsed
from finding import project, session_file
from halves import Telling
from running import borrowed, run
from saying import Json, text
from wire import Failure, serve

SOURCES = {"claude": "claude", "copilot": "github-copilot"}
_ASKED = "Input: "
_CAME = "\nResult:\n"
_MISSING = "[missing tool result]"


def transcript(shown: Json, agent: str, session_id: str) -> Json:
    """Return a session that the tool shows as a transcript."""
    if not shown["sessions"]:
        raise Failure("read", f"it shows no session {session_id}")
    session = shown["sessions"][0]
    about = {"cwd": session.get("cwd"), "git_branch": session.get("branch")}
    telling = Telling(agent, session_id, **about, title=session.get("title"))
    for number, turn in enumerate(session["turns"]):
        fields = {"at": turn.get("timestamp")}
        content: str = turn["content"]
        match turn["role"]:
            case "user":
                telling.prompt(text(content), **fields)
            case "assistant":
                telling.answer(content, **fields)
            case "tool":
                _call(telling, str(number), turn.get("tool_name") or content, content, fields)
            case _:
                telling.prompt(text(content), "harness", provenance=telling.harness(), **fields)
    return telling.transcript()


def _call(telling: Telling, number: str, name: str, content: str, fields: Json) -> None:
    asked, told, came = content.partition(_CAME)
    if not asked.startswith(_ASKED):
        telling.begin(number, name, None, **fields)
        return
    telling.begin(number, name, parsed(asked.removeprefix(_ASKED)), **fields)
    if told and came != _MISSING:
        telling.end(number, text(came))


def read(request: Json) -> Json:
    """Read a session, as ``portable-resume SOURCE show ID`` does."""
    agent, session_id = request["agent"], request["session_id"]
    where = project(session_file(request["home"], agent, session_id))
    with borrowed({agent: request["home"]}) as home:
        which = ("--cwd", where, "--within-min", "0")
        command = ("portable-resume", *which, "--format", "json", SOURCES[agent])
        said = run((*command, "show", session_id), home)
    return {"transcript": transcript(json.loads(said), agent, session_id)}


def main() -> None:
    """Speak the wire."""
    about = {"name": "portable-resume", "version": version("portable-resume")}
    stores = {agent: {"read": True} for agent in SOURCES}
    serve({**about, "language": "Python"}, stores, {"read": read})


if __name__ == "__main__":
    main()
