"""Which checks are put to which CLIs, and what that asks of a person's login."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from live.real import OwnCli, RealCase

TRIES = 3
"""How often a source is made until it was killed when some of its files were done, not all."""

_CHARACTERS_A_TOKEN = 4


class Planned(NamedTuple):
    """A check in one direction. With a ``why`` it can't be run."""

    case: RealCase
    source: str
    target: str
    why: str = ""


class Spending(NamedTuple):
    """What the checks ask of one CLI: prompts, and about how many requests and tokens of input.

    ``more`` are prompts that are given only where something does not go as it should.
    """

    prompts: int
    requests: int
    tokens: int
    more: int = 0

    def and_(self, other: Spending) -> Spending:
        """Return both together."""
        return Spending(*(one + another for one, another in zip(self, other, strict=True)))


def plan(
    cases: Sequence[RealCase],
    sources: Sequence[str],
    targets: Sequence[str],
    missing: Mapping[str, str],
) -> Iterator[Planned]:
    """Yield every check in every direction; ``missing`` says of CLIs why they can't be asked."""
    for case in cases:
        for source in sources:
            for target in targets:
                absent = [missing[agent] for agent in (source, target) if agent in missing]
                yield Planned(case, source, target, case.cannot or "; ".join(dict.fromkeys(absent)))


def spending(planned: Sequence[Planned], clis: Mapping[str, OwnCli]) -> dict[str, Spending]:
    """Return what a plan asks of each CLI: a source is made once for all its targets."""
    found: dict[str, Spending] = {}
    running = [one for one in planned if not one.why]
    for (case, source), group in groupby(running, key=lambda one: (one.case, one.source)):
        _add(found, source, _source(case, clis[source]))
        for one in group:
            _add(found, one.target, _target(case, clis[one.target]))
    return found


def _add(found: dict[str, Spending], agent: str, more: Spending) -> None:
    found[agent] = found[agent].and_(more) if agent in found else more


def _source(case: RealCase, cli: OwnCli) -> Spending:
    """The request that ends with the answer, one more for each call, and later starts."""
    requests = case.calls + 1
    tokens = requests * (cli.request_tokens + _words(case)) + case.starts * cli.request_tokens
    again = TRIES - 1 if case.edits is not None else 0
    return Spending(1 + case.starts, requests + case.starts, tokens, again)


def _target(case: RealCase, cli: OwnCli) -> Spending:
    """A question, with the conversation before it; or as many calls as were left to be made.

    Where a moved session is not gone on with, whether a new one is tells whose fault that is.
    """
    requests = 1 if case.edits is None else case.calls + 1
    return Spending(1, requests, requests * (cli.request_tokens + _words(case)), 1)


def _words(case: RealCase) -> int:
    files = (*case.workspace.values(), *case.programs.values())
    return sum(map(len, (case.asks, case.then, *files))) // _CHARACTERS_A_TOKEN
