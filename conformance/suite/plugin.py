"""What the suite's tests are given: which checks, who moves the sessions, where sources lie.

Loaded with ``-p conformance.suite.plugin``. With pytest-xdist all workers share the recorded
sources: each conversation is recorded once, by whoever needs it first.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from conformance.corpus import find_corpus
from conformance.livechecks.command import Misuse, moved_by, planned
from conformance.livechecks.moving import Mover
from conformance.livechecks.planning import AGENTS, Planned, newest
from conformance.livechecks.running import Bench
from conformance.livechecks.sources import Sources

SECONDS = 900
"""What one check may take: it starts a CLI up to five times, on a machine that may be busy."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what can be chosen."""
    group = parser.getgroup("live checks")
    group.addoption(
        "--live-case",
        action="append",
        default=[],
        help="a live check by its name or number, such as t6; may be given several times",
    )
    group.addoption(
        "--live-release",
        action="append",
        default=[],
        metavar="AGENT@VERSION",
        help="another release than the newest one recorded; may be given several times",
    )
    group.addoption(
        "--live-every-release",
        action="store_true",
        help="every recorded release that resumes: t0 moved into it, and its own sessions",
    )
    group.addoption(
        "--adapter",
        help="who moves the sessions: entry:NAME, py:package.module:Store or exec:COMMAND",
    )
    group.addoption("--live-keep", type=Path, help="where recordings of failed terminal runs go")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker of what drives a real CLI."""
    config.addinivalue_line("markers", "live: drives a real CLI, installed from npm")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of every check and direction."""
    for argument, moved in (("moved", True), ("own", False)):
        if argument in metafunc.fixturenames:
            checks = [one for one in _planned(metafunc.config) if (one.target is not None) == moved]
            metafunc.parametrize(argument, checks, ids=[one.name for one in checks])


def _planned(config: pytest.Config) -> list[Planned]:
    chosen: list[tuple[str, str]] = []
    for given in config.option.live_release:
        agent, at, release = given.partition("@")
        if agent not in AGENTS or not at or not release:
            raise pytest.UsageError(f"--live-release {given}: is not AGENT@VERSION")
        chosen.append((agent, release))
    try:
        return planned(
            config.option.live_case,
            (),
            (),
            chosen,
            control=True,
            every=config.option.live_every_release,
        )
    except Misuse as error:
        raise pytest.UsageError(f"--live-case: {error}") from error


@pytest.fixture(scope="session")
def mover(pytestconfig: pytest.Config) -> Generator[Mover, None, None]:
    """Lend who moves the sessions, and is under test; override this for a writer of your own."""
    with moved_by(pytestconfig.option.adapter) as chosen:
        yield chosen


@pytest.fixture(scope="session")
def bench(
    mover: Mover, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Bench:
    """Return what checks are run with."""
    directory = tmp_path_factory.getbasetemp()
    if hasattr(pytestconfig, "workerinput"):
        directory = directory.parent
    return Bench(
        mover=mover,
        releases=newest(find_corpus()),
        sources=Sources(directory / "live-sources"),
        keep=pytestconfig.option.live_keep,
    )
