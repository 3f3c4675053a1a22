"""A release's side: from the corpus if it is recorded there, else recorded now.

What is recorded now are the scenarios that every release of the corpus has, as far as the other
side has them, in a directory that nobody keeps: a case joins the corpus by ``conformance record``
alone.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from conformance.corpus import cases, impossible, releases, version_key
from conformance.coverage import demand
from conformance.drift.sides import Side, side
from conformance.matrix import Tick


class Obtained(NamedTuple):
    """A side; ``live`` says that its release was installed and recorded for it, ``failed`` which
    scenarios could not be, each with what went wrong."""

    side: Side
    live: bool
    failed: tuple[str, ...] = ()


class NotRecorded(Exception):
    """A release can't be compared; the message says why and what to do."""


def baseline(corpus: Path, agent: str, release: str) -> str:
    """Return the newest recorded release that is older than one, the newest at all if none is."""
    found = [one for one in releases(corpus, agent) if one != release]
    older = [one for one in found if version_key(one) < version_key(release)]
    if not found:
        raise NotRecorded(f"{corpus}: no other release of {agent} is recorded; name --against")
    return (older or found)[-1]


@contextmanager
def obtained(
    agent: str, release: str, other: str, corpus: Path, schemas: Path, tick: Tick
) -> Generator[Obtained, None, None]:
    """Lend the side of an exact release, which is to be compared with another."""
    if release in releases(corpus, agent):
        yield Obtained(side(corpus, schemas, agent, release), live=False)
        return
    from conformance.drift.recording import record_side  # noqa: PLC0415 - the CLIs' own extra

    with TemporaryDirectory(prefix="drift-") as temporary:
        names = scenarios_like(corpus, agent, other)
        found, failed = record_side(agent, release, names, Path(temporary), tick)
        yield Obtained(found, live=True, failed=tuple(failed))


def scenarios_like(corpus: Path, agent: str, other: str) -> Sequence[str]:
    """Return what to record of a release that is compared with another.

    That is what every release has, as far as the other was asked for it; where somebody's own
    recordings have none of these, all that they have.
    """
    there = {case.facts.scenario for case in cases(corpus, agent, other)}
    core = demand().core
    if not there:
        return core
    refused = {
        one.scenario for _, one in impossible(corpus) if (one.agent, one.release) == (agent, other)
    }
    return [name for name in core if name in there | refused] or sorted(there)
