"""Every recorded session of the newest release, read by a tool and held against the script."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from conformance.adapters import Adapter, AdapterError
from conformance.checks.homes import session_file
from conformance.corpus import Case, cases, opened, releases
from conformance.peers.judging import Judged, judge
from conformance.peers.tallying import Tally


def newest_cases(corpus: Path, agent: str) -> Sequence[Case]:
    """Return the recordings of an agent's newest release."""
    recorded = releases(corpus, agent)
    return list(cases(corpus, agent, recorded[-1])) if recorded else []


def size_of(case: Case) -> int:
    """Return how large a session's own file is: the smallest case shows a fault best."""
    return session_file(case.home, case.facts.session_path).stat().st_size


def read_all(
    adapter: Adapter,
    agent: str,
    chosen: Sequence[Case],
    lacks: Mapping[str, str],
    tick: Callable[[str], None],
) -> Tally:
    """Have every case read, and count what was given of it."""
    tally = Tally("read", agent)
    for case in chosen:
        tick(f"{adapter.name} reads {case.name}")
        judged, why = read_one(adapter, agent, case, lacks)
        if why:
            tally.fail(case.name, size_of(case), why, judged)
        else:
            tally.add(case.name, size_of(case), judged)
    return tally


def read_one(
    adapter: Adapter, agent: str, case: Case, lacks: Collection[str]
) -> tuple[list[Judged], str]:
    """Return what became of each message of a case, and why there was no answer, or ""."""
    with opened(case) as home:
        try:
            messages = adapter.read(agent, home, case.facts.session_id).messages
        except AdapterError as error:
            return list(_without(judge(case, (), lacks), str(error))), str(error)
    return judge(case, messages, lacks), ""


def _without(judged: Sequence[Judged], why: str) -> Iterator[Judged]:
    """Yield verdicts that say why there was nothing."""
    for one in judged:
        yield one._replace(wrong=tuple(wrong._replace(got=why[:160]) for wrong in one.wrong))
