"""Counting a log in one pass: what is over is put away, so memory is bound by what is open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from operator import attrgetter
from typing import NamedTuple, Self

from transcripts.hooks.correlation.correlating import Correlator
from transcripts.hooks.correlation.matching import Link
from transcripts.hooks.correlation.pairing import Orphan
from transcripts.hooks.correlation.paths import same_file_key
from transcripts.hooks.correlation.sessions import Turn
from transcripts.hooks.correlation.shown import Arguments, arguments, patched_files
from transcripts.hooks.dialects.base import Dialect, Verb
from transcripts.hooks.events import HookEvent, Kind
from transcripts.hooks.logs import BadLine
from transcripts.hooks.outcomes import call_status, duration, stated_duration
from transcripts.hooks.preview import preview
from transcripts.hooks.summaries.accounts import Account, Tool, Total, add_optional
from transcripts.hooks.summaries.keeping import KeptTurns
from transcripts.hooks.summaries.skills import attached, mentioned, skill_of_path, slash_commands
from transcripts.hooks.summaries.summary import (
    LogSummary,
    SessionSummary,
    SubagentRow,
    Summary,
    TurnSummary,
)

_tokens = attrgetter("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_NO_TOKENS = (None, None, None, None)

_MOST_OPEN = 100_000
"""So many calls are kept whose end has not come."""


class _Tool(NamedTuple):
    """What a tool is called in a summary, and what it does."""

    key: str
    is_mcp: bool
    verb: Verb
    reads: bool


class CountedSession:
    """One session: first its turns, to be gone through, then what they come to."""

    def __init__(
        self, native: str | None, workspace: str | None, accounts: Iterable[tuple[int, Account]]
    ) -> None:
        self.id = native
        self.workspace = workspace
        self._accounts = accounts
        self._total = Total()

    def turns(self) -> Iterator[TurnSummary]:
        """Yield the turns' summaries; a session of many turns is never held whole."""
        for number, account in self._accounts:
            self._total.add(account, is_turn=number > 0)
            if number:
                shown = f"Turn {number}" + (f" · {account.title}" if account.title else "")
                yield TurnSummary(
                    id=account.native or str(number),
                    derived=account.native is None,
                    title=shown,
                    summary=account.summary(),
                )

    @property
    def title(self) -> str | None:
        """The first prompt, once the turns have been gone through."""
        return self._total.title

    def summary(self) -> Summary:
        """Return what the turns come to, once they have been gone through."""
        return self._total.summary()


class Counter:
    """Counts events one by one; :meth:`sessions` tells what they come to, until it is left.

    A duration is the harness's own where it states one; else the time between a call's start
    and its end, where both were seen and belong together for sure.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._tells_edits = dialect.tells_edits
        self._states_results = dialect.states_results
        self._correlator = Correlator(dialect, self, remember=False)
        self._kept = KeptTurns()
        self._accounts: dict[Turn, Account] = {}
        self._tools: dict[str, _Tool] = {}
        self._starts: dict[int, datetime] = {}
        self._ends: dict[int, tuple[Tool, datetime | None]] = {}
        self._mcp: dict[int, tuple[Account, str, HookEvent]] = {}
        self._mcp_begun: dict[Turn, dict[int, str]] = {}
        self._told: Link | Orphan | None = None

    def add(self, event: HookEvent) -> None:
        """Take the next event."""
        if event.kind == "workspace":
            # It belongs to no session.
            return
        self._told = None
        turn = self._correlator.add(event)
        account = self._accounts.get(turn)
        if account is None:
            account = self._accounts[turn] = Account(native=turn.native)
        at = event.at
        if at is not None:
            first, last = account.first, account.last
            if first is None or last is None:
                account.first = account.last = at
            elif at > last:
                account.last = at
            elif at < first:
                account.first = at
        count = _COUNTED.get(event.kind)
        if count is not None:
            count(self, turn, account, event)
        if not turn.is_open:
            # It came late; nothing more will be told of when its turn closes.
            self.closed(turn)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._kept.close()

    def linked(self, turn: Turn, link: Link) -> None:
        """Count the time of a call whose end is known now."""
        self._told = link
        if link.event in self._mcp:
            named = self._mcp_begun.get(turn, {}).pop(link.to, None)
            self._count_mcp_time(link.event, self._starts.get(link.to), named)
        if link.role != "end":
            return
        began = self._starts.pop(link.to, None)
        waiting = self._ends.pop(link.event, None)
        if waiting is not None:
            row, ended = waiting
            if began is not None and ended is not None:
                row.duration = add_optional(row.duration, _milliseconds(began, ended))

    def orphaned(self, turn: Turn, orphan: Orphan) -> None:
        """Count a call of which only the end was seen."""
        self._told = orphan
        if orphan.event in self._mcp:
            self._count_mcp_time(orphan.event, None)
        waiting = self._ends.pop(orphan.event, None)
        if waiting is not None and orphan.start_missing:
            waiting[0].count += 1

    def phantom(self, turn: Turn, phantom: Orphan) -> None:
        """Count nothing: it ends what never began."""

    def closed(self, turn: Turn) -> None:
        """Put away what a turn comes to."""
        if self._mcp_begun:
            self._mcp_begun.pop(turn, None)
        account = self._accounts.pop(turn, None)
        if account is not None:
            self._kept.keep(turn, account)

    def sessions(self) -> Iterator[CountedSession]:
        """Close all that is open, and yield the sessions in the order they were first seen."""
        for session in self._correlator.sessions.values():
            self._correlator.close(session)
        for native, workspace, accounts in self._kept.sessions():
            yield CountedSession(native, workspace, accounts)

    def count_start(self, turn: Turn, account: Account, event: HookEvent) -> None:
        """Count a call, unless it is one that was counted, or names no tool."""
        told, name = self._told, event.tool
        if not name or (told is not None and isinstance(told, Link) and told.role == "redelivery"):
            return
        tool = self._tools.get(name) or self._tool(name)
        _row(account.mcp_above if tool.is_mcp else account.tools, tool.key).count += 1
        if not self._dialect.unique_ids or not event.call:
            self._began(event)
        if tool.verb == "shell":
            account.commands_above += 1
        elif tool.reads:
            self._note_read(account, event, arguments(bytes(event.input)))

    def count_end(self, turn: Turn, account: Account, event: HookEvent) -> None:
        """Count a call's time, and what it wrote; a failure counts without its time."""
        name = event.tool
        if not name:
            return
        tool = self._tools.get(name) or self._tool(name)
        row = _row(account.mcp_above if tool.is_mcp else account.tools, tool.key)
        told = self._told
        if told is not None and isinstance(told, Orphan) and told.start_missing:
            row.count += 1
        if event.kind != "call-end" or (self._states_results and self._states_failure(event)):
            row.failed += 1
            account.failures += 1
            at = None
        else:
            native = stated_duration(event)
            if native is not None:
                row.duration = native if row.duration is None else row.duration + native
                at = None
            else:
                at = event.at
            if tool.verb == "edit":
                self._note_written(account, event)
        ended = self._correlator.ended
        if ended is None:
            if told is None:
                self._ends[event.line] = (row, at)
        elif at is not None and ended.at is not None:
            row.duration = add_optional(row.duration, _milliseconds(ended.at, at))

    def _states_failure(self, event: HookEvent) -> bool:
        """Return whether the output of a call that ended says that it did not go well."""
        return call_status(event, self._dialect) in ("failed", "declined")

    def _tool(self, name: str) -> _Tool:
        """Return what a tool is, asked once of each name."""
        dialect = self._dialect
        is_mcp, verb = dialect.is_mcp(name), dialect.verb(name)
        key = name
        if is_mcp:
            server, own = dialect.mcp_parts(name)
            key = f"{server}/{own}" if server else own
        tool = self._tools[name] = _Tool(key, is_mcp, verb, verb in ("read", "skill"))
        return tool

    def _began(self, event: HookEvent) -> None:
        """Remember when something began, for its end may not say how long it took."""
        at = event.at
        if at is not None:
            self._starts[event.line] = at
        if len(self._starts) > _MOST_OPEN:
            # How long those took that have been open for longest stays unknown.
            for line in list(islice(self._starts, _MOST_OPEN // 2)):
                del self._starts[line]

    def _note_read(self, account: Account, event: HookEvent, told: Arguments) -> None:
        if skill := told.skill or told.skillName or told.skill_name:
            account.note_skill(skill, "tool")
        if path := (event.path or told.file(self._dialect.path_fields)):
            account.read.setdefault(same_file_key(path), path)
            if read := skill_of_path(path):
                account.note_skill(read, "read")

    def _note_written(self, account: Account, event: HookEvent) -> None:
        if self._tells_edits:
            return
        account.edits += 1
        told = arguments(bytes(event.input))
        named = told.file(self._dialect.path_fields)
        for path in patched_files(told) if named is None else [named]:
            account.written.setdefault(same_file_key(path), path)

    def count_shell(self, turn: Turn, account: Account, event: HookEvent) -> None:
        """Count a command."""
        account.commands_below += 1

    def count_mcp(self, turn: Turn, account: Account, event: HookEvent) -> None:
        """Count an MCP call, and how long it took once it is over."""
        name = event.tool or event.server or "MCP"
        key = f"{event.server}/{name}" if event.server and event.tool else name
        if event.kind == "mcp-after":
            self._mcp[event.line] = account, key, event
            if self._told is not None:
                # It came late, and what it belongs to was told before this.
                self._count_mcp_time(event.line, None)
        else:
            _row(account.mcp_below, key).count += 1
            begun = self._mcp_begun.setdefault(turn, {})
            begun[event.line] = key
            if len(begun) > _MOST_OPEN:
                del begun[next(iter(begun))]
            self._began(event)

    def _count_mcp_time(
        self, line: int, began: datetime | None, begun_as: str | None = None
    ) -> None:
        """Count how long an MCP call took; its unit shows by when it began.

        ``begun_as``: the row in which its start was counted. Only one of the two may name the
        server; the call is then told by both.
        """
        account, key, event = self._mcp.pop(line)
        rows = account.mcp_below
        if begun_as is not None and begun_as != key:
            if event.server:
                known = rows[begun_as]
                known.count -= 1
                if known == Tool():
                    del rows[begun_as]
                _row(rows, key).count += 1
            else:
                key = begun_as
        row = _row(rows, key)
        lasted, _ = duration(began, event)
        row.duration = add_optional(row.duration, lasted)

    def count_file(self, turn: Turn, account: Account, event: HookEvent) -> None:
        """Count a file that was read or edited."""
        if event.kind == "file-before":
            self._note_read(account, event, Arguments())
            return
        account.edits += 1
        if event.path:
            account.written.setdefault(same_file_key(event.path), event.path)

    def count_prompt(self, turn: Turn, account: Account, event: HookEvent) -> None:
        """Note a prompt's title, the commands in it and the skills that it brings along."""
        if event.agent:
            return
        account.title = account.title or preview(event.prompt)
        for name in slash_commands(event.prompt):
            account.slash_commands.setdefault(name.lower(), name)
        for skill in attached(event.prompt):
            account.note_skill(skill, "attached")

    def count_thought(self, turn: Turn, account: Account, event: HookEvent) -> None:
        """Count a thought, and note the skills that it mentions."""
        account.thoughts += 1
        for skill in mentioned(event.text):
            account.note_skill(skill, "mention")

    def count_tokens(self, turn: Turn, account: Account, event: HookEvent) -> None:
        """Note what an event says of tokens, and of how a turn ended."""
        if event.kind == "turn-abort" or (event.status or "").lower() == "aborted":
            account.aborted = account.aborted or not event.agent
        told = _tokens(event)
        if told == _NO_TOKENS:
            return
        known = account.tokens
        if self._dialect.usage == "each" and known is not None:
            account.tokens = [
                None if (total := add_optional(one, other)) is None else int(total)
                for one, other in zip(known, told, strict=True)
            ]
        elif known is None or event.kind == "turn-end" or self._dialect.usage == "each":
            account.tokens = list(told)

    def count_agent(self, turn: Turn, account: Account, event: HookEvent) -> None:
        """Count a subagent."""
        account.subagents.append(SubagentRow(id=event.agent or None, type=event.agent_type or None))

    def count_session_end(self, turn: Turn, account: Account, event: HookEvent) -> None:
        """Put away what was outside of turns: more may come of it, but seldom does."""
        self.closed(turn)


_COUNTED: Mapping[Kind, Callable[[Counter, Turn, Account, HookEvent], None]] = {
    "call-start": Counter.count_start,
    "call-end": Counter.count_end,
    "call-failure": Counter.count_end,
    "call-denied": Counter.count_end,
    "shell-before": Counter.count_shell,
    "mcp-before": Counter.count_mcp,
    "mcp-after": Counter.count_mcp,
    "file-before": Counter.count_file,
    "file-after": Counter.count_file,
    "prompt": Counter.count_prompt,
    "thought": Counter.count_thought,
    "response": Counter.count_tokens,
    "turn-end": Counter.count_tokens,
    "turn-failure": Counter.count_tokens,
    "turn-abort": Counter.count_tokens,
    "lifecycle": Counter.count_tokens,
    "subagent-start": Counter.count_agent,
    "session-end": Counter.count_session_end,
}


def _row(rows: dict[str, Tool], key: str) -> Tool:
    row = rows.get(key)
    if row is None:
        row = rows[key] = Tool()
    return row


def _milliseconds(began: datetime, ended: datetime) -> float | None:
    return (ended - began).total_seconds() * 1000 if ended >= began else None


def summarise(
    events: Iterable[HookEvent], dialect: Dialect, bad_lines: Iterable[BadLine] = ()
) -> LogSummary:
    """Return what all events come to; for a log of any length use :class:`Counter`.

    ``bad_lines`` may grow while the events are read, as a log's do.
    """
    sessions: list[SessionSummary] = []
    with Counter(dialect) as counter:
        for event in events:
            counter.add(event)
        for counted in counter.sessions():
            turns = list(counted.turns())
            sessions.append(
                SessionSummary(
                    id=counted.id,
                    workspace=counted.workspace,
                    turns=turns,
                    title=counted.title,
                    summary=counted.summary(),
                )
            )
    return LogSummary(
        sessions=sessions, bad_lines=list(bad_lines), blind_spots=list(dialect.blind_spots)
    )
