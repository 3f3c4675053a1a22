"""The checks as pytest tests: chosen as tests are, told in words, and in nobody's way."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import entry_points
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest

from conformance.corpus import find_corpus, releases
from conformance.generated import ROOT

SCENARIOS = ("command-fails", "plain-exchange")
RELEASE = releases(find_corpus(), "codex")[-1]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two recordings of Codex and one of Claude Code."""
    whole, small = find_corpus(), tmp_path_factory.mktemp("corpus")
    for name in (
        *(f"codex/{RELEASE}/{scenario}" for scenario in SCENARIOS),
        f"claude/{releases(whole, 'claude')[-1]}/plain-exchange",
    ):
        shutil.copytree(whole / name, small / name)
    return small


_FOUND = any(one.name == "transcript_conformance" for one in entry_points(group="pytest11"))
PLUGIN = () if _FOUND else ("-p", "conformance.plugin")
"""How pytest is told of the plugin where the package is not installed and so can't be found."""


class Ran(NamedTuple):
    """What a run of pytest printed, and how it ended."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str) -> Ran:
    """Run pytest as it runs where the package is installed: with its plugin, and no more.

    In this process: what it imports is there already, and it is run often.
    """
    out, err = StringIO(), StringIO()
    here = (*PLUGIN, "-p", "no:cacheprovider", "--capture=sys")
    with redirect_stdout(out), redirect_stderr(err):
        code = pytest.main([*here, *arguments])
    return Ran(int(code), out.getvalue(), err.getvalue())


def asked(recordings: Path, *arguments: str) -> Ran:
    return run("-q", "--pyargs", "conformance.suite", "--corpus", str(recordings), *arguments)


def collected(recordings: Path, *arguments: str) -> list[str]:
    ran = asked(recordings, "--collect-only", *arguments)
    return re.findall(r"::test_adapter\[(.+)\]$", ran.stdout, re.MULTILINE)


def counts(ran: Ran) -> dict[str, int]:
    last = ran.stdout.strip().splitlines()[-1]
    return {what: int(count) for count, what in re.findall(r"(\d+) ([a-z]+)", last)}


def test_every_question_is_a_test_named_by_what_it_asks(recordings: Path) -> None:
    only = ("--only", "read.texts", "--only", "read.untouched")
    found = collected(recordings, "--adapter", "entry:codex", *only)
    assert found == [
        f"{probe}-codex/{RELEASE}/{scenario}"
        for probe in ("ReadsTheScript", "ReadsWithManners")
        for scenario in SCENARIOS
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--store", "claude"], {"claude/plain-exchange"}),
        (["-m", "store(agent='claude')"], {"claude/plain-exchange"}),
        (["-m", "scenario(name='command-fails')"], {"codex/command-fails"}),
        (["-m", "kind(name='CommandExecution')"], {"codex/command-fails"}),
        (["-k", "codex and plain-exchange"], {"codex/plain-exchange"}),
    ],
)
def test_tests_are_chosen_by_store_scenario_and_kind(
    arguments: list[str], expected: set[str], recordings: Path
) -> None:
    found = collected(recordings, "--only", "read.texts", *arguments)
    assert {re.sub(r"^\w+-(\w+)/[^/]+/", r"\1/", one) for one in found} == expected


def test_made_conversations_are_chosen_by_kind(recordings: Path) -> None:
    found = collected(recordings, "--adapter", "entry:codex", "-m", "kind(name='Plan')")
    assert found
    assert all("-made/codex/Plan/" in one for one in found)


def test_a_broken_adapter_fails_by_name_with_the_reason_in_words(recordings: Path) -> None:
    broken = "py:conformance.fakes.adapters.reading:DropsExitCodes"
    ran = asked(recordings, "--adapter", broken, "--store", "codex", "--only", "read.*")
    assert ran.returncode == 1
    assert (counts(ran)["failed"], set(counts(ran))) == (1, {"failed", "passed"})
    assert f"read.exit-codes of codex/{RELEASE}/command-fails: " in ran.stdout
    assert "a command's exit status is a number, the one that it ended with" in ran.stdout
    assert "Traceback" not in ran.stdout


def test_what_is_known_beforehand_is_expected_and_what_passes_must_be_taken_off(
    recordings: Path, tmp_path: Path
) -> None:
    known = tmp_path / "known.toml"
    entry = '[[failing]]\ncheck = "read.exit-codes"\ncase = "{}"\nwhy = "issue 12"\n'
    broken = (
        "--adapter",
        "py:conformance.fakes.adapters.reading:DropsExitCodes",
        "--store",
        "codex",
    )
    known.write_text(entry.format("codex/*/command-fails"), encoding="utf-8")
    ran = asked(recordings, *broken, "--only", "read.*", "--known", str(known))
    assert (counts(ran)["xfailed"], set(counts(ran))) == (1, {"xfailed", "passed"})
    whole = ("--adapter", "entry:codex", "--only", "read.*", "--known", str(known))
    ran = asked(recordings, *whole)
    assert (counts(ran)["failed"], set(counts(ran))) == (1, {"failed", "passed"})
    assert "take it off the list" in ran.stdout


def test_an_adapter_toml_says_what_is_expected_and_what_is_not_asked(
    recordings: Path, tmp_path: Path
) -> None:
    declared = tmp_path / "adapter.toml"
    declared.write_text(
        'adapter = "py:conformance.fakes.adapters.reading:DropsExitCodes"\n'
        'offers = ["codex.read"]\n'
        '[[cannot]]\ncheck = "forward.*"\nwhy = "it reads what it knows"\n'
        '[[known]]\ncheck = "read.exit-codes"\ncase = "codex/*"\nwhy = "issue 12"\n'
        f'[[known_flaky]]\ncheck = "read.texts"\ncase = "codex/{RELEASE}/plain-exchange"\n'
        'why = "issue 31"\n',
        encoding="utf-8",
    )
    ran = asked(
        recordings,
        *("--adapter", str(declared), "--store", "codex"),
        *("--only", "read.texts", "--only", "read.exit-codes", "--only", "forward.*"),
    )
    told = counts(ran)
    assert told.pop("skipped") > 0, ran.stdout
    assert told == {"xfailed": 2}, ran.stdout
    assert ran.returncode == 0


@pytest.mark.parametrize(("workers", "started"), [("0", 1), ("2", 3)])
def test_an_adapter_is_started_once_in_each_process_and_ended(
    workers: str, started: int, recordings: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    serving = shlex.join([sys.executable, "-m", "conformance.adapters.serving", "entry:codex"])
    script = f"echo started >> {log}; {serving}; echo ended >> {log}"
    ran = asked(
        recordings, "-n", workers, "--only", "forward.*", "--adapter", f"exec:sh -c '{script}'"
    )
    assert set(counts(ran)) == {"passed"}, ran.stdout
    told = log.read_text("utf-8").split()
    assert (told.count("started"), told.count("ended")) == (started, started)


@pytest.mark.parametrize(
    ("adapter", "words"),
    [
        ("exec:true", "before it had answered start"),
        ("entry:nobody", "no installed package has an adapter of that name"),
        (
            f"exec:{sys.executable} {ROOT}/conformance/adapters/examples/minimal.py",
            "offers nothing",
        ),
    ],
)
def test_an_adapter_that_cannot_be_asked_is_misuse_and_no_failure(
    adapter: str, words: str, recordings: Path
) -> None:
    ran = asked(recordings, "--adapter", adapter)
    assert ran.returncode == pytest.ExitCode.USAGE_ERROR
    assert words in ran.stderr
    assert "Traceback" not in ran.stderr + ran.stdout


@pytest.mark.parametrize("asking", [("--live",), ("-m", "live"), ("--live-case", "t0")])
def test_real_clis_are_driven_when_asked_for(asking: tuple[str, ...], recordings: Path) -> None:
    ran = asked(recordings, "--collect-only", "--only", "read.texts", *asking)
    assert "test_live.py::test_a_moved_session_is_gone_on_with[t0-claude-codex]" in ran.stdout


@pytest.mark.parametrize("asking", [(), ("-m", "not live"), ("-m", "not live and not deep")])
def test_real_clis_are_left_alone_by_whoever_does_not_ask(
    asking: tuple[str, ...], recordings: Path
) -> None:
    ran = asked(recordings, "-v", "--collect-only", "--only", "read.texts", *asking)
    assert "no real CLI is driven (--live does)" in ran.stdout
    assert "test_adapter" in ran.stdout
    assert "test_live" not in ran.stdout


def test_other_peoples_runs_keep_their_own_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--adapter')\n", encoding="utf-8"
    )
    (tmp_path / "test_mine.py").write_text(
        "def test_mine(pytestconfig):\n    assert pytestconfig.option.adapter == 'mine'\n",
        encoding="utf-8",
    )
    ini = tmp_path / "pytest.ini"
    ini.touch()
    monkeypatch.chdir(tmp_path)
    ran = run("-c", str(ini), "--strict-markers", "--adapter", "mine", str(tmp_path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "--store" not in run("-c", str(ini), "--help").stdout
