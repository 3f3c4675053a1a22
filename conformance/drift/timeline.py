"""The search over an agent's releases: looks handed to workers until nothing is left to ask.

Any ``concurrent.futures`` executor does: threads here, processes, or a cluster's. What is known
is kept as soon as it is known, so a search may be ended at any time and goes on later, and its
parts may be done by others (``Part``) and put together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import NamedTuple, Protocol, TypeVar

from conformance.drift.timeline_search import STRIDE, wanted


class Shaped(Protocol):
    """What a look tells: the digest is equal where nothing differs."""

    @property
    def digest(self) -> str:
        """The digest of the release's shape."""
        ...


Told = TypeVar("Told", bound=Shaped)


class Part(NamedTuple):
    """The releases of a search: a piece of the whole list, and where in it the piece begins."""

    versions: Sequence[str]
    offset: int = 0


class Progress(NamedTuple):
    """How far a search is: what was looked at just now, how much is done, and what is left.

    ``ahead`` is how many looks are asked for already; more may follow from what they show.
    """

    version: str
    shape: str
    looked: int
    ahead: int
    seconds: float


def shard(versions: Sequence[str], number: int, of: int, offset: int = 0) -> Part:
    """Return the ``number``-th (from 1) of ``of`` pieces, cut at the grid.

    Neighbouring pieces share the release at which they meet, so that every gap lies in one.
    """
    cuts = [at for at in range(len(versions)) if (at + offset) % STRIDE == 0]
    cuts = sorted({0, *cuts, max(0, len(versions) - 1)})
    gaps = max(1, len(cuts) - 1)
    first, last = gaps * (number - 1) // of, gaps * number // of
    if first == last:
        return Part((), offset)
    low, high = cuts[first], cuts[min(last, len(cuts) - 1)]
    return Part(versions[low : high + 1], offset + low)


def search(
    part: Part,
    known: Mapping[str, Told],
    looking: Callable[[str], Told],
    executor: Executor,
    *,
    tell: Callable[[Progress], None] = lambda _: None,
    keep: Callable[[str, Told], None] = lambda _, __: None,
    until: Callable[[int], bool] = lambda _: False,
    at_once: int = 2,
) -> dict[str, Told]:
    """Look at releases until every edge that the grid shows lies between neighbours.

    Returns what was told by version, of ``known`` what is in the list. ``until`` is asked with the
    number of looks before each new one, and ends the search once it holds. With an executor that
    is not of this process ``looking`` goes to the worker, and what it told comes back; ``keep`` is
    given it at once.
    """
    versions = part.versions
    places = {version: at for at, version in enumerate(versions)}
    found = {places[version]: told for version, told in known.items() if version in places}
    pending: dict[Future[Told], int] = {}
    started = 0
    began = time.monotonic()
    while True:
        shapes = {at: told.digest for at, told in found.items()}
        asked = wanted(
            len(versions), shapes, [*pending.values()], offset=part.offset, names=versions
        )
        ahead = len(asked)
        while asked and len(pending) < at_once and not until(started):
            at = asked.pop(0)
            pending[executor.submit(looking, versions[at])] = at
            started += 1
        if not pending:
            return {versions[at]: told for at, told in sorted(found.items())}
        done, _ = wait(pending, return_when=FIRST_COMPLETED)
        for future in done:
            at = pending.pop(future)
            found[at] = future.result()
            keep(versions[at], found[at])
            seconds = time.monotonic() - began
            tell(Progress(versions[at], found[at].digest, started - len(pending), ahead, seconds))
