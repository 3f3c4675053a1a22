"""Sessions for people to look at: tables and conversations on a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transcripts.model import AnyMessage, Call, CommandExecution, Damage, SessionInfo, Transcript
from transcripts.narration import prose, qualified_name, scrub
from transcripts.stores.base import Unlisted, WrittenSession

_LONGEST_MESSAGE_LINES = 12
_OTHER_LINE_ENDS = frozenset("\x85\u2028\u2029")
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_LONGEST_TITLE = 100
_AUTHOR_STYLES = {"human": "bold cyan", "model": "green", "agent": "green"}
_STATUS_MARKS = {"failed": "red", "unresolved": "yellow", "cancelled": "yellow", "declined": "red"}


def session_table(sessions: Sequence[SessionInfo], seen: int, failed: Sequence[Unlisted]) -> None:
    """Print the sessions of a listing and what could not be listed."""
    console = Console()
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("agent", no_wrap=True)
    table.add_column("updated (UTC)", no_wrap=True)
    table.add_column("session, title and directory", overflow="fold")
    for session in sessions:
        updated = f"{session.updated_at:%Y-%m-%d %H:%M}" if session.updated_at else "?"
        title = session.title or session.first_user_message or "(no title)"
        heading = Text(plain(title.split("\n", 1)[0]))
        heading.truncate(_LONGEST_TITLE, overflow="ellipsis")
        table.add_row(
            session.agent,
            updated,
            Text("\n").join(
                (
                    Text(plain(session.session_id)),
                    heading,
                    Text(plain(session.cwd or "?"), style="dim"),
                )
            ),
        )
    if sessions:
        console.print(table)
    console.print(f"{len(sessions)} of {seen} session files listed")
    for entry in failed:
        console.print(Text(f"not listed: {entry.path}: {entry.why}", style="yellow"))


def conversation(transcript: Transcript, messages: Sequence[AnyMessage]) -> None:
    """Print one session, message by message."""
    console = Console()
    about = [
        transcript.agent,
        transcript.cli_version,
        transcript.model,
        transcript.cwd,
        f"{transcript.created_at:%Y-%m-%d %H:%M} UTC" if transcript.created_at else None,
    ]
    console.print(Text(scrub(transcript.title or transcript.session_id), style="bold"))
    console.print(Text("  ".join(part for part in about if part), style="dim"), "\n")
    for message in messages:
        console.print(_message(message), soft_wrap=True)
    for damage in transcript.damage:
        console.print(Text(damage_line(damage), style="yellow"))
    for unread in transcript.unread:
        if not unread.known:
            console.print(Text(f"unknown record kind {unread.record}: {unread.count}", "yellow"))


def written(
    session: WrittenSession, resume: Sequence[str], cwd: str | None, damage: Sequence[Damage]
) -> None:
    """Print where a converted session went, what it lost and how to go on."""
    console = Console(soft_wrap=True)
    console.print(Text(f"wrote {session.path}"))
    counts: dict[str, int] = {}
    for loss in session.losses:
        counts[loss.loss] = counts.get(loss.loss, 0) + 1
    for name, count in sorted(counts.items()):
        console.print(Text(f"  {name}: {count}", style="yellow"))
    for fault in damage:
        console.print(Text(f"  recovered from {damage_line(fault)}", style="yellow"))
    place = f" in {plain(cwd)}" if cwd else ""
    console.print(Text(f"resume{place} with: {' '.join(resume)}", style="bold"))


def _message(message: AnyMessage) -> Text:
    head = f"{message.at:%H:%M:%S} " if message.at else ""
    head += message.kind
    if message.author not in {"human", "model"}:
        head += f" ({message.author})"
    if message.agent:
        head += f" [{message.agent}]"
    if message.superseded_by:
        head += f" (superseded: {message.superseded_by.why})"
    text = Text(head, style=_AUTHOR_STYLES.get(message.author, "dim"))
    if message.status != "completed":
        text.append(f" {message.status}", style=_STATUS_MARKS.get(message.status, "dim"))
    if isinstance(message, CommandExecution) and message.exit_code is not None:
        text.append(f" exit {message.exit_code}", style="red" if message.exit_code else "dim")
    elif isinstance(message, Call) and message.name:
        text.append(f" {qualified_name(message.name, message.server)}")
    words = scrub(prose(message) or "").rstrip("\n").split("\n")
    shown = words[:_LONGEST_MESSAGE_LINES]
    for line in shown:
        text.append(f"\n  {plain(line)}", style="default")
    if len(words) > len(shown):
        text.append(f"\n  … {len(words) - len(shown)} more lines", style="dim")
    return text.append("\n")


def damage_line(damage: Damage) -> str:
    """Return a fault of a file in a line."""
    place = damage.source + (f":{damage.line}" if damage.line is not None else "")
    return f"{place}: {damage.kind}: {damage.why}"


def plain(text: str) -> str:
    """Drop what drives a terminal or turns its reading direction; join what other lines hold."""
    kept = (" " if c in _OTHER_LINE_ENDS else c for c in scrub(text) if c not in _DIRECTIONS)
    return "".join(c for c in kept if c == "\t" or unicodedata.category(c) != "Cc")
