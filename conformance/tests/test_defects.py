"""Defects are found in the files that have them, in no others, and in no CLI's own recordings."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance import resuming
from conformance.checks.homes import session_file
from conformance.corpus import cases, find_corpus, find_schemas, opened, releases
from conformance.defects import TAKEN_AWAY, UNSEEN, Laid, detected, found, minded
from live import sandbox
from live.agents.base import find_driver
from live.defects import claude, codex, copilot
from live.defects.written import Defect

TABLES = {"claude": claude, "codex": codex, "copilot": copilot}
NEWEST = {"claude": "2.1.332", "codex": "0.171.0", "copilot": "1.0.102"}
EVERY = [(agent, defect) for agent, table in TABLES.items() for defect in table.DEFECTS]

# What CLIs record by themselves and would resume with loss: they were killed or stopped within a
# call, they summed up, or the session is another directory's by the person's wish.
OWN = {
    "call-at-end": {"killed-mid-edit"},
    "call-without-result": {"interrupted-tool", "typed-session"},
    "compact-boundary": {"compaction-auto", "compaction-manual"},
    "compacted": {"compaction-auto", "compaction-manual"},
    "compacted-by-replacement": {"compaction-auto", "compaction-manual"},
    "wrong-folder": {"worktree"},
}


@pytest.mark.parametrize(("agent", "defect"), EVERY, ids=lambda one: getattr(one, "name", one))
def test_a_defect_is_found_in_its_own_file_and_no_other_is(agent: str, defect: Defect) -> None:
    table = TABLES[agent]
    written = defect.change(table.sound(find_driver(agent, NEWEST[agent])))
    laid = Laid(written.files(), written.path, sandbox.WORKSPACE)
    assert {name for name, _ in found(agent, laid)} == {defect.name} & detected(agent)


def _recorded(agent: str) -> Iterator[tuple[str, str]]:
    """Yield what is found in the newest release's recordings: the defect and the scenario."""
    corpus = find_corpus()
    for case in cases(corpus, agent, releases(corpus, agent)[-1]):
        with opened(case) as home:
            main = session_file(home, case.facts.session_path).relative_to(home).as_posix()
            files = {
                path.relative_to(home).as_posix(): path.read_bytes()
                for path in home.rglob("*")
                if path.is_file()
            }
            for defect, _ in found(agent, Laid(files, main, case.facts.cwd)):
                yield defect, case.facts.scenario


@pytest.mark.parametrize("agent", TABLES)
def test_in_a_recording_nothing_is_found_but_what_the_script_brought_about(agent: str) -> None:
    strays = {
        (defect, scenario)
        for defect, scenario in _recorded(agent)
        if scenario.partition(".")[0] not in OWN.get(defect, ())
    }
    assert strays == set()


@pytest.mark.parametrize("agent", TABLES)
def test_every_defect_that_the_newest_release_minds_is_looked_for_or_can_not_be_seen(
    agent: str,
) -> None:
    unseen = {defect for one, defect in UNSEEN if one == agent}
    assert minded(find_schemas(), agent).keys() - detected(agent) == unseen


@pytest.mark.parametrize("agent", TABLES)
def test_what_the_newest_release_minds_is_what_was_measured_of_it(agent: str) -> None:
    kept = resuming.load(find_schemas() / agent / NEWEST[agent] / resuming.NAME)
    rules = minded(find_schemas(), agent)
    assert set(rules) == {
        one.defect for one in kept.defects if one.effect != "full" or one.answered
    }
    assert rules["empty-file"].effect == "refused"
    assert "crlf" not in rules


def test_what_a_cli_takes_back_by_itself_is_looked_for_too() -> None:
    assert frozenset().union(*(detected(agent) for agent in TABLES)) >= TAKEN_AWAY
