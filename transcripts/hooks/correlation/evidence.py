"""What two events have in common, and how much that says.

A field that both have and that differs rejects; a field that one of them lacks says nothing;
an equal one adds its weight. The weights are those of the customer's text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from transcripts.hooks.events import Layer

REJECTED = -1


class Field(NamedTuple):
    """A field that both sides of a pair may show, and what it weighs when it is equal."""

    name: str
    weight: int


Values = tuple[Any, ...]
"""What an event shows, field by field in the order of its table; None where it shows nothing."""

CALL = (Field("tool_input", 100),)
SHELL = (Field("command", 100), Field("cwd", 20), Field("sandbox", 5))
MCP = (
    Field("tool_input", 100),
    Field("mcp_server_name", 40),
    Field("url", 30),
    Field("tool_name", 20),
    Field("command", 20),
)
FILE = (Field("file_path", 100),)
REQUEST = (Field("command", 100), Field("file_path", 100), Field("tool_input", 100))
"""What a request for permission shows of its call: the input itself, or what it works on."""

TABLES: dict[Layer, tuple[Field, ...]] = {"shell": SHELL, "mcp": MCP, "file": FILE}


def score(one: Values, other: Values, table: Sequence[Field]) -> int:
    """Return the weight of all that both show alike; :data:`REJECTED` if anything differs."""
    total = 0
    for mine, theirs, field in zip(one, other, table, strict=True):
        if mine is None or theirs is None:
            continue
        if mine != theirs:
            return REJECTED
        total += field.weight
    return total


def shared(one: Values, other: Values, table: Sequence[Field]) -> tuple[str, ...]:
    """Return the names of the fields that both show."""
    return tuple(
        field.name
        for mine, theirs, field in zip(one, other, table, strict=True)
        if mine is not None and theirs is not None
    )


def command_key(command: str | None) -> str | None:
    """Return what equal commands have in common: line ends and the last newline don't count."""
    if not command or not command.strip():
        return None
    return command.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def said(text: str | None) -> str | None:
    """Return a text, or None where it says nothing: empty is absent."""
    return text if text and text.strip() else None
