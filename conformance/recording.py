"""Scenarios recorded from a release, one after the other, each with what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from conformance.matrix import Tick
from live.agents.base import CannotDo, drivers
from live.hooked import record_hooked
from live.model import script
from live.recorder import record
from live.releases import ReleaseError


class Outcome(NamedTuple):
    """What came of recording one scenario."""

    scenario: str
    what: str
    failed: bool = False


class UnknownName(Exception):
    """There is no such agent or scenario; the message lists those that there are."""


def record_all(
    agent: str,
    version: str,
    scenarios: Sequence[str],
    dialect: str | None,
    out: Path,
    *,
    verify: bool,
    hooked: bool,
    tick: Tick,
) -> list[Outcome]:
    """Record scenarios, all if none is named; what fails does not stop the others.

    With ``hooked`` recorded ones are run again with every hook, and that is put beside them.
    """
    if agent not in drivers():
        raise UnknownName(f"no driver for {agent!r}: use one of {', '.join(drivers())}")
    unknown = sorted(set(scenarios) - set(script.names()))
    if unknown:
        raise UnknownName(f"no scenario {unknown[0]!r}: use one of {', '.join(script.names())}")
    outcomes: list[Outcome] = []
    for name in scenarios or script.names():
        tick(f"{agent} {version}: {name}")
        outcomes.append(_one(agent, version, name, dialect, out, verify=verify, hooked=hooked))
    return outcomes


def _one(
    agent: str,
    version: str,
    name: str,
    dialect: str | None,
    out: Path,
    *,
    verify: bool,
    hooked: bool,
) -> Outcome:
    run = record_hooked if hooked else record
    try:
        path = run(agent, version, name, dialect, out=out, verify=verify)
    except CannotDo as error:
        return Outcome(name, f"cannot be done by this release: {error}")
    except ReleaseError:
        raise
    except Exception as error:  # the next scenario has nothing to do with this one's fault
        return Outcome(name, f"{type(error).__name__}: {error}", failed=True)
    return Outcome(name, str(path))
