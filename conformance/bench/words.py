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
        self._plain = self._sample(words, chance)
        self._awkward = self._sample(words + _AWKWARD, chance)

    def _sample(self, words: list[str], chance: random.Random) -> list[bytes]:
        sample: list[bytes] = []
        length = 0
        while length < self._LENGTH:
            line = " ".join(chance.choices(words, k=chance.randint(3, 14))) + "\\n"
            sample.append(line.encode())
            length += len(sample[-1])
        return sample

    def of_length(self, length: int, chance: random.Random) -> bytes:
        """Return about so many bytes of whole lines; one text in six is not plain ASCII."""
        taken: list[bytes] = []
        lines = self._awkward if chance.random() < 1 / 6 else self._plain
        at = chance.randrange(len(lines))
        while length > 0:
            line = lines[at % len(lines)]
            taken.append(line)
            length -= len(line)
            at += 1
        return b"".join(taken)
