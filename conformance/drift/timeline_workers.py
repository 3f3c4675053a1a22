"""Who does the looking: threads of this process, or a cluster of Dask's."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any

LOCAL = "local"


@contextmanager
def workers(dask: str | None, count: int) -> Generator[tuple[Executor, int], None, None]:
    """Lend an executor and how many looks it takes at once.

    In this process one CLI runs at a time, and another thread installs the next release
    meanwhile. ``dask`` is a scheduler's address, or ``local`` for ``count`` workers here, each of
    them a process with one CLI at a time.
    """
    if dask is None:
        with ThreadPoolExecutor(2) as threads:
            yield threads, 2
        return
    distributed: Any = import_module("distributed")
    if dask != LOCAL:
        with distributed.Client(dask) as client:
            yield client.get_executor(), max(1, len(client.scheduler_info()["workers"]))
        return
    alone = {"n_workers": count, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**alone) as cluster, distributed.Client(cluster) as client:
        yield client.get_executor(), count
