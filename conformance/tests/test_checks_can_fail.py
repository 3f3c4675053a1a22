"""Every check is failed by an adapter broken on purpose, and by exactly the subjects it breaks."""

from __future__ import annotations

import pytest

from conformance.checks.again import ReadsAfresh
from conformance.checks.catalogue import PROBES, checks
from conformance.checks.check import Place
from conformance.checks.running import results_of
from conformance.corpus import find_corpus, find_schemas
from conformance.fakes.adapters import Fake, fakes
from conformance.fakes.adapters.converting import Converts
from conformance.fakes.adapters.miniature import AGENTS, MADE, lay_miniature


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A corpus of a few recordings and made conversations, in which every check is at stake."""
    small = tmp_path_factory.mktemp("corpus")
    lay_miniature(find_corpus(), small)
    return Place(small, find_schemas(), tmp_path_factory.mktemp("scratch"), made=tuple(MADE))


def _short(subject: str) -> str:
    """Return a subject without what is the same in all of them."""
    return subject.split("/", 2)[2]


def _failed(adapter: Fake, agent: str, place: Place) -> dict[str, set[str]]:
    """Ask everything of one store; return the checks that fail, each with its subjects."""
    failed: dict[str, set[str]] = {}
    for probe in PROBES:
        if isinstance(probe, ReadsAfresh) and adapter.fails and probe.answers not in adapter.fails:
            # A process for each would take most of a minute: those that need it are asked.
            continue
        for subject in probe.subjects(place, agent):
            for result in results_of(probe, adapter, subject, place):
                if result.verdict == "failed":
                    failed.setdefault(result.check, set()).add(_short(result.case))
    return failed


@pytest.mark.parametrize("fake", fakes(), ids=lambda fake: fake.__name__)
def test_a_broken_adapter_fails_exactly_what_it_breaks(fake: type[Fake], place: Place) -> None:
    assert _failed(fake(), fake.agent, place) == fake.fails


@pytest.mark.parametrize("agent", AGENTS)
def test_an_adapter_that_is_not_broken_fails_nothing(agent: str, place: Place) -> None:
    assert _failed(Converts(), agent, place) == {}


def test_no_check_is_dead() -> None:
    failed = {check for fake in fakes() for check in fake.fails}
    assert failed == set(checks())
