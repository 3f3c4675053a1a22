"""A CLI in a real terminal: what a person types, and what stands on the screen.

pexpect holds the terminal, pyte draws what the CLI writes to it, so that a driver looks at
the same characters as a person would. CLIs ask terminals what they can do; the answers given
here are those of a plain xterm.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pexpect
import pyte

from live.conversation import Silent
from live.sandbox import Sandbox

COLUMNS, ROWS = 120, 40
ENTER, ESCAPE, TAB, UP, DOWN = "\r", "\x1b", "\t", "\x1b[A", "\x1b[B"
LEFT = "\x1b[D"
CONTROL_C, CONTROL_D, CONTROL_U = "\x03", "\x04", "\x15"

_KEY_SECONDS = 0.4
"""Between what is typed and the key that sends it: CLIs take both at once for a paste."""
_WAIT_SECONDS = 60.0
_END_SECONDS = 20.0
_POLL_SECONDS = 0.05

# Sequences that pyte does not know and would print: the kitty keyboard protocol's and the
# modifyOtherKeys switches.
_UNKNOWN = re.compile(r"\x1b\[[<>=?][0-9;]*[um]")
_ATTRIBUTES = "\x1b[?62;22c"


class _Screen(pyte.Screen):
    """pyte's screen, answering the questions that CLIs ask a terminal."""

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__(columns, rows)
        self.answers: list[str] = []

    def report_device_status(self, mode: int, **_: Any) -> None:
        if mode == 5:
            self.answers.append("\x1b[0n")
        elif mode == 6:
            self.answers.append(f"\x1b[{self.cursor.y + 1};{self.cursor.x + 1}R")

    def report_device_attributes(self, mode: int = 0, **_: Any) -> None:
        self.answers.append(_ATTRIBUTES)


class Terminal:
    """One process in a terminal of its own; :meth:`end` or :meth:`kill` it."""

    def __init__(self, box: Sandbox, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        command = box.command(argv)
        self._box = box
        self._screen = _Screen(COLUMNS, ROWS)
        self._stream = pyte.Stream(self._screen)
        self._process = pexpect.spawn(
            command[0],
            command[1:],
            env={**box.environment(), **environment},
            cwd=str(box.start_directory),
            dimensions=(ROWS, COLUMNS),
            encoding="utf-8",
            codec_errors="replace",
            timeout=None,
        )
        self._group = int(self._process.pid or 0)
        self._changed = time.monotonic()

    def look(self) -> str:
        """Return what stands on the screen, line by line, after reading what was written."""
        while not self._process.closed:
            try:
                written = self._process.read_nonblocking(65536, timeout=0)
            except (pexpect.TIMEOUT, pexpect.EOF):
                break
            self._changed = time.monotonic()
            self._stream.feed(_UNKNOWN.sub("", written))
            self._reply()
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    def still(self, seconds: float) -> bool:
        """Return whether nothing was written for so long."""
        self.look()
        return time.monotonic() - self._changed >= seconds

    def wait(self, holds: Callable[[str], Any], what: str, seconds: float = _WAIT_SECONDS) -> str:
        """Wait until a test of the screen holds, and return it; Silent says ``what`` did not."""
        deadline = time.monotonic() + seconds
        while True:
            # Asked first: what it wrote before it ended is then on the screen.
            ended = self.ended()
            shown = self.look()
            if holds(shown):
                return shown
            if ended or time.monotonic() > deadline:
                gone = " before it ended" if ended else ""
                raise Silent(f"it did not {what}{gone}; it shows:\n{shown}")
            time.sleep(_POLL_SECONDS)

    def press(self, keys: str) -> None:
        """Press keys (``ENTER``, ``ESCAPE`` …) or type characters, as they are."""
        self._process.send(keys)
        time.sleep(_KEY_SECONDS)

    def submit(self, words: str) -> None:
        """Type words and send them."""
        self.press(words)
        self.look()
        self.press(ENTER)

    def ended(self) -> bool:
        """Return whether the process has gone."""
        self.look()
        return self._process.closed or not self._process.isalive()

    def end(self, seconds: float = _END_SECONDS) -> None:
        """Wait for the end that was asked for; Silent if it does not come."""
        deadline = time.monotonic() + seconds
        while not self.ended():
            if time.monotonic() > deadline:
                raise Silent(f"it did not end; it shows:\n{self.look()}")
            time.sleep(_POLL_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill what is left of the process and everything that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, signal.SIGKILL)
        self._process.close(force=True)
        self._box.reap(self._group)

    def _reply(self) -> None:
        for answer in self._screen.answers:
            self._process.send(answer)
        self._screen.answers.clear()
