"""A session written by hand, and the ways of spoiling it that all formats share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from live.resume import ANSWER

SESSION_ID = "5eed0a11-4c0d-4b1e-9a57-0000defec700"
PROMPT = "And is it dry? token DRY-6606"
ANSWERED = ANSWER

PARTS: Mapping[str, str] = {
    "prompt": "CISTERN-1101",
    "text": "MEASURE-2202",
    "call": "DEPTH-3303",
    "result": "METRES-4404",
    "answer": "FOUR-5505",
}
"""The parts of the conversation and the token by which each is known in a request."""

FIRST_PROMPT = "How deep is the old cistern? token CISTERN-1101"
FIRST_TEXT = "I will measure it, token MEASURE-2202."
COMMAND = "echo 'token DEPTH-3303'"
RESULT = "four metres, token METRES-4404\n"
SECOND_TEXT = "The old cistern is four metres deep, token FOUR-5505."
CALL_ID = "call_cistern"

Files = Mapping[str, bytes]
Line = dict[str, Any]


class Written(msgspec.Struct, kw_only=True):
    """A session as it will lie under the home: its records, and what lies beside them.

    ``ending`` joins the lines. ``spoil`` is the last word over the main file's bytes.
    """

    session_id: str = SESSION_ID
    path: str
    lines: list[Line | bytes]
    beside: dict[str, bytes] = {}
    ending: bytes = b"\n"
    spoil: Callable[[bytes], bytes] | None = None

    def files(self) -> Files:
        """Return every file by its path under the home."""
        content = b"".join(_encoded(line) + self.ending for line in self.lines)
        if self.spoil is not None:
            content = self.spoil(content)
        return {self.path: content, **self.beside}


class Defect(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong: its name, in words, and how it comes about."""

    name: str
    what: str
    change: Callable[[Written], Written]


def _encoded(line: Line | bytes) -> bytes:
    return line if isinstance(line, bytes) else json.dumps(line, separators=(",", ":")).encode()


# ------------------------------------------------------------------ ways of spoiling


def sound(written: Written) -> Written:
    """Change nothing."""
    return written


def without(place: int, *keys: str) -> Callable[[Written], Written]:
    """Take a field out of a record."""

    def change(written: Written) -> Written:
        inside(written.lines[place], keys[:-1]).pop(keys[-1])
        return written

    return change


def without_everywhere(*keys: str) -> Callable[[Written], Written]:
    """Take a field out of every record that has it."""

    def change(written: Written) -> Written:
        for line in written.lines:
            if isinstance(line, dict):
                inside(line, keys[:-1]).pop(keys[-1], None)
        return written

    return change


def put(place: int, value: Any, *keys: str) -> Callable[[Written], Written]:
    """Put another value into a field of a record."""

    def change(written: Written) -> Written:
        inside(written.lines[place], keys[:-1])[keys[-1]] = value
        return written

    return change


def put_everywhere(value: Any, *keys: str) -> Callable[[Written], Written]:
    """Put another value into a field of every record that has it."""

    def change(written: Written) -> Written:
        for line in written.lines:
            if isinstance(line, dict) and keys[-1] in inside(line, keys[:-1]):
                inside(line, keys[:-1])[keys[-1]] = value
        return written

    return change


def drop(*places: int) -> Callable[[Written], Written]:
    """Leave records out; what names them as its parent names their own."""

    def change(written: Written) -> Written:
        gone = [written.lines[place] for place in places]
        kept = [line for line in written.lines if all(line is not one for one in gone)]
        return msgspec.structs.replace(written, lines=kept)

    return change


def insert(place: int, line: Line | bytes) -> Callable[[Written], Written]:
    """Put a record or bare bytes between two records."""

    def change(written: Written) -> Written:
        written.lines.insert(place, line)
        return written

    return change


def doubled(place: int) -> Callable[[Written], Written]:
    """Let a record stand twice."""

    def change(written: Written) -> Written:
        written.lines.insert(place, written.lines[place])
        return written

    return change


def spoilt(spoil: Callable[[bytes], bytes]) -> Callable[[Written], Written]:
    """Change the bytes of the main file."""

    def change(written: Written) -> Written:
        return msgspec.structs.replace(written, spoil=spoil)

    return change


def moved(path: str) -> Callable[[Written], Written]:
    """Put the main file somewhere else."""

    def change(written: Written) -> Written:
        return msgspec.structs.replace(written, path=path)

    return change


def inside(line: Line | bytes, keys: tuple[str, ...]) -> Any:
    """Return what stands in a record under some keys; an empty object where nothing does."""
    value: Any = line
    for key in keys:
        if not isinstance(value, dict):
            return {}
        value = value.get(key, {})
    return value if isinstance(value, dict) else {}


BYTES: tuple[Defect, ...] = (
    Defect(name="none", what="nothing is wrong", change=sound),
    Defect(
        name="byte-order-mark",
        what="the file begins with a byte order mark",
        change=spoilt(lambda content: b"\xef\xbb\xbf" + content),
    ),
    Defect(
        name="crlf",
        what="lines end with CR LF",
        change=spoilt(lambda content: content.replace(b"\n", b"\r\n")),
    ),
    Defect(
        name="no-final-newline",
        what="the last line has no end",
        change=spoilt(lambda content: content[:-1]),
    ),
    Defect(
        name="torn-tail",
        what="a further line is cut in the middle",
        change=spoilt(lambda content: content + b'{"type":"user","mess'),
    ),
    Defect(
        name="junk-line",
        what="a line in the middle is no JSON",
        change=insert(3, b"this is no record"),
    ),
    Defect(name="blank-line", what="a line in the middle is empty", change=insert(3, b"")),
    Defect(name="null-line", what="a line in the middle is null", change=insert(3, b"null")),
    Defect(
        name="nul-line",
        what="a line in the middle is NUL bytes",
        change=insert(3, b"\0" * 16),
    ),
    Defect(name="empty-file", what="the file is empty", change=spoilt(lambda _: b"")),
)
"""What can be wrong with a file of lines, whatever it holds."""
