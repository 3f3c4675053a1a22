"""The words in which the matrix judges, their order, and the least that each cell must reach."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Literal, get_args

import msgspec

from transcripts.losses import LossId

Verdict = Literal[
    "exact",  # comes back as it was
    "translated",  # same meaning, the target's own record
    "degraded",  # less came back, and the writer said so
    "narrated",  # came back as marked prose
    "withheld",  # kept back on purpose (a provider's failure)
    "refused",  # the writer raised a clear error and wrote nothing
    "lost",  # less came back than the writer said: always a defect
    "stale",  # a witness for other bytes, or a loss declared that is none
]
"""The closed list of verdicts, best first."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_LOSSES: tuple[LossId, ...] = get_args(LossId)
_GONE: frozenset[LossId] = frozenset(
    {
        "empty-dropped",
        "harness-dropped",
        "reasoning-opaque-dropped",
        "superseded-dropped",
        "thread-flattened",
    }
)
"""Losses of a whole message."""
DEFECTS: frozenset[Verdict] = frozenset({"lost", "stale"})

Witness = Literal["file", "cli", "model"]
WITNESSES: tuple[Witness, ...] = get_args(Witness)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of some verdicts; "exact" of none."""
    found: Verdict = "exact"
    for verdict in verdicts:
        if VERDICTS.index(verdict) > VERDICTS.index(found):
            found = verdict
    return found


def in_order(losses: Iterable[LossId]) -> tuple[LossId, ...]:
    """Return losses in the order of the closed list, each once."""
    wanted = set(losses)
    return tuple(loss for loss in _LOSSES if loss in wanted)


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one message, or of several together."""

    verdict: Verdict
    losses: tuple[LossId, ...] = ()
    why: str = ""


def together(judgements: Sequence[Judgement]) -> Judgement:
    """Join the judgements of several messages: the worst verdict, all losses, the worst's why."""
    verdict = worst(judgement.verdict for judgement in judgements)
    losses = in_order(loss for judgement in judgements for loss in judgement.losses)
    reasons = dict.fromkeys(
        judgement.why for judgement in judgements if judgement.verdict == verdict and judgement.why
    )
    return Judgement(verdict=verdict, losses=losses, why="; ".join(list(reasons)[:3]))


class Cell(msgspec.Struct, frozen=True, kw_only=True, rename={"source": "from"}):
    """One cell of the matrix: a kind's variant, carried to a store, by one witness.

    ``source`` (printed as ``from``) is None for a message made in the normalised model, an
    agent for a recorded conversation; ``variant`` then names the scenario.
    """

    kind: str
    variant: str
    source: str | None
    store: str
    witness: Witness
    from_version: str | None = None
    cli_version: str | None = None
    verdict: Verdict
    losses: tuple[LossId, ...] = ()
    why: str = ""
    witness_sha256: str | None = None
    witnessed_at: str | None = None

    @property
    def name(self) -> str:
        """The cell in one word, for messages and for sorting."""
        return f"{self.kind}/{self.variant} {self.source or 'model'}->{self.store} {self.witness}"


# ------------------------------------------------------------------ the floor


class Floor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The least that each kind must reach in each store, and what it may lose on the way.

    ``same`` holds for a recorded conversation written back into its own store, ``across``
    for everything else. A verdict of ``degraded`` reaches a floor of ``translated`` when all
    its losses are listed in ``may_lose``: they cost no meaning.
    """

    same: Mapping[str, Mapping[str, Verdict]]
    across: Mapping[str, Mapping[str, Verdict]]
    may_lose: Mapping[str, Sequence[LossId]]

    def least(self, cell: Cell) -> Verdict:
        """Return the verdict that a cell must reach; KeyError for a cell without a floor.

        A model is shown every call in its provider's words, so there "exact" can't be asked.
        """
        table = self.same if cell.source == cell.store else self.across
        least = table[cell.kind][cell.store]
        return "translated" if least == "exact" and cell.witness == "model" else least

    def below(self, cell: Cell) -> str | None:
        """Say why a cell is under the floor, or None when it is not."""
        if cell.verdict in DEFECTS:
            return cell.verdict
        least = self.least(cell)
        rank = VERDICTS.index
        forbidden = set(cell.losses) - set(self.may_lose["all"]) - set(self.may_lose[cell.kind])
        if rank(least) >= rank("narrated"):
            # Prose has no fields, so only a message that is gone altogether is less than that.
            forbidden &= _GONE
        reached = rank(cell.verdict) <= rank(least) or (
            least != "exact" and cell.verdict == "degraded"
        )
        if reached and not forbidden:
            return None
        beyond = f", loses {', '.join(sorted(forbidden))}" if forbidden else ""
        return f"{cell.verdict} where the floor is {least}{beyond}"


def load_floor() -> Floor:
    """Read the floor that is kept by hand in ``conformance/floor.toml``."""
    text = (files("conformance") / "floor.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Floor)
