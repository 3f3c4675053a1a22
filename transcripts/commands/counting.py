"""``transcripts facts``: what a session comes to, or all of them."""

from __future__ import annotations

from pathlib import Path

import click

from transcripts.facts.display import show_sheet, show_store
from transcripts.facts.sheets import facts_of_path
from transcripts.facts.stores import facts_of_stores
from transcripts.options import (
    agent_option,
    format_option,
    home_option,
    print_json,
    recover_option,
)


@click.command("facts")
@click.argument("session_or_path", required=False)
@click.option("--store", is_flag=True, help="All sessions together, copies and forks once.")
@agent_option(
    "--agent",
    help="Whose session it is, where records or id don't tell; with --store, only this CLI's.",
)
@recover_option
@home_option
@format_option
def facts(
    session_or_path: str | None,
    store: bool,
    agent: str | None,
    recover: bool,
    home: Path | None,
    form: str,
) -> None:
    """Say what a session comes to: calls, files, turns, tokens; each with what it rests on.

    A fact that the records don't support is none, and says why.
    """
    if store == (session_or_path is not None):
        raise click.UsageError("give a session or a path, or --store")
    if session_or_path is not None:
        sheet = facts_of_path(session_or_path, agent, home, recover)
        if form == "json":
            print_json(sheet)
        else:
            show_sheet(sheet)
        return
    totals = facts_of_stores(agent, home, recover=recover)
    if form == "json":
        print_json(totals)
    else:
        show_store(totals)
