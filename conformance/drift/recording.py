"""A release recorded for a comparison, and asked which tools it offers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance import offered
from conformance.corpus import releases
from conformance.drift.obtaining import NotRecorded
from conformance.drift.sides import Side, side
from conformance.matrix import Tick
from conformance.recording import Outcome, record_all


def record_side(
    agent: str, release: str, scenarios: Sequence[str], scratch: Path, tick: Tick
) -> tuple[Side, list[str]]:
    """Record a release into a scratch directory; return its side and what could not be recorded.

    :class:`NotRecorded` if the first of them can't be: a release that is not driven at all is not
    waited for in each.
    """
    corpus, schemas = scratch / "corpus", scratch / "schemas"
    outcomes: list[Outcome] = []
    for part in (scenarios[:1], scenarios[1:]):
        if part:
            outcomes += record_all(
                agent, release, part, None, corpus, verify=False, hooked=False, tick=tick
            )
        if not releases(corpus, agent):
            raise NotRecorded(f"{agent} {release} can't be driven here: {_told(outcomes)}")
    failed = [f"recording {one.scenario}: {one.what}" for one in outcomes if one.failed]
    offered.renew(agent, release, schemas, tick)
    return side(corpus, schemas, agent, release), failed


def _told(outcomes: Sequence[Outcome]) -> str:
    """Return what went wrong first, in its first line: a driver may show a whole screen."""
    return "; ".join(f"{one.scenario}: {one.what.strip().splitlines()[0]}" for one in outcomes[:1])
