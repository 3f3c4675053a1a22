"""A CLI in a real terminal: what a person types, and what stands on the screen.

pexpect holds the terminal, :mod:`live.screen` draws what the CLI writes to it and answers what it
asks, so that a driver looks at the same characters as a person would. Whatever is waited for is
waited for on the screen, until a deadline: CLIs are many times slower on a machine that has much
else to do. All that went through it is kept, to be looked at again (:mod:`live.asciicast`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pexpect

from live.asciicast import Recording
from live.conversation import Silent
from live.sandbox import Sandbox
from live.screen import (
    COLUMNS,
    CONTROL_C,
    CONTROL_D,
    CONTROL_U,
    DOWN,
    ENTER,
    ESCAPE,
    LEFT,
    ROWS,
    TAB,
    UP,
    Screen,
)

__all__ = [
    "COLUMNS",
    "CONTROL_C",
    "CONTROL_D",
    "CONTROL_U",
    "DOWN",
    "ENTER",
    "ESCAPE",
    "LEFT",
    "ROWS",
    "TAB",
    "UP",
    "Terminal",
]

_KEY_SECONDS = 0.4
"""Between what is typed and the key that sends it: CLIs take both at once for a paste, in which
Enter is a new line. Codex goes on doing so for a moment after the last character."""

_WAIT_SECONDS = 180.0
_END_SECONDS = 90.0
_POLL_SECONDS = 0.05
_ECHO_SECONDS = 20.0
_SENT_SECONDS = 10.0
_READS = 50
"""How often is read on before what stands there is looked at: a CLI may write without end."""

_TYPINGS = 3
_SENDINGS = 6
_BEGINNING = 20
"""How many characters of what was typed are looked for, blanks and frames left out."""

_LINE = 80
"""How many of them are seen to arrive: fewer than stand in one line."""


class Terminal:
    """One process in a terminal of its own; :meth:`end` or :meth:`kill` it."""

    def __init__(self, box: Sandbox, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        command = box.command(argv)
        given = {**box.environment(), **environment}
        self._box = box
        self._screen = Screen(COLUMNS, ROWS)
        self._recording = Recording(COLUMNS, ROWS, given["TERM"])
        box.recordings.append(self._recording.text)
        self._process = pexpect.spawn(
            command[0],
            command[1:],
            env=given,
            cwd=str(box.start_directory),
            dimensions=(ROWS, COLUMNS),
            encoding="utf-8",
            codec_errors="replace",
            timeout=None,
        )
        self._process.delaybeforesend = None
        self._group = int(self._process.pid or 0)
        self._finished = False
        self._changed = time.monotonic()

    def look(self) -> str:
        """Return what stands on the screen, line by line, after reading what was written."""
        for _ in range(_READS):
            if not self._read(0):
                break
        return self._screen.shown()

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
                raise self.silent(f"did not {what}{' before it ended' if ended else ''}")
            self._read(_POLL_SECONDS)

    def comes(self, holds: Callable[[str], Any], seconds: float) -> bool:
        """Return whether a test of the screen holds within so long, or the process ends."""
        deadline = time.monotonic() + seconds
        while not (holds(self.look()) or self.ended()):
            if time.monotonic() > deadline:
                return False
            self._read(_POLL_SECONDS)
        return True

    def silent(self, what: str) -> Silent:
        """Return the error that says what the CLI did not do, what it shows instead, and how it
        came to that."""
        shown = self.look()
        return Silent(f"it {what}; it shows:\n{shown}", self.recording())

    def press(self, keys: str) -> None:
        """Press keys (``ENTER``, ``ESCAPE`` …) or type characters, as they are."""
        self._send(self._screen.sent_for(keys))
        pause = time.monotonic() + _KEY_SECONDS
        while (left := pause - time.monotonic()) > 0:
            self._read(left)

    def submit(self, words: str) -> None:
        """Type words and send them."""
        self.press(words)
        self.press(ENTER)

    def enter(self, words: str, line: Callable[[str], str], key: str = ENTER) -> None:
        """Type words where ``line`` finds on the screen what is typed, and send them by a key.

        A CLI that changes how its terminal behaves drops what it has not read yet: what was
        typed is seen to stand there before the key is pressed, else it is typed again.
        """
        for _ in range(_TYPINGS):
            self.press(words)
            # Seen to its end: the last of it is taken a moment later, or not before the key.
            whole = self.comes(_stands(words, line, _LINE), _ECHO_SECONDS)
            if whole or _stands(words, line)(self.look()):
                return self.send(words, line, key)
            self.press(CONTROL_U)
        raise self.silent(f"did not take {words!r}")

    def send(self, words: str, line: Callable[[str], str], key: str = ENTER) -> None:
        """Press the key that sends what was typed, until it has gone: a CLI that still has
        something to draw lets a key go by."""
        stands = _stands(words, line)
        for _ in range(_SENDINGS):
            self.press(key)
            if self.comes(lambda shown: not stands(shown), _SENT_SECONDS):
                return
        raise self.silent(f"did not let {words!r} be sent")

    def ended(self) -> bool:
        """Return whether the process has gone."""
        self.look()
        return self._process.closed or not self._process.isalive()

    def end(self, seconds: float = _END_SECONDS) -> None:
        """Wait for the end that was asked for; Silent if it does not come."""
        deadline = time.monotonic() + seconds
        while not self.ended():
            if time.monotonic() > deadline:
                raise self.silent("did not end")
            self._read(_POLL_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill what is left of the process and everything that it started."""
        if self._process.closed:
            return
        self.look()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, signal.SIGKILL)
        deadline = time.monotonic() + _END_SECONDS
        while self._process.isalive() and time.monotonic() < deadline:
            self._read(_POLL_SECONDS)
        self._process.close(force=True)
        self._box.reap(self._group)

    def recording(self) -> str:
        """Return all that was shown and typed so far, as an asciicast."""
        return self._recording.text()

    def _read(self, seconds: float) -> bool:
        """Take in what is written within so long; return whether anything was."""
        if self._process.closed or self._finished:
            # Nothing can be read any more, only the end be waited for.
            time.sleep(seconds)
            return False
        try:
            written = self._process.read_nonblocking(65536, timeout=seconds)
        except pexpect.TIMEOUT:
            return False
        except pexpect.EOF:
            self._finished = True
            return False
        if not written:
            return True
        self._changed = time.monotonic()
        self._recording.wrote(written)
        for answer in self._screen.feed(written):
            self._send(answer)
        return True

    def _send(self, text: str) -> None:
        self._recording.sent(text)
        # Who has just ended hears nothing any more: the next look at it says so.
        with contextlib.suppress(OSError):
            self._process.send(text)


def _stands(
    words: str, line: Callable[[str], str], length: int = _BEGINNING
) -> Callable[[str], bool]:
    """Return how to see on a screen whether words, as far as that, stand where one types."""
    wanted = _squeezed(words)[:length]
    return lambda shown: wanted in _squeezed(line(shown))


def _squeezed(text: str) -> str:
    return "".join(text.replace("│", " ").split())
