"""``conformance check``: an adapter, asked everything that it offers an answer to."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click
from msgspec.structs import replace
from rich.console import Console

from conformance.checks import CheckReport, check_adapter, known
from conformance.checks.catalogue import unknown
from conformance.checks.declared import declaration_of
from conformance.checks.running import Unusable
from conformance.commands.options import corpus_option, format_option
from conformance.commands.running import FAILED, CouldNotRun, progress
from conformance.corpus import find_corpus, find_schemas
from conformance.report.checks import FORMS, Form, form_of, rendered, show


@click.command("check")
@click.argument("adapter")
@click.option("--store", "stores", multiple=True, help="Only what it offers of this agent's store.")
@click.option("--only", multiple=True, help="Only these checks, such as read.* or write.words.")
@click.option(
    "--live", "lives", is_flag=True, help="Let the real CLIs go on with what it writes, besides."
)
@click.option(
    "--known",
    "known_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Failures that are known beforehand: one that passes, or fails otherwise, is a failure.",
)
@click.option(
    "--known-flaky",
    "flaky_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Checks that may pass or fail: told apart, and never counted as passed.",
)
@click.option("--fix", "fixes", is_flag=True, help="Write the --known list anew from this run.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="In how many processes it is asked.",
)
@format_option(*FORMS[1:])
@click.option(
    "--write",
    "targets",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report there too, in the form of --format, else in the one that the name "
    "ends in: .json, .xml (JUnit), .md or .html. The terminal shows text.",
)
@corpus_option
def check_command(
    adapter: str,
    stores: tuple[str, ...],
    only: tuple[str, ...],
    lives: bool,
    known_path: Path | None,
    flaky_path: Path | None,
    fixes: bool,
    jobs: int,
    form: Form,
    targets: tuple[Path, ...],
    corpus_directory: Path | None,
) -> None:
    """Ask an adapter everything that it offers an answer to, and tell what it gets wrong.

    ADAPTER is entry:NAME (entry:claude, entry:codex, entry:copilot are the reference stores),
    py:package.module:Store, exec:COMMAND or the path of an adapter.toml. Exit 1 if a check failed,
    3 if none could be asked.
    """
    declared = declaration_of(adapter)
    if declared is not None:
        if known_path is not None or flaky_path is not None:
            raise click.UsageError(f"{adapter} names its lists: no --known, no --known-flaky")
        if isinstance(declared.known, str):
            known_path = Path(adapter).parent / declared.known
    if fixes and known_path is None:
        raise click.UsageError(
            "--fix writes the file that --known, or known of adapter.toml, names"
        )
    if fixes and (stores or only or corpus_directory is not None):
        raise click.UsageError("--fix wants a whole run: no --store, --only or --corpus")
    if (why := unknown(only)) is not None:
        raise click.UsageError(why)
    for target in targets:
        if not target.parent.is_dir():
            raise click.UsageError(f"{target}: there is no such directory; make it before --write")
    corpus, schemas = find_corpus(corpus_directory), find_schemas()
    is_new = fixes and known_path is not None and not known_path.exists()
    try:
        if declared is None:
            listed = known.load(None if is_new else known_path, flaky_path)
        else:
            listed = known.declared(
                Path(adapter), replace(declared, known=()) if is_new else declared
            )
    except known.BadList as error:
        raise click.UsageError(str(error)) from error
    with progress() as tick:
        try:
            report = check_adapter(
                adapter,
                corpus,
                schemas,
                stores=stores,
                only=only,
                live=lives,
                known=None if fixes else listed,
                jobs=jobs,
                tick=tick,
            )
        except Unusable as error:
            raise CouldNotRun(str(error)) from error
    if fixes and known_path is not None:
        _write(known_path, known.rewritten(report.results, listed))
        click.echo(f"{known_path} written", err=True)
        return
    _tell(report, form, targets)
    if report.summary.failed:
        sys.exit(FAILED)
    if report.summary.skipped == len(report.results) > 0:
        raise CouldNotRun(f"none of these checks could be asked: {report.results[0].why}")


def _tell(report: CheckReport, form: Form, targets: Sequence[Path]) -> None:
    """Print the report, or show it on the terminal and write it where it was asked for."""
    if targets or form == "text":
        show(report, Console())
    else:
        click.echo(rendered(report, form))
    for target in targets:
        chosen = form_of(target) if form == "text" else form
        _write(target, f"{rendered(report, chosen)}\n")


def _write(target: Path, text: str) -> None:
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"{target}: can't be written: {error.strerror}") from error
