"""A terminal's session as a recording that can be looked at again.

Kept in asciicast, version 2 (``asciinema play`` shows it): a header with the screen's size, then
a line for everything that was written to the terminal and everything that it sent, with the
seconds since the start. No date and no path is in it but what the program itself shows.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from live.conversation import Conversation, Silent
from live.screen import Screen

_SUFFIX = ".cast"
_SCREEN_SUFFIX = ".screen.txt"


class Recording:
    """What goes through one terminal, from now on."""

    def __init__(self, columns: int, rows: int, terminal: str) -> None:
        self._header = {
            "version": 2,
            "width": columns,
            "height": rows,
            "env": {"TERM": terminal},
        }
        self._started = time.monotonic()
        self._events: list[tuple[float, Literal["o", "i"], str]] = []

    def wrote(self, text: str) -> None:
        """Take down what the program wrote."""
        self._add("o", text)

    def sent(self, text: str) -> None:
        """Take down what the terminal sent: keys, and answers to questions."""
        self._add("i", text)

    def text(self) -> str:
        """Return the asciicast."""
        lines: list[object] = [self._header, *self._events]
        return "".join(json.dumps(one) + "\n" for one in lines)

    def _add(self, kind: Literal["o", "i"], text: str) -> None:
        self._events.append((round(time.monotonic() - self._started, 6), kind, text))


def last_screen(recording: str) -> str:
    """Return what stands on the screen when an asciicast has been played to its end."""
    header, *events = _lines(recording)
    screen = Screen(header["width"], header["height"])
    for _, kind, text in events:
        if kind == "o":
            screen.feed(text)
    return screen.shown()


def keep(of: Conversation | Silent, directory: Path, name: str) -> tuple[Path, ...]:
    """Write the recording of a conversation, or of one that fell silent, and its last screen.

    Returned are the files, ``<name>.cast`` and ``<name>.screen.txt``; none if it was not held at
    a terminal.
    """
    recording = of.recording if isinstance(of, Silent) else of.recording()
    return () if recording is None else write(recording, directory, name)


def write(recording: str, directory: Path, name: str) -> tuple[Path, Path]:
    """Write a recording and its last screen; return the two files."""
    directory.mkdir(parents=True, exist_ok=True)
    cast, screen = directory / f"{name}{_SUFFIX}", directory / f"{name}{_SCREEN_SUFFIX}"
    cast.write_text(recording, encoding="utf-8", newline="")
    screen.write_text(last_screen(recording) + "\n", encoding="utf-8", newline="")
    return cast, screen


def _lines(recording: str) -> Iterator[Any]:
    return (json.loads(line) for line in recording.split("\n") if line)
