"""A conversation that was moved is gone on with by the real CLI, and its model is shown it."""

from __future__ import annotations

import pytest

from conformance.livechecks import Result
from conformance.livechecks.command import disagrees
from conformance.livechecks.planning import Planned, run_planned
from conformance.livechecks.running import Bench
from conformance.suite.plugin import SECONDS

pytestmark = [pytest.mark.live, pytest.mark.timeout(SECONDS)]


def test_a_moved_session_is_gone_on_with(moved: Planned, bench: Bench) -> None:
    """What was asked of it was answered, from what the model was shown alone."""
    _judge(run_planned(moved, bench))


def test_a_session_of_its_own_is_gone_on_with(own: Planned, bench: Bench) -> None:
    """What fails here is the release's own defect."""
    _judge(run_planned(own, bench))


def _judge(result: Result) -> None:
    if result.verdict == "skipped":
        pytest.skip(result.why)
    if result.verdict == "impossible":
        measured = result.measured
        by = f"; measured on {measured.on} by {measured.command}" if measured else ""
        pytest.xfail(f"{result.why}{by}")
    assert result.verdict == "passed", f"{result.name}: {result.why}"
    assert not disagrees(result), "; ".join(
        f"{one.witness} {one.verdict}: {one.why}" for one in result.model_free
    )
