"""An adapter's process: lines in, lines out, each within a deadline, and nothing left behind.

What comes back is raw: one line, or a :class:`TransportFault` of a kind of its own that says how
the process failed to give one. A process that broke the wire once is ended; whoever asks on starts
another.
"""

from __future__ import annotations

import codecs
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from conformance.adapters.errors import Crashed, Hung, Noise, NotStarted

_LOOK_SECONDS = 0.2
"""How often a silent process is looked at: it may have ended while a child of it holds the pipe."""

_REAP_SECONDS = 30.0
_AT_ONCE = 1 << 20
_LONGEST_LINE = 1 << 30
_LAST_WORDS = 2000
_EXCERPT = 80

_HOMES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME")
"""What would lead an adapter away from the home that it is asked about."""


class AdapterProcess:
    """One process of a command, in a process group of its own, in ``directory`` if one is given."""

    def __init__(self, name: str, argv: Sequence[str], directory: Path | None = None) -> None:
        self._name = name
        self._buffer = bytearray()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        environment = {key: value for key, value in os.environ.items() if key not in _HOMES}
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=environment,
                cwd=directory,
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            self._errors.close()
            raise NotStarted(
                name,
                f"can't be started: {error}",
                next_step="see that the command runs in this directory, and is executable",
            ) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)

    @property
    def pid(self) -> int:
        """The process, which leads its group."""
        return self._process.pid

    def exchange(self, request: bytes, what: str, seconds: float) -> bytes:
        """Send a line and return the line that comes back, without its end."""
        deadline = time.monotonic() + seconds
        pending = memoryview(request)
        looked = 0
        while True:
            if not pending and (end := self._buffer.find(b"\n", looked)) >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                return line
            looked = len(self._buffer) if not pending else 0
            self._refuse_endless()
            if time.monotonic() > deadline:
                raise self._hung(f"no answer to {what} within {seconds:g} s")
            came, pending = self._turn(pending, deadline)
            if came is None:
                raise self._crashed(what)

    def end_well(self, request: bytes, seconds: float) -> None:
        """Tell the process to stop and see it end: at once, in silence and with exit code 0."""
        deadline = time.monotonic() + seconds
        pending = memoryview(request)
        open_ = True
        while open_:
            if not pending:
                with suppress(OSError):
                    self._close_input()
            if time.monotonic() > deadline:
                raise self._hung(f"still there {seconds:g} s after it was told to stop")
            came, pending = self._turn(pending, deadline)
            self._refuse_endless()
            open_ = came is not None
        try:
            status = self._process.wait(max(deadline - time.monotonic(), _LOOK_SECONDS))
        except subprocess.TimeoutExpired:
            raise self._hung(f"still there {seconds:g} s after it was told to stop") from None
        if self._buffer:
            said = excerpt(bytes(self._buffer))
            raise Noise(
                self._name,
                f"wrote {said} after it was told to stop",
                next_step="answer each request once, and stop not at all",
                stderr=self.last_words(),
            )
        if status != 0:
            raise Crashed(
                self._name,
                f"{_ended(status)} when it was told to stop",
                status,
                stderr=self.last_words(),
            )

    def kill(self) -> None:
        """End the whole process group and prove that nothing is left of it."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait(_REAP_SECONDS)
        deadline = time.monotonic() + _REAP_SECONDS
        while _exists(self.pid):
            if time.monotonic() > deadline:
                raise RuntimeError(f"process group {self.pid} of {self._name} survived SIGKILL")
            time.sleep(_LOOK_SECONDS)
        with suppress(OSError):
            self._close_input()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._errors.close()

    def last_words(self) -> str:
        """Return the end of what the process wrote to its standard error."""
        size = os.fstat(self._errors.fileno()).st_size
        start = max(size - _LAST_WORDS, 0)
        said = os.pread(self._errors.fileno(), _LAST_WORDS, start)
        return said.decode("utf-8", "replace").strip()

    def _turn(self, pending: memoryview, deadline: float) -> tuple[int | None, memoryview]:
        """Send and take what can be for a moment.

        Returns how many bytes came, None when no more can, and what is still to be sent.
        """
        with selectors.DefaultSelector() as ready:
            ready.register(self._out, selectors.EVENT_READ)
            if pending:
                ready.register(self._in, selectors.EVENT_WRITE)
            left = max(deadline - time.monotonic(), 0.0)
            events = {key.fd for key, _ in ready.select(min(left, _LOOK_SECONDS))}
        if self._in in events:
            pending = self._send(pending)
        if self._out not in events:
            return (None if not events and self._process.poll() is not None else 0), pending
        came = os.read(self._out, _AT_ONCE)
        self._buffer += came
        return (len(came) or None), pending

    def _send(self, pending: memoryview) -> memoryview:
        try:
            return pending[os.write(self._in, pending[:_AT_ONCE]) :]
        except BlockingIOError:
            return pending
        except BrokenPipeError:
            # It reads no more; what it has still to say, or how it ended, tells why.
            return pending[len(pending) :]

    def _close_input(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()

    def _refuse_endless(self) -> None:
        if len(self._buffer) > _LONGEST_LINE:
            raise Noise(self._name, f"writes more than {_LONGEST_LINE} bytes without a line's end")

    def _hung(self, why: str) -> Hung:
        half = "; the beginning of a line came" if self._buffer else ""
        return Hung(self._name, why + half, stderr=self.last_words())

    def _crashed(self, what: str) -> Crashed:
        """Tell how it ended; one that only closed its output is ended here."""
        try:
            status = self._process.wait(_LOOK_SECONDS)
            how = _ended(status)
        except subprocess.TimeoutExpired:
            os.killpg(self.pid, signal.SIGKILL)
            status = self._process.wait(_REAP_SECONDS)
            how = "closed its standard output"
        half = ", with half a line written" if self._buffer else ""
        why = f"{how} before it had answered {what}{half}"
        return Crashed(self._name, why, status, stderr=self.last_words())


def _ended(status: int) -> str:
    if status < 0:
        try:
            return f"was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"was ended by signal {-status}"
    return f"ended with exit code {status}"


def excerpt(raw: bytes) -> str:
    """Return the beginning of what a process wrote, as text if it is text."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(raw[:_EXCERPT])
    except UnicodeDecodeError:
        return repr(raw[:_EXCERPT])
    return repr(text) + ("…" if len(raw) > _EXCERPT else "")


def _exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
