"""``conformance docs``: the generated pages."""

from __future__ import annotations

import click

from conformance.commands.running import CouldNotRun, generate_files, progress
from conformance.corpus import find_corpus
from conformance.crossing import all_stores
from conformance.generated import generated, is_checkout
from conformance.matrix import every_cell


@click.command("docs")
@click.option("--check", "checks", is_flag=True, help="Exit 1 if a page is not up to date.")
def docs(checks: bool) -> None:
    """Generate the JSON Schemas, the corpus's index, the coverage and the fidelity tables."""
    if not is_checkout():
        raise CouldNotRun("pages are generated in a checkout of the source only")
    corpus = find_corpus()
    with progress() as tick:
        files = generated(corpus, lambda: every_cell(corpus, all_stores(), tick))
    generate_files(files, checks, corpus.parent)
