"""What can be asked for on pytest's command line, and what the suite's tests are given.

Loaded by :mod:`conformance.plugin` when the suite is named, or with ``-p`` and this module's name.
Real CLIs are driven only when that is asked for: their tests are not even collected otherwise.
With pytest-xdist all workers share the recorded sources: each conversation is recorded once, by
whoever needs it first.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.adapters.declaration import BadDeclaration
from conformance.checks import known
from conformance.checks.catalogue import unknown
from conformance.checks.check import Place
from conformance.checks.declared import declaration_of
from conformance.corpus import CorpusError, find_corpus, find_schemas
from conformance.suite.asking import ASKING, Asking

if TYPE_CHECKING:
    from conformance.livechecks.moving import Mover
    from conformance.livechecks.planning import Planned
    from conformance.livechecks.running import Bench

REFERENCE = "entry:reference"

SECONDS = 900
"""What one live check may take: it starts a CLI up to five times, on a machine that may be busy."""

_MEANS_LIVE = re.compile(r"(?<!not )\blive\b")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what can be chosen."""
    group = parser.getgroup("conformance", "conformance: what an adapter is asked")
    group.addoption(
        "--adapter",
        help="who is asked: exec:COMMAND, py:package.module:Store or entry:NAME; "
        "the reference stores if left out",
    )
    group.addoption(
        "--store",
        action="append",
        default=[],
        metavar="AGENT",
        help="only what it offers of this agent's store; may be given several times",
    )
    group.addoption(
        "--only",
        action="append",
        default=[],
        metavar="CHECKS",
        help="only these checks, such as read.* or write.words; may be given several times",
    )
    group.addoption(
        "--known",
        type=Path,
        metavar="FILE",
        help="failures that are known beforehand, which are expected then (docs/adapters.md)",
    )
    group.addoption(
        "--known-flaky",
        type=Path,
        metavar="FILE",
        help="checks that may pass or fail: told as expected failures, never as passed",
    )
    group.addoption("--corpus", type=Path, metavar="DIR", help="other recordings than our own")
    live = parser.getgroup("live checks", "conformance: by the real CLIs")
    live.addoption(
        "--live",
        action="store_true",
        help="also have the real CLIs go on with what the adapter wrote; so does -m live",
    )
    live.addoption(
        "--live-case",
        action="append",
        default=[],
        help="a live check by its name or number, such as t6; may be given several times",
    )
    live.addoption(
        "--live-release",
        action="append",
        default=[],
        metavar="AGENT@VERSION",
        help="another release than the newest one recorded; may be given several times",
    )
    live.addoption(
        "--live-every-release",
        action="store_true",
        help="every recorded release that resumes: t0 moved into it, and its own sessions",
    )
    live.addoption("--live-keep", type=Path, help="where recordings of failed terminal runs go")


def pytest_configure(config: pytest.Config) -> None:
    """Declare what tests are marked with, and see that there is somebody to ask."""
    config.addinivalue_line("markers", "live: drives a real CLI, installed from npm")
    if not config.pluginmanager.hasplugin("timeout"):
        config.addinivalue_line("markers", "timeout(seconds): of pytest-timeout, if installed")
    option = config.option
    try:
        corpus = find_corpus(option.corpus)
        declared = declaration_of(option.adapter or REFERENCE)
        if declared is None:
            listed = known.load(option.known, option.known_flaky)
        elif option.known is None and option.known_flaky is None:
            listed = known.declared(Path(option.adapter), declared)
        else:
            raise known.BadList(f"{option.adapter} names its lists: no --known, no --known-flaky")
    except (CorpusError, BadDeclaration, known.BadList) as error:
        raise pytest.UsageError(str(error)) from error
    if (why := unknown(option.only)) is not None:
        raise pytest.UsageError(why)
    place = Place(corpus, find_schemas(), Path())
    asking = Asking(option.adapter or REFERENCE, place, option.store, option.only, listed)
    config.stash[ASKING] = asking
    if not hasattr(config, "workerinput"):
        if next(asking.questions(), None) is None and not _is_live(config):
            raise pytest.UsageError(f"--adapter {asking.name}: offers nothing that can be asked")
        if _is_shared(config):
            asking.close()


def pytest_unconfigure(config: pytest.Config) -> None:
    """End an adapter that no test has ended: what is wrong with how it ends, no test was told."""
    if ASKING in config.stash:
        with suppress(Exception):
            config.stash[ASKING].close()


def pytest_report_header(config: pytest.Config) -> str:
    """Say who is asked, and what is not."""
    live = "" if _is_live(config) else "; no real CLI is driven (--live does)"
    return f"conformance: {config.option.adapter or f'the reference stores ({REFERENCE})'}{live}"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what drives a real CLI, unless it is asked for."""
    is_live = collection_path == Path(__file__).with_name("test_live.py")
    return True if is_live and not _is_live(config) else None


def _is_live(config: pytest.Config) -> bool:
    option = config.option
    chosen = option.live or option.live_case or option.live_release or option.live_every_release
    return bool(chosen or _MEANS_LIVE.search(option.markexpr))


def _is_shared(config: pytest.Config) -> bool:
    """Whether other processes run the tests, each with an adapter of its own."""
    return bool(getattr(config.option, "tx", None))


@pytest.fixture(scope="session")
def asking(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Asking, None, None]:
    """Lend the adapter and what it is asked about; it ends behind the last test."""
    asking = pytestconfig.stash[ASKING]
    asking.place = asking.place._replace(scratch=tmp_path_factory.mktemp("homes"))
    yield from asking.lent()


# ------------------------------------------------------------------ by the real CLIs


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of every live check and direction."""
    for argument, moved in (("moved", True), ("own", False)):
        if argument in metafunc.fixturenames:
            checks = [one for one in _planned(metafunc.config) if (one.target is not None) == moved]
            metafunc.parametrize(argument, checks, ids=[one.name for one in checks])


def _planned(config: pytest.Config) -> list[Planned]:
    # Driving a CLI needs the extra `live`, which nobody else need have installed.
    from conformance.livechecks.command import Misuse, planned, ready  # noqa: PLC0415
    from conformance.livechecks.planning import AGENTS  # noqa: PLC0415
    from live.releases import ReleaseError  # noqa: PLC0415

    chosen: list[tuple[str, str]] = []
    for given in config.option.live_release:
        agent, at, release = given.partition("@")
        if agent not in AGENTS or not at or not release:
            raise pytest.UsageError(f"--live-release {given}: is not AGENT@VERSION")
        chosen.append((agent, release))
    try:
        ready(keep=config.option.live_keep)
    except Misuse as error:
        raise pytest.UsageError(f"--live-keep: {error}") from error
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
    except ReleaseError as error:
        raise pytest.UsageError(f"--live-release: {error}") from error


@pytest.fixture(scope="session")
def mover(pytestconfig: pytest.Config) -> Generator[Mover, None, None]:
    """Lend who moves the sessions, and is under test; override this for a writer of your own."""
    from conformance.livechecks.command import moved_by  # noqa: PLC0415

    with moved_by(pytestconfig.option.adapter) as chosen:
        yield chosen


@pytest.fixture(scope="session")
def bench(
    mover: Mover, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Bench:
    """Return what live checks are run with."""
    from conformance.livechecks.planning import newest  # noqa: PLC0415
    from conformance.livechecks.running import Bench  # noqa: PLC0415
    from conformance.livechecks.sources import Sources  # noqa: PLC0415

    directory = tmp_path_factory.getbasetemp()
    if hasattr(pytestconfig, "workerinput"):
        directory = directory.parent
    return Bench(
        mover=mover,
        releases=newest(find_corpus()),
        sources=Sources(directory / "live-sources"),
        keep=pytestconfig.option.live_keep,
    )
