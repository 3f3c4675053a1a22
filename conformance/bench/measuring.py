"""Sessions made, read and listed in processes of their own, again and again, in turn."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

from conformance.bench.hook_logs import lines as hook_lines
from conformance.bench.hook_logs import recorded
from conformance.bench.results import HookLog, Listed, Reading
from conformance.bench.sessions import RELEASES, Generator
from conformance.bench.sizes import Sizes

_ROOT = Path(__file__).parent.parent.parent
_TAIL = 192 << 10


class Plan(NamedTuple):
    """How much is measured: bytes of the sessions, and how often."""

    runs: int
    session_bytes: dict[str, int]
    stream_bytes: tuple[int, ...]
    hook_events: tuple[int, ...]
    listed_sessions: int
    large_listed_bytes: int


FULL = Plan(
    runs=5,
    session_bytes={"small": 20_000_000, "large": 60_000_000},
    stream_bytes=(200_000_000, 400_000_000),
    hook_events=(100_000, 1_000_000),
    listed_sessions=2000,
    large_listed_bytes=50_000_000,
)
QUICK = Plan(
    runs=1,
    session_bytes={"small": 1_000_000, "large": 2_000_000},
    stream_bytes=(4_000_000,),
    hook_events=(2_000,),
    listed_sessions=40,
    large_listed_bytes=2_000_000,
)


def run_once(way: str, agent: str, path: Path) -> dict[str, Any]:
    """Do one piece of work in a process of its own."""
    command = [sys.executable, "-m", "conformance.bench.one_reading", way, agent, str(path)]
    environment = os.environ | {"PYTHONPATH": str(_ROOT), "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, check=True, capture_output=True, env=environment)
    return json.loads(done.stdout)


# ------------------------------------------------------------------ reading


def measure_reading(
    agent: str, name: str, sizes: Sizes, corpus: Path, folder: Path, plan: Plan
) -> Reading:
    """Measure one store over sessions of one kind."""
    generator = Generator(agent, corpus, sizes)
    path = written(generator, folder / name, plan.session_bytes[name])
    with path.open("rb") as file:
        lengths = [len(line) for line in file]
    bare: list[float] = []
    wholes: list[dict[str, Any]] = []
    streams: list[dict[str, Any]] = []
    for _ in range(plan.runs):
        # In turn, so that what else the machine does meets all of them.
        bare.append(run_once("bare", agent, path)["cpu_s"])
        wholes.append(run_once("whole", agent, path))
        streams.append(run_once("stream", agent, path))
    at_scale: dict[str, int] = {}
    if name == "small":
        for size in plan.stream_bytes:
            longer = written(generator, folder / "longer", size)
            at_scale[str(longer.stat().st_size)] = run_once("stream", agent, longer)["peak_bytes"]
            longer.unlink()
    size = path.stat().st_size
    peak = median(one["peak_bytes"] - one["peak_before_bytes"] for one in wholes)
    return Reading(
        agent=agent,
        sizes=name,
        file_bytes=size,
        records=len(lengths),
        median_record_bytes=median(lengths),
        mean_record_bytes=round(mean(lengths), 1),
        messages=wholes[0]["count"],
        bare_cpu_s=round(median(bare), 4),
        whole_ratio=_ratio(wholes, bare),
        stream_ratio=_ratio(streams, bare),
        whole_peak_of_file=round(peak / size, 2),
        stream_peak_bytes=max(one["peak_bytes"] for one in streams),
        stream_at_scale_bytes=at_scale,
    )


def _ratio(done: list[dict[str, Any]], bare: list[float]) -> float:
    return round(median(one["cpu_s"] / base for one, base in zip(done, bare, strict=True)), 2)


def written(generator: Generator, home: Path, size: int) -> Path:
    """Write a session of about so many bytes where its store keeps it."""
    path = home / generator.session_path
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.writelines(generator.lines(size))
    return path


# ------------------------------------------------------------------ hooks


def measure_hooks(agent: str, corpus: Path, folder: Path, plan: Plan) -> Iterator[HookLog]:
    """Measure the summary of ever longer capture logs; nothing where no hooks were recorded."""
    logs = recorded(agent, RELEASES[agent], corpus)
    for events in plan.hook_events if logs else ():
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "hooks.jsonl"
        with path.open("wb") as file:
            file.writelines(hook_lines(logs, events))
        bare: list[float] = []
        done: list[dict[str, Any]] = []
        for _ in range(plan.runs):
            bare.append(run_once("bare", agent, path)["cpu_s"])
            done.append(run_once("hooks", agent, path))
        yield HookLog(
            agent=agent,
            events=done[0]["count"],
            file_bytes=path.stat().st_size,
            ratio=_ratio(done, bare),
            peak_bytes=max(one["peak_bytes"] for one in done),
        )
        path.unlink()


# ------------------------------------------------------------------ listing


def measure_listing(agent: str, sizes: Sizes, corpus: Path, folder: Path, plan: Plan) -> Listed:
    """Measure how much of each session a listing reads.

    The middle of a long session is a hole in the file: a listing that went through it would be
    counted as reading it, and no disk is filled.
    """
    generator = Generator(agent, corpus, sizes)
    home = folder / "many"
    chance = random.Random(0)
    head = b"".join(generator.lines(_TAIL, seed=1))
    tail = b"".join(list(generator.lines(_TAIL, seed=2))[-100:])
    lengths: list[int] = []
    for number in range(plan.listed_sessions):
        length = min(int(chance.lognormvariate(0, 1.3) * 200_000), plan.large_listed_bytes)
        if number % 250 == 249:
            length = plan.large_listed_bytes
        path = home / _renamed(generator.session_path, generator.session_id, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        own = _numbered(generator.session_id, number).encode()
        with path.open("wb") as file:
            file.write(_cut(head, length).replace(generator.session_id.encode(), own))
            if length > len(head) + len(tail):
                file.seek(length - len(tail) - 1)
                file.write(b"\n" + tail.replace(generator.session_id.encode(), own))
        lengths.append(path.stat().st_size)
    done = run_once("listing", agent, home)
    shutil.rmtree(home)
    assert done["count"] == plan.listed_sessions, (agent, done["count"])
    return Listed(
        agent=agent,
        sessions=done["count"],
        median_session_bytes=median(lengths),
        largest_session_bytes=max(lengths),
        read_bytes_each=round(done["read_bytes"] / len(lengths)),
        cpu_ms_each=round(done["cpu_s"] * 1000 / len(lengths), 3),
    )


def _cut(lines: bytes, length: int) -> bytes:
    """Return the first whole lines of about so many bytes, but never less than a conversation."""
    end = lines.find(b"\n", max(length, 30_000))
    return lines if end < 0 else lines[: end + 1]


def _numbered(session_id: str, number: int) -> str:
    return f"{number:08x}{session_id[8:]}"


def _renamed(path: str, session_id: str, number: int) -> str:
    return path.replace(session_id, _numbered(session_id, number))
