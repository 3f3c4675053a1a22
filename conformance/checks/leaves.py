"""What files say, line by line and string by string, whatever their records mean."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def lines(files: Mapping[str, bytes]) -> Iterator[list[str]]:
    """Yield of every line the strings that it says: of JSON its strings, other text as it is."""
    for name in sorted(files):
        for line in files[name].decode("utf-8", errors="replace").split("\n"):
            try:
                value = json.loads(line)
            except ValueError:
                yield [line]
            else:
                yield list(strings(value))


def strings(value: Any) -> Iterator[str]:
    """Yield every string in a value, and what JSON in a string says."""
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "["):
            try:
                yield from strings(json.loads(value))
            except ValueError:
                return
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)
