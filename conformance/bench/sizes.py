"""How long the records of real sessions are: two committed histograms, ``sizes.json``."""

from __future__ import annotations

import random
from importlib.resources import files

import msgspec


class Sizes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long the records of a kind of session are: upper bounds, each with its share.

    ``longest_words`` bounds what is said and asked; results take what is left over.
    """

    about: str
    longest_words: int
    bytes_and_share: tuple[tuple[int, int], ...]

    def draw(self, chance: random.Random) -> int:
        """Return one record's length."""
        bounds = [0, *(bound for bound, _ in self.bytes_and_share)]
        shares = [share for _, share in self.bytes_and_share]
        (step,) = chance.choices(range(len(shares)), shares)
        return chance.randint(bounds[step] + 1, bounds[step + 1])


def histograms() -> dict[str, Sizes]:
    """Return the committed histograms by name."""
    text = files("conformance.bench").joinpath("sizes.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, Sizes])
