"""``transcripts convert``: a session carried into another CLI's store."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import click

from transcripts.display import written
from transcripts.model import Transcript
from transcripts.options import (
    agent_option,
    format_option,
    home_option,
    print_json,
    recover_option,
)
from transcripts.reading import find_session
from transcripts.stores.base import open_store


@click.command("convert")
@click.argument("session_or_path")
@agent_option("--from", "source", help="Whose session it is, where records or id don't tell.")
@agent_option("--to", "target", required=True, help="The CLI that is to resume it.")
@click.option("--cwd", help="The working directory of the new session; the source's if not given.")
@click.option("--session-id", help="The id of the new session; a new UUID if not given.")
@recover_option
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
