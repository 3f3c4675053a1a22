"""The ``transcripts hooks`` commands: what harnesses report while they run."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from transcripts.hooks.dialects import find_dialect, harnesses
from transcripts.hooks.display import show_tree
from transcripts.hooks.joining import join
from transcripts.hooks.logs import CaptureLog
from transcripts.hooks.progress import watched
from transcripts.hooks.recording.harnesses import HARNESSES, Scope
from transcripts.hooks.recording.installing import Installation, Uninstallation, install, uninstall
from transcripts.hooks.reporting import show_join, show_summary, write_summary
from transcripts.hooks.summaries.summarising import Counter
from transcripts.hooks.trees.building import build_tree
from transcripts.options import format_option, home_option, print_json
from transcripts.reading import find_session
from transcripts.stores.base import agents

_Command = TypeVar("_Command", bound=Callable[..., Any])


@click.group("hooks")
def hooks() -> None:
    """Record what a harness reports by hooks, and rebuild the conversation from it."""


def _scope_options(command: _Command) -> _Command:
    command = click.option(
        "--cwd",
        type=click.Path(file_okay=False, path_type=Path),
        help="The project, with --scope project; the current directory if not given.",
    )(command)
    return click.option(
        "--scope",
        type=click.Choice(["user", "project"]),
        default="user",
        help="For all of the user's sessions, or for those in one project.",
    )(command)


_agent_argument = click.argument("agent", type=click.Choice(list(HARNESSES)))


@hooks.command("install")
@_agent_argument
@click.option(
    "--log",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where events are recorded; in the user's data directory if not given.",
)
@_scope_options
@click.option("--release", help="The harness's release; asked of the program if not given.")
@home_option
@format_option
def install_hooks(
    agent: str,
    log: Path | None,
    scope: Scope,
    cwd: Path | None,
    release: str | None,
    home: Path | None,
    form: str,
) -> None:
    """Let a harness record its events: every one that the installed release knows.

    The log holds prompts, commands, outputs and secrets in plain text.
    """
    _check_scope(scope, cwd)
    done = install(agent, home=home, log=log, scope=scope, cwd=cwd, release=release)
    if form == "json":
        print_json(done)
    else:
        _tell_installed(done)


@hooks.command("uninstall")
@_agent_argument
@_scope_options
@home_option
@format_option
def uninstall_hooks(
    agent: str, scope: Scope, cwd: Path | None, home: Path | None, form: str
) -> None:
    """Undo what install did to a harness, and nothing else. The log stays."""
    _check_scope(scope, cwd)
    done = uninstall(agent, home=home, scope=scope, cwd=cwd)
    if form == "json":
        print_json(done)
    else:
        _tell_uninstalled(done)


_log_argument = click.argument("log", type=click.Path(exists=True, dir_okay=False, path_type=Path))
_agent_option = click.option(
    "--agent",
    type=click.Choice(harnesses()),
    required=True,
    help="The harness whose hooks wrote the log.",
)


@hooks.command("tree")
@_log_argument
@_agent_option
@click.option("--why", is_flag=True, help="Say of each event why it stands where it stands.")
@click.option("--payloads", is_flag=True, help="With --format json: each event's whole payload.")
@format_option
def tree(log: Path, agent: str, why: bool, payloads: bool, form: str) -> None:
    """Show the conversation that a capture log holds: sessions, turns, calls and their layers.

    What can't be placed for sure is listed as an orphan, never guessed.
    """
    dialect = find_dialect(agent)
    events = CaptureLog(log, dialect)
    built = build_tree(watched(events, "events read"), dialect, events.bad_lines, payloads=payloads)
    events.refuse_if_none()
    if form == "json":
        print_json(built)
    else:
        show_tree(built, why=why)


def _check_scope(scope: Scope, cwd: Path | None) -> None:
    if cwd is not None and scope != "project":
        raise click.UsageError("--cwd names a project: give --scope project too, or leave it out")


@hooks.command("join")
@_log_argument
@click.argument("session_or_path")
@_agent_option
@click.option(
    "--recover",
    is_flag=True,
    help="Read what is whole of the transcript, instead of refusing a damaged file.",
)
@home_option
@format_option
def join_hooks(
    log: Path, session_or_path: str, agent: str, recover: bool, home: Path | None, form: str
) -> None:
    """Lay a capture log beside the transcript of the same session.

    Says what only one of them tells of, where they disagree, and whose word stands by which
    rule.
    """
    dialect = find_dialect(agent)
    store, path = find_session(session_or_path, agent if agent in agents() else None, home)
    transcript = store.read_path(path, recover=recover)
    events = CaptureLog(log, dialect)
    joined = join(watched(events, "events read"), dialect, transcript, events.bad_lines)
    if form == "json":
        print_json(joined)
    else:
        show_join(joined)


@hooks.command("summary")
@_log_argument
@_agent_option
@format_option
def summary(log: Path, agent: str, form: str) -> None:
    """Say what a capture log comes to, turn by turn and session by session.

    Of a log of any length only what is open is held in memory.
    """
    events = CaptureLog(log, find_dialect(agent), keep_payloads=False)
    with Counter(events.dialect) as counter:
        for event in watched(events, "events read"):
            counter.add(event)
        events.refuse_if_none()
        if form == "json":
            write_summary(sys.stdout.buffer, counter.sessions(), events)
        else:
            show_summary(counter.sessions(), events)


def _tell_installed(done: Installation) -> None:
    of = f" of release {done.release}" if done.release else ""
    state = "registered in" if done.changed else "registered already in"
    click.echo(f"{len(done.events)} events{of} {state} {done.config}:")
    click.echo(f"  {', '.join(done.events)}")
    for left in done.left_out:
        click.echo(f"  not {left.event}: {left.why}")
    click.echo(f"Recorded in {done.log}: {done.stores}.")
    if done.trust:
        click.echo(f"To do: {done.trust}.")
    for note in done.notes:
        click.echo(f"Note: {note}.")
    click.echo(f"To remove it: {shlex.join(done.remove)}; the log, when you no longer need it:")
    click.echo(f"  rm {shlex.quote(done.log)}")


def _tell_uninstalled(done: Uninstallation) -> None:
    if done.restored == "nothing":
        click.echo(f"Nothing of ours is registered in {done.config}.")
    elif done.config_removed:
        click.echo(f"{done.config} is gone: it held nothing else.")
    elif done.restored == "bytes":
        click.echo(f"{done.config} is what it was before.")
    else:
        click.echo(f"{done.config} was changed since; only our entries were taken out.")
    for note in done.notes:
        click.echo(f"Note: {note}.")
    if done.log:
        click.echo(f"The log stays, with all that it holds: rm {shlex.quote(done.log)}")
