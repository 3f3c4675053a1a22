"""A person's own CLI as it stands on the PATH: which it is, where it keeps sessions, how to ask it.

It is asked in print mode only, with the person's environment unchanged and in a directory made for
it, and may do no more than the question needs: edit files there, run the programs that lie there.
What it says on its standard error is read by nobody, since what it tells of a login may be secret.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import msgspec

ANSWER_SECONDS = 900.0
"""What a prompt may take: a real model thinks, and a provider has it wait."""

_VERSION_SECONDS = 120.0
_POLL_SECONDS = 0.05
_SETTLE_SECONDS = 1.0
"""What a CLI gets to write down what was done before it is killed."""

_VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]*[0-9A-Za-z])?")


class NotHere(Exception):
    """A person has no such CLI; the message says what was looked for."""


class May(msgspec.Struct, frozen=True, kw_only=True):
    """What a CLI may do without anybody to ask: ``edits`` in its directory, run ``programs``."""

    edits: bool = False
    programs: tuple[str, ...] = ()


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a CLI answered. ``stopped`` says that ``stop_when`` ended it with SIGKILL."""

    text: str
    exit_code: int
    stopped: bool = False
    timed_out: bool = False


class OwnCli(ABC):
    """What is known of one CLI, whichever release of it a person has.

    ``directory`` is what it keeps in the user's home, unless ``variable`` says where; sessions
    are below ``keeps`` in it. ``request_tokens`` is about how much each request says before a
    word of the conversation: instructions and tools.
    """

    agent: ClassVar[str]
    command: ClassVar[str]
    directory: ClassVar[str]
    variable: ClassVar[str]
    keeps: ClassVar[str]
    request_tokens: ClassVar[int]

    def __init__(self, program: Path, version: str) -> None:
        self.program = program
        self.version = version

    @classmethod
    def root(cls, environment: Mapping[str, str]) -> Path:
        """Return the directory that a CLI started with this environment keeps its data in."""
        own = environment.get(cls.variable)
        return Path(own) if own else Path(environment.get("HOME", "~")).expanduser() / cls.directory

    @classmethod
    def files(cls, root: Path) -> Iterator[Path]:
        """Yield every file in which sessions are kept under a root."""
        for parent, _, names in os.walk(root / cls.keeps):
            for name in names:
                path = Path(parent, name)
                if path.is_file() and not path.is_symlink():
                    yield path

    @abstractmethod
    def arguments(self, prompt: str, may: May, *, resume: str | None = None) -> Sequence[str]:
        """Return the arguments of one prompt in print mode, after which the answer and nothing
        else stands on standard output; of a new session, or of one that is gone on with."""

    @staticmethod
    @abstractmethod
    def session_id(path: Path) -> str | None:
        """Return the id of the session whose main file this is; None for any other file."""


def ask(
    cli: OwnCli,
    arguments: Sequence[str],
    directory: Path,
    *,
    stop_when: Callable[[], bool] | None = None,
    seconds: float = ANSWER_SECONDS,
) -> Reply:
    """Start a person's CLI with a prompt, in its environment as it is, until it has answered, for a
    moment after ``stop_when`` says so, or until time is up. Nothing of it is left running."""
    deadline = time.monotonic() + seconds
    stopped = timed_out = False
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [str(cli.program), *arguments],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            while process.poll() is None and not stopped and not timed_out:
                stopped = stop_when is not None and stop_when()
                timed_out = not stopped and time.monotonic() > deadline
                time.sleep(_SETTLE_SECONDS if stopped else _POLL_SECONDS)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=60)
        output.seek(0)
        text = output.read().decode("utf-8", errors="replace")
    return Reply(text=text, exit_code=process.returncode, stopped=stopped, timed_out=timed_out)


_CLIS = {
    "claude": "live.agents.claude.own:OwnClaude",
    "codex": "live.agents.codex.own:OwnCodex",
    "copilot": "live.agents.copilot.own:OwnCopilot",
}


def agents() -> tuple[str, ...]:
    """Return the names of the agents whose CLIs can be asked."""
    return tuple(_CLIS)


def own_cli(agent: str) -> type[OwnCli]:
    """Return what is known of an agent's CLI; KeyError if nothing is."""
    module, _, name = _CLIS[agent].partition(":")
    return getattr(import_module(module), name)


def find(agent: str) -> OwnCli:
    """Return a person's CLI, from the PATH; :class:`NotHere` if it has none that starts."""
    kind = own_cli(agent)
    program = shutil.which(kind.command)
    if program is None:
        raise NotHere(f"no {kind.command} on the PATH")
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=_VERSION_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        raise NotHere(f"{program} does not tell its version") from None
    found = _VERSION.search(done.stdout.decode("utf-8", errors="replace"))
    if done.returncode or found is None:
        raise NotHere(f"{program} does not tell its version")
    return kind(Path(program), found[0])
