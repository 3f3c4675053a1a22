"""A count on the terminal for what takes longer than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

_Thing = TypeVar("_Thing")

_QUIET_SECONDS = 2.0
_EVERY = 5_000


def watched(things: Iterable[_Thing], what: str) -> Iterator[_Thing]:
    """Yield the same things and say on stderr how many there were, if somebody is looking."""
    if not sys.stderr.isatty():
        yield from things
        return
    started = time.monotonic()
    shown = False
    for count, thing in enumerate(things, 1):
        if count % _EVERY == 0 and time.monotonic() - started > _QUIET_SECONDS:
            sys.stderr.write(f"\r{count:,} {what}")
            sys.stderr.flush()
            shown = True
        yield thing
    if shown:
        sys.stderr.write("\r\x1b[K")
