"""The options that several commands of ``conformance`` have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])


def corpus_option(command: _Command) -> _Command:
    """Add ``--corpus DIR``, as ``corpus_directory``."""
    return click.option(
        "--corpus",
        "corpus_directory",
        type=click.Path(file_okay=False, path_type=Path),
        help="The corpus's directory; else TRANSCRIPT_CONFORMANCE_CORPUS, the checkout, or the "
        "copy that the installed package carries.",
    )(command)


def format_option(*forms: str) -> Callable[[_Command], _Command]:
    """Add ``--format``, as ``form``: ``text`` or one of ``forms``."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["text", *forms]),
        default="text",
        help="For people, for machines or for a page."
        if len(forms) > 1
        else "For people or for machines.",
    )
