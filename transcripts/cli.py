"""The ``transcripts`` command: list sessions, show one, carry one into another CLI.

The commands about hooks stand in ``transcripts.hooks.cli``.

Exit codes: 0 as it should be; 2 misuse, or input that can't be read (one line on stderr).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from uuid import uuid4

import click

from transcripts.display import conversation, session_table, written
from transcripts.errors import TranscriptError
from transcripts.hooks.cli import hooks
from transcripts.model import Transcript
from transcripts.options import format_option, home_option, print_json
from transcripts.reading import find_session
from transcripts.serialise import to_builtins
from transcripts.stores.base import SessionInfo, Unlisted, agents, open_store

_Command = TypeVar("_Command", bound=Callable[..., Any])

UNREADABLE = 2


def _agent_option(*names: str, **settings: Any) -> Callable[[_Command], _Command]:
    return click.option(*names, type=click.Choice(agents()), **settings)


def _recover_option(command: _Command) -> _Command:
    return click.option(
        "--recover",
        is_flag=True,
        help="Read what is whole and list the damage, instead of refusing a damaged file.",
    )(command)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="transcript-conformance")
def transcripts() -> None:
    """Read and write the session files that coding-agent CLIs leave on disk."""


@transcripts.command("list")
@_agent_option("--agent", help="Only this CLI's sessions.")
@click.option("--cwd", help="Only sessions of this working directory.")
@home_option
@format_option
def list_sessions(agent: str | None, cwd: str | None, home: Path | None, form: str) -> None:
    """List the sessions of every store, newest first."""
    sessions: list[SessionInfo] = []
    failed: list[Unlisted] = []
    seen = 0
    for name in [agent] if agent else agents():
        listing = open_store(name, home).list(cwd)
        sessions += listing.sessions
        failed += listing.failed
        seen += listing.seen
    sessions.sort(key=lambda s: s.updated_at.timestamp() if s.updated_at else 0.0, reverse=True)
    if form == "json":
        print_json({"sessions": sessions, "seen": seen, "listed": len(sessions), "failed": failed})
    else:
        session_table(sessions, seen, failed)


@transcripts.command("show")
@click.argument("session_or_path")
@_agent_option("--agent", help="Whose session it is, where records or id don't tell.")
@_recover_option
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


@transcripts.command("convert")
@click.argument("session_or_path")
@_agent_option("--from", "source", help="Whose session it is, where records or id don't tell.")
@_agent_option("--to", "target", required=True, help="The CLI that is to resume it.")
@click.option("--cwd", help="The working directory of the new session; the source's if not given.")
@click.option("--session-id", help="The id of the new session; a new UUID if not given.")
@_recover_option
@home_option
@format_option
def convert(
    session_or_path: str,
    source: str | None,
    target: str,
    cwd: str | None,
    session_id: str | None,
    recover: bool,
    home: Path | None,
    form: str,
) -> None:
    """Carry a session into another CLI's store, as a new session there.

    Nothing that exists is touched. What could not cross is said.
    """
    for name, value in (("--session-id", session_id), ("--cwd", cwd)):
        if value == "":
            raise click.UsageError(f"{name} is empty; leave it out, or give it a value")
    reader, path = find_session(session_or_path, source, home)
    transcript: Transcript = reader.read_path(path, recover=recover)
    store = open_store(target, home)
    cwd = cwd and str(Path(cwd).absolute())
    session = store.write(transcript, session_id=session_id or str(uuid4()), cwd=cwd)
    resume = store.resume_command(session.session_id)
    if form == "json":
        print_json(
            {
                "session_id": session.session_id,
                "path": session.path.relative_to(store.root).as_posix(),
                "resume": resume,
                "losses": session.losses,
                "recovered": recover,
                "damage": transcript.damage,
            }
        )
    else:
        written(session, resume, cwd or transcript.cwd, transcript.damage if recover else ())


transcripts.add_command(hooks)


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
