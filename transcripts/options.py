"""The options that several commands have, and the way they all print JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from transcripts.serialise import to_json
from transcripts.stores.base import agents

_Command = TypeVar("_Command", bound=Callable[..., Any])


def agent_option(*names: str, **settings: Any) -> Callable[[_Command], _Command]:
    """Add an option that takes an agent's name."""
    return click.option(*names, type=click.Choice(agents()), **settings)


def recover_option(command: _Command) -> _Command:
    """Add ``--recover``."""
    return click.option(
        "--recover",
        is_flag=True,
        help="Read what is whole and list the damage, instead of refusing a damaged file.",
    )(command)


def format_option(command: _Command) -> _Command:
    """Add ``--format text|json``, as ``form``."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json"]),
        default="text",
        help="For people or for machines.",
    )(command)


def home_option(command: _Command) -> _Command:
    """Add ``--home DIR``, the user's home."""
    return click.option(
        "--home",
        type=click.Path(file_okay=False, path_type=Path),
        help="The user's home to look under. Without it CLAUDE_CONFIG_DIR, CODEX_HOME, "
        "COPILOT_HOME and then HOME decide.",
    )(command)


def print_json(document: Any) -> None:
    """Print a document as one line of JSON, in UTF-8 whatever the terminal."""
    sys.stdout.buffer.write(to_json(document).encode() + b"\n")
    sys.stdout.buffer.flush()
