"""Correlators broken on purpose: each is caught by exactly the checks that its sin breaks."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.fakes.correlators import SINS, NaiveCorrelator, Sin
from conformance.hooks import OF_ONE_TREE, OF_SEVERAL_TREES, Choices, Seeded, judged, traps

TRAPS = traps()

FALSE = "no-false-link"
MISSED = "every-decided-link"
GUESS = "no-guess"
ORDER = "order-changes-nothing"
LATE = "what-is-late-changes-nothing"
LOSS = "losing-one-mispairs-nothing"

CAUGHT_BY: Mapping[Sin, set[str]] = {
    "arrival-order": {FALSE, MISSED, GUESS, ORDER},
    "lifo": {FALSE, GUESS, ORDER},
    "id-only": {FALSE, MISSED, GUESS, ORDER, LOSS},
    "first-candidate": {FALSE, MISSED, GUESS, ORDER},
    "tie-picks-first": {FALSE, GUESS, ORDER},
    "any-best-assignment": {GUESS, ORDER, "streaming-only-takes-back"},
    "never-takes-back": {FALSE, GUESS, ORDER},
    "lone-candidate": {FALSE, GUESS, ORDER},
    "missing-field-rejects": {MISSED, GUESS},
    "differing-field-weighs-nothing": {FALSE, GUESS, LOSS},
    "empty-string-is-evidence": {MISSED, GUESS},
    "numbers-normalised": {MISSED, ORDER},
    "case-folded": {MISSED, ORDER},
    "case-kept-on-windows": {MISSED},
    "keys-not-sorted": {MISSED},
    "arrays-sorted": {MISSED},
    "encoded-input-kept": {FALSE, MISSED, GUESS},
    "inner-strings-parsed": {MISSED},
    "newlines-kept": {MISSED},
    "failure-keeps-waiting": {MISSED, GUESS, "failure-clears"},
    "failure-closes-nothing": {MISSED, GUESS, "failure-clears"},
    "no-fallback-to-the-call": {MISSED},
    "across-turns": {FALSE, GUESS, "nothing-across-turns"},
    "suffix-makes-a-turn": {"each-in-its-turn"},
    "subagent-of-any-tool": {FALSE, LOSS},
    "redelivery-everywhere": {MISSED, GUESS},
    "redelivery-nowhere": {MISSED, "a-second-delivery-is-one-call"},
    "bad-lines-swallowed": {"bad-lines-are-named"},
    "unknown-dropped": {"the-unknown-is-kept"},
    "late-reopens-its-turn": {LATE},
    "orphan-dropped": {"every-line-once", "orphans-are-listed", LATE},
    "orphan-not-listed": {"orphans-are-listed", LATE},
    "orphan-at-the-session": {"each-in-its-turn"},
    "durations-added": {"a-wave-lasts-from-first-to-last"},
    "touching-is-parallel": {"waves-are-what-overlaps"},
    "waves-by-arrival": {"waves-are-what-overlaps"},
}


def caught_by(correlate: NaiveCorrelator) -> frozenset[str]:
    failing: set[str] = set()
    for number, trap in enumerate(TRAPS):
        given = judged(correlate, trap.told)
        failing |= {name for name, check in OF_ONE_TREE.items() if any(map(bool, check(given)))}
        for name, check in OF_SEVERAL_TREES.items():
            findings = check(correlate, trap.told, Choices(Seeded(number)))
            if name not in failing and any(map(bool, findings)):
                failing.add(name)
    return frozenset(failing)


def test_the_sinless_correlator_falls_into_no_trap() -> None:
    assert caught_by(NaiveCorrelator()) == frozenset()


@pytest.mark.parametrize("sin", SINS)
def test_each_sin_is_caught_by_exactly_its_checks(sin: Sin) -> None:
    assert caught_by(NaiveCorrelator(sin)) == CAUGHT_BY[sin]


def test_every_check_catches_some_sin() -> None:
    caught = set[str]().union(*CAUGHT_BY.values())

    assert caught == OF_ONE_TREE.keys() | OF_SEVERAL_TREES.keys()


def test_each_sin_is_in_the_table() -> None:
    assert set(CAUGHT_BY) == set(SINS)
