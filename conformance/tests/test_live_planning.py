"""Which checks are run follows from what is asked for, and a suite's tests are just these."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from conformance.adapters import NotOffered, Skipped
from conformance.corpus import CorpusError, find_corpus
from conformance.generated import ROOT
from conformance.livechecks.command import Misuse, planned
from conformance.livechecks.moving import Moved, Mover, StoreMover
from conformance.livechecks.planning import (
    AGENTS,
    Planned,
    newest,
    plan,
    plan_every,
    resuming,
    run_all,
    run_planned,
)
from conformance.livechecks.running import Bench
from conformance.livechecks.sources import NoSource, Source, Sources
from live.agents.base import CannotDo, Untaught
from live.checks import Check, names
from live.releases import ReleaseError
from live.talking import CliFailed


def test_every_check_is_made_in_every_direction_with_the_newest_releases() -> None:
    found = planned((), (), (), (), control=True)
    directions = {(one.case, one.source, one.target) for one in found if one.target}
    assert directions == set(product(names(), AGENTS, AGENTS))
    assert len([one for one in found if one.target is None]) == len(names()) * len(AGENTS)
    assert len({one.name for one in found}) == len(found)
    assert not any(one.releases for one in found)


def test_a_number_means_all_checks_of_that_number() -> None:
    found = planned(("t6",), ("claude",), ("codex",), (), control=False)
    assert {one.case for one in found} == {n for n in names() if n.partition("-")[0] == "t6"}
    assert len(found) > 1


def test_a_check_that_is_not_there_is_misuse() -> None:
    with pytest.raises(Misuse, match="t99"):
        planned(("t99",), (), (), (), control=False)


def test_each_of_several_releases_takes_its_turn_and_stays_with_its_own_sessions() -> None:
    chosen = {"claude": ["2.0.77", "2.1.50"]}
    found = list(plan(["t0"], ["claude"], ["claude", "codex"], control=True, chosen=chosen))
    assert [one.name for one in found] == [
        "t0-claude@2.0.77-claude@2.0.77",
        "t0-claude@2.1.50-claude@2.1.50",
        "t0-claude@2.0.77-codex",
        "t0-claude@2.1.50-codex",
        "t0-claude@2.0.77-own",
        "t0-claude@2.1.50-own",
        "t0-codex-own",
    ]


def test_what_is_named_twice_is_run_once() -> None:
    releases = [("claude", "2.1.50"), ("claude", "2.1.50")]
    found = planned(("t0", "t0"), ("claude", "claude"), ("codex", "codex"), releases, control=True)
    assert [one.name for one in found if one.case == "t0"] == [
        "t0-claude@2.1.50-codex",
        "t0-codex-own",
    ]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_release_is_known_by_its_number_before_anything_is_run(
    agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_such_tag(package: str, version: str) -> str:
        raise ReleaseError(f"{package} has no release called {version!r}")

    monkeypatch.setattr("live.agents.base.resolve", no_such_tag)
    with pytest.raises(ReleaseError, match="no release called"):
        planned(("t0",), (), (), [(agent, "../../elsewhere")], control=False)


def test_recordings_without_one_of_the_agents_are_told_to_lack_it(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=f"no release of {AGENTS[0]}"):
        newest(tmp_path)


def test_every_release_that_resumes_is_moved_to_once_and_asked_for_its_own() -> None:
    every = resuming(find_corpus())
    found = list(plan_every(["t0", "t2"], every))
    assert all(newest(find_corpus())[agent] in every[agent] for agent in AGENTS)
    for agent in AGENTS:
        into = [one for one in found if one.target == agent]
        assert [dict(one.releases)[agent] for one in into] == list(every[agent])
        assert all(one.source != agent for one in into)
        owned = [one for one in found if one.target is None and one.source == agent]
        assert len(owned) == 2 * len(every[agent])


# ------------------------------------------------------------------ as a command, as pytest


def _suite(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    suite = [sys.executable, "-m", "pytest", "-p", "conformance.suite.plugin", "-q"]
    return subprocess.run(
        [*suite, "-p", "no:cacheprovider", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_suite_has_a_test_for_each_direction_and_control() -> None:
    ran = _suite("conformance/suite", "-m", "live", "--collect-only", "--live-case", "t0")
    tests = [line for line in ran.stdout.splitlines() if "::" in line]
    wanted = {
        f"[{check}-{source}-{target}]"
        for check in ("t0", "t0-terminal")
        for source in AGENTS
        for target in (*AGENTS, "own")
    }
    assert {line[line.index("[") :] for line in tests} == wanted
    assert len(tests) == 24


def test_a_writer_of_ones_own_comes_by_a_fixture_and_fails_the_suite_by_its_own_words(
    tmp_path: Path,
) -> None:
    """No CLI is needed for that: it refuses before one is started, on a source laid ready."""
    (tmp_path / "conftest.py").write_text(
        """
import pytest
from conformance.livechecks.sources import Source, Sources

class Refuses:
    name = "refuses"
    def move(self, *given, **named):
        raise ValueError("not today")

@pytest.fixture(scope="session")
def mover():
    return Refuses()

def _get(self, check, agent, release):
    home = self._directory / "home"
    home.mkdir(parents=True, exist_ok=True)
    return Source(agent=agent, release=release, home=home, workspace=home, session_id="1", cwd="/")

Sources.get = _get
""",
        encoding="utf-8",
    )
    (tmp_path / "test_mine.py").write_text(
        "from conformance.suite.test_live import *\n"
        "from conformance.suite.test_live import pytestmark\n",
        encoding="utf-8",
    )
    junit = tmp_path / "junit.xml"
    ran = _suite(
        str(tmp_path), "--live-case", "t0", "-k", "t0-claude-codex", f"--junitxml={junit}",
        f"--rootdir={tmp_path}", "--override-ini=pythonpath=.",
    )  # fmt: skip
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "refuses did not move it: not today" in ran.stdout
    assert 'failures="1"' in junit.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--live-case", "t99"), "t99"),
        (("--live-release", "claude"), "AGENT@VERSION"),
    ],
)
def test_a_suite_that_is_asked_for_nothing_that_is_there_says_so(
    arguments: tuple[str, ...], words: str
) -> None:
    ran = _suite("conformance/suite", "--collect-only", *arguments)
    assert ran.returncode != 0
    assert words in ran.stdout + ran.stderr


# ------------------------------------------------------------------ what becomes of errors


class Ready(Sources):
    """A source that lies ready, or an error in its place."""

    def __init__(self, directory: Path, error: Exception | None = None) -> None:
        super().__init__(directory)
        self._home, self._error = directory, error

    def get(self, check: Check, agent: str, release: str) -> Source:
        del check
        if self._error is not None:
            raise self._error
        return Source(
            agent=agent,
            release=release,
            home=self._home,
            workspace=self._home,
            session_id="1",
            cwd="/srv",
        )


class Raising:
    """Who moves sessions, and never does."""

    name = "raising"

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def move(self, *given: object, **named: object) -> Moved:
        raise self._error


def _bench(mover: Mover, sources: Sources) -> Bench:
    return Bench(mover=mover, releases=newest(find_corpus()), sources=sources)


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (ValueError("not today"), "failed"),
        (SystemExit(7), "failed"),
        (NotOffered("mine", "writes nothing"), "skipped"),
        (Skipped("mine", "has no answer"), "skipped"),
    ],
)
def test_whoever_moves_may_decline_and_may_not_fail(
    error: BaseException, verdict: str, tmp_path: Path
) -> None:
    bench = _bench(Raising(error), Ready(tmp_path))
    result = run_planned(Planned("t0", "claude", "codex"), bench, ())
    assert (result.verdict, str(error) in result.why) == (verdict, True)
    assert result.checked_at is not None


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (ReleaseError("no npm here"), "skipped"),
        (Untaught("no way is known"), "skipped"),
        (CannotDo("it has no terminal"), "impossible"),
        (CliFailed("exit code 1"), "failed"),
        (NoSource("killed too early", "skipped"), "skipped"),
        (ZeroDivisionError("a fault of ours"), "failed"),
    ],
)
@pytest.mark.parametrize("target", ["codex", None])
def test_every_error_is_a_verdict_and_no_other_check_is_lost_by_it(
    error: Exception, verdict: str, target: str | None, tmp_path: Path
) -> None:
    bench = _bench(StoreMover(), Ready(tmp_path, error))
    told: list[str] = []
    checks = [Planned("t0", "claude", target), Planned("t2", "claude", target)]
    results = run_all(checks, bench, 2, told.append)
    assert [one.case for one in results] == ["t0", "t2"]
    assert {one.verdict for one in results} == {verdict}
    assert all(str(error) in one.why for one in results)
    assert len(told) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("t99",), "no live check 't99'"),
        (("t0", "--every-release", "--release", "claude@2.1.332"), "--every-release chooses"),
        (("t0", "--release", "claude"), "is not AGENT@VERSION"),
        (("t0", "--jobs", "0"), "0 is not in the range"),
        (("t0", "--keep", "pyproject.toml/in-a-file"), "pyproject.toml/in-a-file can't be made"),
        (("t0", "--write", "pyproject.toml/page.md"), "pyproject.toml can't be made"),
        (("t0", "--write", "page.json"), "name the page, page.md"),
        (("t0", "--write", "conformance/schemas/case.schema.md"), "remove it, and run"),
        (("--adapter", "entry:codex", "--write", "docs/live.md"), "name a page of its own"),
        (("t0", "--adapter", "nonsense"), "is no adapter's name"),
        (("t0", "--adapter", "entry:nobody"), "no installed package"),
    ],
)
def test_what_is_not_there_is_misuse_before_any_cli_is_started(
    arguments: tuple[str, ...], words: str
) -> None:
    start = "from conformance.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", start, "live", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert words in " ".join(ran.stderr.split())
    assert "Traceback" not in ran.stderr
