"""Other tools that read whole sessions, on the same file in the same run.

Each is installed from PyPI into an environment of its own, once and only when asked
(``--install-peers``); a run itself downloads nothing and gives each tool an empty home.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

from msgspec.structs import replace

from conformance.bench.results import Peer
from conformance.peers import Peer as Tool
from conformance.peers import PeerError, peers
from conformance.peers.installing import commands, install, is_installed

_ROOT = Path(__file__).parent.parent.parent
_OURS = (
    ("bare orjson.loads", "parses each line, keeps nothing", "bare"),
    ("transcripts, whole", "reads whole into the normalised model (Python)", "whole"),
    ("transcripts, streamed", "the same, message by message (Python)", "stream"),
)


def install_all(say: Callable[[str], None]) -> None:
    """Install every tool that is timed; one that cannot be is left out, and why is said."""
    for peer in _timed():
        try:
            install(peer, say)
        except PeerError as error:
            say(str(error))


def _timed() -> Iterator[Tool]:
    return (one for one in peers() if one.speed is not None)


def measure_peers(path: Path, tiny: Path, runs: int) -> Iterator[Peer]:
    """Measure this project's reader and every installed tool on one session of Claude Code.

    ``tiny`` is a session of a few records: what the same command needs for it is its start-up.
    """
    base: float | None = None
    for ours in measure_ours(path, tiny, runs):
        base = base or ours.cpu_s
        yield ours
    for tool in _timed():
        yield measured(tool, path, tiny, runs, base)
    for tool in peers():
        if tool.unavailable:
            yield Peer(name=tool.name, version=tool.version, does="", why=tool.unavailable)


def measure_ours(path: Path, tiny: Path, runs: int) -> Iterator[Peer]:
    """Measure bare parsing, the base of the others, and this project's reader."""
    base: float | None = None
    for name, does, way in _OURS:
        command = [sys.executable, "-m", "conformance.bench.one_reading", way, "claude", "{file}"]
        peer = _measured(Peer(name=name, version="", does=does), command, path, tiny, runs, base)
        base = base or peer.cpu_s
        yield peer


def measured(tool: Tool, path: Path, tiny: Path, runs: int, base: float | None) -> Peer:
    """Measure one tool's own command."""
    assert tool.speed is not None
    peer = Peer(name=tool.package, version=tool.version, does=tool.speed.does)
    if not is_installed(tool):
        return replace(peer, why="not installed (--install-peers)")
    command = [word.replace("{bin}", str(commands(tool))) for word in tool.speed.command]
    return _measured(peer, command, path, tiny, runs, base)


def _measured(
    peer: Peer, command: Sequence[str], path: Path, tiny: Path, runs: int, base: float | None
) -> Peer:
    taken: list[float] = []
    peaks: list[int] = []
    for _ in range(runs):
        try:
            start_up, _ = _run(command, tiny)
            whole, peak = _run(command, path)
        except (OSError, subprocess.SubprocessError) as error:
            return replace(peer, why=f"failed: {type(error).__name__}")
        taken.append(whole - start_up)
        peaks.append(peak)
    cpu = median(taken)
    return replace(
        peer,
        cpu_s=round(cpu, 4),
        ratio=round(cpu / (base or cpu), 2),
        peak_bytes=int(median(peaks)),
    )


def _run(command: Sequence[str], path: Path) -> tuple[float, int]:
    """Run a command in a home of its own; return its processor time and its peak memory."""
    with tempfile.TemporaryDirectory(prefix="peer-") as home:
        filled = [word.replace("{file}", str(path)).replace("{out}", home) for word in command]
        environment = {"PATH": os.environ["PATH"], "HOME": home, "PYTHONPATH": str(_ROOT)}
        if "conformance.bench.one_reading" not in filled:
            del environment["PYTHONPATH"]
        process = subprocess.Popen(
            filled, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, cwd=home
        )
        # Not subprocess's wait: the system's account of exactly this child is wanted.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, filled)
    return _cpu(usage), usage.ru_maxrss * 1024


def _cpu(usage: resource.struct_rusage) -> float:
    return usage.ru_utime + usage.ru_stime
