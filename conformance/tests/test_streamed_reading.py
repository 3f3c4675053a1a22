"""A streamed reading says what a whole one says, message by message, and holds little."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.bench.sessions import RELEASES, Generator
from conformance.bench.sizes import histograms
from conformance.corpus import Case, cases, find_corpus, opened
from transcripts.ids import NAMESPACE, Scope, derive
from transcripts.model import UserMessage
from transcripts.records.collecting import uncollected
from transcripts.stores.base import Store, store_class

AGENTS = sorted(RELEASES)


def made(tmp_path: Path, agent: str, size: int) -> Path:
    generator = Generator(agent, find_corpus(), histograms()["small"])
    path = tmp_path / str(size) / generator.session_path
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(generator.lines(size)))
    return path


@pytest.mark.parametrize("case", list(cases(find_corpus())), ids=lambda case: case.name)
def test_a_recording_streamed_is_the_recording_read_whole(case: Case) -> None:
    store = store_class(case.facts.agent)
    with opened(case) as home:
        path = home / case.facts.session_path
        assert tuple(store.iter_path(path)) == store.read_path(path).messages


@pytest.mark.parametrize("agent", AGENTS)
def test_a_long_session_streamed_is_the_session_read_whole(tmp_path: Path, agent: str) -> None:
    path = made(tmp_path, agent, 600_000)
    store = store_class(agent)
    whole = store.read_path(path)
    assert len(whole.messages) > 100
    assert tuple(store.iter_path(path)) == whole.messages


def peak(read: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        read()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def exhaust(store: type[Store], path: Path) -> None:
    for _ in store.iter_path(path):
        pass


@pytest.mark.parametrize("agent", AGENTS)
def test_streaming_takes_a_part_of_the_memory(tmp_path: Path, agent: str) -> None:
    path = made(tmp_path, agent, 3_000_000)
    store = store_class(agent)
    exhaust(store, path)
    streamed = peak(lambda: exhaust(store, path))
    whole = peak(lambda: store.read_path(path))
    assert streamed < whole * 0.6
    assert streamed < path.stat().st_size * 0.8


@pytest.mark.parametrize("agent", AGENTS)
def test_a_whole_reading_takes_at_most_three_times_the_file(tmp_path: Path, agent: str) -> None:
    path = made(tmp_path, agent, 3_000_000)
    assert peak(lambda: store_class(agent).read_path(path)) < path.stat().st_size * 3


@pytest.mark.parametrize("agent", ["claude", "copilot"])
def test_indented_records_are_read_as_well(tmp_path: Path, agent: str) -> None:
    path = made(tmp_path, agent, 1)
    expected = store_class(agent).read_path(path).messages
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(b" \t" + line for line in lines))
    for found in (
        store_class(agent).read_path(path).messages,
        [*store_class(agent).iter_path(path)],
    ):
        assert [type(one) for one in found] == [type(one) for one in expected]
        said = [one.content for one in found if isinstance(one, UserMessage)]
        assert said == [one.content for one in expected if isinstance(one, UserMessage)]


@given(st.text(), st.lists(st.text() | st.integers() | st.none(), min_size=1, max_size=3))
def test_an_id_derived_in_a_scope_is_the_id_of_all_its_parts(
    first: str, parts: list[str | int | None]
) -> None:
    assert Scope(first).derive(*parts) == derive(first, *parts)


@given(st.lists(st.text() | st.integers() | st.none(), max_size=4))
def test_a_derived_id_is_the_version_5_uuid_of_its_parts(parts: list[str | int | None]) -> None:
    name = "\x1f".join("" if part is None else str(part) for part in parts)
    assert derive(*parts) == str(uuid5(NAMESPACE, name))


def test_the_collector_is_left_as_it_was_found() -> None:
    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(KeyError), uncollected():
        raise KeyError
    assert gc.isenabled()
