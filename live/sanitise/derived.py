"""Numbers that a CLI took from its own file, taken again from the sanitised one.

A formula must hold on the raw file before it is trusted with the sanitised one: a number that
it does not explain there is not what the table takes it for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from live.sanitise.documents import Document, encode
from live.sanitise.rules import named


class Underived(Exception):
    """A number is not what its formula makes of the raw file; the message gives both."""


def with_offsets(document: Document, clean: Sequence[Any], names: tuple[str, ...]) -> list[Any]:
    """Return clean lines in which each named number is the offset of its own line.

    ``document`` is the raw one. Where records changed places, numbers in them stand by no
    line that they could tell of: tables name either floating records or offsets.
    """
    if not names:
        return list(clean)
    records: list[Any] = []
    before = after = 0
    for old, new in zip(document.records, clean, strict=True):
        record = _offset(new, old, (), names, (before, after))
        records.append(record)
        before += _size(document, old)
        after += _size(document, record)
    return records


def _offset(
    new: Any, old: Any, path: tuple[str, ...], names: tuple[str, ...], offsets: tuple[int, int]
) -> Any:
    if isinstance(new, dict):
        values = zip(new.items(), old.values(), strict=True)
        return {key: _offset(one, was, (*path, key), names, offsets) for (key, one), was in values}
    if not isinstance(new, int) or not named(path, names):
        return new
    before, after = offsets
    if old != before:
        raise Underived(f"{'.'.join(path)} is {old}, but its line begins at byte {before}")
    return after


def _size(document: Document, record: Any) -> int:
    """Return a line's length in bytes, in the file's own spelling, with its end."""
    one = msgspec.structs.replace(document, records=(record,))
    return len(encode(one).rstrip(b"\n")) + 1
