"""What a long reading has to know lies on the disk, and is what was put there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.corpus import Case, cases, find_corpus, opened
from conformance.tests.test_streamed_reading import made
from transcripts.records.spilling import Spilling
from transcripts.stores.copilot import CopilotStore

# Half a surrogate pair, too, as CLIs write it.
keys = st.text(st.characters(exclude_categories=[]), max_size=2)


class Sparing(Spilling[int]):
    most_at_hand = 3


@given(st.lists(st.tuples(keys, st.none() | st.integers())))
def test_what_is_put_in_is_what_is_found(steps: list[tuple[str, int | None]]) -> None:
    spilling = Sparing(int)
    held: dict[str, int] = {}
    for key, value in steps:
        if value is not None:
            spilling[key] = held[key] = value
        assert (key in spilling) == (key in held)
        assert spilling.get(key) == held.get(key)
    assert {key: spilling.get(key) for key in held} == held


@pytest.fixture
def next_to_nothing_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Spilling, "most_at_hand", 2)


@pytest.mark.usefixtures("next_to_nothing_at_hand")
@pytest.mark.parametrize(
    "case",
    [case for case in cases(find_corpus()) if case.facts.agent == "copilot"],
    ids=lambda case: case.name,
)
def test_a_recording_is_streamed_with_next_to_nothing_at_hand(case: Case) -> None:
    with opened(case) as home:
        path = home / case.facts.session_path
        assert tuple(CopilotStore.iter_path(path)) == CopilotStore.read_path(path).messages


@pytest.mark.usefixtures("next_to_nothing_at_hand")
def test_a_long_session_is_streamed_with_next_to_nothing_at_hand(tmp_path: Path) -> None:
    path = made(tmp_path, "copilot", 600_000)
    assert tuple(CopilotStore.iter_path(path)) == CopilotStore.read_path(path).messages
