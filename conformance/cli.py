"""The ``conformance`` command: the matrix, the corpus, recordings and the generated pages.

Exit codes: 0 as it should be; 1 a check failed; 2 misuse, or input that can't be read; 3 could
not run.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from conformance.corpus import CorpusError, find_corpus
from conformance.crossing import all_stores
from conformance.matrix import Tick, check, made_cells, ordered, recorded, recorded_cells
from conformance.report.terminal import show
from conformance.verdicts import load_floor
from transcripts.errors import TranscriptError
from transcripts.serialise import to_json

FAILED, UNREADABLE, COULD_NOT_RUN = 1, 2, 3

_corpus_option = click.option(
    "--corpus",
    "corpus_directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="The corpus's directory; else TRANSCRIPT_CONFORMANCE_CORPUS, the checkout, or the "
    "copy that the installed package carries.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="transcript-conformance")
def conformance() -> None:
    """Golden recordings of coding-agent CLIs, and what survives between their stores."""


@conformance.command("matrix")
@click.option("--check", "checks", is_flag=True, help="Exit 1 on lost, stale or under the floor.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="For people or for machines.",
)
@_corpus_option
def matrix(checks: bool, form: str, corpus_directory: Path | None) -> None:
    """Show what survives: every kind into every store, and recorded conversations across."""
    corpus = find_corpus(corpus_directory)
    stores = all_stores()
    with _progress() as tick:
        made = list(made_cells(stores, tick))
        carried = list(recorded_cells(recorded(corpus, stores), stores, tick))
    cells = ordered([*made, *carried])
    failures = check(cells, load_floor())
    if form == "json":
        click.echo(to_json({"cells": cells}))
    else:
        show(cells, failures, Console())
    if checks and failures:
        sys.exit(FAILED)


@contextmanager
def _progress() -> Generator[Tick, None, None]:
    """Lend a function that tells on the terminal what is being done; silent when there is none."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("starting", total=None)
        yield lambda word: progress.update(task, description=word)


def main() -> NoReturn:
    """Run the command; what can't be read is one line on stderr and exit 2."""
    try:
        conformance()
    except (CorpusError, TranscriptError) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(UNREADABLE)
    sys.exit(0)
