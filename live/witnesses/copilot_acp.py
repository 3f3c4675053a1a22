"""Copilot CLI as an agent of the Agent Client Protocol: it lists a session and replays it.

``copilot --acp`` speaks JSON-RPC. ``session/list`` names the sessions of the home,
``session/load`` tells the whole conversation again as ``session/update`` notifications before
it answers, and says of a broken session what is wrong with it, also where ``--resume`` ends
without a word. No model is asked. A tool is shown by a title made for people ("Viewing
/srv/project/a"), and by its name only where the CLI has no title for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from live.agents.base import Driver
from live.model.history import Entry
from live.releases import Release
from live.witnesses.base import Shown, Witness, Witnessed, laid
from live.witnesses.jsonrpc import Peer, Refused, Unanswered

NAME = "acp"

_CLIENT = {
    "protocolVersion": 1,
    "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}},
}


def _ask(driver: Driver, release: Release, home: Path, session_id: str) -> Witnessed:
    """Have the session listed and loaded by one process."""
    with (
        laid(driver, release, home) as box,
        Peer(
            box,
            [*driver.executable(release.prefix), "--acp"],
            driver.environment(box.home_inside, box.port),
        ) as copilot,
    ):
        try:
            copilot.ask("initialize", _CLIENT)
            listed = copilot.ask("session/list", {})
            copilot.ask(
                "session/load",
                {"sessionId": session_id, "cwd": box.workspace_inside, "mcpServers": []},
            )
        except (Refused, Unanswered) as refusal:
            return Witnessed(name=NAME, verdict="refuses", why=str(refusal))
        if session_id not in _ids(listed):
            why = "session/list does not name the session, which session/load loads"
            return Witnessed(name=NAME, verdict="refuses", why=why)
        return Witnessed(name=NAME, verdict="agrees", shown=shown(copilot.told))


WITNESS = Witness(
    name=NAME,
    since="1.0.80",
    before=(
        "1.0.40 and 1.0.60 list sessions, but session/load of a provider of one's own is answered"
        " with -32000 Authentication required; releases before them were not asked"
    ),
    ask=_ask,
)


def _ids(listed: Any) -> list[str]:
    sessions = listed.get("sessions", []) if isinstance(listed, Mapping) else []
    return [str(one.get("sessionId")) for one in sessions if isinstance(one, Mapping)]


def shown(told: Iterable[Mapping[str, Any]]) -> Shown:
    """Return the messages that a replay tells."""
    return tuple(entry for message in told for entry in _entries(message))


def _entries(message: Mapping[str, Any]) -> Iterator[Entry]:
    if message.get("method") != "session/update":
        return
    update: Mapping[str, Any] = message["params"]["update"]
    match update.get("sessionUpdate"):
        case "user_message_chunk":
            yield Entry(role="user", type="text", text=_text(update["content"]))
        case "agent_message_chunk":
            yield Entry(role="assistant", type="text", text=_text(update["content"]))
        case "agent_thought_chunk":
            yield Entry(role="assistant", type="reasoning", text=_text(update["content"]))
        case "tool_call":
            title = str(update.get("title") or "")
            yield Entry(
                role="assistant",
                type="call",
                call_id=update["toolCallId"],
                # No name has a space in it, and no title made for people is without.
                name=None if " " in title else title,
                arguments=update.get("rawInput"),
            )
        case "tool_call_update":
            yield Entry(
                role="tool",
                type="result",
                call_id=update["toolCallId"],
                text=_outcome(update),
                error=update.get("status") == "failed",
            )
        case _:
            return


def _text(content: Any) -> str:
    return str(content.get("text", "")) if isinstance(content, Mapping) else ""


def _outcome(update: Mapping[str, Any]) -> str:
    output = update.get("rawOutput")
    if isinstance(output, Mapping):
        said = [output[key] for key in ("content", "message") if isinstance(output.get(key), str)]
        return "\n".join(said)
    if output is not None:
        return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    parts = update.get("content") or []
    return "\n".join(_text(part.get("content")) for part in parts if isinstance(part, Mapping))
