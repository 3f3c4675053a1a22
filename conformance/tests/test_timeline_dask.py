"""A cluster of Dask's does the looking as well as threads do."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from conformance.drift.timeline import Part, search
from conformance.drift.timeline_search import most
from conformance.drift.timeline_workers import LOCAL, workers

pytestmark = [
    pytest.mark.extended,
    pytest.mark.deep,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("default"),
]


class Told(NamedTuple):
    digest: str


def test_a_local_cluster_finds_the_edges_in_as_many_looks() -> None:
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    versions = [f"1.0.{at}" for at in range(100)]
    looks: list[str] = []

    def look(version: str) -> Told:
        return Told(str(int(version.rpartition(".")[2]) // 33))

    with workers(LOCAL, 2) as (executor, at_once):
        found = search(
            Part(versions),
            {},
            look,
            executor,
            at_once=at_once,
            keep=lambda version, _: looks.append(version),
        )
    assert {"1.0.32", "1.0.33", "1.0.65", "1.0.66", "1.0.98", "1.0.99"} <= {*found}
    assert len({*looks}) == len(looks) == len(found)
    assert len(looks) <= most(100, 3)
