"""Live results condensed: a row a case, a column a direction, the worst verdict in each place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from conformance.corpus import version_key
from conformance.livechecks.blame import blame
from conformance.livechecks.results import Result, Verdict
from live.checks import order
from transcripts.stores.base import agents

_Key = TypeVar("_Key")

_WORST: Sequence[Verdict] = ("failed", "impossible", "skipped", "passed")

MARKS: dict[Verdict, str] = {"passed": "✓", "failed": "✗", "impossible": "○", "skipped": "–"}
LEGEND = "✓ passed · ✗ failed · ○ impossible, as measured · – skipped · blank: not asked"

_BY_WITNESS: dict[str, Verdict] = {
    "agrees": "passed",
    "differs": "failed",
    "refuses": "failed",
    "not-offered": "skipped",
}


class Column(NamedTuple):
    """Where a conversation comes from and goes to, or who is asked without a model.

    ``source`` is ``own`` for the control: the CLI's own session, unmoved. ``witness`` names what
    else says something of all sessions moved into ``target``.
    """

    source: str
    target: str
    witness: str = ""


class Grid(NamedTuple):
    """The results at the newest releases among them: cases down, columns across."""

    releases: dict[str, str]
    cases: Sequence[str]
    columns: Sequence[Column]
    cells: dict[tuple[str, Column], Verdict]


class ReleaseRow(NamedTuple):
    """What one release was asked: what was moved into it, and its own sessions, by case."""

    agent: str
    release: str
    moved: dict[str, Verdict]
    own: dict[str, Verdict]


class Remark(NamedTuple):
    """Why checks ended as they did: all that did so for the same reason."""

    verdict: Verdict | Literal["disagrees"]
    checks: Sequence[Result]
    why: str
    more: str = ""


def newest_of(results: Iterable[Result]) -> dict[str, str]:
    """Return the newest release of every agent that took part."""
    found: dict[str, str] = {}
    for one in results:
        for agent, release in one.releases.items():
            if version_key(release) > version_key(found.get(agent, "")):
                found[agent] = release
    return {agent: found[agent] for agent in sorted(found)}


def grid(results: Sequence[Result]) -> Grid:
    """Gather what was checked at the newest releases."""
    newest = newest_of(results)
    cells: dict[tuple[str, Column], Verdict] = {}
    for one in results:
        if not _are_of(one.releases, newest):
            continue
        _put(cells, (one.case, _column(one)), one.verdict)
        for said in one.model_free:
            place = (one.case, Column("model-free", said.agent, said.witness))
            _put(cells, place, _BY_WITNESS[said.verdict])
    return Grid(
        releases=newest,
        cases=sorted({case for case, _ in cells}, key=order),
        columns=sorted({column for _, column in cells}, key=_order),
        cells=cells,
    )


def by_release(results: Sequence[Result]) -> list[ReleaseRow]:
    """Return a row for every release as a target, in what older ones than the newest were asked."""
    newest = newest_of(results)
    older = {
        (one.case, one.moved) for one in results if one.release != newest[one.target]
    }  # fmt: skip
    rows: dict[tuple[str, str], ReleaseRow] = {}
    for one in sorted(results, key=lambda one: (one.target, version_key(one.release))):
        others = {agent: at for agent, at in one.releases.items() if agent != one.target}
        if (one.case, one.moved) in older and _are_of(others, newest):
            empty = ReleaseRow(one.target, one.release, {}, {})
            row = rows.setdefault((one.target, one.release), empty)
            _put(row.moved if one.moved else row.own, one.case, one.verdict)
    return list(rows.values())


def counts(results: Iterable[Result]) -> str:
    """Say in one line how many checks ended how."""
    counted = Counter(one.verdict for one in results)
    total = counted.total()
    said = [f"{counted[verdict]} {verdict}" for verdict in reversed(_WORST) if counted[verdict]]
    return f"{total} check{'' if total == 1 else 's'}: {', '.join(said) or 'none ran'}"


def remarks(results: Sequence[Result]) -> list[Remark]:
    """Return why checks did not pass, the worst first, those of one reason together."""
    alike: dict[tuple[Verdict | Literal["disagrees"], str, str], list[Result]] = {}
    for one in results:
        if one.verdict != "passed":
            alike.setdefault((one.verdict, one.why, _more(one, results)), []).append(one)
        for said in one.model_free:
            if _BY_WITNESS[said.verdict] == "failed":
                why = f"{said.witness} {said.verdict}: {said.why}"
                alike.setdefault(("disagrees", why, ""), []).append(one)
    worst = ("failed", "disagrees", "impossible", "skipped")
    found = [Remark(verdict, checks, why, more) for (verdict, why, more), checks in alike.items()]
    return sorted(found, key=lambda remark: worst.index(remark.verdict))


def dates(results: Iterable[Result]) -> str:
    """Return the day on which all was checked, or the first and the last."""
    days = sorted({one.checked_at[:10] for one in results if one.checked_at})
    return " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "on no known day"


def _more(result: Result, results: Sequence[Result]) -> str:
    if result.measured is not None:
        return f"measured on {result.measured.on} by {result.measured.command}"
    if result.verdict != "failed" or not result.moved:
        return ""
    told = {
        "the release's": "the release's own doing: its own session fails as well",
        "the writer's": "the writer's doing: the release's own session passes",
        "not known": "whose doing is not known: --control asks the release's own session",
    }
    return told[blame(result, results)]


def _put(cells: dict[_Key, Verdict], place: _Key, verdict: Verdict) -> None:
    there = cells.get(place, verdict)
    cells[place] = next(one for one in _WORST if one in (there, verdict))


def _column(result: Result) -> Column:
    return Column(result.source if result.moved else "own", result.target)


def _are_of(some: Mapping[str, str], releases: Mapping[str, str]) -> bool:
    return all(releases[agent] == at for agent, at in some.items())


def _order(column: Column) -> tuple[int, int, str]:
    known = agents()
    last = len(known)
    sources = [*known, "own", "model-free"]
    source = sources.index(column.source) if column.source in sources else last + 2
    target = known.index(column.target) if column.target in known else last
    return (source, target, column.witness)
