"""What an adapter answers is held against the script, the files and the shapes of records."""

from __future__ import annotations

import pytest

from conformance.checks.running import Question
from conformance.suite.asking import ASKING, Asking, parameter, tell


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of every question: one answer decides many checks, and is asked for once."""
    if "question" in metafunc.fixturenames:
        asking = metafunc.config.stash[ASKING]
        found = [parameter(question, asking.place) for question in asking.questions()]
        metafunc.parametrize("question", found)


def test_adapter(question: Question, asking: Asking) -> None:
    """Every check that the answer decides holds; those that do not are named with the reason."""
    tell(asking.ask(question))
