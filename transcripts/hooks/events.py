"""One hook event in neutral words, whatever harness sent it.

A dialect says which of its fields is which (:mod:`transcripts.hooks.dialects`), so that what
stands here is read straight from the payload: nothing is copied that nobody asks for. An
empty string is how some harnesses say that they don't know: everything here treats it as
absent.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec

Kind = Literal[
    "workspace",
    "session-start",
    "session-end",
    "prompt",
    "thought",
    "response",
    "call-start",
    "call-end",
    "call-failure",
    "call-denied",
    "permission",
    "batch",
    "shell-before",
    "shell-after",
    "mcp-before",
    "mcp-after",
    "file-before",
    "file-after",
    "subagent-start",
    "subagent-stop",
    "compaction-start",
    "compaction-end",
    "turn-end",
    "turn-failure",
    "turn-abort",
    "notification",
    "lifecycle",
    "editor",
    "other",
]
"""What an event tells of. ``other`` is an event that its dialect does not know."""

Layer = Literal["shell", "mcp", "file"]
LAYERS: dict[Kind, Layer] = {
    "shell-before": "shell",
    "shell-after": "shell",
    "mcp-before": "mcp",
    "mcp-after": "mcp",
    "file-before": "file",
    "file-after": "file",
}
"""The hooks that report what a call does, below the call that the model made."""

Time = Annotated[datetime, msgspec.Meta(tz=True)]

ABSENT = msgspec.Raw(b"")
"""A JSON value that the payload does not have."""


class HookEvent(msgspec.Struct, kw_only=True, gc=False):
    """One row of a capture log.

    ``line`` counts from 1. ``observed_at`` is when the recorder saw it, ``stamped_at`` what
    the harness says of it (a time, or milliseconds since 1970); ``at`` is when it happened: as
    the harness says, else when it was seen, None if nobody does. ``session`` may be named twice
    (``session_too``), as may a duration. ``agent`` is the subagent that an event is about or
    comes from, ``spawned_by`` the call that started it. ``input``, ``output``, ``result`` and
    ``error`` are JSON texts as they were sent. ``payload`` is the whole payload, and ``odd``
    names the fields whose value was of a type that nobody expects, which costs them only.
    """

    line: int = 0
    kind: Kind = "other"
    name: str | None = None
    observed_at: Time | None = None
    stamped_at: Time | int | float | None = None
    at: datetime | None = None
    session: str | None = None
    session_too: str | None = None
    turn: str | None = None
    workspaces: list[str] | None = None
    agent: str | None = None
    agent_type: str | None = None
    agent_parent: str | None = None
    spawned_by: str | None = None
    call: str | None = None
    tool: str | None = None
    server: str | None = None
    url: str | None = None
    input: msgspec.Raw = ABSENT
    output: msgspec.Raw = ABSENT
    result: msgspec.Raw = ABSENT
    error: msgspec.Raw = ABSENT
    command: str | None = None
    cwd: str | None = None
    sandbox: bool | None = None
    path: str | None = None
    prompt: str | None = None
    text: str | None = None
    final: bool | None = None
    failure: str | None = None
    interrupted: bool | None = None
    duration: float | None = None
    duration_ms: float | None = None
    status: str | None = None
    reason: str | None = None
    trigger: str | None = None
    source: str | None = None
    release: str | None = None
    batch: list[Any] | None = None
    usage: msgspec.Raw = ABSENT
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    payload: bytes = b""
    odd: tuple[str, ...] = ()


_OURS = ("line", "kind", "name", "observed_at", "at", "payload", "odd")
"""What an event has of whatever form: what its reader says of it, and not its harness."""


def form(*settled: str, **names: str) -> type[HookEvent]:
    """Return a form of payload: which of its fields is which of :class:`HookEvent`'s.

    ``settled`` are what no payload names and its dialect finds out. What is neither is the same
    for all events of the form, so that only what can be told takes time and room. The key of
    what no payload can hold begins with what is no character.
    """
    held = {*_OURS, *settled, *names}
    all_fields = msgspec.structs.fields(HookEvent)
    if unknown := held - {field.name for field in all_fields}:
        raise TypeError(f"an event has no {sorted(unknown)}")
    made: Any = msgspec.defstruct(
        "Payload",
        [(field.name, field.type, field.default) for field in all_fields if field.name in held],
        namespace={field.name: field.default for field in all_fields if field.name not in held},
        rename={name: names.get(name, f"\uffff{name}") for name in held},
        kw_only=True,
        gc=False,
    )
    return made


def happened(event: HookEvent) -> datetime | None:
    """Return when an event happened: by its harness's word, else when it was seen."""
    stamp = event.stamped_at
    if stamp is None or isinstance(stamp, datetime):
        return event.observed_at if stamp is None else stamp
    try:
        return datetime.fromtimestamp(stamp / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        # Milliseconds since 1970 of which no calendar has a day.
        return event.observed_at
