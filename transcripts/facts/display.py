"""A sheet for people: a question a line, with its answer or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transcripts.display import plain
from transcripts.facts.changed_files import ChangedFile
from transcripts.facts.fact import Fact
from transcripts.facts.final_message import FinalMessage
from transcripts.facts.human_turns import ExcludedTurn, HumanTurn
from transcripts.facts.pull_requests import PullRequest
from transcripts.facts.sheet import FactsSheet
from transcripts.facts.stores import StoreTotals
from transcripts.facts.subagents import SpawnedTask
from transcripts.facts.tokens import TokenSum
from transcripts.facts.window import Window

_MOST = 12
_LONGEST = 160


def show_sheet(sheet: FactsSheet) -> None:
    """Print the facts of a session and of its subagents."""
    console = Console()
    about = " ".join(part for part in (sheet.agent, sheet.cli_version) if part)
    console.print(Text(plain(sheet.session_id), style="bold"), Text(plain(about), style="dim"))
    console.print(_table(sheet.facts))
    for child in sheet.subagents:
        name = plain(child.task or child.agent)
        console.print(Text(f"subagent: {name} ({child.outcome})", style="bold"))
        console.print(_table(child.facts))
    for one in sheet.unread:
        if not one.known:
            words = f"unknown record kind {plain(one.record)}: {one.count}"
            console.print(Text(words, style="yellow"))


def show_store(totals: StoreTotals) -> None:
    """Print the facts of all sessions together."""
    console = Console()
    console.print(Text(f"{totals.sessions} sessions", style="bold"))
    console.print(_table(totals.facts))
    for one in totals.failed:
        console.print(Text(f"not counted: {plain(one.path)}: {plain(one.why)}", style="yellow"))


def _table(facts: msgspec.Struct) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("fact", no_wrap=True)
    table.add_column("value", overflow="fold", ratio=1)
    for name in facts.__struct_fields__:
        table.add_row(name.replace("_", " "), _answer(getattr(facts, name)))
    return table


def _answer(fact: Fact[Any]) -> Text:
    if fact.value is None:
        return Text(f"unknown: {plain(fact.unavailable or '')}", style="yellow")
    text = Text("\n".join(_lines(fact.value)))
    if fact.partial:
        text.append(f"\n{plain(fact.partial)}", style="dim")
    return text


def _lines(value: Any) -> list[str]:
    if isinstance(value, list):
        shown = [_short(_line(one)) for one in value[:_MOST]]
        left = len(value) - len(shown)
        return [*shown, *([f"… {left:,} more"] if left else [])] or ["none"]
    if isinstance(value, Mapping):
        return [f"{plain(str(name))}: {count:,}" for name, count in value.items()] or ["none"]
    return [_short(_line(value))]


def _line(value: Any) -> str:
    match value:
        case HumanTurn() | FinalMessage():
            return f"{_time(value.at)} {value.text}"
        case ExcludedTurn():
            mark = f" ({value.provenance})" if value.provenance else ""
            return f"{_time(value.at)} {value.reason.replace('_', ' ')}{mark}"
        case SpawnedTask():
            return f"{_time(value.started_at)} {value.task or '(no name)'}: {value.outcome}"
        case PullRequest():
            number = "?" if value.number is None else value.number
            return f"{value.action} {value.repository or '?'} #{number} {value.url or ''}"
        case ChangedFile():
            stated = "" if value.stated else ", not stated"
            return f"{value.path} ({', '.join(value.operations)}{stated})"
        case Window():
            return f"{value.first:%Y-%m-%d %H:%M:%S} to {value.last:%Y-%m-%d %H:%M:%S} UTC"
        case TokenSum():
            names = ("input", "output", "cache_read", "cache_write", "reasoning")
            counts = [(name, getattr(value, name)) for name in names]
            told = [f"{name.replace('_', ' ')} {n:,}" for name, n in counts if n is not None]
            return f"{value.total:,} ({', '.join(told)})"
        case int():
            return f"{value:,}"
        case _:
            return str(value)


def _time(at: datetime | None) -> str:
    return f"{at:%H:%M:%S}" if at else "--:--:--"


def _short(text: str) -> str:
    text = " ".join(plain(text).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
