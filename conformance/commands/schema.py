"""``conformance schema``: a file, held against what its release was seen to write."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console

from conformance.commands.options import format_option
from conformance.commands.running import FAILED
from conformance.corpus import find_schemas
from conformance.formats.judging import judge
from conformance.formats.records import Gathering
from conformance.report import formats
from transcripts.serialise import to_json
from transcripts.stores.base import agents


@click.command("schema")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--agent", type=click.Choice(agents()), help="Whose file it is.")
@click.option("--version", help="The release to judge by; else the one that the records name.")
@click.option("--strict", "strictly", is_flag=True, help="Exit 1 on anything new as well.")
@click.option("--recover", is_flag=True, help="Judge what is whole and list the damage.")
@format_option("json")
@click.option(
    "--schemas",
    "schemas_directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="The schemas' directory; else TRANSCRIPT_CONFORMANCE_SCHEMAS, the checkout, or the "
    "copy that the installed package carries.",
)
def schema(
    file: Path | None,
    agent: str | None,
    version: str | None,
    strictly: bool,
    recover: bool,
    form: str,
    schemas_directory: Path | None,
) -> None:
    """Hold a session file, its directory or a home against what its release was seen to write.

    Places and types are told, never a value: the file may be anybody's. Exit 1 when something
    that readers count on is missing or of another type; with --strict on anything new.
    """
    if file is None or agent is None:
        raise click.UsageError("give a FILE and the --agent that wrote it")
    schemas = find_schemas(schemas_directory)
    document = judge(agent, Gathering(agent, file, recover=recover), schemas, version)
    if form == "json":
        click.echo(to_json(document))
    else:
        formats.show(document, Console())
    if not (document.strict_ok if strictly else document.lenient_ok):
        sys.exit(FAILED)
