"""A place of its own for a CLI: always the same paths, no network but loopback, no leftovers.

A recording holds absolute paths, names derived from paths, process numbers and port numbers.
Rewriting them afterwards breaks what was computed from them (slugs, digests, lengths), so
they are fixed beforehand instead: an outer network namespace holds the scripted model and
the CLI, an inner mount and PID namespace puts home, workspace and ``/tmp`` at constant
places and takes every process of the CLI with it when it ends. As root this needs nothing
else; otherwise it needs user namespaces. Where neither works the sandbox is not ``sealed``:
it runs in plain temporary directories and whoever records must say so.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from live import hooklog
from live.releases import node

HOME = "/srv/home"
WORKSPACE = "/srv/project"
CLI = "/srv/cli"
TOOLS = "/srv/tools"
PORT = 8460
MCP_COMMAND = "scenario-mcp"
"""The scenario's MCP server, on the PATH of every sandbox."""

HOOK_COMMAND = "scenario-hook"
"""What takes down the events of a CLI's hooks, named by its argument; on the PATH too."""

_POLL_SECONDS = 0.05
_REAP_SECONDS = 60.0
"""What the kernel gets to end killed processes, on a machine that has much else to do."""

_IDENTITY = {
    "GIT_AUTHOR_NAME": "Robin Field",
    "GIT_AUTHOR_EMAIL": "robin@example.com",
    "GIT_AUTHOR_DATE": "2026-01-05T09:00:00+00:00",
    "GIT_COMMITTER_NAME": "Robin Field",
    "GIT_COMMITTER_EMAIL": "robin@example.com",
    "GIT_COMMITTER_DATE": "2026-01-05T09:00:00+00:00",
    "GIT_CONFIG_NOSYSTEM": "1",
}

# Runs as the first process of the inner namespaces. Everything is gathered under one tmpfs
# before /srv and /tmp are covered, so that what lies under a covered directory stays in
# reach: bound to its old place again afterwards.
_INIT = r"""
set -e
run=$1; kept=$2; cwd=$3; shift 3
readlink /proc/self/ns/pid > "$run/namespace"
mount -t tmpfs -o mode=755 tmpfs "$run/stage"
for place in home project tools cli; do
    mkdir "$run/stage/$place"
    mount --rbind "$run/$place" "$run/stage/$place"
done
mkdir "$run/stage/.tmp" "$run/stage/.kept"
mount --rbind "$run/tmp" "$run/stage/.tmp"
number=0
while [ "$number" -lt "$kept" ]; do
    mkdir "$run/stage/.kept/$number"
    eval "mount --rbind \"\${$((number + 1))}\" \"$run/stage/.kept/$number\""
    number=$((number + 1))
done
mkdir -p /srv
mount --rbind "$run/stage" /srv
mount --rbind /srv/.tmp /tmp
number=0
while [ "$number" -lt "$kept" ]; do
    mkdir -p "$1"
    mount --rbind "/srv/.kept/$number" "$1"
    shift
    number=$((number + 1))
done
cd "$cwd"
unset OLDPWD
set +e
"$@"
exit $?
"""

# Brings loopback up without iproute2 and holds the namespace until its input is closed,
# which also happens when the holder's parent dies.
_HOLDER = """
import fcntl, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))
sys.stdout.write("up\\n"); sys.stdout.flush()
sys.stdin.read()
"""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How a run of the CLI went. ``stopped`` says that ``stop_when`` ended it with SIGKILL."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float
    stopped: bool = False
    timed_out: bool = False


class Sandbox:
    """Constant places around one installed release; use it as a context manager.

    ``home``, ``workspace`` and ``tmp`` are the outside views of ``home_inside``,
    ``workspace_inside`` and ``/tmp``. ``network`` is the command prefix that starts a
    process beside the CLI on its loopback (the scripted model).
    """

    def __init__(self, prefix: Path, *, node_at_least: int = 18) -> None:
        self.prefix = prefix
        self.node = node(node_at_least)
        self.port = PORT
        self._privileges = sealing()
        self.sealed = self._privileges is not None
        self.recordings: list[Callable[[], str]] = []
        """How to get at what went through each terminal that there was in it."""
        self._root = Path()
        self._holder: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Sandbox:
        """Lay out the directories and open the network namespace."""
        self._root = Path(tempfile.mkdtemp(prefix="transcript-conformance-")).resolve()
        for place in ("home", "project", "tools", "tmp", "stage", "cli"):
            (self._root / place).mkdir()
        (self._root / "tmp").chmod(0o1777)
        self._write_tools()
        if self._privileges is not None:
            (self._root / "cli").rmdir()
            (self._root / "cli").symlink_to(self.prefix.resolve())
            self._hold()
        else:
            self.port = 0
        return self

    def __exit__(self, *_: object) -> None:
        """End the namespace and remove every directory."""
        if self._holder is not None:
            if self._holder.stdin is not None:
                self._holder.stdin.close()
            if self._holder.stdout is not None:
                self._holder.stdout.close()
            self._holder.wait(timeout=30)
            self._holder = None
        _remove(self._root)

    @property
    def home(self) -> Path:
        """The user's home, from outside."""
        return self._root / "home"

    @property
    def workspace(self) -> Path:
        """The project directory, from outside."""
        return self._root / "project"

    @property
    def tmp(self) -> Path:
        """The private ``/tmp``, from outside."""
        return self._root / "tmp"

    @property
    def home_inside(self) -> str:
        """The user's home as the CLI knows it."""
        return HOME if self.sealed else str(self.home)

    @property
    def workspace_inside(self) -> str:
        """The project directory as the CLI knows it."""
        return WORKSPACE if self.sealed else str(self.workspace)

    @property
    def network(self) -> tuple[str, ...]:
        """The command prefix that starts a process on the CLI's loopback."""
        if self._holder is None:
            return ()
        user = ("--user", "--preserve-credentials") if self._privileges == "user" else ()
        return (_tool("nsenter"), "--target", str(self._holder.pid), "--net", *user, "--")

    @property
    def start_directory(self) -> Path:
        """Where a command is started from outside."""
        return Path("/") if self.sealed else self.workspace

    def environment(self) -> dict[str, str]:
        """Return the variables that every CLI gets before its driver adds its own."""
        tools = TOOLS if self.sealed else str(self._root / "tools")
        return {
            "PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin",
            "HOME": self.home_inside,
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color",
            "TZ": "UTC",
            "USER": "robin",
            "SHELL": "/bin/bash",
            "TMPDIR": "/tmp" if self.sealed else str(self.tmp),
            **_IDENTITY,
        }

    def lay(self, files: Mapping[str, str | bytes]) -> None:
        """Put files into the workspace and make it a git repository with one commit."""
        for name, content in files.items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        if shutil.which("git") is None:
            return
        environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), **_IDENTITY}
        environment["HOME"] = str(self.home)
        for command in (
            ("init", "--quiet", "--initial-branch=main", "--template="),
            ("add", "--all"),
            ("commit", "--quiet", "--allow-empty", "--message=Begin"),
        ):
            subprocess.run(
                ["git", *command], cwd=self.workspace, env=environment, check=True, timeout=60
            )

    def run(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str] | None = None,
        *,
        timeout: float = 120.0,
        stop_when: Callable[[], bool] | None = None,
    ) -> Ended:
        """Run the CLI in the workspace until it ends, ``stop_when`` says so, or time is up.

        No process of the run is left afterwards: RuntimeError if one is. ``argv`` may name
        files of the release by their outside paths.
        """
        started = time.monotonic()
        output, errors = self._root / "stdout", self._root / "stderr"
        stopped = timed_out = False
        with output.open("wb") as out, errors.open("wb") as err:
            process = subprocess.Popen(
                self.command(argv),
                cwd=self.start_directory,
                env={**self.environment(), **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            try:
                while True:
                    try:
                        process.wait(_POLL_SECONDS if stop_when else timeout)
                        break
                    except subprocess.TimeoutExpired:
                        stopped = stop_when is not None and stop_when()
                        timed_out = not stopped and time.monotonic() - started >= timeout
                        if stopped or timed_out:
                            break
            finally:
                self._end(process)
        return Ended(
            returncode=process.returncode,
            stdout=output.read_text(encoding="utf-8", errors="replace"),
            stderr=errors.read_text(encoding="utf-8", errors="replace"),
            seconds=time.monotonic() - started,
            stopped=stopped,
            timed_out=timed_out,
        )

    def command(self, argv: Sequence[str]) -> list[str]:
        """Return the command that runs ``argv`` inside, for who has to hold its terminal.

        It must be started as the leader of a session of its own, in :attr:`start_directory`
        with :meth:`environment`, and ended by :meth:`reap`.
        """
        if not self.sealed:
            return list(argv)
        outside = str(self.prefix)
        kept = self._kept()
        return [
            *self.network,
            _tool("unshare"),
            *("--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"),
            *("/bin/sh", "-c", _INIT, "sandbox", str(self._root), str(len(kept)), WORKSPACE),
            *kept,
            *(CLI + word[len(outside) :] if word.startswith(outside) else word for word in argv),
        ]

    def _kept(self) -> list[str]:
        """Return the directories under ``/tmp`` or ``/srv`` that the run cannot do without."""
        needed = [self.node.resolve().parent.parent, _python().parent.parent]
        hidden = (Path("/tmp"), Path("/srv"))
        return sorted({str(one) for one in needed if any(one.is_relative_to(h) for h in hidden)})

    def provide(self, programs: Mapping[str, str]) -> None:
        """Put shell scripts on the PATH, by name."""
        for name, body in programs.items():
            path = self._root / "tools" / name
            path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
            path.chmod(0o755)

    @property
    def hook_log(self) -> Path:
        """Where :data:`HOOK_COMMAND` writes, from outside."""
        return self._root / "tools" / hooklog.LOG

    def _write_tools(self) -> None:
        tools = self._root / "tools"
        (tools / "node").symlink_to(self.node.resolve())
        for command, program in ((MCP_COMMAND, "mcp_server.py"), (HOOK_COMMAND, "hooklog.py")):
            shutil.copy(Path(__file__).with_name(program), tools / program)
            script = tools / command
            script.write_text(
                f'#!/bin/sh\nexec "{_python()}" -I -S "$(dirname "$0")/{program}" "$@"\n',
                encoding="utf-8",
            )
            script.chmod(0o755)

    def _hold(self) -> None:
        user = ("--map-root-user",) if self._privileges == "user" else ()
        self._holder = subprocess.Popen(
            [_tool("unshare"), *user, "--net", "--", _python(), "-I", "-S", "-c", _HOLDER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        ready = self._holder.stdout.readline() if self._holder.stdout else b""
        if ready != b"up\n":
            raise RuntimeError("the network namespace did not come up")

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """Kill what is left of a run and prove that nothing is."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=30)
        self.reap(process.pid)

    def reap(self, group: int) -> None:
        """Kill a process group whose leader has been waited for, and prove that it is gone."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        deadline = time.monotonic() + _REAP_SECONDS
        while self._left(group):
            if time.monotonic() > deadline:
                raise RuntimeError("a process of the CLI survived SIGKILL")
            time.sleep(_POLL_SECONDS)

    def _left(self, group: int) -> bool:
        mark = self._root / "namespace"
        if self.sealed and mark.exists():
            return any(_members(mark.read_text(encoding="utf-8").strip()))
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        return True


@cache
def sealing() -> Literal["root", "user"] | None:
    """Return how namespaces can be had here: as root, by user namespaces, or not at all."""
    if not all(shutil.which(name) for name in ("unshare", "nsenter", "mount")):
        return None
    ways: tuple[tuple[Literal["root", "user"], tuple[str, ...]], ...] = (
        ("root", ()),
        ("user", ("--map-root-user",)),
    )
    for way, flags in ways:
        inner = ("--net", "--mount", "--pid", "--fork", "--mount-proc", "--")
        probe = ("/bin/sh", "-c", "mount -t tmpfs tmpfs /tmp")
        done = subprocess.run(
            [_tool("unshare"), *flags, *inner, *probe],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=30,
        )
        if done.returncode == 0:
            return way
    return None


def _members(namespace: str) -> Iterator[int]:
    """Yield the processes alive in a PID namespace. The dead that nobody has asked after yet
    don't count: the namespace's first process dies last."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                inside = str((entry / "ns" / "pid").readlink()) == namespace
                if inside and (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    yield int(entry.name)


def _python() -> Path:
    """Return the interpreter itself, not a virtual environment's link to it."""
    return Path(sys.executable).resolve()


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise RuntimeError(f"{name} is not installed (package util-linux)")
    return found


def _remove(root: Path) -> None:
    """Remove a tree whose directories a CLI may have made unwritable."""
    for parent, directories, _ in os.walk(root):
        for name in directories:
            path = Path(parent, name)
            if not path.is_symlink():
                path.chmod(stat.S_IRWXU)
    shutil.rmtree(root)
