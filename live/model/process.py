"""The scripted model's process, started and proved gone."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import msgspec

from live.model import log
from live.model.play import Play

_START = 90.0
_END = 30.0
_SOURCE = Path(__file__).resolve().parents[2]


class StillRunning(Exception):
    """A process that had to end is still there."""


def command(play: Path, log_path: Path, port: int = 0) -> list[str]:
    """Return the arguments that start the server, from any directory."""
    start = f"import sys; sys.path.insert(0, {str(_SOURCE)!r}); "
    start += "from live.model.server import main; main()"
    options = ["--play", str(play), "--log", str(log_path), "--port", str(port)]
    return [sys.executable, "-c", start, *options]


class ScriptedModel:
    """A scripted model for as long as the context lasts.

    ``prefix`` stands before the server's command, to start it inside a namespace.
    ``exchanges`` may be asked at any time, also after the process is gone.
    """

    port: int
    pid: int
    """The server's process and the group that ends with it."""

    def __init__(
        self, play: Play, log_path: Path, port: int = 0, *, prefix: Sequence[str] = ()
    ) -> None:
        self._play = play
        self._log_path = log_path
        self._asked_port = port
        self._prefix = prefix

    def __enter__(self) -> ScriptedModel:
        """Start the server and wait until it listens."""
        self._directory = tempfile.TemporaryDirectory(prefix="scripted-model-")
        path = Path(self._directory.name) / "play.json"
        path.write_text(json.dumps(msgspec.to_builtins(self._play)), encoding="ascii")
        errors = (Path(self._directory.name) / "stderr").open("w+")
        try:
            self._process = subprocess.Popen(
                [*self._prefix, *command(path, self._log_path, self._asked_port), "--attended"],
                # Its end tells the server that nobody is left to end it.
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
            self.pid = self._process.pid
            try:
                self.port = _announced_port(self._process)
            except ValueError:
                self._end()
                errors.seek(0)
                raise RuntimeError(f"the scripted model did not start: {errors.read()}") from None
        finally:
            errors.close()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the server's whole process group; :class:`StillRunning` if it is not gone."""
        self._end()

    def exchanges(self) -> list[log.Exchange]:
        """Return what was asked and answered so far, in the order of asking."""
        return log.read(self._log_path)

    def _end(self) -> None:
        group = self.pid
        try:
            os.killpg(group, signal.SIGTERM)
            self._process.wait(_END)
        except subprocess.TimeoutExpired:
            os.killpg(group, signal.SIGKILL)
            self._process.wait(_END)
        except ProcessLookupError:
            self._process.wait(_END)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._directory.cleanup()
        if _exists(group):
            os.killpg(group, signal.SIGKILL)
            raise StillRunning(f"process group {group} of the scripted model outlived it")


def _announced_port(process: subprocess.Popen[bytes]) -> int:
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], _START)
    return int(json.loads(process.stdout.readline())["port"]) if ready else int("")


def _exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
