"""The correlator that users run, against conversations whose truth is known.

The quick profile runs everywhere; the deep one (``-m deep``) tries 20,000 conversations of each
property, and ``python -m conformance.hooks`` a million events.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.hooks import (
    BY_NAME,
    OF_ONE_TREE,
    OF_SEVERAL_TREES,
    Choices,
    Correlate,
    Finding,
    Seeded,
    Size,
    Tape,
    conversation,
    judged,
    same_tree,
    traps,
)
from conformance.hooks.conversations import SMALL
from conformance.hooks.reference import correlate, correlate_while_looking, snapshot

NAMES = sorted(BY_NAME)
TRAPS = traps()
TAPES = st.binary(min_size=40, max_size=400)
FEW = Size(1, 2, 4)
"""Small enough to be correlated again and again."""

DEEP = settings(max_examples=20_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CHANGES = [(name, correlate) for name in OF_SEVERAL_TREES]
CHANGES.append(("streaming-only-takes-back", snapshot))


def quick(examples: int) -> settings:
    return settings(max_examples=examples, deadline=None, derandomize=True)


def of_one_tree(dialect: str, tape: bytes, size: Size = SMALL) -> list[Finding]:
    told = conversation(Choices(Tape(tape)), BY_NAME[dialect], size)
    tree = judged(correlate, told)
    return [finding for check in OF_ONE_TREE.values() for finding in check(tree)]


def of_several(check: str, way: Correlate, dialect: str, tape: bytes) -> Sequence[Finding]:
    told = conversation(Choices(Tape(tape)), BY_NAME[dialect], FEW)
    return list(OF_SEVERAL_TREES[check](way, told, Choices(Tape(tape[::-1]))))


def batch_and_incremental(dialect: str, tape: bytes) -> Sequence[Finding]:
    told = conversation(Choices(Tape(tape)), BY_NAME[dialect], FEW)
    return list(same_tree(correlate, correlate_while_looking, told))


@pytest.mark.parametrize("number", range(len(TRAPS)), ids=[trap.name for trap in TRAPS])
def test_it_falls_into_no_trap(number: int) -> None:
    _, told = TRAPS[number]
    tree = judged(correlate, told)

    assert [finding for check in OF_ONE_TREE.values() for finding in check(tree)] == []
    for name, way in CHANGES:
        assert list(OF_SEVERAL_TREES[name](way, told, Choices(Seeded(number)))) == []
    assert list(same_tree(correlate, correlate_while_looking, told)) == []


@pytest.mark.parametrize("dialect", NAMES)
@quick(40)
@given(tape=TAPES)
def test_every_check_of_a_tree_holds(dialect: str, tape: bytes) -> None:
    assert of_one_tree(dialect, tape) == []


@pytest.mark.parametrize("dialect", NAMES)
@pytest.mark.parametrize(("check", "way"), CHANGES)
@quick(6)
@given(tape=TAPES)
def test_every_check_of_a_change_holds(
    check: str, way: Correlate, dialect: str, tape: bytes
) -> None:
    assert of_several(check, way, dialect, tape) == []


@pytest.mark.parametrize("dialect", NAMES)
@quick(10)
@given(tape=TAPES)
def test_looking_on_the_way_changes_nothing(dialect: str, tape: bytes) -> None:
    assert batch_and_incremental(dialect, tape) == []


def test_a_long_run_has_no_false_link() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "conformance.hooks", "--events", "8000", "--seed", "11"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "all " in done.stdout


# Deep


@pytest.mark.deep
@pytest.mark.timeout(7200)
@DEEP
@given(dialect=st.sampled_from(NAMES), tape=TAPES)
def test_every_check_of_many_trees_holds(dialect: str, tape: bytes) -> None:
    assert of_one_tree(dialect, tape) == []


@pytest.mark.deep
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("check", "way"), CHANGES)
@DEEP
@given(dialect=st.sampled_from(NAMES), tape=TAPES)
def test_every_check_of_many_changes_holds(
    check: str, way: Correlate, dialect: str, tape: bytes
) -> None:
    assert of_several(check, way, dialect, tape) == []


@pytest.mark.deep
@pytest.mark.timeout(7200)
@DEEP
@given(dialect=st.sampled_from(NAMES), tape=TAPES)
def test_looking_on_the_way_never_changes_anything(dialect: str, tape: bytes) -> None:
    assert batch_and_incremental(dialect, tape) == []


@pytest.mark.deep
@pytest.mark.timeout(7200)
def test_a_million_events_have_no_false_link() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "conformance.hooks", "--events", "1000000", "--seed", "1"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
