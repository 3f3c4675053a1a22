"""What the commands have in common: how they end, what they lack, how they tell what they do."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from conformance.generated import outdated, write
from conformance.matrix import Tick
from transcripts.stores.base import agents

FAILED, UNREADABLE, COULD_NOT_RUN = 1, 2, 3


class CouldNotRun(Exception):
    """Something that the command needs is not here; the message says what to install."""


def without_extra(what: str, error: ModuleNotFoundError, extra: str = "live") -> CouldNotRun:
    """Return what to say where an extra is not installed: by default the one that drives CLIs."""
    return CouldNotRun(f"{what} needs {error.name}; pip install 'transcript-conformance[{extra}]'")


def release_named(given: str) -> tuple[str, str]:
    """Return agent and version of ``AGENT@VERSION``; a usage error says what is wrong."""
    agent, at, version = given.partition("@")
    if not at or not version:
        raise click.BadParameter(f"{given!r} is not AGENT@VERSION, such as claude@2.1.332")
    if agent not in agents():
        raise click.BadParameter(f"no driver for {agent!r}: use one of {', '.join(agents())}")
    return agent, version


def generate_files(files: dict[Path, str], checks: bool, base: Path) -> None:
    """Write files and name those that changed, or with ``checks`` exit 1 if any would."""
    changed = outdated(files) if checks else write(files)
    for path in changed:
        name = path.relative_to(base) if path.is_relative_to(base) else path
        click.echo(f"{name} {'is not up to date' if checks else 'written'}")
    if checks and changed:
        sys.exit(FAILED)


@contextmanager
def progress(*, lines: bool = False) -> Generator[Tick, None, None]:
    """Lend a function that tells on the terminal what is being done.

    Where there is none it is silent, or says a line each: for what takes long.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield (lambda word: click.echo(word, err=True)) if lines else (lambda _: None)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("starting", total=None)
        yield lambda word: shown.update(task, description=word)
