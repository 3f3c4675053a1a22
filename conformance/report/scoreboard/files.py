"""The files that a kept scoreboard is, and those that are made of it."""

from __future__ import annotations

from pathlib import Path

from conformance.peers import stored
from conformance.peers.results import Scoreboard
from conformance.report.scoreboard import markdown, page


def pages(kept: Path, board: Scoreboard) -> dict[Path, str]:
    """Return the pages beside a kept scoreboard, with the text that each must have."""
    return {
        kept.with_suffix(".md"): markdown.page(board),
        kept.with_suffix(".html"): page.page(board),
    }


def all_files(kept: Path, board: Scoreboard) -> dict[Path, str]:
    """Return a scoreboard's own file and its pages."""
    return {kept: stored.text(board), **pages(kept, board)}
