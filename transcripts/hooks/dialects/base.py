"""What a harness's hook events are called, which of their fields is which, and what they
can't show.

A dialect is a table. Its ``forms`` name the payload's fields in neutral words, so that an
event is decoded straight into :class:`~transcripts.hooks.events.HookEvent`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec
from msgspec.structs import fields as fields_of

from transcripts.hooks.events import HookEvent, Kind, Layer

Verb = Literal["shell", "read", "edit", "delete", "search", "web", "agent", "skill", "other"]
"""What a tool does, as far as a summary tells tools apart."""


Spelling = Callable[[str], tuple[str, str] | None]
"""Tells of an event's name which event it is and in which spelling; None where it has but one."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """One harness's hook events."""

    agent: str
    forms: tuple[type[HookEvent], ...]
    """How its payloads name their fields; the first that finds a session is taken."""
    kinds: Mapping[str, Kind]
    """What its events tell of, by their names."""
    unique_ids: bool
    """A call's id names one call, so that id and name decide; else the id only narrows, and the
    input decides."""
    spelt: Spelling | None = None
    """How a name is spelt, where a hook may be registered in several spellings and is then told
    of each event several times."""
    needs_id: bool = False
    """An end without an id is never linked, however familiar it looks; else a call and an end
    that both lack one are told by tool and input."""
    names_turns: bool = False
    """Events carry their turn's id, so that one without belongs to none."""
    failure_shown: bool = True
    """A failed call ends in an event of its own, so that another end says it went well."""
    states_results: bool = False
    """A call's output states in a field how it went, though it has ended as any other."""
    redelivers: frozenset[str] = frozenset()
    """The tools whose start may arrive twice, byte for byte."""
    layered: bool = False
    """There are hooks for what a call does, below the call."""
    asks: Literal["tool", "verb"] | None = None
    """A request for permission has an event, which names no call: only the call's tool, or
    another one of the same use."""
    verbs: Mapping[str, Verb] = {}
    """What its tools do."""
    path_fields: tuple[str, ...] = ("file_path", "path", "filePath", "notebook_path")
    """Which arguments name the file that a call works on, the strongest first."""
    usage: Literal["last", "each"] = "last"
    """A turn's tokens are what its last event says of them, or what its requests come to."""
    mcp_prefix: str = "mcp__"
    """What stands before the name of an MCP server's tool."""
    mcp_joint: str | None = None
    """What stands in such a name instead, where nothing stands before it."""
    settle: Callable[[HookEvent], None] = lambda event: None
    """Corrects what is odd about an event."""
    settled: frozenset[Kind] | None = None
    """The kinds of events about which something may be odd; None: all."""
    unused: frozenset[str] = frozenset()
    """Fields that are known and tell nothing that is asked for here."""
    blind_spots: tuple[str, ...] = ()
    """What can't be seen by these hooks."""

    @property
    def tells_edits(self) -> bool:
        """Whether an edited file has an event of its own."""
        return "file-after" in self.kinds.values()

    @property
    def fields(self) -> frozenset[str]:
        """The names of all fields that are known of payloads."""
        decoded = (field.encode_name for made in self.forms for field in fields_of(made))
        return self.unused.union(decoded)

    def verb(self, tool: str | None) -> Verb:
        """Return what a tool of this harness does; ``other`` for one that is not known."""
        return self.verbs.get(tool or "", "other")

    def is_mcp(self, tool: str | None) -> bool:
        """Return whether a tool's name says that an MCP server offers it."""
        if tool is None:
            return False
        return self.mcp_joint in tool if self.mcp_joint else tool.startswith(self.mcp_prefix)

    def layer(self, tool: str | None) -> Layer | None:
        """Return which layer of hooks a tool has below it; None if it has none."""
        if self.is_mcp(tool):
            return "mcp"
        verb = self.verb(tool)
        return "shell" if verb == "shell" else "file" if verb in ("read", "edit") else None

    def mcp_parts(self, tool: str) -> tuple[str | None, str]:
        """Return the server, where the name tells it, and the tool's own name."""
        rest = tool.removeprefix(self.mcp_prefix)
        server, found, name = rest.partition("__")
        return (server, name) if found and server and name else (None, rest)
