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

from transcripts.hooks.events import HookEvent, Kind

Verb = Literal["shell", "read", "edit", "delete", "search", "web", "agent", "skill", "other"]
"""What a tool does, as far as a summary tells tools apart."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """One harness's hook events.

    ``forms``: how its payloads name their fields; the first that finds a session is taken.
    ``kinds``: what its events tell of, by their names. ``unique_ids``: a call's id names one
    call, so that id and name decide; else the id only narrows, and the input decides.
    ``needs_id``: an end without an id is never linked, however familiar it looks; else a call
    and an end that both lack one are told by tool and input. ``names_turns``: events carry
    their turn's id, so that one without belongs to none. ``redelivers``: the tools whose start
    may arrive twice, byte for byte. ``failure_shown``: a failed call ends in an event of its
    own, so that another end says it went well. ``verbs``: what its tools do. ``path_fields``:
    which arguments name the file that a call works on, the strongest first. ``layered``: there
    are hooks for what a call does, below the call. ``asks``: a request for permission has an
    event, which names no call. ``settle`` corrects what is odd about an event. ``unused``:
    fields that are known and tell nothing that is asked for here. ``blind_spots``: what can't
    be seen by these hooks.
    """

    agent: str
    forms: tuple[type[HookEvent], ...]
    kinds: Mapping[str, Kind]
    unique_ids: bool
    needs_id: bool = False
    names_turns: bool = False
    failure_shown: bool = True
    redelivers: frozenset[str] = frozenset()
    verbs: Mapping[str, Verb] = {}
    path_fields: tuple[str, ...] = ("file_path", "path", "filePath", "notebook_path")
    mcp_prefix: str = "mcp__"
    layered: bool = False
    asks: bool = False
    settle: Callable[[HookEvent], None] = lambda event: None
    unused: frozenset[str] = frozenset()
    blind_spots: tuple[str, ...] = ()

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
        return tool is not None and tool.startswith(self.mcp_prefix)

    def mcp_parts(self, tool: str) -> tuple[str | None, str]:
        """Return the server, where the name tells it, and the tool's own name."""
        rest = tool.removeprefix(self.mcp_prefix)
        server, found, name = rest.partition("__")
        return (server, name) if found and server and name else (None, rest)
