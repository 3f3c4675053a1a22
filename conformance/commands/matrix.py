"""``conformance matrix``: every kind into every store, and conversations across."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from conformance.commands.options import corpus_option, format_option
from conformance.commands.running import FAILED, progress, without_extra
from conformance.corpus import find_corpus
from conformance.crossing import all_stores
from conformance.matrix import Tick, check, every_cell
from conformance.report import markdown
from conformance.report.page import page
from conformance.report.terminal import show
from conformance.verdicts import Cell, load_floor
from transcripts.serialise import to_json


@click.command("matrix")
@click.option("--live", "lives", is_flag=True, help="Gather the witnesses of the real CLIs anew.")
@click.option("--check", "checks", is_flag=True, help="Exit 1 on lost, stale or under the floor.")
@click.option(
    "--write",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report there; Markdown goes between the markers of a page that has them.",
)
@format_option("json", "markdown", "html")
@corpus_option
def matrix(
    lives: bool, checks: bool, target: Path | None, form: str, corpus_directory: Path | None
) -> None:
    """Show what survives: every kind into every store, and recorded conversations across."""
    corpus = find_corpus(corpus_directory)
    with progress() as tick:
        if lives:
            _gather(corpus, tick)
        cells = every_cell(corpus, all_stores(), tick)
    floor = load_floor()
    failures = check(cells, floor)
    _report(cells, failures, form, target)
    if checks and failures:
        if target is not None or form != "text":
            for cell, why in failures:
                click.echo(f"{cell.name}: {why}", err=True)
        sys.exit(FAILED)


def _report(
    cells: Sequence[Cell], failures: Sequence[tuple[Cell, str]], form: str, target: Path | None
) -> None:
    if form == "text":
        if target is None:
            show(cells, failures, Console())
        else:
            with target.open("w", encoding="utf-8") as file:
                show(cells, failures, Console(file=file, width=120))
        return
    if form == "json":
        text = to_json({"cells": cells})
    elif form == "html":
        text = page(cells, failures)
    else:
        text = markdown.table(cells)
        if target is not None and target.is_file():
            markdown.put(target, text)
            return
    if target is None:
        click.echo(text)
    else:
        target.write_text(f"{text}\n", encoding="utf-8")


def _gather(corpus: Path, tick: Tick) -> None:
    try:
        from conformance.gathering import gather_all  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise without_extra("--live", error) from error
    gather_all(corpus, all_stores(), tick)
