"""Text as tools and models print it, for records to grow by."""

from __future__ import annotations

import random

_LETTERS = "etaoinshrdlu_"
_AWKWARD = [
    *('\\"quoted\\"', "größer", "→", "日本語", "(0x7f3a)", "12.5", "==", "{}", "    return value"),
]


class Words:
    """Text as tools and models print it, already escaped for JSON: cut from one long sample."""

    _LENGTH = 1 << 18

    def __init__(self, chance: random.Random) -> None:
        words = ["".join(chance.choices(_LETTERS, k=chance.randint(2, 11))) for _ in range(900)]
        words += _AWKWARD
        sample: list[str] = []
        length = 0
        while length < self._LENGTH:
            line = " ".join(chance.choices(words, k=chance.randint(3, 14))) + "\\n"
            sample.append(line)
            length += len(line.encode())
        self._lines = [line.encode() for line in sample]

    def of_length(self, length: int, chance: random.Random) -> bytes:
        """Return about so many bytes of whole lines."""
        taken: list[bytes] = []
        at = chance.randrange(len(self._lines))
        while length > 0:
            line = self._lines[at % len(self._lines)]
            taken.append(line)
            length -= len(line)
            at += 1
        return b"".join(taken)
