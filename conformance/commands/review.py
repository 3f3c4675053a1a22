"""``conformance review``: what waits to be looked at, accepted or rejected one by one."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase

import click
from rich.console import Console
from rich.text import Text

from conformance.commands.options import format_option
from conformance.commands.running import FAILED, CouldNotRun, progress
from conformance.corpus import find_corpus, find_schemas
from conformance.generated import ROOT, is_checkout, write
from conformance.index import INDEX, index_text
from conformance.review.pending import Pending, PendingDocument, ReviewDocument
from conformance.review.recordings import WAITING, pending_recordings
from conformance.review.snapshots import pending_snapshots
from transcripts.serialise import to_json

_STYLES = {"+": "green", "-": "red", "~": "yellow"}
_KEYS = "accept, reject, skip, diff, quit"


@click.command("review")
@click.option("--check", "checks", is_flag=True, help="Change nothing; exit 1 if anything waits.")
@click.option(
    "--accept", "accepting", metavar="PATTERN", multiple=True, help="Accept what is named so."
)
@click.option(
    "--reject", "rejecting", metavar="PATTERN", multiple=True, help="Reject what is named so."
)
@format_option("json")
def review(checks: bool, accepting: Sequence[str], rejecting: Sequence[str], form: str) -> None:
    """Look at snapshots that are no longer what the recordings give, and at new recordings.

    Each is shown by what differs in its format, and accepted, rejected or left for another time:
    asked for at a terminal, or by patterns of names (schemas/codex/*, recording *). A rejected
    recording is removed; a snapshot changes back only when the code does. Exit 1 if something is
    still waiting at the end. Where CI is set nothing is ever written.
    """
    if not is_checkout():
        raise CouldNotRun("snapshots are looked after in a checkout of the source only")
    if checks and (accepting or rejecting):
        raise click.UsageError("--check decides nothing: leave --accept and --reject out")
    if (accepting or rejecting) and os.environ.get("CI"):
        raise click.UsageError("CI is set, where nothing is accepted: look at it on a machine")
    waiting = _waiting()
    asked = form == "text" and not (checks or accepting or rejecting) and sys.stdin.isatty()
    accepted: list[str] = []
    rejected: list[str] = []
    left: list[Pending] = []
    for one in waiting:
        answer = _asked(one) if asked else _named(one, accepting, rejecting)
        if answer == "quit":
            asked, answer = False, "skip"
        if answer == "accept":
            one.accept()
            accepted.append(one.name)
        elif answer == "reject" and one.reject is not None:
            one.reject()
            rejected.append(one.name)
        else:
            left.append(one)
    if any(name.startswith("recording ") for name in accepted):
        corpus = find_corpus()
        write({corpus / INDEX: index_text(corpus)})
    _tell(left, accepted, rejected, form, shown=asked)
    if left:
        sys.exit(FAILED)


def _waiting() -> list[Pending]:
    corpus = find_corpus()
    with progress() as tick:
        return [
            *pending_recordings(corpus, ROOT / WAITING),
            *pending_snapshots(corpus, find_schemas(), tick),
        ]


def _named(one: Pending, accepting: Sequence[str], rejecting: Sequence[str]) -> str:
    for answer, patterns in (("accept", accepting), ("reject", rejecting)):
        if any(fnmatchcase(one.name, pattern) for pattern in patterns):
            return answer
    return "skip"


def _asked(one: Pending) -> str:
    console = Console()
    _show(one, console)
    while True:
        key = click.prompt(_KEYS, prompt_suffix=" [a/r/s/d/q]? ", default="s", show_default=False)
        match key[:1].lower():
            case "a":
                return "accept"
            case "r" if one.reject is None:
                console.print("a snapshot changes back when the code does", style="dim")
            case "r":
                return "reject"
            case "d":
                _show_diff(one, console)
            case "q":
                return "quit"
            case _:
                return "skip"


def _show(one: Pending, console: Console) -> None:
    console.print(Text.assemble((one.name, "bold"), (f" ({one.state})", "dim")), soft_wrap=True)
    for line in one.told:
        console.print(Text(f"  {line}", _STYLES.get(line[:1], "")), soft_wrap=True)


def _show_diff(one: Pending, console: Console) -> None:
    lines = difflib.unified_diff(
        one.before.split("\n"), one.after.split("\n"), "kept", "made", lineterm=""
    )
    for line in lines:
        console.print(Text(line, _STYLES.get(line[:1], "")), soft_wrap=True)


def _tell(
    left: Sequence[Pending],
    accepted: Sequence[str],
    rejected: Sequence[str],
    form: str,
    *,
    shown: bool,
) -> None:
    if form == "json":
        pending = [PendingDocument(name=one.name, state=one.state, told=one.told) for one in left]
        click.echo(to_json(ReviewDocument(pending=pending, accepted=accepted, rejected=rejected)))
        return
    console = Console()
    if not shown:
        for one in left:
            _show(one, console)
    for name in accepted:
        click.echo(f"{name} accepted")
    for name in rejected:
        click.echo(f"{name} rejected")
    click.echo(f"{len(left) or 'nothing'} waiting", err=True)
