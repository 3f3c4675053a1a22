"""``transcripts failures``: where the provider of a session gave up."""

from __future__ import annotations

from pathlib import Path

import click

from transcripts.handoff.display import show_failures
from transcripts.handoff.failures import report_failures
from transcripts.options import (
    agent_option,
    format_option,
    home_option,
    print_json,
    recover_option,
)
from transcripts.reading import find_session


@click.command("failures")
@click.argument("session_or_path")
@agent_option("--agent", help="Whose session it is, where records or id don't tell.")
@recover_option
@home_option
@format_option
def failures(
    session_or_path: str, agent: str | None, recover: bool, home: Path | None, form: str
) -> None:
    """List where the provider gave up: why, and whether the conversation survived it.

    Only what the CLI recorded as a failure is one, whatever the sentences say.
    """
    store, path = find_session(session_or_path, agent, home)
    report = report_failures(store.read_path(path, recover=recover))
    if form == "json":
        print_json(report)
    else:
        show_failures(report)
