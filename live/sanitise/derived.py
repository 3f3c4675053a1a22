"""Numbers that a CLI took from its own file, taken again from the sanitised one.

A formula must hold on the raw file before it is trusted with the sanitised one: a number that
it does not explain there is not what the table takes it for.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from live.sanitise.documents import Document, encode
from live.sanitise.rules import named


class Underived(Exception):
    """A number is not what its formula makes of the raw file; the message gives both."""


def with_all_offsets(
    raw: Sequence[Document], clean: Sequence[Document], names: tuple[str, ...]
) -> list[Document]:
    """Return clean files in which each named number is the offset of its own line.

    Where the CLI looked before the lines just above were written, it tells of an earlier one:
    that is chance. In a copy of a session such a number still tells of the file that the line
    was copied from.
    """
    waiting = [*zip(raw, clean, strict=True)] if names else []
    found: dict[str, Document] = {}
    elsewhere: dict[int, int] = {}
    while waiting:
        left: list[tuple[Document, Document]] = []
        fault: Underived | None = None
        for old, new in waiting:
            begins: dict[int, int] = {}
            try:
                records = with_offsets(old, new.records, names, begins, elsewhere)
            except Underived as error:
                left.append((old, new))
                fault = error
                continue
            found[old.path] = msgspec.structs.replace(new, records=tuple(records))
            elsewhere = begins | elsewhere
        if fault is not None and len(left) == len(waiting):
            raise fault
        waiting = left
    return [found.get(old.path, new) for old, new in zip(raw, clean, strict=True)]


def with_offsets(
    document: Document,
    clean: Sequence[Any],
    names: tuple[str, ...],
    begins: dict[int, int],
    elsewhere: Mapping[int, int],
) -> list[Any]:
    """Return one file's clean lines with their offsets; ``document`` is the raw one.

    ``begins`` is filled with where each line begins, raw and clean; ``elsewhere`` is the same of
    other files. Where records changed places, numbers in them stand by no line that they could
    tell of: tables name either floating records or offsets.
    """
    if not names or document.form != "lines":
        return list(clean)
    records: list[Any] = []
    before = after = 0
    for old, new in zip(document.records, clean, strict=True):
        begins[before] = after
        record = _offset(new, old, (), names, {**elsewhere, **dict.fromkeys(begins, after)})
        records.append(record)
        before += _size(document, old)
        after += _size(document, record)
    return records


def _offset(
    new: Any, old: Any, path: tuple[str, ...], names: tuple[str, ...], begins: Mapping[int, int]
) -> Any:
    if isinstance(new, dict):
        values = zip(new.items(), old.values(), strict=True)
        return {key: _offset(one, was, (*path, key), names, begins) for (key, one), was in values}
    if not isinstance(new, int) or not named(path, names):
        return new
    if old not in begins:
        raise Underived(f"{'.'.join(path)} is {old}, but no line up to it begins at that byte")
    return begins[old]


def with_reaches(
    raw: Sequence[Document], clean: Sequence[Document], names: tuple[str, ...]
) -> list[Document]:
    """Return clean files in which each named number reaches as far into another as it did.

    It counts the bytes of that file's first lines; which file is meant is told by an id that
    stands beside the number and in the file's name.
    """
    if not names:
        return list(clean)
    ends = [_ends(document) for document in raw]
    reached = [_ends(document) for document in clean]

    def reach(number: int, beside: Any) -> int:
        for index, document in enumerate(raw):
            named_there = (one for one in beside.values() if isinstance(one, str))
            if number in ends[index] and any(one in document.path for one in named_there):
                return reached[index][ends[index].index(number)]
        raise Underived(f"no file that is named beside {number} has a line that ends there")

    return [
        msgspec.structs.replace(
            new,
            records=tuple(
                _reaching(one, was, (), names, reach)
                for one, was in zip(new.records, old.records, strict=True)
            ),
        )
        for new, old in zip(clean, raw, strict=True)
    ]


def _reaching(
    new: Any,
    old: Any,
    path: tuple[str, ...],
    names: tuple[str, ...],
    reach: Callable[[int, Any], int],
) -> Any:
    if not isinstance(new, dict) or len(new) != len(old):
        return new
    found: dict[str, Any] = {}
    for (key, one), (_, was) in zip(new.items(), old.items(), strict=True):
        here = (*path, key)
        is_named = isinstance(one, int) and named(here, names)
        found[key] = reach(was, old) if is_named else _reaching(one, was, here, names, reach)
    return found


def _ends(document: Document) -> list[int]:
    """Return the bytes after each line of a file."""
    if document.form != "lines":
        return []
    return list(itertools.accumulate(_size(document, record) for record in document.records))


def _size(document: Document, record: Any) -> int:
    """Return a line's length in bytes, in the file's own spelling, with its end."""
    one = msgspec.structs.replace(document, records=(record,))
    return len(encode(one).rstrip(b"\n")) + 1
