"""The ``transcripts hooks`` commands: what harnesses report while they run."""

from __future__ import annotations

import click


@click.group("hooks")
def hooks() -> None:
    """Record what a harness reports by hooks, and rebuild the conversation from it."""
