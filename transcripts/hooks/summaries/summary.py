"""What happened in a turn or a session, in numbers, as far as its hooks show it.

Nothing is counted twice: a call that an MCP server's tool took is no normal tool call, a start
that a harness sends twice is one call, and overlapping calls take no more time than the clock.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from transcripts.hooks.logs import BadLine
from transcripts.hooks.summaries.skills import SkillEvidence


class ToolRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One tool: how many calls, how many of them failed, and how long the others took in sum."""

    name: str
    count: int
    failed: int
    duration_ms: float | None


class SkillRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One skill, and by what it was seen."""

    id: str
    evidence: tuple[SkillEvidence, ...]


class TokenRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Tokens as the harness's events state them; never what was billed."""

    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None


class SubagentRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One subagent: its id and its type, where the harness says them."""

    id: str | None
    type: str | None


class Summary(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a turn or a session comes to.

    ``tool_calls`` leaves out ``mcp_calls``. ``wall_ms`` is from the first event to the last,
    None where the log has no times. ``failures`` counts the calls that an event says have
    failed. Lists are in the order in which things were first seen.
    """

    turns: int
    aborted_turns: int
    tool_calls: int
    tools: tuple[ToolRow, ...]
    mcp_calls: int
    mcp_tools: tuple[ToolRow, ...]
    commands: int
    edits: int
    thoughts: int
    files_read: tuple[str, ...]
    files_written: tuple[str, ...]
    subagents: tuple[SubagentRow, ...]
    skills: tuple[SkillRow, ...]
    slash_commands: tuple[str, ...]
    tokens: TokenRow | None
    wall_ms: float | None
    failures: int


class TurnSummary(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One turn's summary."""

    id: str
    derived: bool
    title: str
    summary: Summary


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One session's summary, and that of each of its turns."""

    id: str | None
    workspace: str | None
    title: str | None
    summary: Summary
    turns: Sequence[TurnSummary]


class LogSummary(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What ``hooks summary --format json`` prints."""

    sessions: Sequence[SessionSummary]
    bad_lines: Sequence[BadLine]
    blind_spots: Sequence[str]
