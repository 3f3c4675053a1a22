"""Codex's app server, asked to list and to read a session: the vendor's own reader.

``codex app-server`` speaks JSON-RPC. ``thread/list`` finds the session among those of the home
and ``thread/read`` gives its turns and their items, as an editor would show them. No model is
asked. Items are made from events, not from what the model is sent: a call that no event tells
of is not shown. Sessions that releases since 0.150 page through are read only when they have been
opened once (``thread/resume``), which asks no model either and adds to the copy.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from live.agents.base import Driver
from live.model.history import Entry
from live.releases import Release
from live.witnesses.base import Shown, Witness, Witnessed, laid
from live.witnesses.jsonrpc import Peer, Refused, Unanswered

NAME = "thread-read"

_CLIENT = {"clientInfo": {"name": "conformance", "version": "1"}}
_SOURCES = ("cli", "vscode", "exec", "appServer", "subAgent", "unknown")
"""Sessions of every origin; without a word about it those of ``codex exec`` are left out."""

_PAGE = 200

Item = Mapping[str, Any]


def _ask(driver: Driver, release: Release, home: Path, session_id: str) -> Witnessed:
    """Have the session listed and read by one process."""
    with (
        laid(driver, release, home) as box,
        Peer(
            box,
            [*driver.executable(release.prefix), "app-server"],
            driver.environment(box.home_inside, box.port),
        ) as codex,
    ):
        try:
            codex.ask("initialize", _CLIENT)
            codex.tell("initialized")
            listed = codex.ask("thread/list", {"sourceKinds": _SOURCES})
            read = codex.ask("thread/read", {"threadId": session_id, "includeTurns": True})
            items = _items(codex, session_id, read["thread"])
        except (Refused, Unanswered) as refusal:
            return Witnessed(name=NAME, verdict="refuses", why=str(refusal))
        if session_id not in [one["id"] for one in listed["data"]]:
            why = "thread/list does not name the session, which thread/read reads"
            return Witnessed(name=NAME, verdict="refuses", why=why)
        return Witnessed(name=NAME, verdict="agrees", shown=shown(items))


WITNESS = Witness(
    name=NAME,
    since="0.110.0",
    before=(
        "0.92.0 shows prompts and answers and no call at all, 0.77.0 has thread/list and no"
        " thread/read, 0.45.0 neither"
    ),
    ask=_ask,
)


def _items(codex: Peer, session_id: str, thread: Mapping[str, Any]) -> Iterable[Item]:
    if thread.get("historyMode") != "paginated":
        return [item for turn in thread["turns"] for item in turn["items"]]
    codex.ask("thread/resume", {"threadId": session_id})
    found: list[Item] = []
    asked: dict[str, Any] = {"threadId": session_id, "limit": _PAGE, "sortDirection": "asc"}
    while True:
        page = codex.ask("thread/items/list", asked)
        found += [one["item"] for one in page["data"]]
        if not page["nextCursor"]:
            return found
        asked["cursor"] = page["nextCursor"]


def shown(items: Iterable[Item]) -> Shown:
    """Return the messages that a thread's items show."""
    return tuple(entry for item in items for entry in _entries(item))


def _entries(item: Item) -> Iterator[Entry]:
    make = _ITEMS.get(item["type"])
    if make is not None:
        yield from make(item)


def _prompt(item: Item) -> Iterator[Entry]:
    for part in item["content"]:
        if part["type"] == "text":
            yield Entry(role="user", type="text", text=part["text"])
        elif part["type"] in ("image", "localImage"):
            yield Entry(role="user", type="image", value=_picture(part))


def _picture(part: Item) -> dict[str, Any]:
    _, comma, data = str(part.get("url") or "").partition(";base64,")
    if not comma:
        return {"path": part.get("path") or part.get("url")}
    try:
        return {"sha256": sha256(base64.b64decode(data, validate=True)).hexdigest()}
    except binascii.Error:
        return {"path": None}


def _answer(item: Item) -> Iterator[Entry]:
    yield Entry(role="assistant", type="text", text=item["text"])


def _thought(item: Item) -> Iterator[Entry]:
    for words in (*item.get("summary", ()), *item.get("content", ())):
        yield Entry(role="assistant", type="reasoning", text=words)


def _command(item: Item) -> Iterator[Entry]:
    said = [item.get("aggregatedOutput") or ""]
    if item.get("exitCode") is not None:
        said.append(f"exit code {item['exitCode']}")
    yield from _call(item, "command", {"command": item["command"]}, "\n".join(said))


def _files(item: Item) -> Iterator[Entry]:
    changes = [_change(one) for one in item["changes"]]
    yield from _call(item, "fileChange", {"changes": changes}, item["status"])


def _change(one: Item) -> dict[str, Any]:
    # A difference has a sign before every line; what was added or deleted whole has none.
    signed = one["kind"]["type"] == "update"
    lines = [line[1:] if signed else line for line in one["diff"].split("\n")]
    return {"path": one["path"], "to": one["kind"].get("move_path"), "diff": "\n".join(lines)}


def _mcp(item: Item) -> Iterator[Entry]:
    result: Item = item.get("result") or {}
    said = [_words(part) for part in result.get("content") or ()]
    if result.get("structuredContent") is not None:
        said.append(_words(result["structuredContent"]))
    said.append(_failure(item))
    name = f"{item['server']}__{item['tool']}"
    yield from _call(item, name, item.get("arguments"), "\n".join(one for one in said if one))


def _dynamic(item: Item) -> Iterator[Entry]:
    said = [_words(part) for part in item.get("contentItems") or ()]
    yield from _call(item, item["tool"], item.get("arguments"), "\n".join(said))


def _agents(item: Item) -> Iterator[Entry]:
    states: Item = item.get("agentsStates") or {}
    said = [str(one["message"]) for one in states.values() if one.get("message")]
    asked = {"message": item.get("prompt"), "agents": item.get("receiverThreadIds")}
    yield from _call(item, item["tool"], asked, "\n".join(said))


def _search(item: Item) -> Iterator[Entry]:
    yield from _call(item, "webSearch", [item.get("query"), item.get("action")], "")


def _look(item: Item) -> Iterator[Entry]:
    yield from _call(item, "imageView", {"path": item["path"]}, "")


def _call(item: Item, name: str, arguments: Any, said: str) -> Iterator[Entry]:
    yield Entry(role="assistant", type="call", call_id=item["id"], name=name, arguments=arguments)
    if item.get("status") != "inProgress":
        failed = item.get("status") in ("failed", "declined")
        yield Entry(role="tool", type="result", call_id=item["id"], text=said, error=failed)


def _failure(item: Item) -> str:
    error = item.get("error")
    return str(error.get("message", "")) if isinstance(error, Mapping) else ""


def _words(part: Any) -> str:
    """Return a part's text, or its JSON as it is spelt where it stands in a text."""
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return part["text"]
    return json.dumps(part, ensure_ascii=False, separators=(",", ":"))


_ITEMS: Mapping[str, Callable[[Item], Iterator[Entry]]] = {
    "userMessage": _prompt,
    "agentMessage": _answer,
    "plan": _answer,
    "reasoning": _thought,
    "commandExecution": _command,
    "fileChange": _files,
    "mcpToolCall": _mcp,
    "dynamicToolCall": _dynamic,
    "collabAgentToolCall": _agents,
    "webSearch": _search,
    "imageView": _look,
}
