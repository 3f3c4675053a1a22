"""A CLI that is asked in JSON-RPC over its standard input: one line a message, with deadlines."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, Any

from live.sandbox import Sandbox

_SECONDS = 120.0
"""What one answer may take: CLIs start five times slower on a machine that has much to do."""

_NO_SUCH_METHOD = -32601
_LAST_LINES = 40


class Refused(Exception):
    """The CLI answered with an error; the message holds its code and everything it said."""


class Unanswered(Exception):
    """No answer came: the process ended, or the time is up; the message says which."""


class Peer:
    """A process in a sandbox that is asked questions; use it as a context manager.

    What it tells unasked is kept in :attr:`told`, in order; what it asks in its turn is
    declined. Nothing of it is left afterwards.
    """

    def __init__(self, box: Sandbox, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self.told: list[dict[str, Any]] = []
        self._box = box
        self._asked = 0
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._last_words: deque[bytes] = deque(maxlen=_LAST_LINES)
        self._process = subprocess.Popen(
            box.command(argv),
            cwd=box.start_directory,
            env={**box.environment(), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._input, self._output, self._errors = _pipes(self._process)
        self._reading = [
            threading.Thread(target=reads, daemon=True) for reads in (self._read, self._overhear)
        ]
        for thread in self._reading:
            thread.start()

    def __enter__(self) -> Peer:
        """Lend the process."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Kill the process and everything that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(timeout=30)
        self._box.reap(self._process.pid)
        for thread in self._reading:
            thread.join(timeout=30)
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        self._output.close()
        self._errors.close()

    def ask(self, method: str, parameters: Mapping[str, Any], seconds: float = _SECONDS) -> Any:
        """Return the result of a method; :class:`Refused` or :class:`Unanswered` if none comes."""
        self._asked += 1
        number = self._asked
        self._send({"id": number, "method": method, "params": dict(parameters)}, method)
        deadline = time.monotonic() + seconds
        while True:
            message = self._next(method, deadline, seconds)
            if "method" in message and "id" in message:
                error = {"code": _NO_SUCH_METHOD, "message": "nobody is here to answer this"}
                self._send({"id": message["id"], "error": error}, method)
            elif "method" in message:
                self.told.append(message)
            elif message.get("id") == number and "error" in message:
                raise Refused(_said(method, message["error"]))
            elif message.get("id") == number:
                return message.get("result")

    def tell(self, method: str) -> None:
        """Send a notification."""
        self._send({"method": method}, method)

    def _send(self, message: Mapping[str, Any], method: str) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        try:
            self._input.write(line)
            self._input.flush()
        except BrokenPipeError:
            raise Unanswered(self._ended(method)) from None

    def _next(self, method: str, deadline: float, seconds: float) -> dict[str, Any]:
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise Unanswered(f"{method}: no answer within {seconds:.0f} s") from None
            if line is None:
                raise Unanswered(self._ended(method))
            try:
                message = json.loads(line)
            except ValueError:
                # Some releases print a word of their own before they speak the protocol.
                continue
            if isinstance(message, dict):
                return message

    def _read(self) -> None:
        for line in self._output:
            self._lines.put(line)
        self._lines.put(None)

    def _overhear(self) -> None:
        for line in self._errors:
            self._last_words.append(line)

    def _ended(self, method: str) -> str:
        self._reading[1].join(timeout=30)
        said = b"".join(self._last_words).decode(errors="replace").strip()
        return f"{method}: the process ended; stderr: {said[-600:] or 'empty'}"


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdin, process.stdout, process.stderr


def _said(method: str, error: Any) -> str:
    if not isinstance(error, Mapping):
        return f"{method}: {error}"
    data = error.get("data")
    more = "" if data is None else f" ({json.dumps(data, ensure_ascii=False)})"
    return f"{method}: {error.get('code')} {error.get('message')}{more}"
