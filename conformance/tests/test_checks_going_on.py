"""What the real CLIs go on with: what is written right, and nothing of what is not."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.adapters import Adapter, Skipped, Written
from conformance.adapters.stores import StoresAdapter
from conformance.checks.catalogue import ASKED, LIVE, PROBES, checks
from conformance.checks.check import Place
from conformance.checks.running import questions, results_of
from conformance.corpus import find_corpus, find_schemas
from conformance.fakes.adapters.converting import (
    Converts,
    ConvertsAllButTheEnd,
    ConvertsNothing,
    ConvertsTheEndFirst,
)
from conformance.fakes.adapters.miniature import lay_miniature
from conformance.fakes.adapters.writing import (
    DropsTheLastWord,
    WritesNothing,
    WritesTheEndFirst,
)
from transcripts.stores.base import store_class

BROKEN = [
    (WritesNothing, "made/codex/claude", {"live.resumes"}),
    (DropsTheLastWord, "made/codex/claude", {"live.shown"}),
    (WritesTheEndFirst, "made/codex/claude", {"live.shown"}),
    (ConvertsNothing, "codex/0.171.0/command-fails/to-claude", {"live.converted-resumes"}),
    (ConvertsAllButTheEnd, "codex/0.171.0/command-fails/to-claude", {"live.converted-shown"}),
    (ConvertsTheEndFirst, "codex/0.171.0/command-fails/to-claude", {"live.converted-shown"}),
]
WHOLE = [(Converts, subject, set[str]()) for subject in dict.fromkeys(one for _, one, _ in BROKEN)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    small = tmp_path_factory.mktemp("corpus")
    lay_miniature(find_corpus(), small)
    return Place(small, find_schemas(), tmp_path_factory.mktemp("scratch"))


def failing(adapter: Adapter, name: str, place: Place) -> set[str]:
    found = set[str]()
    for probe in LIVE:
        for subject in probe.subjects(place, "codex"):
            if subject.name == name:
                results = results_of(probe, adapter, subject, place)
                assert {one.check for one in results} == probe.checks.keys()
                told = {one.verdict for one in results}
                assert "skipped" not in told or "failed" in told, results
                found |= {one.check for one in results if one.verdict == "failed"}
    return found


@pytest.mark.live
@pytest.mark.extended
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("adapter", "subject", "checks_failed"), [*BROKEN, *WHOLE], ids=lambda one: str(one)[:60]
)
def test_a_cli_goes_on_with_what_is_right_and_shows_what_is_not(
    adapter: type[Converts], subject: str, checks_failed: set[str], place: Place
) -> None:
    assert failing(adapter(), subject, place) == checks_failed


def test_every_live_check_is_failed_by_a_broken_adapter() -> None:
    assert {check for _, _, failed in BROKEN for check in failed} == set(checks(LIVE))


def test_the_clis_are_asked_only_when_that_is_wanted(place: Place) -> None:
    adapter = Converts()
    offline = {one.probe for one in questions(adapter, ["codex"], (), place)}
    both = {one.probe for one in questions(adapter, ["codex"], (), place, live=True)}
    assert {ASKED[number] for number in offline} == set(PROBES)
    assert {ASKED[number] for number in both} == set(ASKED)


class SkipsWriting(StoresAdapter):
    def write(self, *_: Any, **__: Any) -> Written:
        raise Skipped(self.name, "not on this machine")


def test_what_an_adapter_skips_is_no_failure(place: Place) -> None:
    pytest.importorskip("starlette")
    adapter = SkipsWriting("entry:codex", {"codex": store_class("codex")})
    probe, subject = LIVE[0], next(iter(LIVE[0].subjects(place, "codex")))
    results = results_of(probe, adapter, subject, place)
    assert {(one.verdict, one.why) for one in results} == {
        ("skipped", "entry:codex: not on this machine")
    }
