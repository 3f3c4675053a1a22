"""What pytest loads wherever this package is installed: three markers, and next to nothing else.

The suite's options come only when a test run names the suite (``--pyargs conformance.suite``):
in all others they would stand in somebody's help, and ``--adapter`` in the way of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

SUITE = "conformance.suite"
PLUGIN = f"{SUITE}.plugin"

MARKERS = (
    "store(agent): of conformance.suite: asks of this agent's store",
    "scenario(name): of conformance.suite: asks of recordings of this scenario",
    "kind(name): of conformance.suite: asks of conversations with a message of this kind",
)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers, so that a run with strict ones may have classes of the suite's."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: Sequence[str]) -> None:
    """Load the suite's own plugin if the suite is asked for, before its options are read."""
    if any(_is_of_the_suite(one) for one in args):
        early_config.pluginmanager.import_plugin(PLUGIN)


def _is_of_the_suite(argument: str) -> bool:
    named = argument.partition("::")[0]
    if named == SUITE or named.startswith(f"{SUITE}."):
        return True
    directory = Path(__file__).resolve().parent / "suite"
    return not named.startswith("-") and Path(named).resolve().is_relative_to(directory)
