"""``transcripts list``: the sessions of every store."""

from __future__ import annotations

from pathlib import Path

import click

from transcripts.display import session_table
from transcripts.options import agent_option, format_option, home_option, print_json
from transcripts.stores.base import SessionInfo, Unlisted, agents, open_store


@click.command("list")
@agent_option("--agent", help="Only this CLI's sessions.")
@click.option("--cwd", help="Only sessions of this working directory.")
@home_option
@format_option
def list_sessions(agent: str | None, cwd: str | None, home: Path | None, form: str) -> None:
    """List the sessions of every store, newest first."""
    sessions: list[SessionInfo] = []
    failed: list[Unlisted] = []
    seen = 0
    for name in [agent] if agent else agents():
        listing = open_store(name, home).list(cwd)
        sessions += listing.sessions
        failed += listing.failed
        seen += listing.seen
    sessions.sort(key=lambda s: s.updated_at.timestamp() if s.updated_at else 0.0, reverse=True)
    if form == "json":
        print_json({"sessions": sessions, "seen": seen, "listed": len(sessions), "failed": failed})
    else:
        session_table(sessions, seen, failed)
