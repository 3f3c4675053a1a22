"""A session's files as they lie, and what all formats share of looking at them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

Found = Iterator[str]
"""Where a defect is, in words; nothing where it is not."""

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")

_BOM = b"\xef\xbb\xbf"


class Laid:
    """The files of one session, by their places under the home: the main one's lines, parsed.

    ``main`` is the place of the file of lines, ``cwd`` the directory that the session is for.
    """

    def __init__(self, files: Mapping[str, bytes], main: str, cwd: str) -> None:
        self.files = files
        self.main = PurePosixPath(main)
        self.content = files[main]
        self.cwd = cwd

    @cached_property
    def values(self) -> Sequence[Any]:
        """What the lines say, in order; of a line that is no JSON nothing."""
        values: list[Any] = []
        for line in self.content.removeprefix(_BOM).split(b"\n"):
            try:
                values.append(json.loads(line.decode("utf-8", "replace")))
            except (ValueError, RecursionError):
                continue
        return values

    @cached_property
    def rows(self) -> Sequence[dict[str, Any]]:
        """The lines that are objects."""
        return [value for value in self.values if isinstance(value, dict)]

    @property
    def junk(self) -> Iterator[int]:
        """The lines, from 1, that are neither empty nor JSON, but for the last, which may be torn.

        One record over several lines is nothing else.
        """
        lines = self.content.removeprefix(_BOM).split(b"\n")
        for number, line in enumerate(lines[:-1], start=1):
            if not line.strip(b"\r\0 ") or line[:1] in b"{}[] \t":
                continue
            try:
                json.loads(line.decode("utf-8", "replace"))
            except ValueError:
                yield number


def begins_with_mark(laid: Laid) -> Found:
    """A byte order mark stands before the first line."""
    if laid.content.startswith(_BOM):
        yield "the file begins with a byte order mark"


def is_empty(laid: Laid) -> Found:
    """There is nothing in the file."""
    if not laid.content.strip():
        yield f"{laid.main.name} is empty"


def has_null_line(laid: Laid) -> Found:
    """A line says null."""
    if None in laid.values:
        yield "a line is null"


def has_junk(laid: Laid) -> Found:
    """A line is no JSON."""
    for number in laid.junk:
        yield f"line {number} is no JSON"


def at(value: Any, *keys: str) -> Any:
    """Return what stands under some keys; None where nothing does."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def lacking(rows: Sequence[Mapping[str, Any]], field: str, what: str) -> Found:
    """Yield the rows that lack a field."""
    for number, row in enumerate(rows, start=1):
        if field not in row:
            yield f"{what} {number} has no {field}"
