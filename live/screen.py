"""What stands on a terminal's screen after everything that a program wrote to it.

pyte draws; this module gives it whole sequences only, keeps from it those that it would print
or fail at, and answers what programs ask a terminal before they trust it: an xterm's answers,
and of the kitty keyboard protocol its first step, in which Escape and the control keys are told
apart from the beginning of anything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pyte

COLUMNS, ROWS = 120, 40
ENTER, ESCAPE, TAB, UP, DOWN = "\r", "\x1b", "\t", "\x1b[A", "\x1b[B"
LEFT = "\x1b[D"
CONTROL_C, CONTROL_D, CONTROL_U = "\x03", "\x04", "\x15"

_SEQUENCE = re.compile(
    r"\x1b(?:"
    r"\[(?P<prefix>[<=>?]?)(?P<numbers>[0-;]*)(?P<between>[ -/]*)(?P<final>[@-~])"
    r"|(?P<kind>[]PX^_])(?P<string>[^\x07\x1b]*)(?P<closed>\x07|\x1b\\)"
    r"|[ -/]*[0-OQ-WYZ\\`-~])"
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[]PX^_][^\x07\x1b]*\x1b?|[ -/]*)?\Z")

_ATTRIBUTES = "\x1b[?62;22c"
_SECOND_ATTRIBUTES = "\x1b[>41;390;0c"
_NAME = "\x1bP>|XTerm(390)\x1b\\"
_COLOURS = {"10": "ffff/ffff/ffff", "11": "0000/0000/0000", "12": "ffff/ffff/ffff"}
_COLOUR_ASKED = re.compile(r"(1[0-2]|4;\d+);\?")
_GREY = "8080/8080/8080"
_CELL = (16, 8)
"""How high and wide a character is said to be, in pixels."""

_MODES_AT_START = {
    **dict.fromkeys((7, 25), True),
    **dict.fromkeys((1, 12, 47, 1000, 1002, 1003, 1004, 1006, 1007, 1047, 1049, 2004), False),
}
"""The private modes that an xterm knows and programs ask about; of any other it says so."""

_OTHER_SCREEN = (47, 1047, 1049)
_ARROWS_AS_APPLICATION = 1
_TOLD_APART = 1
"""The flag of the kitty protocol that is supported: no key looks like the beginning of another."""


class Screen:
    """A screen of so many columns and rows."""

    def __init__(self, columns: int = COLUMNS, rows: int = ROWS) -> None:
        self._drawn = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self._drawn)
        self._held = ""
        self._modes = dict(_MODES_AT_START)
        self._first: tuple[Any, Any] | None = None
        self._key_flags = [0]

    def feed(self, written: str) -> list[str]:
        """Draw what a program wrote, and return what the terminal answers.

        A sequence that has not ended waits for the next piece.
        """
        text = self._held + written
        unfinished = _UNFINISHED.search(text)
        self._held = "" if unfinished is None else text[unfinished.start() :]
        text = text[: len(text) - len(self._held)]
        answers: list[str] = []
        at = 0
        for found in _SEQUENCE.finditer(text):
            self._stream.feed(text[at : found.start()])
            at = found.end()
            answers += self._obey(found)
        self._stream.feed(text[at:])
        return answers

    def shown(self) -> str:
        """Return what stands there, line by line."""
        return "\n".join(line.rstrip() for line in self._drawn.display).rstrip()

    def sent_for(self, keys: str) -> str:
        """Return what the terminal sends for a key, or for characters, as it is set just now."""
        if self._key_flags[-1] & _TOLD_APART and len(keys) == 1:
            if keys == ESCAPE:
                return "\x1b[27u"
            if keys < " " and keys not in (ENTER, TAB, "\b"):
                return f"\x1b[{ord(keys) + 96};5u"
        if self._modes[_ARROWS_AS_APPLICATION] and keys in (UP, DOWN, LEFT):
            return keys.replace("[", "O")
        return keys

    def _obey(self, found: re.Match[str]) -> Iterator[str]:
        if found["kind"] is not None:
            yield from self._told(found["kind"], found["string"], found["closed"])
            return
        if found["final"] is None:
            self._stream.feed(found[0])
            return
        numbers = [int(one) for one in re.findall(r"\d+", found["numbers"])]
        match found["prefix"], found["between"], found["final"]:
            case ("", "", "n") | ("?", "", "n"):
                yield from self._status(found["prefix"], numbers)
            case "", "", "c":
                yield _ATTRIBUTES
            case ">", "", "c":
                yield _SECOND_ATTRIBUTES
            case ">", "", "q":
                yield _NAME
            case ("?" | "") as prefix, "$", "p":
                yield f"\x1b[{prefix}{numbers[0]};{self._mode(prefix, numbers[0])}$y"
            case "", "", "t":
                yield from self._size(numbers)
            case prefix, "", "u":
                yield from self._keyboard(prefix, numbers)
            case "?", "", ("h" | "l") as final:
                self._switch(numbers, final == "h")
                self._stream.feed(found[0])
            case "", "", "s":
                self._drawn.save_cursor()
            case "", "", ("S" | "T") as final:
                self._scroll(final, numbers[0] if numbers else 1)
            case ("", "", _) if ":" not in found["numbers"]:
                self._stream.feed(found[0])
            case "?", "", ("J" | "K"):
                self._stream.feed(found[0])
            case _:
                # Colours by another notation, the cursor's shape, what pyte has no word for.
                pass

    def _told(self, kind: str, string: str, closed: str) -> Iterator[str]:
        """Answer a question in words; titles, links and notices are nobody's business here."""
        asked = _COLOUR_ASKED.fullmatch(string)
        if kind == "]" and asked is not None:
            yield f"\x1b]{asked[1]};rgb:{_COLOURS.get(asked[1], _GREY)}{closed}"
        elif kind == "P" and string.startswith("+q"):
            yield "\x1bP0+r\x1b\\"
        elif kind == "P" and string.startswith("$q"):
            yield "\x1bP0$r\x1b\\"

    def _status(self, prefix: str, numbers: list[int]) -> Iterator[str]:
        if numbers == [5] and not prefix:
            yield "\x1b[0n"
        elif numbers == [6]:
            cursor = self._drawn.cursor
            column = min(cursor.x + 1, self._drawn.columns)
            yield f"\x1b[{prefix}{cursor.y + 1};{column}R"

    def _mode(self, prefix: str, number: int) -> int:
        """Return what is answered of a mode: 1 set, 2 not set, 0 unknown."""
        if prefix == "" or number not in self._modes:
            return 0
        return 1 if self._modes[number] else 2

    def _size(self, numbers: list[int]) -> Iterator[str]:
        rows, columns = self._drawn.lines, self._drawn.columns
        height, width = _CELL
        match numbers[:1]:
            case [14]:
                yield f"\x1b[4;{rows * height};{columns * width}t"
            case [16]:
                yield f"\x1b[6;{height};{width}t"
            case [18]:
                yield f"\x1b[8;{rows};{columns}t"
            case _:
                pass

    def _keyboard(self, prefix: str, numbers: list[int]) -> Iterator[str]:
        flags = (numbers[0] if numbers else 0) & _TOLD_APART
        match prefix:
            case "?":
                yield f"\x1b[?{self._key_flags[-1]}u"
            case ">":
                self._key_flags.append(flags)
            case "<":
                del self._key_flags[max(1, len(self._key_flags) - (numbers[0] if numbers else 1)) :]
            case "=":
                self._key_flags[-1] = flags
            case _:
                self._drawn.restore_cursor()

    def _switch(self, numbers: list[int], on: bool) -> None:
        for number in numbers:
            if number in self._modes:
                self._modes[number] = on
            if number in _OTHER_SCREEN:
                self._turn_over(on)

    def _turn_over(self, away: bool) -> None:
        """Go to the other screen, which is empty, or come back to what stood on the first."""
        drawn = self._drawn
        if away and self._first is None:
            self._first = (deepcopy(drawn.buffer), deepcopy(drawn.cursor))
            drawn.erase_in_display(2)
        elif not away and self._first is not None:
            drawn.buffer, drawn.cursor = self._first
            drawn.dirty.update(range(drawn.lines))
            self._first = None

    def _scroll(self, final: str, lines: int) -> None:
        """Move what stands between the margins up or down, the cursor staying where it is."""
        drawn = self._drawn
        top, bottom = drawn.margins or (0, drawn.lines - 1)
        kept = drawn.cursor.y
        for _ in range(min(lines, bottom - top + 1)):
            drawn.cursor.y = bottom if final == "S" else top
            if final == "S":
                drawn.index()
            else:
                drawn.reverse_index()
        drawn.cursor.y = kept
