"""Every live check fails when the conversation that it is there for is not carried over."""

from __future__ import annotations

import pytest

from conformance.corpus import find_corpus
from conformance.fakes.movers import Broken
from conformance.fakes.retelling import RETOLD
from conformance.livechecks.planning import newest
from conformance.livechecks.running import Bench, run_check
from conformance.livechecks.sources import Sources
from live.checks import load, names

NOT_TOLD = "something I was not told"

SAYS = {
    ("another conversation", "t0"): NOT_TOLD,
    ("the original's id", "t0"): "the moved session has the original's id",
    ("the original written on", "t0"): "was changed",
    ("the original removed", "t0"): " is gone",
    ("another conversation", "t0-terminal"): NOT_TOLD,
    ("edits dropped", "t1"): "'It burns at 1180; the shelf is something I was not told.'",
    ("all went well", "t2"): "not '3 wrong, 12 right, and it ended with 17.'",
    ("plans dropped", "t3"): NOT_TOLD,
    ("results of tools dropped", "t4"): f"the badge is {NOT_TOLD}",
    ("other agents dropped", "t5"): NOT_TOLD,
    ("edits dropped", "t6"): "was done before and was done again",
    ("edits dropped", "t6-batch"): "was done before and was done again",
    ("edits dropped", "t6-midstream"): "was done before and was done again",
    ("summaries said as words", "t7"): "the model was shown 'BITTERN-77'",
    ("in ASCII alone", "t8"): "Gr??e",
    ("long results cut", "t8"): f"The one ends with {NOT_TOLD}",
    ("all went well", "t9"): "to its end",
    ("half answers dropped", "t9-midstream"): NOT_TOLD,
    ("pictures as words", "t10"): NOT_TOLD,
    ("said twice", "t11"): "the model was shown 'YARROW-61' 2 times",
    ("prose told again", "t11"): "is told as",
    ("failures told as words", "t12"): "the model was shown 'TOPPLED-87'",
    ("results exchanged", "t13"): "FELDSPAR-23 in the north",
    ("the last word first", "t13-order"): "not 'It was ALDER-27.'",
    ("thoughts dropped", "t14"): "no session file holds 'BRAMBLE-74'",
    ("another conversation", "t15"): "list a session that begins with",
    ("another conversation", "t16"): NOT_TOLD,
    ("the original written on", "t16"): "was changed",
}
"""What each is caught by, by the fault and the case."""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    """Lend conversations, each recorded once."""
    return Sources(tmp_path_factory.mktemp("sources"))


def test_every_case_has_a_mover_that_must_fail_it() -> None:
    assert {one.case for one in RETOLD} == set(names())
    assert {(one.mover.name, one.case) for one in RETOLD} == set(SAYS)


@pytest.mark.live
@pytest.mark.extended
@pytest.mark.timeout(900)
@pytest.mark.parametrize("broken", RETOLD, ids=lambda one: f"{one.case}-{one.mover.name}")
def test_a_case_fails_for_whom_it_is_there_to_catch(broken: Broken, sources: Sources) -> None:
    bench = Bench(mover=broken.mover, releases=newest(find_corpus()), sources=sources)
    result = run_check(load(broken.case), broken.source, broken.target, bench)
    assert result.verdict == "failed"
    assert SAYS[broken.mover.name, broken.case] in result.why
