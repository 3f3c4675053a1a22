"""A release recorded for a comparison, and asked which tools it offers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance import offered
from conformance.corpus import releases
from conformance.drift.sides import Side, side
from conformance.matrix import Tick
from conformance.recording import record_all


class NothingRecorded(Exception):
    """No scenario of a release could be recorded; the message says what went wrong first."""


def record_side(
    agent: str, release: str, scenarios: Sequence[str], scratch: Path, tick: Tick
) -> tuple[Side, list[str]]:
    """Record a release into a scratch directory; return its side and what could not be recorded.

    :class:`NothingRecorded` if nothing could.
    """
    corpus, schemas = scratch / "corpus", scratch / "schemas"
    outcomes = record_all(
        agent, release, scenarios, None, corpus, verify=False, hooked=False, tick=tick
    )
    failed = [f"recording {one.scenario}: {one.what}" for one in outcomes if one.failed]
    if release not in releases(corpus, agent):
        raise NothingRecorded(f"{agent} {release}: {failed[0] if failed else 'nothing'}")
    offered.renew(agent, release, schemas, tick)
    return side(corpus, schemas, agent, release), failed
