"""Other tools that read whole sessions, on the same file in the same run.

Each is installed from PyPI into an environment of its own, once and only when asked
(``--install-peers``); a run itself downloads nothing and gives each tool an empty home.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from msgspec.structs import replace

from conformance.bench.results import Peer
from conformance.corpus import cache_directory

_ROOT = Path(__file__).parent.parent.parent
_PYTHONS = ("python3.13", "python3.12")
"""Some of them need a newer Python than this project does."""


class _Tool(NamedTuple):
    """One tool: the package that it comes in, what it does, and how it is called on a file.

    A command's ``{bin}``, ``{file}`` and ``{out}`` are filled in.
    """

    package: str
    version: str
    does: str
    command: tuple[str, ...]


def _python(code: str) -> tuple[str, ...]:
    return ("{bin}/python", "-c", code, "{file}")


_TOOLS = (
    _Tool(
        "cc-transcript",
        "14.45.3",
        "statistics only (Rust)",
        ("{bin}/cc-transcript", "stats", "{file}"),
    ),
    _Tool(
        "agent-session-bridge",
        "0.5.0",
        "reads whole, prints counts (Python)",
        ("{bin}/session-bridge", "inspect", "--from", "claude-code", "{file}"),
    ),
    _Tool(
        "atif-make",
        "0.10.0",
        "reads whole, writes ATIF (Python)",
        ("{bin}/atif-make", "convert", "{file}", "-o", "{out}/out.json"),
    ),
    _Tool(
        "cc-session-core",
        "0.2.0",
        "typed records, streamed (Python, pydantic)",
        _python(
            "import pathlib, sys; from cc_session_core import iter_records\n"
            "print(sum(1 for _ in iter_records(pathlib.Path(sys.argv[1]))))"
        ),
    ),
    _Tool(
        "hypabolic-trajectory",
        "0.1.4",
        "reads whole into its own form (Python)",
        _python(
            "import sys, hypabolic_trajectory as h\n"
            "h.normalize_to_ir(h.NormalizeRequest(source='claude-code', "
            "transcript=open(sys.argv[1], 'rb').read()))"
        ),
    ),
    _Tool(
        "claude-code-log",
        "1.7.0",
        "reads whole, writes JSON (Python, pydantic)",
        ("{bin}/claude-code-log", "{file}", "-o", "{out}/out.json"),
    ),
)

_OURS = (
    ("bare orjson.loads", "parses each line, keeps nothing", "bare"),
    ("transcripts, whole", "reads whole into the normalised model (Python)", "whole"),
    ("transcripts, streamed", "the same, message by message (Python)", "stream"),
)

_NOT_HERE = (
    ("ccusage", "18.0.11", "sums tokens only, over a whole home: not the same work"),
    ("casr, txcript, continues, traces", "", "not to be had from PyPI or npm"),
)


def _home(tool: _Tool) -> Path:
    return cache_directory() / "peers" / f"{tool.package}-{tool.version}"


def install_all(say: Callable[[str], None]) -> None:
    """Install every tool that is not there yet; one that cannot be is left out."""
    python = next(filter(_runs, _PYTHONS), sys.executable)
    for tool in _TOOLS:
        home = _home(tool)
        if (home / "installed").exists():
            continue
        shutil.rmtree(home, ignore_errors=True)
        say(f"installing {tool.package} {tool.version}")
        subprocess.run([python, "-m", "venv", str(home)], check=True)
        pip = [str(home / "bin" / "pip"), "install", "--quiet"]
        done = subprocess.run([*pip, f"{tool.package}=={tool.version}"], check=False)
        if done.returncode == 0:
            (home / "installed").touch()


def _runs(python: str) -> bool:
    if shutil.which(python) is None:
        return False
    return subprocess.run([python, "--version"], check=False, capture_output=True).returncode == 0


def measure_peers(path: Path, tiny: Path, runs: int) -> Iterator[Peer]:
    """Measure this project's reader and every installed tool on one session of Claude Code.

    ``tiny`` is a session of a few records: what the same command needs for it is its start-up.
    """
    base: float | None = None
    for name, does, way in _OURS:
        command = [sys.executable, "-m", "conformance.bench.one_reading", way, "claude", "{file}"]
        peer = _measured(Peer(name=name, version="", does=does), command, path, tiny, runs, base)
        base = base or peer.cpu_s
        yield peer
    for tool in _TOOLS:
        peer = Peer(name=tool.package, version=tool.version, does=tool.does)
        if not (_home(tool) / "installed").exists():
            yield replace(peer, why="not installed (--install-peers)")
            continue
        binaries = str(_home(tool) / "bin")
        command = [word.replace("{bin}", binaries) for word in tool.command]
        yield _measured(peer, command, path, tiny, runs, base)
    for name, version, why in _NOT_HERE:
        yield Peer(name=name, version=version, does="", why=why)


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
