"""``python -m conformance.hooks``: so many events, and how many of the links are false."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import click

from conformance.hooks.checks import OF_ONE_TREE, judged
from conformance.hooks.conversations import conversations
from conformance.hooks.happenings import Conversation
from conformance.hooks.payloads import BY_NAME
from conformance.hooks.reference import correlate
from conformance.hooks.trees import links


class _Tally(NamedTuple):
    """What was counted so far."""

    events: int = 0
    made: int = 0
    excused: int = 0
    too_large: int = 0
    seconds: float = 0.0

    def and_also(self, other: _Tally) -> _Tally:
        """Return both together."""
        return _Tally(
            self.events + other.events,
            self.made + other.made,
            self.excused + other.excused,
            self.too_large + other.too_large,
            self.seconds + other.seconds,
        )


@click.command()
@click.option("--events", default=1_000_000, show_default=True, help="At least so many events.")
@click.option("--seed", default=1, show_default=True, help="Another seed, other conversations.")
@click.option(
    "--dialect", "dialects", multiple=True, type=click.Choice(sorted(BY_NAME)), help="Only these."
)
@click.option("--agent", "agents", multiple=True, help="Only the dialects of these harnesses.")
@click.option("--at-once", default=8, show_default=True, help="Sessions beside each other.")
def main(
    *, events: int, seed: int, dialects: tuple[str, ...], agents: tuple[str, ...], at_once: int
) -> None:
    """Make conversations, correlate them, and hold the trees against the truth and the oracle."""
    chosen = [name for name in dialects or BY_NAME if not agents or BY_NAME[name].agent in agents]
    if not chosen:
        raise click.BadParameter("no dialect of such a harness", param_hint="--agent")
    found = 0
    total = _Tally()
    for name in chosen:
        told = conversations(name, seed, -(-events // len(chosen)), at_once=at_once)
        tally, findings = _judge(told)
        found += findings
        total = total.and_also(tally)
        _say(name, tally)
    _say("all", total)
    if found:
        print(f"{found} findings")
    sys.exit(1 if found else 0)


def _judge(told: Iterator[Conversation]) -> tuple[_Tally, int]:
    """Correlate conversations; say what is found wrong as it is found."""
    tally, found = _Tally(), 0
    for number, one in enumerate(told):
        lines = one.lines()
        begun = time.perf_counter()
        tree = correlate(lines, one.agent)
        took = time.perf_counter() - begun
        given = judged(lambda lines, agent, tree=tree: tree, one)
        findings = list(itertools.chain(*(check(given) for check in OF_ONE_TREE.values())))
        for finding in findings[:5]:
            print(f"{one.dialect} {number}: {finding.check}: {finding.why} {finding.lines}")
        found += len(findings)
        calls = {place: each.call for place, each in enumerate(one.arrived, start=1)}
        made = links(tree)
        tally = tally.and_also(
            _Tally(
                len(lines),
                len(made),
                sum(calls[end] != calls[start] for end, start in made),
                len(given.too_large),
                took,
            )
        )
    return tally, found


def _say(name: str, tally: _Tally) -> None:
    speed = tally.events / tally.seconds if tally.seconds else 0
    print(
        f"{name:26} {tally.events:>9,} events  {tally.made:>8,} links, {tally.excused:>5,} of them"
        f" with a lost event's twin, {tally.too_large:>5,} too tangled to list,"
        f" {speed:>8,.0f} events/s",
        flush=True,
    )


if __name__ == "__main__":
    main()
