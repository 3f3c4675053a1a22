"""Two sides compared: like with like, in every place where a format can change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from conformance.corpus import Case
from conformance.drift.abilities import compare_abilities
from conformance.drift.findings import Change, Finding, findings
from conformance.drift.kinds import compare_kinds
from conformance.drift.layouts import compare_layouts
from conformance.drift.links import compare_links, without_streams
from conformance.drift.sides import Side, common
from conformance.drift.wordings import compare_wordings
from conformance.formats.observing import Observer, observe
from conformance.formats.records import Named
from conformance.formats.snapshots import records_of
from conformance.formats.tables import Table, table


def compare(before: Side, after: Side) -> list[Finding]:
    """Return what changed between two releases of an agent, the most severe first."""
    return findings(before.agent, changes(before, after))


def changes(before: Side, after: Side) -> Iterator[Change]:
    """Yield every difference between two sides, over the scenarios that they have alike."""
    scenarios = common(before, after).scenarios
    rules = table(before.agent)
    old, new = _records(before.cases, scenarios), _records(after.cases, scenarios)
    streamed = [
        name
        for name in scenarios
        if before.cases[name].facts.streams and after.cases[name].facts.streams
    ]

    def names(bits: int) -> tuple[str, ...]:
        return tuple(name for at, name in enumerate(scenarios) if bits >> at & 1)

    yield from compare_layouts(before.cases, after.cases, scenarios)
    yield from compare_kinds(
        _observed(old, scenarios, streamed, rules),
        _observed(new, scenarios, streamed, rules),
        names,
    )
    files = {name: without_streams(old[name]) for name in scenarios}
    now_files = {name: without_streams(new[name]) for name in scenarios}
    yield from compare_links(files, now_files, rules)
    yield from compare_wordings(before.agent, files, now_files)
    yield from compare_abilities(before, after, scenarios)


def _records(cases: Mapping[str, Case], scenarios: Iterable[str]) -> dict[str, list[Named]]:
    return {name: records_of(cases[name]) for name in scenarios}


def _observed(
    records: Mapping[str, Sequence[Named]],
    scenarios: Sequence[str],
    streamed: Iterable[str],
    rules: Table,
) -> dict[str, Observer]:
    """Return what was seen of each kind; of streams only where both sides have them."""
    told = set(streamed)
    return observe(
        (
            (one.kind, one.value, 1 << at)
            for at, name in enumerate(scenarios)
            for one in records[name]
            if name in told or not one.kind.startswith("stream/")
        ),
        rules,
    )
