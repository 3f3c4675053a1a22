"""Ids and times that differ from run to run, replaced by ones that do not.

An id keeps its length, prefix, character class and UUID version. Ids that carry a time
(UUID version 7) keep their order; others are numbered as they appear. Times keep their order
and precision: the n-th instant of a run becomes the n-th second of a fixed morning.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

UUID = re.compile(r"(?<![0-9a-fA-F])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
STAMP = re.compile(
    r"(?<!\d)(\d{4})-(\d\d)-(\d\d)([T ])(\d\d)([:-])(\d\d)\6(\d\d)(\.\d{1,9})?"
    r"(Z|[+-]\d\d:?\d\d)?(?![0-9a-f])"
)
"""A written time. In a file's name an id may follow, whose first digits are no time zone."""
DAY = re.compile(r"(?<![\d-])(\d{4})([-/])(\d\d)\2(\d\d)(?![\d-])")

BEGIN = datetime(2026, 1, 5, 10, 0, tzinfo=UTC)
_MILLISECOND = 137
_SLACK = 3600.0
_MILLISECONDS_ABOVE = 1e11
_DIGITS = 6


def renamed_uuid(number: int, version: str, variant: str) -> str:
    """Return the n-th random UUID: its number first, so that order is order of appearance."""
    digits = hashlib.sha256(f"uuid {number}".encode()).hexdigest()
    return (
        f"{number:08x}-{digits[:4]}-{version}{digits[4:7]}-{variant}{digits[7:10]}-{digits[10:22]}"
    )


def timed_uuid(number: int, variant: str) -> str:
    """Return the n-th UUID of version 7: n milliseconds into the morning, so order stays."""
    milliseconds = f"{round(BEGIN.timestamp() * 1000) + number:012x}"
    digits = hashlib.sha256(f"uuid {number}".encode()).hexdigest()
    head = f"{milliseconds[:8]}-{milliseconds[8:]}-7{digits[:3]}-{variant}{digits[3:6]}"
    return f"{head}-{digits[6:18]}"


def variant(value: str) -> str:
    """Return a UUID's variant digit; the four of the common variant are one."""
    return "8" if value[19] in "89ab" else value[19]


def is_renamed_uuid(value: str) -> bool:
    """Return whether a UUID is one of ours."""
    version, digit = value[14], value[19]
    if version == "7":
        number = int(value[:8] + value[9:13], 16) - round(BEGIN.timestamp() * 1000)
        return number >= 0 and timed_uuid(number, digit) == value
    return renamed_uuid(int(value[:8], 16), version, digit) == value


def renamed_id(number: int, value: str, prefix: str) -> str:
    """Return the n-th id in place of ``value``: as long, of the same characters."""
    body = value[len(_head(value, prefix)) :]
    alphabet = _HEXADECIMAL if re.fullmatch(r"[0-9a-f]+", body) else _WORD
    return _numbered(number, value, prefix, alphabet)


def is_renamed_id(value: str, prefix: str) -> bool:
    """Return whether an id is one of ours, whatever its number."""
    return any(
        _numbered(number, value, prefix, alphabet) == value
        for alphabet in (_HEXADECIMAL, _WORD)
        for number in range(1, _IDS)
    )


_HEXADECIMAL = "0123456789abcdef"
_WORD = "0123456789abcdefghijklmnopqrstuvwxyz"
_IDS = 2048


def _head(value: str, prefix: str) -> str:
    return prefix or value[: max(value.rfind("_"), value.rfind("-")) + 1]


def _numbered(number: int, value: str, prefix: str, alphabet: str) -> str:
    head = _head(value, prefix)
    length = len(value) - len(head)
    digest = int(hashlib.sha256(f"id {number} {length}".encode()).hexdigest(), 16)
    width = min(4, length)
    filler: list[str] = []
    for _ in range(length - width):
        digest, digit = divmod(digest, len(alphabet))
        filler.append(alphabet[digit])
    return head + _number(number, width, alphabet) + "".join(filler)


def drawn_name(number: int) -> str:
    """Return what stands for the n-th name that a CLI drew by lot."""
    return f"Name{number}"


def is_drawn_name(value: str) -> bool:
    """Return whether a name is one of ours."""
    return re.fullmatch(r"Name[1-9]\d*", value) is not None


def _number(number: int, width: int, alphabet: str) -> str:
    digits: list[str] = []
    for _ in range(width):
        number, digit = divmod(number, len(alphabet))
        digits.append(alphabet[digit])
    return "".join(reversed(digits))


class Clock:
    """The instants of one run, in order, and what each becomes."""

    def __init__(self, started: float, ended: float) -> None:
        self.bounds = (started, ended)
        self._first, self._last = started - _SLACK, ended + _SLACK
        self._seen: list[tuple[float, int]] = []
        self._order: list[tuple[float, int]] = []
        self._days = {datetime.fromtimestamp(moment, UTC).date() for moment in (started, ended)}

    def within(self, seconds: float) -> bool:
        """Return whether a number of seconds since 1970 lies in the run."""
        return self._first <= seconds <= self._last

    @property
    def noted(self) -> int:
        """How many instants were noted so far."""
        return len(self._seen)

    def note(self, seconds: float) -> int:
        """Take note of an instant; the number names it, also among equal ones."""
        self._seen.append((seconds, len(self._seen)))
        return len(self._seen) - 1

    def settle(self) -> None:
        """Fix the order of all instants noted so far."""
        self._order = sorted(self._seen)

    def moment(self, seconds: float, number: int = -1) -> datetime:
        """Return what an instant becomes: a noted one by its number, another by its place."""
        rank = bisect_left(self._order, (seconds, number))
        return BEGIN + timedelta(seconds=rank, milliseconds=_MILLISECOND)

    def is_day(self, year: str, month: str, day: str) -> bool:
        """Return whether a date is one of the run's."""
        return any((f"{d:%Y}", f"{d:%m}", f"{d:%d}") == (year, month, day) for d in self._days)


def stamps(text: str, clock: Clock) -> list[tuple[re.Match[str], float]]:
    """Return the run's times written in a text."""
    found: list[tuple[re.Match[str], float]] = []
    for match in STAMP.finditer(text):
        seconds = _seconds(match)
        if seconds is not None and clock.within(seconds):
            found.append((match, seconds))
    return found


def spelt(moment: datetime, match: re.Match[str]) -> str:
    """Write a moment as precisely and in the form of the time that it replaces."""
    join, colon, fraction, zone = match[4], match[6], match[9] or "", match[10] or ""
    digits = len(fraction) - 1
    text = moment.strftime(f"%Y-%m-%d{join}%H{colon}%M{colon}%S")
    if digits > 0:
        text += "." + f"{moment.microsecond:06d}000"[:digits]
    return text + zone


def spelt_number(moment: datetime, like: float) -> float:
    """Write a moment as a number of seconds or milliseconds, as the number it replaces."""
    value = moment.timestamp() * (1000 if like > _MILLISECONDS_ABOVE else 1)
    return int(round(value, 3)) if isinstance(like, int) else round(value, 3)


def seconds_of(value: float) -> float:
    """Return the seconds since 1970 of a number in seconds or milliseconds.

    Rounded as those of written times are: one instant written in two ways is one instant.
    """
    return round(value / 1000 if value > _MILLISECONDS_ABOVE else float(value), _DIGITS)


def replaced(text: str, spans: Sequence[tuple[int, int, str]]) -> str:
    """Put replacements into a text at their spans; of two that overlap, the first counts."""
    parts: list[str] = []
    position = 0
    for start, end, new in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= position:
            parts += (text[position:start], new)
            position = end
    return "".join((*parts, text[position:]))


def days(text: str, clock: Clock) -> list[tuple[int, int, str]]:
    """Return the run's dates in a text as the fixed morning's."""
    return [
        (match.start(), match.end(), BEGIN.strftime(f"%Y{match[2]}%m{match[2]}%d"))
        for match in DAY.finditer(text)
        if clock.is_day(match[1], match[3], match[4])
    ]


def _seconds(match: re.Match[str]) -> float | None:
    year, month, day, _, hour, _, minute, second, fraction, zone = match.groups()
    try:
        moment = datetime(
            *(int(part) for part in (year, month, day, hour, minute, second)), tzinfo=UTC
        )
    except ValueError:
        return None
    seconds = moment.timestamp() + (float(fraction) if fraction else 0.0)
    if zone and zone != "Z":
        sign = 1 if zone[0] == "+" else -1
        digits = zone[1:].replace(":", "")
        seconds -= sign * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)
    return round(seconds, _DIGITS)
