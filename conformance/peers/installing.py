"""A peer in an environment of its own: installed once, from PyPI or npm, and only when asked."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from conformance.corpus import cache_directory
from conformance.peers.listing import Peer, PeerError
from live.releases import ReleaseError, node

_SECONDS = 1200
_SAID = 300


def environment(peer: Peer) -> Path:
    """Return the directory of a peer's own environment, whether it is there or not."""
    return cache_directory() / "peers" / f"{peer.name}-{peer.version}"


def commands(peer: Peer) -> Path:
    """Return where the peer's own commands are."""
    base = environment(peer)
    return base / ("bin" if peer.ecosystem == "pypi" else "node_modules/.bin")


def is_installed(peer: Peer) -> bool:
    """Whether a peer is in its environment, whole."""
    return (environment(peer) / "installed").exists()


def interpreter(peer: Peer) -> str:
    """Return the Python that runs a peer's bridge: its environment's, else ours."""
    return str(commands(peer) / "python") if peer.ecosystem == "pypi" else sys.executable


def variables(peer: Peer, home: Path) -> Mapping[str, str]:
    """Return the environment variables that a peer's process has, and no others."""
    path = f"{commands(peer)}:/usr/local/bin:/usr/bin:/bin"
    if peer.ecosystem == "npm":
        path = f"{node(peer.node).parent}:{path}"
    return {
        "PATH": path,
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "NO_COLOR": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def install(peer: Peer, say: Callable[[str], None]) -> None:
    """Install a peer unless it is there; :class:`PeerError` if it can't be."""
    if peer.unavailable:
        raise PeerError(f"{peer.name} can't be installed: {peer.unavailable}")
    place = environment(peer)
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f".{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_installed(peer):
            return
        say(f"installing {peer.package} {peer.version}")
        shutil.rmtree(place, ignore_errors=True)
        if peer.ecosystem == "pypi":
            _run(peer, python(peer.python), "-m", "venv", str(place))
            named = f"{peer.package}=={peer.version}"
            pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
            _run(peer, str(place / "bin" / "python"), *pip, named, *peer.packages)
        else:
            try:
                node(peer.node)
            except ReleaseError as error:
                raise PeerError(f"{peer.name} can't be installed: {error}") from error
            named = f"{peer.package}@{peer.version}"
            npm = ("npm", "install", "--no-audit", "--no-fund", "--prefix", str(place))
            _run(peer, *npm, named, *peer.packages)
        (place / "installed").touch()


def python(at_least: str) -> str:
    """Return a Python of this version or newer: this one if it will do."""
    wanted = tuple(map(int, at_least.split(".")))
    if sys.version_info >= wanted:
        return sys.executable
    for found, path in _pythons():
        if found >= wanted:
            return path
    raise PeerError(f"no Python {at_least} or newer is here; install one, or put it on PATH")


@cache
def _pythons() -> tuple[tuple[tuple[int, ...], str], ...]:
    """Return the newer Pythons that run here, the oldest first, with their versions."""
    return tuple(
        ((3, minor), path)
        for minor in range(sys.version_info.minor + 1, 20)
        for path in _candidates(minor)
        if _runs(path)
    )


def _candidates(minor: int) -> Iterator[str]:
    yield f"python3.{minor}"
    # Interpreters that pyenv keeps are on no PATH.
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from map(str, sorted(root.glob(f"versions/3.{minor}.*/bin/python3.{minor}")))


def _runs(path: str) -> bool:
    if shutil.which(path) is None:
        return False
    return subprocess.run([path, "--version"], check=False, capture_output=True).returncode == 0


def _run(peer: Peer, *command: str) -> None:
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise PeerError(f"{peer.name} can't be installed: {error}") from error
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())[-_SAID:]
        raise PeerError(f"{peer.name} can't be installed: {said}")
