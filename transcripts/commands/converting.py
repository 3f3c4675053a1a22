"""``transcripts convert``: a session carried into another CLI's store."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import click

from transcripts.display import plain, written
from transcripts.handoff.display import show_preparation
from transcripts.handoff.preparing import prepare, prompt_for
from transcripts.handoff.prompt import TEMPLATES
from transcripts.handoff.summary import ACKNOWLEDGEMENT, HEADER, SummaryOptions
from transcripts.options import (
    agent_option,
    format_option,
    home_option,
    print_json,
    recover_option,
)
from transcripts.reading import find_session
from transcripts.stores.base import open_store

_LAST = "last"


def _failure_number(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> int | str | None:
    """Return the number of a failure, or the word for the last one that was not survived."""
    if value is None or value == _LAST:
        return value
    if not value.isdecimal():
        why = f"{value!r} is no number; put the session before the options"
        raise click.BadParameter(why, context, parameter)
    return int(value)


@click.command("convert")
@click.argument("session_or_path")
@agent_option("--from", "source", help="Whose session it is, where records or id don't tell.")
@agent_option("--to", "target", required=True, help="The CLI that is to resume it.")
@click.option("--cwd", help="The working directory of the new session; the source's if not given.")
@click.option("--session-id", help="The id of the new session; a new UUID if not given.")
@click.option(
    "--cut-before-failure",
    "cut",
    callback=_failure_number,
    is_flag=False,
    flag_value=_LAST,
    metavar="[N]",
    help="Carry over only what stood before failure N, or before the last one after which the "
    "agent did not speak again.",
)
@click.option("--trim", is_flag=True, help="Leave out what the last turn left unfinished.")
@click.option(
    "--summarise",
    type=click.IntRange(min=0),
    metavar="N",
    help="Write one briefing instead, if the conversation has more than N messages.",
)
@click.option(
    "--narrative",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --summarise: an account by somebody who has read the conversation.",
)
@click.option("--no-facts", is_flag=True, help="With --summarise: nothing that is extracted.")
@click.option("--header", help="With --summarise: how the briefing begins.")
@click.option("--acknowledgement", help="With --summarise: what the agent says to it.")
@click.option(
    "--prompt",
    metavar="T",
    help=f"Print a prompt to go on with: {', '.join(TEMPLATES)}, @FILE or a text with names in "
    "braces, such as {request}.",
)
@recover_option
@home_option
@format_option
def convert(
    session_or_path: str,
    source: str | None,
    target: str,
    cwd: str | None,
    session_id: str | None,
    cut: int | str | None,
    trim: bool,
    summarise: int | None,
    narrative: Path | None,
    no_facts: bool,
    header: str | None,
    acknowledgement: str | None,
    prompt: str | None,
    recover: bool,
    home: Path | None,
    form: str,
) -> None:
    """Carry a session into another CLI's store, as a new session there.

    Nothing that exists is touched. What could not cross is said.
    """
    for name, value in (("--session-id", session_id), ("--cwd", cwd), ("--prompt", prompt)):
        if value == "":
            raise click.UsageError(f"{name} is empty; leave it out, or give it a value")
    if summarise is None and (narrative or no_facts or header or acknowledgement):
        raise click.UsageError(
            "--narrative, --no-facts, --header and --acknowledgement go with --summarise"
        )
    template = None if prompt is None else _template(prompt)
    reader, path = find_session(session_or_path, source, home)
    transcript = reader.read_path(path, recover=recover)
    prepared = prepare(
        transcript,
        cut=cut is not None,
        failure_number=cut if isinstance(cut, int) else None,
        trim=trim,
        summarise_over=summarise,
        options=SummaryOptions(
            narrative=_text(narrative) if narrative else None,
            facts=not no_facts,
            header=header or HEADER,
            acknowledgement=acknowledgement or ACKNOWLEDGEMENT,
            transcript_path=str(path.absolute()),
        ),
    )
    store = open_store(target, home)
    cwd = cwd and str(Path(cwd).absolute())
    session = store.write(prepared.transcript, session_id=session_id or str(uuid4()), cwd=cwd)
    resume = store.resume_command(session.session_id)
    place = cwd or transcript.cwd
    first = template and prompt_for(
        template, prepared, target=target, source_path=str(path.absolute()), cwd=place
    )
    if form == "json":
        print_json(
            {
                "session_id": session.session_id,
                "path": session.path.relative_to(store.root).as_posix(),
                "resume": resume,
                "losses": session.losses,
                "recovered": recover,
                "damage": transcript.damage,
                "cut": prepared.cut,
                "trimmed": prepared.trimmed,
                "summarised": prepared.summarised,
                "prompt": first,
            }
        )
    else:
        show_preparation(prepared)
        written(session, resume, place, transcript.damage if recover else ())
        if first:
            click.echo("\n" + "\n".join(plain(line) for line in first.split("\n")))


def _template(prompt: str) -> str:
    return _text(Path(prompt[1:])) if prompt.startswith("@") else prompt


def _text(path: Path) -> str:
    """Return the text of a file that a person wrote."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise click.UsageError(f"{path} can't be read: {why}") from error
