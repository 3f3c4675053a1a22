"""The kind of a record, by one name: the one under which readers count it, with what tells apart.

``assistant[tool_use]`` holds blocks of that type, ``user[tool_result:Bash]`` is what Bash came
to, ``user[str]!isMeta`` has that flag, ``event_msg/task_started`` is a type within a type.
Which tool a result belongs to stands in another record, so a name is given in file order.
Words that can't be the format's own never get into a name.
"""

from __future__ import annotations

import re
from typing import Any, Protocol

from conformance.formats.tables import Table

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,47}")
_MOST_DIGITS = 4
_FLAGS = ("isApiErrorMessage", "isCompactSummary", "isMeta")
_UNPAIRED = "unpaired"
_ODD = "(odd)"


class Namer(Protocol):
    """Names the records of one file, in their order."""

    def name(self, value: dict[str, Any]) -> str:
        """Return the kind of the next record."""
        ...

    def told(self, value: dict[str, Any]) -> str:
        """Return the kind of the next line of what a CLI tells programs while it runs."""
        ...

    def release(self, value: dict[str, Any]) -> str | None:
        """Return the release that the record says wrote it."""
        ...


def namer(agent: str, table: Table) -> Namer:
    """Return a namer for one file of an agent."""
    return {"claude": ClaudeNamer, "codex": CodexNamer, "copilot": CopilotNamer}[agent](table)


def word(value: Any) -> str:
    """Return a word of a format's, or a stand-in for what may be none: a person's, or a secret."""
    if value is None:
        return "(none)"
    if not isinstance(value, str) or _WORD.fullmatch(value) is None:
        return _ODD
    return value if sum(letter.isdigit() for letter in value) <= _MOST_DIGITS else _ODD


def file_name(kind: str) -> str:
    """Return the name of a kind's file: whatever could mislead a file system or a shell is a dot.

    ``assistant[text]!isMeta`` is ``assistant.text.isMeta.json``.
    """
    return re.sub(r"[^A-Za-z0-9_+.-]+", ".", kind).strip(".").removesuffix(".json") + ".json"


class ClaudeNamer:
    """Claude Code: a row's type, its subkind, the types of its blocks and its flags."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._tools: dict[str, str] = {}

    def name(self, value: dict[str, Any]) -> str:
        """Return the kind of the next row."""
        match value.get("type"):
            case "system":
                return f"system/{word(value.get('subtype'))}"
            case "attachment":
                return f"attachment/{word(_mapping(value.get('attachment')).get('type'))}"
            case "user" | "assistant" as kind:
                flags = "".join(f"!{flag}" for flag in _FLAGS if value.get(flag) is True)
                return f"{kind}[{self._blocks(_mapping(value.get('message')))}]{flags}"
            case other:
                return word(other)

    def told(self, value: dict[str, Any]) -> str:
        """Return the kind of the next line: rows without their links, and what stands around."""
        match value.get("type"):
            case "result":
                return f"stream/result:{word(value.get('subtype'))}"
            case "stream_event":
                return f"stream/stream_event:{word(_mapping(value.get('event')).get('type'))}"
            case _:
                return f"stream/{self.name(value)}"

    def release(self, value: dict[str, Any]) -> str | None:
        """Return the release that wrote the row."""
        return _text(value.get("version"))

    def _blocks(self, message: dict[str, Any]) -> str:
        content = message.get("content")
        if isinstance(content, str):
            return "str"
        if not isinstance(content, list):
            return "(none)"
        return "+".join(sorted({self._block(_mapping(block)) for block in content})) or "empty"

    def _block(self, block: dict[str, Any]) -> str:
        kind = block.get("type")
        if kind == "tool_use":
            name = self._table.label(_text(block.get("name")) or "")
            self._tools[_text(block.get("id")) or ""] = word(name)
        if kind == "tool_result":
            return (
                f"tool_result:{self._tools.get(_text(block.get('tool_use_id')) or '', _UNPAIRED)}"
            )
        return word(kind)


class CodexNamer:
    """Codex: the envelope's type, the payload's, and an item's or a message's role."""

    def __init__(self, table: Table) -> None:
        del table

    def name(self, value: dict[str, Any]) -> str:
        """Return the kind of the next record."""
        if "payload" not in value:
            return self._flat(value)
        kind = word(value.get("type"))
        payload = _mapping(value.get("payload"))
        if kind not in ("event_msg", "response_item"):
            return kind
        inner = word(payload.get("type"))
        if inner == "message":
            return f"{kind}/message:{word(payload.get('role'))}"
        if inner.startswith("item_"):
            return f"{kind}/{inner}/{word(_mapping(payload.get('item')).get('type'))}"
        return f"{kind}/{inner}"

    def told(self, value: dict[str, Any]) -> str:
        """Return the kind of the next line: its type, and an item's."""
        kind = word(value.get("type"))
        if "item" in value:
            return f"stream/{kind}/{word(_mapping(value['item']).get('type'))}"
        return f"stream/{kind}"

    def release(self, value: dict[str, Any]) -> str | None:
        """Return the release that began or resumed the session here."""
        return _text(_mapping(value.get("payload")).get("cli_version"))

    def _flat(self, value: dict[str, Any]) -> str:
        if "record_type" in value:
            return "flat/state"
        if "type" not in value:
            return "flat/session_meta"
        kind = word(value["type"])
        return f"flat/{kind}:{word(value.get('role'))}" if kind == "message" else f"flat/{kind}"


class CopilotNamer:
    """Copilot CLI: an event's type, and the tool of a call's start and end."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._tools: dict[str, str] = {}

    def name(self, value: dict[str, Any]) -> str:
        """Return the kind of the next event."""
        kind = word(value.get("type"))
        data = _mapping(value.get("data"))
        call = _text(data.get("toolCallId")) or ""
        if kind == "tool.execution_start":
            self._tools[call] = word(self._table.label(_text(data.get("toolName")) or "", data))
            return f"{kind}:{self._tools[call]}"
        if kind == "tool.execution_complete":
            return f"{kind}:{self._tools.get(call, _UNPAIRED)}"
        return kind

    def told(self, value: dict[str, Any]) -> str:
        """Return the kind of the next line: the same events, and some that no file keeps."""
        return f"stream/{self.name(value)}"

    def release(self, value: dict[str, Any]) -> str | None:
        """Return the release that began the session."""
        return _text(_mapping(value.get("data")).get("copilotVersion"))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
