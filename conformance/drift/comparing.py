"""Two sides compared: like with like, in every place where a format can change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from conformance.corpus import Case
from conformance.drift.abilities import compare_abilities
from conformance.drift.findings import Change, Finding, findings
from conformance.drift.kinds import compare_kinds
from conformance.drift.layouts import compare_layouts
from conformance.drift.links import Records, compare_links
from conformance.drift.sides import Side, common
from conformance.drift.wordings import compare_wordings
from conformance.formats.observing import Observer, observe
from conformance.formats.records import Named
from conformance.formats.snapshots import known_records
from conformance.formats.tables import Table, table


def compare(before: Side, after: Side) -> list[Finding]:
    """Return what changed between two releases of an agent, the most severe first."""
    return findings(before.agent, changes(before, after))


def changes(before: Side, after: Side) -> Iterator[Change]:
    """Yield every difference between two sides, over the scenarios that they have alike."""
    scenarios = common(before, after).scenarios
    rules = table(before.agent)
    old, new = _records(before.cases, scenarios), _records(after.cases, scenarios)
    files, streams = _of_files(old, scenarios), _of_streams(old, before, after)
    now_files, now_streams = _of_files(new, scenarios), _of_streams(new, before, after)

    def names(bits: int) -> tuple[str, ...]:
        return tuple(name for at, name in enumerate(scenarios) if bits >> at & 1)

    yield from compare_layouts(before.cases, after.cases, scenarios)
    for one, other in ((files, now_files), (streams, now_streams)):
        yield from compare_kinds(
            _observed(one, scenarios, rules), _observed(other, scenarios, rules), names
        )
    yield from compare_links(files, now_files, rules)
    yield from compare_wordings(before.agent, files, now_files)
    yield from compare_abilities(before, after, scenarios)


def _records(cases: Mapping[str, Case], scenarios: Iterable[str]) -> dict[str, list[Named]]:
    """Return every record that can be read; a file of no known kind is told by its name."""
    return {name: known_records(cases[name])[0] for name in scenarios}


def _of_files(records: Records, scenarios: Iterable[str]) -> dict[str, list[Named]]:
    return {name: [one for one in records[name] if not _is_told(one)] for name in scenarios}


def _of_streams(records: Records, before: Side, after: Side) -> dict[str, list[Named]]:
    """Return what was told to programs, of the scenarios in which both sides told something."""
    return {
        name: [one for one in all_of_it if _is_told(one)]
        for name, all_of_it in records.items()
        if before.cases[name].facts.streams and after.cases[name].facts.streams
    }


def _is_told(record: Named) -> bool:
    return record.kind.startswith("stream/")


def _observed(records: Records, scenarios: Sequence[str], rules: Table) -> dict[str, Observer]:
    """Return what was seen of each kind."""
    return observe(
        (
            (one.kind, one.value, 1 << at)
            for at, name in enumerate(scenarios)
            for one in records.get(name, ())
        ),
        rules,
    )
