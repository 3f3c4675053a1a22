"""An adapter is checked by what it answers; the reference passes, and a broken one is named."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from conformance.adapters import Failed
from conformance.adapters.stores import StoresAdapter
from conformance.checks.catalogue import PROBES, checks
from conformance.checks.check import Place
from conformance.checks.running import Unusable, check_adapter, questions, results_of
from conformance.cli import conformance
from conformance.commands.running import CouldNotRun
from conformance.corpus import find_corpus, find_schemas, releases
from conformance.shapes import schema_of
from transcripts.model import CommandExecution, Transcript
from transcripts.stores.base import agents, store_class

SCENARIOS = ("command-ok", "command-fails", "plain-exchange")


@pytest.fixture(scope="module")
def small_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of three recordings of every CLI's newest release."""
    whole, small = find_corpus(), tmp_path_factory.mktemp("corpus")
    for agent in agents():
        newest = releases(whole, agent)[-1]
        for scenario in SCENARIOS:
            place = f"{agent}/{newest}/{scenario}"
            shutil.copytree(whole / place, small / place)
    return small


def test_every_check_has_an_id_of_its_own_and_a_probe_that_answers() -> None:
    ids = [check for probe in PROBES for check in probe.checks]
    assert len(ids) == len(set(ids))
    assert all(probe.answers in probe.checks for probe in PROBES)


# What is written is asked by an environment of its own: eighty conversations a store.
QUICK = ("read.*", "list.*", "damage.*", "forward.*")


@pytest.mark.parametrize("agent", agents())
def test_the_reference_passes(agent: str, small_corpus: Path) -> None:
    report = check_adapter(f"entry:{agent}", small_corpus, find_schemas(), only=QUICK)
    assert [one for one in report.results if one.verdict != "passed"] == []
    assert report.summary.passed == len(report.results) > 0


def test_every_check_is_at_stake_somewhere_in_the_corpus() -> None:
    place = Place(find_corpus(), find_schemas(), Path())
    asked = {
        check
        for probe in PROBES
        for agent in agents()
        for subject in probe.subjects(place, agent)
        for check in subject.at_stake
    }
    assert asked == set(checks())


def test_only_what_is_asked_for_is_told(small_corpus: Path) -> None:
    report = check_adapter("entry:codex", small_corpus, find_schemas(), only=("read.texts",))
    assert {one.check for one in report.results} == {"read.texts"}


class _Broken(StoresAdapter):
    """The reference, with an exit status that is always 0."""

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        transcript = super().read(agent, home, session_id, recover=recover)
        return replace(transcript, messages=tuple(map(self._without_status, transcript.messages)))

    def _without_status(self, message: Any) -> Any:
        if isinstance(message, CommandExecution) and message.exit_code:
            return replace(message, exit_code=0)
        return message


def _failed(adapter: StoresAdapter, corpus: Path, scratch: Path) -> set[tuple[str, str]]:
    place = Place(corpus, find_schemas(), scratch)
    return {
        (result.check, result.case.split("/")[2])
        for probe in PROBES[:1]
        for subject in probe.subjects(place, "codex")
        for result in results_of(probe, adapter, subject, place)
        if result.verdict == "failed"
    }


def test_an_adapter_that_loses_a_status_fails_that_check_on_the_cases_that_have_one(
    small_corpus: Path, tmp_path: Path
) -> None:
    stores = {"codex": store_class("codex")}
    assert _failed(StoresAdapter("reference", stores), small_corpus, tmp_path) == set()
    assert _failed(_Broken("broken", stores), small_corpus, tmp_path) == {
        ("read.exit-codes", "command-fails")
    }


class _Silent(StoresAdapter):
    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        raise Failed(self.name, "read", "no" * 1_000_000)


def test_where_there_is_no_answer_one_check_fails_and_the_others_are_skipped(
    small_corpus: Path, tmp_path: Path
) -> None:
    adapter = _Silent("silent", {"codex": store_class("codex")})
    place = Place(small_corpus, find_schemas(), tmp_path)
    probe = PROBES[0]
    subject = next(iter(probe.subjects(place, "codex")))
    results = results_of(probe, adapter, subject, place)
    assert [one.check for one in results if one.verdict == "failed"] == ["read.answers"]
    assert {one.verdict for one in results} == {"failed", "skipped"}
    assert all(0 < len(one.why) < 3000 for one in results)


def test_results_are_the_same_in_several_processes(small_corpus: Path) -> None:
    alone, shared = (
        check_adapter("entry:codex", small_corpus, find_schemas(), only=QUICK, jobs=jobs)
        for jobs in (1, 2)
    )
    assert alone == shared


def _run(arguments: Sequence[str]) -> Any:
    return CliRunner().invoke(conformance, ["check", *arguments])


def test_the_command_prints_its_shape(small_corpus: Path) -> None:
    done = _run(
        ["entry:codex", "--corpus", str(small_corpus), "--format", "json", "--only", "read.*"]
    )
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    Draft202012Validator(schema_of("check")).validate(document)
    assert document["offers"] == ["codex.read", "codex.write", "codex.list"]
    counts = document["summary"]
    assert sum(counts.values()) == len(document["results"]) == counts["passed"]


@pytest.mark.parametrize("name", ["entry:nobody", "exec:true", "exec:no-such-program-anywhere"])
def test_an_adapter_that_cannot_be_asked_is_no_failure(name: str, small_corpus: Path) -> None:
    with pytest.raises(Unusable):
        check_adapter(name, small_corpus, find_schemas())


def test_one_recording_is_a_corpus(small_corpus: Path, tmp_path: Path) -> None:
    case = f"codex/{releases(small_corpus, 'codex')[-1]}/command-ok"
    shutil.copytree(small_corpus / case, tmp_path / "corpus" / case)
    stores = {agent: store_class(agent) for agent in agents()}
    adapter = StoresAdapter("entry:reference", stores)
    place = Place(tmp_path / "corpus", find_schemas(), tmp_path / "homes", ("UserMessage/plain",))
    results = [
        result
        for question in questions(adapter, ("claude", "codex"), (), place)
        for result in results_of(PROBES[question.probe], adapter, question.subject, place)
    ]
    assert [one for one in results if one.verdict != "passed"] == []
    assert {"read.own", "write.new"} <= {one.check for one in results}


def test_a_pattern_that_no_check_has_is_misuse() -> None:
    done = _run(["entry:codex", "--only", "read.*", "--only", "raed.*"])
    assert done.exit_code == 2
    assert "--only raed.*: no check has such a name; there are read.*, damage.*" in done.stderr


_SKIPS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["cmd"] == "stop":
        break
    about = {"name": "skips", "version": "1", "language": "Python"}
    ok = {"reply": "ok", "protocol": 1, "adapter": about, "stores": {"codex": {"read": True}}}
    said = ok if asked["cmd"] == "start" else {"reply": "skipped", "why": "not on this machine"}
    print(json.dumps({"seq": asked["seq"], **said}), flush=True)
"""


def test_what_is_skipped_whole_could_not_be_asked(small_corpus: Path, tmp_path: Path) -> None:
    program = tmp_path / "skips.py"
    program.write_text(_SKIPS, "utf-8")
    command = shlex.join(["exec:" + sys.executable, str(program)])
    done = _run([command, "--corpus", str(small_corpus), "--only", "read.*"])
    assert isinstance(done.exception, CouldNotRun)
    assert "not on this machine" in str(done.exception)
    assert "0 passed, 0 failed" in done.stdout


def test_a_report_that_cannot_be_written_is_shown_and_misuse(small_corpus: Path) -> None:
    done = _run(
        ["entry:codex", "--corpus", str(small_corpus), "--only", "damage.*", "--write", "/dev/full"]
    )
    assert done.exit_code == 2
    assert "12 passed, 0 failed" in done.stdout
    assert "/dev/full: can't be written: No space left on device" in done.stderr


def test_an_adapter_that_fails_at_the_start_could_not_be_asked(small_corpus: Path) -> None:
    command = (sys.executable, str(Path(__file__).with_name("wire_faults.py")), "can't start")
    with pytest.raises(Unusable, match=r"failed \(start\): no toy here"):
        check_adapter(f"exec:{shlex.join(command)}", small_corpus, find_schemas())
