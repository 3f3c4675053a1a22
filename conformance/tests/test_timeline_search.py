"""The search finds every edge that the grid can show, in as few looks as it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.drift.timeline import Part, search, shard
from conformance.drift.timeline_search import STRIDE, most, sample

FIRST, LAST = 0, 150


class Told(NamedTuple):
    digest: str


class Here(Executor):
    """Does everything at once, in this thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class Releases:
    """A made list of releases, and how often each was looked at."""

    def __init__(self, shapes: Sequence[int]) -> None:
        self.shapes = shapes
        self.versions = [f"1.0.{at}" for at in range(len(shapes))]
        self.looks: list[str] = []

    def look(self, version: str) -> Told:
        self.looks.append(version)
        return Told(str(self.shapes[self.versions.index(version)]))


def shape_lists() -> st.SearchStrategy[list[int]]:
    """Runs of equal shapes, as releases have them; a shape may come back."""
    run = st.tuples(st.integers(0, 5), st.integers(1, 30))
    return st.lists(run, min_size=1, max_size=12).map(
        lambda runs: [shape for shape, length in runs for _ in range(length)][:LAST]
    )


def edges(shapes: Sequence[int]) -> list[int]:
    return [at for at, (one, two) in enumerate(pairwise(shapes)) if one != two]


def visible(shapes: Sequence[int], offset: int) -> list[tuple[int, int]]:
    """The gaps of the grid whose ends differ, worked out from nothing but the grid's rule."""
    last = len(shapes) - 1
    stops = [at for at in range(len(shapes)) if at in (0, last) or (at + offset) % STRIDE == 0]
    return [(one, two) for one, two in pairwise(stops) if shapes[one] != shapes[two]]


@given(shape_lists(), st.integers(0, 20))
def test_every_edge_that_the_grid_shows_is_found_between_neighbours(
    shapes: list[int], offset: int
) -> None:
    releases = Releases(shapes)
    found = search(Part(releases.versions, offset), {}, releases.look, Here(), at_once=1)
    places = sorted(releases.versions.index(version) for version in found)
    borders = [one for one, two in pairwise(places) if shapes[one] != shapes[two]]
    assert all(two - one == 1 for one, two in pairwise(places) if shapes[one] != shapes[two])
    for one, two in visible(shapes, offset):
        assert any(one <= border < two for border in borders)
    assert {*borders} <= {*edges(shapes)}


@given(shape_lists(), st.integers(0, 20), st.integers(1, 4))
def test_no_release_is_looked_at_twice_and_the_looks_stay_within_the_bound(
    shapes: list[int], offset: int, at_once: int
) -> None:
    releases = Releases(shapes)
    search(Part(releases.versions, offset), {}, releases.look, Here(), at_once=at_once)
    assert len({*releases.looks}) == len(releases.looks)
    count, borders = len(shapes), len(edges(shapes))
    assert len(releases.looks) <= most(count, borders)
    if count >= 58:
        assert len(releases.looks) <= count / 8 + borders * 4 + 0.05 * count


@given(st.integers(40, 400))
def test_without_an_edge_the_whole_sample_is_looked_at(count: int) -> None:
    releases = Releases([0] * count)
    search(Part(releases.versions), {}, releases.look, Here())
    chosen = {releases.versions[at] for at in sample(count, 0, releases.versions)}
    assert chosen <= {*releases.looks}
    assert len(chosen) == int(count / 8 + 0.05 * count) - (len(releases.looks) - len(chosen))


def test_the_sample_is_the_same_every_time_and_stays_when_releases_are_added() -> None:
    names = [f"1.0.{at}" for at in range(200)]
    grown = {*sample(200, 0, names)}
    assert sample(200, 0, names) == sample(200, 0, names)
    before = {*sample(180, 0, names[:180])}
    assert len(before & grown) >= len(before) - 2


@given(shape_lists(), st.integers(0, 40))
def test_a_search_that_was_ended_goes_on_where_it_stood(shapes: list[int], after: int) -> None:
    whole, parts = Releases(shapes), Releases(shapes)
    at_once = search(Part(whole.versions), {}, whole.look, Here(), at_once=1)
    part = Part(parts.versions)
    begun = search(part, {}, parts.look, Here(), until=lambda looks: looks >= after, at_once=1)
    assert len(begun) <= after
    ended = search(part, begun, parts.look, Here(), at_once=1)
    assert ended == at_once
    assert sorted(parts.looks) == sorted(whole.looks)


@given(shape_lists(), st.integers(1, 9))
def test_pieces_cover_every_gap_and_meet_at_one_release(shapes: list[int], of: int) -> None:
    releases = Releases(shapes)
    pieces = [shard(releases.versions, number, of) for number in range(1, of + 1)]
    pieces = [piece for piece in pieces if piece.versions]
    found: dict[str, Told] = {}
    for piece in pieces:
        found |= search(piece, {}, releases.look, Here(), at_once=1)
    assert len(releases.looks) - len({*releases.looks}) <= len(pieces) - 1
    places = sorted(releases.versions.index(version) for version in found)
    assert {0, len(shapes) - 1} <= {*places}
    assert all(two - one == 1 for one, two in pairwise(places) if shapes[one] != shapes[two])
    for one, two in visible(shapes, 0):
        assert any(one <= at < two and at + 1 in places for at in places)


def test_the_grid_stays_where_it_is_when_the_oldest_releases_are_left_out() -> None:
    every = Releases([0] * 100)
    looked = {*search(Part(every.versions), {}, every.look, Here())}
    newer = Part(every.versions[13:], 13)
    before = len(every.looks)
    search(newer, {name: Told("0") for name in looked}, every.look, Here())
    assert every.looks[before:] in ([], ["1.0.13"])


def test_no_releases_take_no_looks() -> None:
    assert search(Part([]), {}, Releases([]).look, Here()) == {}


def thirds(version: str) -> Told:
    return Told(str(int(version.rpartition(".")[2]) // 30))


@pytest.mark.parametrize("executor", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_threads_and_processes_find_the_same(executor: Callable[[int], Executor]) -> None:
    versions = [f"1.0.{at}" for at in range(90)]
    with executor(3) as workers:
        found = search(Part(versions), {}, thirds, workers, at_once=3)
    assert found == search(Part(versions), {}, thirds, Here(), at_once=1)
