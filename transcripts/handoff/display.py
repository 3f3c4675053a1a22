"""Failures, and what is made ready to be moved, for people to look at on a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transcripts.display import damage_line, plain
from transcripts.handoff.failures import LABELS, Failure, FailureReport
from transcripts.handoff.preparing import Preparation

_LONGEST_TEXT = 240
_OF_WHAT_IS_LISTED = {"one_token_for_many", "own_words", "several_records", "status_in_words"}
"""Notes that tell nobody anything where nothing is listed."""
_TOLD_BY = {"subtype": "the CLI's word", "status": "its status", "wording": "its wording"}


def show_failures(report: FailureReport) -> None:
    """Print the failures of a session, and what to know before the list is believed."""
    console = Console()
    if report.failures:
        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("no", justify="right", no_wrap=True)
        table.add_column("at (UTC)", no_wrap=True)
        table.add_column("what, and in which words", overflow="fold")
        for failure in report.failures:
            at = f"{failure.at:%Y-%m-%d %H:%M}" if failure.at else "?"
            table.add_row(str(failure.number), at, _about(failure))
        console.print(table)
    count = len(report.failures)
    console.print(f"{count or 'no'} failure{'' if count == 1 else 's'} recorded")
    if not report.knowable:
        console.print(Text("which proves nothing: see the notes", style="yellow"))
    for fault in report.damage:
        console.print(Text(f"read around {damage_line(fault)}", style="yellow"))
    for note in report.notes:
        if not report.failures and note.note in _OF_WHAT_IS_LISTED:
            continue
        console.print(Text(f"note {note.note}: {note.why}", style="dim"))


def _about(failure: Failure) -> Text:
    if failure.recovered:
        fate, style = "the conversation went on", "green"
    elif failure.retried:
        fate, style = "the CLI tried again, and nothing follows", "yellow"
    else:
        fate, style = "the agent did not speak again", "red"
    text = Text(LABELS[failure.kind], style="bold")
    if failure.classified_by:
        text.append(f" (by {_TOLD_BY[failure.classified_by]})", style="dim")
    text.append(f": {fate}", style=style)
    if failure.agent:
        text.append(f"\nin the thread {plain(failure.agent)}", style="dim")
    if failure.attempts:
        text.append(f"\nrecorded {len(failure.attempts) + 1} times", style="dim")
    words = Text(plain(" ".join(failure.text.split())), style="default")
    words.truncate(_LONGEST_TEXT, overflow="ellipsis")
    return text.append("\n").append_text(words)


def show_preparation(prepared: Preparation) -> None:
    """Print what was done to a conversation before it was written."""
    console = Console(soft_wrap=True)
    if cut := prepared.cut:
        where = f"cut before failure {cut.number} ({LABELS[cut.kind]})"
        console.print(Text(f"{where}, messages left out: {cut.dropped}"))
    if trimmed := prepared.trimmed:
        console.print(Text(f"trimmed, unfinished messages left out: {len(trimmed.dropped)}"))
        for name, request in (
            ("asked, and left out", trimmed.dropped_request),
            ("asked, and not answered", trimmed.outstanding_request),
        ):
            if request:
                words = Text(f"  {name}: {plain(' '.join(request.split()))}")
                words.truncate(_LONGEST_TEXT, overflow="ellipsis")
                console.print(words)
        if trimmed.unresolved_calls and prepared.unresolved_call:
            call = plain(" ".join(prepared.unresolved_call.split()))
            console.print(Text(f"  without a result, and perhaps done: {call}"))
    if summarised := prepared.summarised:
        console.print(Text(f"summarised: one briefing for {summarised.messages} messages"))
