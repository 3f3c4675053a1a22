"""A store in Python is tested by a class with one fixture, and by a state machine."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from conformance.adapters import Adapter, open_adapter
from conformance.checks.running import check_adapter
from conformance.corpus import find_corpus, find_schemas
from conformance.fakes.adapters import many_sessions as fakes
from conformance.generated import ROOT
from conformance.suite.stateful import StoreMachine, machine
from conformance.tests.test_suite import counts, run
from transcripts.stores.base import agents, store_class

WHOLE = shlex.join([sys.executable, "-I", "-S", f"{ROOT}/conformance/adapters/examples/whole.py"])

MINE = """
import pytest
import conformance.suite
from transcripts.model import CommandExecution
from transcripts.stores.codex.store import CodexStore
from msgspec.structs import replace

class Broken(CodexStore):
    def read(self, session_id, *, recover=False):
        read = super().read(session_id, recover=recover)
        def spoilt(one):
            gone = isinstance(one, CommandExecution)
            return replace(one, exit_code=None, exit_code_source="none") if gone else one
        return read and replace(read, messages=tuple(map(spoilt, read.messages)))

class TestMine(conformance.suite.StoreTests):
    @pytest.fixture
    def store(self):
        return Broken

class TestNothing(conformance.suite.StoreTests):
    pass
"""


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mine") / "test_my_store.py"
    path.write_text(MINE, encoding="utf-8")
    return path


def test_a_class_with_one_fixture_tests_a_store(mine: Path) -> None:
    back = "ReadsWhatItWrote and (UserMessage/plain or CommandExecution/exit-three)"
    chosen = f"TestMine and ((ReadsTheScript and command-fails]) or ({back}))"
    ran = run("-q", "--strict-markers", str(mine), "-k", chosen)
    assert counts(ran) == {"failed": 2, "passed": 1, "deselected": counts(ran)["deselected"]}
    failed = [line for line in ran.stdout.splitlines() if line.startswith("FAILED")]
    assert [line.partition("[")[2].partition("]")[0] for line in failed] == [
        "ReadsTheScript-command-fails",
        "ReadsWhatItWrote-CommandExecution/exit-three",
    ]
    assert "read.exit-codes of codex/" in ran.stdout
    assert "Traceback" not in ran.stdout


def test_the_class_of_the_page_about_adapters_is_one(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
    block = next(
        one for one in re.findall(r"```python\n(.*?)```", page, re.S) if "StoreTests" in one
    )
    theirs = "from my_package.store import Store"
    assert theirs in block
    ours = "from transcripts.stores.codex.store import CodexStore as Store"
    path = tmp_path / "test_page.py"
    path.write_text(block.replace(theirs, ours), encoding="utf-8")
    ran = run("-q", str(path), "-k", "ReadsTheScript-plain-exchange]")
    assert counts(ran)["passed"] == 1


def test_a_class_without_the_fixture_says_what_is_missing(mine: Path) -> None:
    ran = run("-q", str(mine), "-k", "TestNothing and ReadsTheScript and plain-exchange")
    assert "TestNothing says no store: give it a fixture `store`" in ran.stdout
    assert ran.returncode == 1


def test_classes_are_chosen_by_scenario_and_kind(mine: Path) -> None:
    chosen = "scenario(name='rewind') or kind(name='Plan')"
    ran = run("-q", str(mine), "-k", "TestMine", "--collect-only", "-m", chosen)
    names = {line.partition("[")[2] for line in ran.stdout.splitlines() if "[" in line}
    assert "ReadsTheScript-rewind]" in names
    assert {name for name in names if "Reads" in name and "Wrote" in name}
    assert not {name for name in names if "UserMessage/" in name}


# ------------------------------------------------------------------ a state machine


QUICK = settings(
    max_examples=8,
    stateful_step_count=8,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("agent", agents())
def test_the_reference_keeps_sessions_apart(agent: str) -> None:
    run_state_machine_as_test(machine(store_class(agent)), settings=QUICK)


@pytest.mark.parametrize(
    ("fake", "check"),
    [
        (fakes.HasOneSessionADirectory, "stateful.untouched"),
        (fakes.CutsWhatIsOlder, "stateful.kept"),
        (fakes.MixesWhatIsInOneDirectory, "stateful."),
        (fakes.ListsOneSessionADirectory, "stateful."),
    ],
)
def test_a_store_that_is_wrong_about_several_sessions_is_caught(
    fake: type[fakes.Fake], check: str
) -> None:
    class Quiet(machine(fake(), fake.agent)):
        pass

    quick = settings(QUICK, max_examples=60, phases=[Phase.generate])
    with pytest.raises(AssertionError, match=f"{check}.*the steps: wrote A"):
        run_state_machine_as_test(Quiet, settings=quick)


def test_the_lives_of_a_check_are_led_over_the_wire_and_the_same_each_time() -> None:
    reports = [
        check_adapter(f"exec:{WHOLE}", find_corpus(), find_schemas(), only=("stateful.*",))
        for _ in range(2)
    ]
    assert reports[0] == reports[1]
    assert {one.verdict for one in reports[0].results} == {"passed"}
    assert {one.case for one in reports[0].results} == {"many/toy/sessions"}


def test_a_machine_can_be_made_of_a_program_too() -> None:
    class Counting(StoreMachine):
        adapter: ClassVar[Adapter]
        led: ClassVar[int] = 0

        def teardown(self) -> None:
            super().teardown()
            type(self).led += 1

    with open_adapter(f"exec:{WHOLE}") as adapter:
        Counting.adapter, Counting.agent = adapter, "toy"
        few = settings(QUICK, max_examples=3, stateful_step_count=4)
        run_state_machine_as_test(Counting, settings=few)
    assert Counting.led >= 3
