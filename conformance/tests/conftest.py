"""How the tests are run: which examples hypothesis takes, and what one Python need be asked alone.

A test that fails once in many runs tells nobody which change broke it, so the same examples are
taken each time; ``--hypothesis-profile searching`` (tox's environment ``deep``) takes new ones.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)
settings.register_profile("searching", derandomize=False, print_blob=True)
settings.load_profile("repeatable")

ONCE = (
    "test_adapter_",
    "test_bridges",
    "test_check_",
    "test_checks",
    "test_conformance_cli",
    "test_defects",
    "test_drift",
    "test_facts_recorded",
    "test_facts_windows",
    "test_generations",
    "test_hooked_recordings",
    "test_live_",
    "test_matrix_can_fail",
    "test_recording_lint",
    "test_resume_rules",
    "test_review",
    "test_sanitis",
    "test_scoreboard",
    "test_scripted_",
    "test_snapshots",
    "test_suite",
    "test_timeline",
    "test_workflows",
    "test_write_an_adapter",
)
"""Files that hold this project's own data and judgements to something: what reads and writes a
person's sessions is asked in every Python, these in one."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what one Python need be asked alone."""
    for item in items:
        if item.path.name.startswith(ONCE):
            item.add_marker(pytest.mark.once)
