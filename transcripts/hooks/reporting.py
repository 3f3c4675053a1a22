"""Summaries of a log as they are told: JSON for machines, tables for people, piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transcripts.display import plain
from transcripts.hooks.display import lasting
from transcripts.hooks.joining import RULES, Join
from transcripts.hooks.logs import CaptureLog
from transcripts.hooks.summaries.summarising import CountedSession
from transcripts.hooks.summaries.summary import Summary
from transcripts.serialise import to_json

_MOST_TURNS = 40
_MOST_NAMES = 12


def write_summary(out: BinaryIO, sessions: Iterable[CountedSession], log: CaptureLog) -> None:
    """Write a :class:`LogSummary` as JSON, one turn after the other: it may be of any length."""
    out.write(b'{"sessions": [')
    for place, session in enumerate(sessions):
        out.write(b",\n" if place else b"\n")
        out.write(
            b'{"id": %s, "workspace": %s, "turns": ['
            % (_json(session.id), _json(session.workspace))
        )
        for number, turn in enumerate(session.turns()):
            out.write((b",\n" if number else b"\n") + _json(turn))
        title, total = _json(session.title), _json(session.summary())
        out.write(b'], "title": %s, "summary": %s}' % (title, total))
    ends = _json(log.bad_lines), _json(log.dialect.blind_spots)
    out.write(b'],\n"bad_lines": %s,\n"blind_spots": %s}\n' % ends)
    out.flush()


def _json(value: Any) -> bytes:
    return to_json(value).encode()


def show_summary(sessions: Iterable[CountedSession], log: CaptureLog) -> None:
    """Print each session's turns and what they come to."""
    console = Console()
    for session in sessions:
        _show_session(console, session)
    for bad in log.bad_lines:
        console.print(Text(f"line {bad.line} was not read: {plain(bad.why)}", style="yellow"))
    if log.dialect.blind_spots:
        console.print(Text("what these hooks can't show", style="bold"))
        for spot in log.dialect.blind_spots:
            console.print(Text(f"  {spot}", style="dim"))


def _show_session(console: Console, session: CountedSession) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("turn", overflow="fold", ratio=1)
    for name in ("calls", "MCP", "commands", "edits", "failed", "took"):
        table.add_column(name, justify="right", no_wrap=True)
    left_out = 0
    for place, turn in enumerate(session.turns()):
        if place < _MOST_TURNS:
            table.add_row(Text(plain(turn.title)), *_figures(turn.summary))
        else:
            left_out += 1
    total = session.summary()
    if left_out:
        table.add_row(Text(f"… {left_out:,} more turns", style="dim"))
    table.add_section()
    turns = "1 turn" if total.turns == 1 else f"{total.turns:,} turns"
    table.add_row(Text(turns, style="bold"), *_figures(total))
    title = plain(session.title or session.id or "Unknown session")
    console.print(Text(title, style="bold"), Text(plain(session.id or ""), style="dim"))
    console.print(table)
    _show_lists(console, total)


def _figures(summary: Summary) -> Sequence[Text]:
    numbers = (summary.tool_calls, summary.mcp_calls, summary.commands, summary.edits)
    failed = Text(f"{summary.failures:,}", style="red" if summary.failures else "dim")
    wall = "" if summary.wall_ms is None else lasting(summary.wall_ms)
    return [*(Text(f"{number:,}") for number in numbers), failed, Text(wall)]


def _show_lists(console: Console, total: Summary) -> None:
    tools = [_tool(row.name, row.count, row.duration_ms) for row in total.tools + total.mcp_tools]
    skills = [f"{row.id} ({', '.join(row.evidence)})" for row in total.skills]
    agents = [row.type or row.id or "?" for row in total.subagents]
    tokens = total.tokens
    counts = (
        []
        if tokens is None
        else [
            f"{name} {value:,}"
            for name, value in (
                ("in", tokens.input),
                ("out", tokens.output),
                ("from the cache", tokens.cache_read),
                ("into the cache", tokens.cache_write),
            )
            if value is not None
        ]
    )
    for name, values in (
        ("tools", tools),
        ("skills", skills),
        ("commands", [f"/{name}" for name in total.slash_commands]),
        ("subagents", agents),
        ("read", total.files_read),
        ("written", total.files_written),
        ("tokens, as the harness says", counts),
    ):
        if values:
            shown = ", ".join(map(plain, values[:_MOST_NAMES]))
            more = f" and {len(values) - _MOST_NAMES:,} more" if len(values) > _MOST_NAMES else ""
            console.print(Text(f"  {name}: ", style="dim") + Text(shown + more))
    console.print()


def show_join(joined: Join) -> None:
    """Print the calls by both witnesses, then what only one tells of and where they differ."""
    console = Console()
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("line", justify="right", no_wrap=True)
    for name in ("call", "outcome", "by", "matched by"):
        table.add_column(name, overflow="fold")
    for call in joined.calls:
        outcome = Text(call.status, style="red" if call.status == "failed" else "default")
        if call.exit_code is not None:
            outcome.append(f" exit {call.exit_code}", style="dim")
        table.add_row(
            str(call.event or ""),
            Text(plain(call.name or "")),
            outcome,
            call.source,
            call.matched_by or "",
        )
    console.print(table)
    console.print(f"{joined.prompts} prompts in both")
    for title, lone in (("hooks", joined.only_in_hooks), ("transcript", joined.only_in_transcript)):
        for one in lone:
            place = f"line {one.event}" if one.event is not None else one.message
            said = f"only in the {title}: {one.kind} {one.name or ''} ({place}): {one.why}"
            console.print(Text(plain(said), style="yellow"))
    for one in joined.disagreements:
        said = (
            f"line {one.event}: {one.field} is {one.hooks} by the hooks, {one.transcript} by the "
            f"transcript: {one.value}, for {RULES[one.rule]}"
        )
        console.print(Text(plain(said)))


def _tool(name: str, count: int, duration: float | None) -> str:
    took = "" if duration is None else f" {lasting(duration)}"
    return f"{name} ×{count:,}{took}"
