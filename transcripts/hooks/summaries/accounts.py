"""What is counted of a turn while its events come, and what turns come to in sum."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from transcripts.hooks.summaries.skills import SkillEvidence
from transcripts.hooks.summaries.summary import SkillRow, SubagentRow, Summary, TokenRow, ToolRow


class Tool(msgspec.Struct, gc=False):
    """A tool's calls; ``duration`` in milliseconds, None until one of them is known."""

    count: int = 0
    failed: int = 0
    duration: float | None = None


class Account(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False):
    """What has been counted of one turn, or of what happens outside of a session's turns.

    Plain values only, so that it can be put away and taken up again. What two layers of hooks
    tell of is counted on each (``above``: the model's calls; ``below``: what they did).
    """

    native: str | None = None
    title: str | None = None
    prompted: bool = False
    aborted: bool = False
    tools: dict[str, Tool] = {}
    mcp_above: dict[str, Tool] = {}
    mcp_below: dict[str, Tool] = {}
    commands_above: int = 0
    commands_below: int = 0
    edits: int = 0
    thoughts: int = 0
    failures: int = 0
    read: dict[str, str] = {}
    written: dict[str, str] = {}
    subagents: list[SubagentRow] = []
    skills: dict[str, list[SkillEvidence]] = {}
    slash_commands: dict[str, str] = {}
    tokens: list[int | None] | None = None
    first: datetime | None = None
    last: datetime | None = None

    def note_skill(self, skill: str, evidence: SkillEvidence) -> None:
        """Note a skill and what it was seen by; again by the same thing changes nothing."""
        known = self.skills.setdefault(skill, [])
        if evidence not in known:
            known.append(evidence)

    def add(self, later: Account) -> None:
        """Add what came later of the same turn."""
        self.title = self.title or later.title
        self.aborted = self.aborted or later.aborted
        if later.tools:
            _add_rows(self.tools, later.tools)
        if later.mcp_above or later.mcp_below:
            _add_rows(self.mcp_above, later.mcp_above)
            _add_rows(self.mcp_below, later.mcp_below)
        self.commands_above += later.commands_above
        self.commands_below += later.commands_below
        self.edits += later.edits
        self.thoughts += later.thoughts
        self.failures += later.failures
        self.tokens = later.tokens or self.tokens
        _add_names(self, later)

    def names(self) -> int:
        """Return how many names are in it, which is what it needs memory for."""
        tools = len(self.tools) + len(self.mcp_above) + len(self.mcp_below)
        files = len(self.read) + len(self.written)
        return tools + files + len(self.subagents) + len(self.skills) + len(self.slash_commands)

    def mcp(self) -> dict[str, Tool]:
        """Return the MCP servers' tools by the layer of hooks that saw more of them."""
        if not self.mcp_above:
            return self.mcp_below
        above, below = (
            sum(row.count for row in rows.values()) for rows in (self.mcp_above, self.mcp_below)
        )
        return self.mcp_below if below >= above else self.mcp_above

    def commands(self) -> int:
        """Return how many commands were run, by the layer of hooks that saw more of them."""
        return max(self.commands_above, self.commands_below)

    def summary(self) -> Summary:
        """Return what a turn comes to."""
        return _summary(self, self.mcp(), self.commands(), turns=1, aborted=int(self.aborted))


class Total:
    """What a session's turns come to, added one after the other."""

    def __init__(self) -> None:
        self._sum = Account()
        self._mcp: dict[str, Tool] = {}
        self._commands = 0
        self._turns = 0
        self._aborted = 0
        self.title: str | None = None

    def add(self, part: Account, *, is_turn: bool) -> None:
        """Add a turn, or what happened outside of turns."""
        self.title = self.title or part.title
        tokens = _session_tokens(self._sum.tokens, part.tokens)
        self._sum.add(part)
        self._sum.tokens = tokens
        _add_rows(self._mcp, part.mcp())
        self._commands += part.commands()
        self._turns += is_turn
        self._aborted += part.aborted

    def summary(self) -> Summary:
        """Return what all comes to."""
        return _summary(
            self._sum, self._mcp, self._commands, turns=self._turns, aborted=self._aborted
        )


def add_optional(one: float | None, other: float | None) -> float | None:
    """Return a sum in which None stands for not known: it takes nothing away."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


def _add_rows(rows: dict[str, Tool], more: Mapping[str, Tool]) -> None:
    for name, row in more.items():
        known = rows.setdefault(name, Tool())
        known.count += row.count
        known.failed += row.failed
        known.duration = add_optional(known.duration, row.duration)


def _add_names(total: Account, part: Account) -> None:
    if part.first is not None and (total.first is None or part.first < total.first):
        total.first = part.first
    if part.last is not None and (total.last is None or part.last > total.last):
        total.last = part.last
    if part.subagents:
        total.subagents.extend(part.subagents)
    for known, more in (
        (total.read, part.read),
        (total.written, part.written),
        (total.slash_commands, part.slash_commands),
    ):
        if more:
            known.update((key, name) for key, name in more.items() if key not in known)
    for skill, evidence in part.skills.items():
        for one in evidence:
            total.note_skill(skill, one)


def _session_tokens(
    known: list[int | None] | None, told: list[int | None] | None
) -> list[int | None] | None:
    """Return a session's tokens after one more turn.

    What goes in, and what of it came from the cache, holds the conversation so far: the last
    turn's figure stands. What comes out, and what was put into the cache, adds up.
    """
    if known is None or told is None:
        return told if known is None else known
    out, written = (
        None if total is None else int(total)
        for total in (add_optional(known[place], told[place]) for place in (1, 3))
    )
    latest = [known[place] if told[place] is None else told[place] for place in (0, 2)]
    return [latest[0], out, latest[1], written]


def _summary(
    account: Account, mcp: Mapping[str, Tool], commands: int, *, turns: int, aborted: int
) -> Summary:
    wall = None
    if account.first is not None and account.last is not None:
        wall = (account.last - account.first).total_seconds() * 1000
    tokens = account.tokens
    return Summary(
        turns=turns,
        aborted_turns=aborted,
        tool_calls=_calls(account.tools),
        tools=_rows(account.tools),
        mcp_calls=_calls(mcp),
        mcp_tools=_rows(mcp),
        commands=commands,
        edits=account.edits,
        thoughts=account.thoughts,
        files_read=tuple(account.read.values()),
        files_written=tuple(account.written.values()),
        subagents=tuple(account.subagents),
        skills=_skills(account.skills),
        slash_commands=tuple(account.slash_commands.values()),
        tokens=None
        if tokens is None
        else TokenRow(
            input=tokens[0], output=tokens[1], cache_read=tokens[2], cache_write=tokens[3]
        ),
        wall_ms=wall,
        failures=account.failures,
    )


def _calls(tools: Mapping[str, Tool]) -> int:
    return sum([row.count for row in tools.values()]) if tools else 0


def _rows(tools: Mapping[str, Tool]) -> tuple[ToolRow, ...]:
    """Return rows, what took longest first, then what was called most."""
    if not tools:
        return ()
    rows = [
        ToolRow(name=name, count=row.count, failed=row.failed, duration_ms=row.duration)
        for name, row in tools.items()
    ]
    rows.sort(key=lambda row: (-(row.duration_ms or 0), -row.count, row.name))
    return tuple(rows)


def _skills(skills: Mapping[str, list[SkillEvidence]]) -> tuple[SkillRow, ...]:
    if not skills:
        return ()
    return tuple(
        [SkillRow(id=skill, evidence=tuple(evidence)) for skill, evidence in skills.items()]
    )
