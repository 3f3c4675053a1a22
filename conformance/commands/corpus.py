"""``conformance corpus``: the golden recordings, looked after."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from conformance.commands.options import corpus_option
from conformance.commands.running import FAILED, generate_files, progress, without_extra
from conformance.corpus import case_directories, find_corpus
from conformance.coverage import coverage, faults
from conformance.index import INDEX, index_text


@click.group("corpus")
def corpus_group() -> None:
    """Look after the golden recordings."""


@corpus_group.command("lint")
@corpus_option
def corpus_lint(corpus_directory: Path | None) -> None:
    """See that every case is whole, of its shape, indexed and clean, and that none is missing."""
    corpus = find_corpus(corpus_directory)
    with progress() as tick:
        tick("reading every case")
        try:
            from conformance.lint import lint  # noqa: PLC0415

            wrong = list(lint(corpus))
        except ModuleNotFoundError as error:
            raise without_extra("the lint", error) from error
    if not (corpus / INDEX).is_file() or (corpus / INDEX).read_text("utf-8") != index_text(corpus):
        wrong.append((INDEX, "is not what conformance corpus index generates"))
    covered = coverage(corpus)
    # What must be recorded is said of this project's corpus, not of anybody's own.
    if covered.demand.complete and corpus_directory is None:
        wrong += faults(covered)
    for case, what in wrong:
        click.echo(f"{case}: {what}")
    count = len(case_directories(corpus))
    click.echo(
        f"{count} cases, {len(wrong) or 'no'} fault{'' if len(wrong) == 1 else 's'}", err=True
    )
    if wrong:
        sys.exit(FAILED)


@corpus_group.command("index")
@click.option("--check", "checks", is_flag=True, help="Exit 1 if the index is not up to date.")
@corpus_option
def corpus_index(checks: bool, corpus_directory: Path | None) -> None:
    """Generate the list of everything recorded."""
    corpus = find_corpus(corpus_directory)
    files = {corpus / INDEX: index_text(corpus)}
    generate_files(files, checks, corpus)
