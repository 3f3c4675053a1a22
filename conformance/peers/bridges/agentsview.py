"""agentsview: the messages and calls of its database, as our messages.

``sync`` fills the database in a home of its own, without leaving a server behind. A message of the
database is the words of a turn with its calls after it; what came of a call is an event of its own.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from importlib.metadata import version
from pathlib import Path

import codex_calls
from calling import parsed
from finding import session_file
from halves import Telling
from running import borrowed, run
from saying import Json, text
from wire import Failure, serve

PREFIXES = {"claude": "", "codex": "codex:", "copilot": "copilot:"}
_AUTHORS = {"user": "human", "system": "harness"}
_THINKING = re.compile(r"\[Thinking\]\n(.*?)\n\[/Thinking\]\n*", re.DOTALL)
_BEGUN = frozenset({"started", "running", "progress"})
_UNHAPPY = frozenset({"errored", "failed", "error"})


def transcript(
    session: Json, messages: list[Json], calls: list[Json], events: list[Json], agent: str
) -> Json:
    """Return a session's rows of ``sessions``, ``messages``, ``tool_calls`` and
    ``tool_result_events`` as a transcript."""
    session_id = session["id"].removeprefix(PREFIXES[agent])
    telling = Telling(agent, session_id)
    telling.about(
        cwd=session["cwd"] or None,
        cli_version=session["source_version"] or None,
        git_branch=session["git_branch"] or None,
        title=session["session_name"],
    )
    of_message: dict[int, list[Json]] = {}
    for call in calls:
        of_message.setdefault(call["message_id"], []).append(call)
    for message in messages:
        _told(telling, message, of_message.get(message["id"], []))
    outcomes = {call["tool_use_id"]: call["observed_outcome"] for call in calls}
    started = {
        call["subagent_session_id"]: call["tool_use_id"]
        for call in calls
        if call["subagent_session_id"]
    }
    for event in events:
        if event["source"] == "wait_output" and event["subagent_session_id"] in started:
            failed = event["status"] in _UNHAPPY
            telling.end(started[event["subagent_session_id"]], text(event["content"]), failed)
        called = event["tool_use_id"]
        if called in outcomes and event["status"] not in _BEGUN:
            failed = bool({outcomes[called], event["status"]} & _UNHAPPY)
            telling.end(called, _shown(event["content"]), failed)
    return telling.transcript()


def _told(telling: Telling, message: Json, calls: list[Json]) -> None:
    fields = {
        "at": message["timestamp"],
        "external_id": message["source_uuid"] or None,
        "model": message["model"] or None,
        "agent": "sidechain" if message["is_sidechain"] else None,
    }
    thought, words = _parted(message, calls)
    if message["is_compact_boundary"]:
        boundary: Json = {"kind": "CompactBoundary", "author": "harness", "summary": text(words)}
        telling.other({**boundary, **fields})
        return
    if thought:
        telling.thought(text(thought), **fields)
    if message["role"] == "assistant" and words:
        telling.answer(words, **fields)
    elif words:
        author = "harness" if message["is_system"] else _AUTHORS.get(message["role"], "harness")
        origin = None if author == "human" else telling.harness()
        telling.prompt(text(words), author, provenance=origin, **fields)
    for call in calls:
        telling.begin(call["tool_use_id"], call["tool_name"], parsed(call["input_json"]), **fields)


def _parted(message: Json, calls: list[Json]) -> tuple[str, str]:
    """Return a row's thought and its words: its content has both, and its calls as prose."""
    thought, words = message["thinking_text"], message["content"]
    if found := _THINKING.match(words):
        thought, words = thought or found[1], words[found.end() :]
    if message["dialogue_text"] is not None:
        words = message["dialogue_text"]
    elif calls and words.startswith("["):
        words = ""
    return thought, words


def _shown(content: str) -> list[Json]:
    """Return a result's words; of Copilot CLI the database has the JSON that they stand in."""
    if codex_calls.is_listed(content):
        return codex_calls.listed(content)
    told = parsed(content)
    return text(told["content"] if isinstance(told, dict) and "content" in told else content)


@contextmanager
def synchronised(agent: str, owner: str) -> Generator[Path, None, None]:
    """Lend the database that the tool fills from one store."""
    with borrowed({agent: owner}) as home:
        run(("agentsview", "sync"), home, AGENTSVIEW_NO_DAEMON="1")
        yield home / ".agentsview" / "sessions.db"


def read(request: Json) -> Json:
    """Read a session from the database that ``agentsview sync`` fills."""
    agent, session_id = request["agent"], request["session_id"]
    session_file(request["home"], agent, session_id)
    with synchronised(agent, request["home"]) as path, closing(sqlite3.connect(path)) as database:
        database.row_factory = sqlite3.Row
        key = PREFIXES[agent] + session_id

        def rows(query: str) -> list[Json]:
            return [dict(row) for row in database.execute(query, (key,))]

        sessions = rows("select * from sessions where id = ?")
        if not sessions:
            raise Failure("read", f"its database has no session {key}")
        messages = rows("select * from messages where session_id = ? order by ordinal")
        calls = rows(
            "select * from tool_calls where session_id = ? order by message_id, call_index"
        )
        events = rows("select * from tool_result_events where session_id = ? order by id")
    return {"transcript": transcript(sessions[0], messages, calls, events, agent)}


def main() -> None:
    """Speak the wire."""
    about = {"name": "agentsview", "version": version("agentsview"), "language": "Go"}
    serve(about, {agent: {"read": True} for agent in PREFIXES}, {"read": read})


if __name__ == "__main__":
    main()
