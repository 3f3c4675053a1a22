"""What must be recorded is recorded, or said impossible with its reason; nothing is missed."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from conformance.corpus import find_corpus
from conformance.coverage import Demand, Place, Releases, coverage, demand, faults
from conformance.report.coverage import page
from live.agents.base import drivers
from live.model import script

CASE = "claude/2.1.332/command-ok"
WANTED = Demand(
    complete=True,
    core=("command-ok",),
    full=("plan",),
    releases={"claude": Releases(full=("2.1.332",), core=("2.0.77", "2.1.332.loud"))},
)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus of one real case, and one that can't be."""
    shutil.copytree(find_corpus() / CASE, tmp_path / CASE)
    cannot = {
        "format": 1,
        "agent": "claude",
        "release": "2.1.332",
        "dialect": "loud",
        "integrity": "sha512-x",
        "scenario": "command-ok",
        "revision": 1,
        "why": "it has no | voice",
    }
    place = tmp_path / "claude/2.1.332/command-ok.loud"
    place.mkdir()
    (place / "cannot.json").write_bytes(msgspec.json.encode(cannot))
    return tmp_path


def test_a_place_is_recorded_or_impossible_or_a_hole_or_not_asked_for(corpus: Path) -> None:
    found = coverage(corpus, WANTED)
    states = {
        (column, scenario): found.state(Place("claude", column, scenario))
        for column in ("2.0.77", "2.1.332", "2.1.332.loud")
        for scenario in ("command-ok", "plan")
    }
    assert states == {
        ("2.0.77", "command-ok"): "hole",
        ("2.0.77", "plan"): "",
        ("2.1.332", "command-ok"): "recorded",
        ("2.1.332", "plan"): "hole",
        ("2.1.332.loud", "command-ok"): "cannot",
        ("2.1.332.loud", "plan"): "",
    }
    assert list(faults(found)) == [
        ("claude/2.0.77/command-ok", "is neither recorded nor said impossible"),
        ("claude/2.1.332/plan", "is neither recorded nor said impossible"),
    ]


def test_a_recording_of_a_scenario_that_no_set_lists_is_a_fault(corpus: Path) -> None:
    wanted = msgspec.structs.replace(WANTED, core=(), full=())
    assert {place for place, _ in faults(coverage(corpus, wanted))} == {
        "claude/2.1.332/command-ok",
        "claude/2.1.332.loud/command-ok",
    }


def test_a_recording_without_a_run_with_hooks_is_a_fault_unless_it_says_why(corpus: Path) -> None:
    wanted = msgspec.structs.replace(
        WANTED,
        hooked=("claude",),
        full=(),
        releases={"claude": Releases(full=("2.1.332",), core=())},
    )
    assert list(faults(coverage(corpus, wanted))) == []
    path = corpus / CASE / "case.json"
    facts = msgspec.json.decode(path.read_bytes())
    path.write_bytes(msgspec.json.encode({**facts, "hooked": None}))
    missing = [(CASE, "has no run with hooks, and no reason why not")]
    assert list(faults(coverage(corpus, wanted))) == missing
    others = msgspec.structs.replace(wanted, hooked=("codex",))
    assert list(faults(coverage(corpus, others))) == []
    path.write_bytes(msgspec.json.encode({**facts, "hooked": None, "unhooked": "it has none"}))
    assert list(faults(coverage(corpus, wanted))) == []


def test_the_page_shows_every_state_with_its_reason(corpus: Path) -> None:
    text = page(coverage(corpus, WANTED))
    assert "1 recordings; 1 places that a release can't fill; 2 holes." in text
    assert "| scenario | 2.0.77 | 2.1.332 | 2.1.332.loud |" in text
    assert "| command-ok | **hole** | ✓h | 1 |" in text
    assert "| plan |  | **hole** |  |" in text
    assert "\n1. it has no | voice\n" in text
    assert "| CommandExecution exit_code: a command that succeeds" in text


def test_the_page_says_why_a_recording_has_no_run_with_hooks(corpus: Path) -> None:
    (path,) = corpus.rglob("case.json")
    facts = msgspec.json.decode(path.read_bytes())
    facts["hooked"], facts["unhooked"] = None, "it has no hooks"
    path.write_bytes(msgspec.json.encode(facts))
    text = page(coverage(corpus, WANTED))
    assert "| command-ok | **hole** | ✓ | 1 |" in text
    assert "\n- 2.1.332, 1 scenarios: it has no hooks\n" in text


def test_the_sets_name_scenarios_and_agents_that_there_are() -> None:
    wanted = demand()
    assert len(wanted.scenarios) == len(set(wanted.scenarios))
    assert set(wanted.releases) == set(drivers())
    assert set(wanted.core) <= set(script.names())
    if wanted.complete:
        assert set(wanted.scenarios) == set(script.names())
    for releases in wanted.releases.values():
        assert not set(releases.full) & set(releases.core)


def test_nothing_that_must_be_recorded_is_missing() -> None:
    found = coverage(find_corpus())
    assert found.demand.complete
    assert list(faults(found)) == []
