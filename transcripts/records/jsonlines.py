"""JSON lines, read as CLIs really leave them: split on LF only, nothing skipped in silence.

A physical line is one record, or it is damaged: cut short, spliced with its neighbour,
preceded by NULs, broken by a raw newline. Strict reading refuses the first fault; recovery
returns every complete record and names each fault with its byte offset.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from math import isinf
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import msgspec
import orjson

from transcripts.errors import ChangedDuringRead, DamagedRecord
from transcripts.model import Damage
from transcripts.records.base import Record, RecordFile

_LONG_INTEGER = re.compile(rb"[:,\[]\s*-?[0-9]{16}")
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNDECODED = re.compile("[\udc80-\udcff]+")
_RECORD_START = re.compile(r'\{\s*"')
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_MOST_JOINED_LINES = 64
_MOST_RECOVERY_STARTS = 512

_RECOVER = "read with --recover to get the records that are whole"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _number(digits: str) -> float | str:
    """Return a number as a float; as its digits where no float is so large.

    Infinity would be kept nowhere: JSON has none.
    """
    value = float(digits)
    return digits if isinf(value) else value


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_number)
_LENIENT = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_number, strict=False)


_fast = msgspec.json.Decoder().decode
"""As fast as orjson, and exact: orjson rounds an integer of more than 64 bits in silence."""


def parse(raw: bytes) -> Any:
    """Parse one JSON text; raise ValueError if it is none.

    What the fast decoder refuses is looked at again: half a surrogate pair, which CLIs write
    legally, and nesting that is deep without being endless.
    """
    try:
        return _fast(raw)
    except (msgspec.DecodeError, RecursionError):
        return _parse_again(raw)


def _parse_again(raw: bytes) -> Any:
    """Parse by orjson, or by the standard library where orjson refuses or would round."""
    if _LONG_INTEGER.search(raw) is None:
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError:
            pass
    return _decode(_STRICT, raw.decode("utf-8"))


def parse_text(text: str) -> Any:
    """Parse JSON that a record holds in a string, as :func:`parse` does; ValueError if it is none.

    Such a string may hold what no bytes do: half a surrogate pair that is not spelled as one.
    """
    try:
        return _fast(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return _decode(_STRICT, text)


def encode(values: Iterable[Any]) -> bytes:
    """Return records as bytes: one line each, compact, UTF-8, ending in LF.

    Text must be free of lone surrogates (:func:`transcripts.narration` scrubs it).
    """
    return b"".join(map(_line, values))


def _line(value: Any) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        # An integer of more than 64 bits, which a tool's arguments may hold.
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode() + b"\n"


def read(path: Path, root: Path, *, recover: bool = False) -> RecordFile:
    """Read every record of a file.

    Strict (the default) raises :class:`DamagedRecord` at the first line that is no whole
    record; ``recover=True`` returns every complete record and says what was wrong where.
    Faults that cost nothing (a byte order mark, half a surrogate pair) are damage in both.
    """
    damage: list[Damage] = []
    records = list(iterate(path, root, damage, recover=recover))
    return RecordFile(_relative(path, root), records, damage)


AT_ONCE = 256 << 10
"""Bytes to read at once of a file that is read whole."""

FEW = 8 << 10
"""Bytes to read at once where the first records may be all that is wanted."""


def iterate(
    path: Path,
    root: Path,
    damage: list[Damage],
    *,
    recover: bool = False,
    at_once: int = AT_ONCE,
    passed_over: bytearray | None = None,
) -> Iterator[Record]:
    """Yield the records of a file in bounded memory, adding what is wrong to ``damage``.

    Lines whose number is the place of something in ``passed_over`` are not looked at.
    """
    name = _relative(path, root)
    with path.open("rb", buffering=at_once) as file:
        before = os.fstat(file.fileno())
        yield from _Lines(path, name, file, damage, recover).records(passed_over or bytearray())
        after = os.fstat(file.fileno())
    _compare(before, after, path, root, damage, recover=recover)


def skim(
    path: Path,
    root: Path,
    damage: list[Damage],
    decode: Callable[[bytes], Any],
    *,
    recover: bool = False,
    passed_over: bytearray | None = None,
) -> Iterator[Record]:
    """Yield the records of a file like :func:`iterate`, of each only what somebody asks for.

    ``decode`` makes of a line an object of its own, or raises ``msgspec.DecodeError`` where the
    line is not as it expects: then the value is the whole record. What a typed decoder passes
    over it checks like what it takes, but for UTF-8: that is checked here.
    """
    name = _relative(path, root)
    with path.open("rb", buffering=AT_ONCE) as file:
        before = os.fstat(file.fileno())
        lines = _Lines(path, name, file, damage, recover)
        yield from lines.skimmed(decode, passed_over or bytearray())
        after = os.fstat(file.fileno())
    _compare(before, after, path, root, damage, recover=recover)


def read_again(file: int, path: Path, offset: int, length: int) -> Any:
    """Return the value of a record that was read before, by its place, from an open descriptor.

    A record may be indented: then its length is that of the record and its offset the line's.
    """
    found = os.pread(file, length, offset)
    value = _parsed_or_none(found)
    if value is None:
        while b"\n" not in found and (more := os.pread(file, AT_ONCE, offset + len(found))):
            found += more
        value = _parsed_or_none(found.partition(b"\n")[0].strip(b" \t\r"))
    if type(value) is not dict:
        why = "a record is no more what it was when it was first read"
        raise ChangedDuringRead(why, path=path, offset=offset)
    return value


def _parsed_or_none(raw: bytes) -> Any:
    try:
        return parse(raw)
    except ValueError:
        return None


def _compare(
    before: os.stat_result,
    after: os.stat_result,
    path: Path,
    root: Path,
    damage: list[Damage],
    *,
    recover: bool,
) -> None:
    if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
        return
    why = f"the file changed while it was read ({before.st_size} to {after.st_size} bytes)"
    if not recover:
        raise ChangedDuringRead(why, path=path, next_step="read it again when it is at rest")
    damage.append(Damage(kind="changed_during_read", source=_relative(path, root), why=why))


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


class _Line(NamedTuple):
    number: int
    offset: int
    raw: bytes


class _Lines:
    """The lines of one file, with the look-ahead that joining a broken record needs."""

    def __init__(
        self,
        path: Path,
        name: str,
        lines: Iterable[bytes],
        damage: list[Damage],
        recover: bool,
    ) -> None:
        self._path = path
        self._name = name
        self._source = iter(lines)
        self._ahead: list[_Line] = []
        self._number = 0
        self._offset = 0
        self._damage = damage
        self._recover = recover

    def records(self, passed_over: bytearray) -> Iterator[Record]:
        """Yield each whole record, but none of a line that is to be passed over."""
        last_passed_over = len(passed_over) - 1
        name, fast, source, ahead = self._name, _fast, self._source, self._ahead
        new = tuple.__new__
        while True:
            # As _next() has it: this loop is gone through once for every line of a session.
            if ahead:
                number, offset, raw = ahead.pop(0)
            else:
                raw = next(source, None)
                if raw is None:
                    return
                self._number = number = self._number + 1
                offset = self._offset
                self._offset = offset + len(raw)
            if number <= last_passed_over and passed_over[number]:
                continue
            try:
                value = fast(raw)
            except (msgspec.DecodeError, RecursionError):
                yield from self._second_look(number, offset, raw)
                continue
            if type(value) is dict:
                # Made as a named tuple makes itself, without the call in between.
                yield new(Record, (value, raw.strip(b" \t\r\n"), name, number, offset))
            else:
                self._fault("not_an_object", number, offset, "a JSON value that is no object")

    def skimmed(self, decode: Callable[[bytes], Any], passed_over: bytearray) -> Iterator[Record]:
        """Yield each whole record with what a decoder makes of it; see :func:`skim`."""
        name, source, new = self._name, self._source, tuple.__new__
        last_passed_over = len(passed_over) - 1
        number = offset = 0
        while True:
            # This loop is gone through once for every line of a session.
            for raw in source:
                number += 1
                if number <= last_passed_over and passed_over[number]:
                    offset += len(raw)
                    continue
                try:
                    value = decode(raw)
                    if not raw.isascii():
                        raw.decode()
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    break
                yield new(Record, (value, raw.strip(b" \t\r\n"), name, number, offset))
                offset += len(raw)
            else:
                return
            self._number, self._offset = number, offset + len(raw)
            yield from self._second_look(number, offset, raw)
            while self._ahead:
                line = self._ahead.pop(0)
                if line.number > last_passed_over or not passed_over[line.number]:
                    yield from self._second_look(*line)
            number, offset = self._number, self._offset

    def _second_look(self, number: int, offset: int, raw: bytes) -> Iterator[Record]:
        """Yield what is whole of a line that the fast decoder refused."""
        if number == 1 and raw.startswith(_BYTE_ORDER_MARK):
            self._note("byte_order_mark", number, offset, "the file opens with a BOM")
            raw, offset = raw[3:], offset + 3
        text = raw.strip(b" \t\r\n")
        if not text:
            return
        try:
            value = parse(text)
        except (ValueError, RecursionError) as error:
            start = offset + len(raw) - len(raw.lstrip(b" \t\r\n"))
            yield from self._damaged(_Line(number, start, raw.strip(b" \t\r\n")), raw, error)
            return
        if type(value) is not dict:
            self._fault("not_an_object", number, offset, "a JSON value that is no object")
            return
        if b"\\u" in text and _SURROGATE_ESCAPE.search(text):
            self._note_surrogates(value, number, offset)
        yield Record(value, text, self._name, number, offset)

    def _next(self) -> _Line | None:
        if self._ahead:
            return self._ahead.pop(0)
        raw = next(self._source, None)
        if raw is None:
            return None
        self._number += 1
        line = _Line(self._number, self._offset, raw)
        self._offset += len(raw)
        return line

    # What a damaged line still holds.

    def _damaged(self, line: _Line, physical: bytes, error: Exception) -> Iterator[Record]:
        if not self._recover:
            self._refuse(line, error)
        if not line.raw.strip(b"\0"):
            kind = "nul_run" if physical.endswith(b"\n") else "nul_tail"
            self._note(kind, line.number, line.offset, f"{len(line.raw)} NUL bytes")
            return
        joined = self._joined(line)
        if joined is not None:
            yield joined
            return
        text = line.raw.decode("utf-8", "surrogateescape")
        if _UNDECODED.search(text):
            self._note("invalid_utf8", line.number, line.offset, "bytes that are not UTF-8")
        found = False
        for record in self._complete_objects(line, text, torn=not physical.endswith(b"\n")):
            found = True
            yield record
        if not found and not self._damage_at(line.number):
            self._note("malformed", line.number, line.offset, str(error))

    def _joined(self, line: _Line) -> Record | None:
        """Return the record that a raw newline broke over several lines, or None."""
        raw = line.raw
        taken: list[_Line] = []
        while len(taken) < _MOST_JOINED_LINES and (following := self._next()) is not None:
            taken.append(following)
            stripped = following.raw.strip(b" \t\r\n")
            if _parses(stripped):
                break
            raw += b"\n" + following.raw.rstrip(b"\r\n")
            try:
                value = _decode(_LENIENT, raw.decode("utf-8"))
            except (ValueError, RecursionError):
                continue
            if type(value) is dict:
                why = f"a raw newline broke the record over {len(taken) + 1} lines"
                self._note("repaired", line.number, line.offset, why)
                return Record(value, raw, self._name, line.number, line.offset)
        self._ahead[:0] = taken
        return None

    def _complete_objects(self, line: _Line, text: str, *, torn: bool) -> Iterator[Record]:
        position = 0
        whole_before = False
        undecoded = _UNDECODED.search(text) is not None
        measured, offset = 0, line.offset
        while position < len(text):
            if text[position] in " \t\r":
                position += 1
                continue
            # From the last place on, not from the line's start: a line may hold thousands.
            offset += _width(text[measured:position])
            measured = position
            nuls = _end_of_nuls(text, position) - position
            if nuls:
                self._note("nul_run", line.number, offset, f"{nuls} NUL bytes")
                position += nuls
                continue
            try:
                value, end = _LENIENT.raw_decode(text, position)
            except json.JSONDecodeError as error:
                start = _next_start(text, position, error.pos)
                if start is None:
                    kind = "torn_tail" if torn else "torn_line"
                    self._note(kind, line.number, offset, f"cut short: {_words(error)}")
                    return
                why = "a cut record runs into the next one"
                self._note("truncated_splice", line.number, offset, why)
                position = start
                whole_before = False
                continue
            except (ValueError, RecursionError) as error:
                self._note("malformed", line.number, offset, str(error) or "nested too deeply")
                return
            if whole_before:
                self._note("missing_newline", line.number, offset, "no newline before the record")
            if isinstance(value, dict):
                raw = text[position:end].encode("utf-8", "surrogateescape")
                clean = _without_escapes(value) if undecoded else value
                if position == 0 and end == len(text):
                    self._note("control_character", line.number, offset, "raw control characters")
                self._note_surrogates(clean, line.number, offset)
                yield Record(clean, raw, self._name, line.number, offset)
            else:
                self._note("not_an_object", line.number, offset, "a JSON value that is no object")
            whole_before = True
            position = end

    # What is said about it.

    def _refuse(self, line: _Line, error: Exception) -> NoReturn:
        offset = line.offset
        if isinstance(error, json.JSONDecodeError):
            offset += _width(error.doc[: error.pos])
            why = f"not a whole JSON record: {_words(error)}"
        elif isinstance(error, UnicodeDecodeError):
            offset += error.start
            why = f"not UTF-8: {error.reason}"
        else:
            why = f"not a whole JSON record: {str(error) or 'nested too deeply'}"
        raise DamagedRecord(
            why, path=self._path, line=line.number, offset=offset, next_step=_RECOVER
        ) from error

    def _fault(self, kind: str, line: int, offset: int, why: str) -> None:
        if not self._recover:
            raise DamagedRecord(why, path=self._path, line=line, offset=offset, next_step=_RECOVER)
        self._note(kind, line, offset, why)

    def _note(self, kind: str, line: int, offset: int, why: str) -> None:
        self._damage.append(Damage(kind=kind, source=self._name, line=line, offset=offset, why=why))

    def _note_surrogates(self, value: Any, line: int, offset: int) -> None:
        for pointer, position in _lone_surrogates(value, ""):
            why = f"half a surrogate pair at {pointer}, character {position}"
            self._note("lone_surrogate", line, offset, why)

    def _damage_at(self, number: int) -> bool:
        return any(damage.line == number for damage in self._damage)


def _decode(decoder: json.JSONDecoder, text: str) -> Any:
    try:
        return decoder.decode(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _words(error: json.JSONDecodeError) -> str:
    """Return what is wrong without the place, which the decoder's words leave open."""
    return error.msg.removesuffix(" starting at").removesuffix(": ").lower()


def _parses(raw: bytes) -> bool:
    try:
        return isinstance(parse(raw), dict)
    except ValueError:
        return False


def _end_of_nuls(text: str, position: int) -> int:
    while position < len(text) and text[position] == "\0":
        position += 1
    return position


def _next_start(text: str, position: int, broken_at: int) -> int | None:
    """Return where the next whole record starts on a line whose record breaks off, or None.

    ``broken_at`` is where the grammar broke. A whole object that ends before it is nested in
    the cut record and no record of its own; the spliced record spans the break or follows it.
    """
    start = position + 1
    for _ in range(_MOST_RECOVERY_STARTS):
        match = _RECORD_START.search(text, start)
        if match is None:
            return None
        try:
            _, end = _LENIENT.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            start = match.start() + 1
            continue
        if end > broken_at:
            return match.start()
        start = end
    return None


def _width(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _lone_surrogates(value: Any, pointer: str) -> Iterator[tuple[str, int]]:
    if isinstance(value, str):
        for match in _SURROGATE.finditer(value):
            yield pointer or "/", match.start()
    elif isinstance(value, dict):
        for key, member in value.items():
            step = key.replace("~", "~0").replace("/", "~1")
            yield from _lone_surrogates(member, f"{pointer}/{step}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _lone_surrogates(member, f"{pointer}/{index}")


def _replaced(undecoded: re.Match[str]) -> str:
    return undecoded[0].encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _without_escapes(value: Any) -> Any:
    """Return the value with each undecodable byte shown as U+FFFD.

    Other halves of surrogate pairs, which an escape may stand for, are left as they are.
    """
    if isinstance(value, str):
        return _UNDECODED.sub(_replaced, value)
    if isinstance(value, dict):
        return {_without_escapes(key): _without_escapes(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_without_escapes(member) for member in value]
    return value
