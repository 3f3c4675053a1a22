"""Codex's own import of Claude Code's sessions, as an editor asks its app server for it.

It takes a session only where the directory that this was held in is there. Where it is not, an
empty one is made for the server alone, in a mount namespace. The new id is its own.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from finding import project, session_file
from running import DIRECTORIES, borrowed
from saying import Json
from wire import Failure, serve

_VERSION = "0.171.0"
_CLIENT = {"clientInfo": {"name": "conformance", "version": "1"}}
_SECONDS = 60
_EVER = {"includeHome": True, "maxSessionAgeDays": 36500, "maxSessions": 1000}


class Server:
    """A running app server, spoken to in lines of JSON-RPC."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._asked = 0

    def tell(self, method: str) -> None:
        """Send what has no answer."""
        self._send({"method": method})

    def ask(self, method: str, params: Json) -> Json:
        """Send a request and return its result."""
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        answer = self._next(lambda message: message.get("id") == self._asked)
        if "result" not in answer:
            raise Failure("write", f"{method}: {answer.get('error')}")
        return answer["result"]

    def await_(self, method: str) -> Json:
        """Return what it tells next under that name."""
        return self._next(lambda message: message.get("method") == method)["params"]

    def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _next(self, is_it: Any) -> Json:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if is_it(message):
                return message
        raise Failure("write", "the app server ended before it had answered")


@contextmanager
def running(home: Path, store: Path, where: str) -> Generator[Server, None, None]:
    """Lend an app server whose directory ``where`` is there; it is gone after."""
    process = subprocess.Popen(
        [*in_place(where), "codex", "app-server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=home,
        env={**os.environ, "HOME": str(home), "CODEX_HOME": str(store)},
    )
    try:
        yield Server(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def in_place(where: str) -> list[str]:
    """Return what runs a command where a directory is there, if only for that command."""
    if Path(where).is_dir():
        return []
    above = next(one for one in Path(where).parents if one.is_dir())
    if above == Path("/"):
        raise Failure("find", f"the session's directory {where} is not on this machine")
    script = 'mount -t tmpfs none "$1" && mkdir -p "$2" && shift 2 && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", script, "sh", str(above), where]


def only(found: Json, path: Path) -> Json:
    """Return of what the server finds to import the one session of that file."""
    for item in found["items"]:
        for one in (item.get("details") or {}).get("sessions") or ():
            if Path(one["path"]).name == path.name:
                return {**item, "details": {"sessions": [one]}}
    raise Failure("read", "it does not find the session among those to import")


def convert(request: Json) -> Json:
    """Import a session of Claude Code."""
    path = session_file(request["home"], "claude", request["session_id"])
    store = Path(request["target_home"]) / DIRECTORIES["codex"]
    store.mkdir(parents=True, exist_ok=True)
    with (
        borrowed({"claude": request["home"]}) as home,
        running(home, store, project(path)) as server,
    ):
        server.ask("initialize", _CLIENT)
        server.tell("initialized")
        item = only(server.ask("externalAgentConfig/detect", _EVER), path)
        server.ask("externalAgentConfig/import", {"migrationItems": [item]})
        done = server.await_("externalAgentConfig/import/completed")
    return {"session_id": imported(done)}


def imported(done: Json) -> str:
    """Return the id of the session that was imported."""
    for result in done["itemTypeResults"]:
        for success in result["successes"]:
            if success["itemType"] == "SESSIONS" and success.get("target"):
                return success["target"]
        for failure in result["failures"]:
            raise Failure("write", failure["message"])
    raise Failure("write", "it imported nothing, and says not why")


def main() -> None:
    """Speak the wire."""
    about = {"name": "codex-import", "version": _VERSION, "language": "Rust"}
    serve(about, {"claude": {"convert": ["codex"]}}, {"convert": convert})


if __name__ == "__main__":
    main()
