"""Writers broken on purpose are each caught by a named case, where the reference passes."""

from __future__ import annotations

import pytest

from conformance.corpus import find_corpus
from conformance.fakes.movers import BROKEN, Broken
from conformance.livechecks import Result
from conformance.livechecks.moving import Mover, StoreMover
from conformance.livechecks.planning import newest
from conformance.livechecks.running import Bench, run_check
from conformance.livechecks.sources import Sources
from live.checks import load

SAYS = {
    "an empty file": "is empty",
    "an empty session": "something I was not told",
    "no message ids": "not 'It was ALDER-27.'",
    "calls without results": "something I was not told in the north",
    "foreign signatures": "exit code 1",  # the provider refuses; the CLI tells that first, cut off
    "wrong provider": "model provider",
    "string results": "invalid type: string",
    "ids that are no UUIDs": "must be a UUID",
    "an offset in the workspace's time": "Failed to load workspace",
}
"""What each is caught by."""

pytestmark = [pytest.mark.live, pytest.mark.extended, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    """Lend conversations, each recorded once."""
    return Sources(tmp_path_factory.mktemp("sources"))


def moved_by(mover: Mover, broken: Broken, sources: Sources, **releases: str) -> Result:
    """Run the case in whose direction a fault shows."""
    chosen = {**newest(find_corpus()), **releases}
    bench = Bench(mover=mover, releases=chosen, sources=sources)
    return run_check(load(broken.case), broken.source, broken.target, bench)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda one: one.mover.name)
def test_a_writer_broken_on_purpose_is_caught(broken: Broken, sources: Sources) -> None:
    result = moved_by(broken.mover, broken, sources, **broken.releases)
    assert result.verdict == "failed"
    assert SAYS[broken.mover.name] in result.why


@pytest.mark.parametrize("broken", BROKEN, ids=lambda one: one.mover.name)
def test_where_a_broken_writer_is_caught_the_reference_passes(
    broken: Broken, sources: Sources
) -> None:
    result = moved_by(StoreMover(), broken, sources, **broken.releases)
    assert (result.verdict, result.why) == ("passed", "")


def test_the_newest_release_leaves_a_thought_with_a_foreign_signature_out(
    sources: Sources,
) -> None:
    broken = next(one for one in BROKEN if one.mover.name == "foreign signatures")
    result = moved_by(broken.mover, broken, sources)
    assert result.verdict == "passed"
    assert set(result.evidence["sent"].values()) == {"not at all"}
