"""``transcripts show``: one session in the normalised model."""

from __future__ import annotations

from pathlib import Path

import click

from transcripts.display import conversation
from transcripts.options import (
    agent_option,
    format_option,
    home_option,
    print_json,
    recover_option,
)
from transcripts.reading import find_session
from transcripts.serialise import to_builtins


@click.command("show")
@click.argument("session_or_path")
@agent_option("--agent", help="Whose session it is, where records or id don't tell.")
@recover_option
@click.option(
    "--view",
    type=click.Choice(["recorded", "effective"]),
    default="recorded",
    help="Everything recorded, or what the next request to the model would hold.",
)
@home_option
@format_option
def show(
    session_or_path: str, agent: str | None, recover: bool, view: str, home: Path | None, form: str
) -> None:
    """Show one session in the normalised model."""
    store, path = find_session(session_or_path, agent, home)
    transcript = store.read_path(path, recover=recover)
    messages = transcript.effective() if view == "effective" else transcript.messages
    if form == "json":
        document = to_builtins(transcript)
        document["messages"] = to_builtins(messages)
        print_json(document)
    else:
        conversation(transcript, messages)
