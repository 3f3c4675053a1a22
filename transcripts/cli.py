"""The ``transcripts`` command: list sessions, show one, carry one into another CLI.

Its commands stand in ``transcripts.commands``, those about hooks in ``transcripts.hooks.cli``.

Exit codes: 0 as it should be; 2 misuse, or input that can't be read (one line on stderr).
"""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import NoReturn

import click

from transcripts.commands.converting import convert
from transcripts.commands.counting import facts
from transcripts.commands.failing import failures
from transcripts.commands.listing import list_sessions
from transcripts.commands.showing import show
from transcripts.errors import TranscriptError
from transcripts.hooks.cli import hooks

UNREADABLE = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="transcript-conformance")
def transcripts() -> None:
    """Read and write the session files that coding-agent CLIs leave on disk."""


for _command in (list_sessions, show, convert, failures, facts, hooks):
    transcripts.add_command(_command)


def main() -> NoReturn:
    """Run the command; a typed error is one line on stderr and exit code 2."""
    # A terminal that has no sign for a character gets its escape, never a traceback.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        transcripts(standalone_mode=True)
    except (TranscriptError, OSError) as error:
        click.echo(f"transcripts: {' '.join(str(error).split())}", err=True)
        sys.exit(UNREADABLE)
    sys.exit(0)
