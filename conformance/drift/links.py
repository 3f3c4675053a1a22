"""Order and links: what a record's pointer points to, and how many records a response makes.

The order of a conversation is read from pointers and from places in a file, which no schema
holds. ``conformance/formats/<agent>.toml`` names the fields.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.drift.findings import Change
from conformance.formats.records import Named
from conformance.formats.tables import Table

Records = Mapping[str, Sequence[Named]]
"""Every record of the compared scenarios, by scenario, in the order of the files."""


def compare_links(before: Records, after: Records, rules: Table) -> Iterator[Change]:
    """Yield what differs in where pointers lead, by kind, and in how responses are cut up."""
    if rules.identity and rules.parent:
        yield from _pointers(before, after, rules.identity, rules.parent)
    if rules.response:
        yield from _groups(before, after, rules.response)


def _pointers(before: Records, after: Records, identity: str, parent: str) -> Iterator[Change]:
    old, new = _led(before, identity, parent), _led(after, identity, parent)
    for kind in sorted(old.keys() & new.keys()):
        if old[kind].keys() != new[kind].keys():
            where = {
                name for one in (old[kind], new[kind]) for names in one.values() for name in names
            }
            yield Change(
                "link-changed",
                f"order:{kind}#/{parent.replace('.', '/')}",
                " or ".join(sorted(old[kind])),
                " or ".join(sorted(new[kind])),
                tuple(sorted(where)),
            )


def _led(records: Records, identity: str, parent: str) -> dict[str, dict[str, set[str]]]:
    """Return what the pointers of each kind lead to, and in which scenarios."""
    found: dict[str, dict[str, set[str]]] = {}
    for scenario, all_of_it in records.items():
        owners = {value_at(one.value, identity): one.file for one in all_of_it}
        seen: dict[str, list[Any]] = defaultdict(list)
        for one in all_of_it:
            own, before = value_at(one.value, identity), seen[one.file]
            if own is None:
                continue
            to = _relation(value_at(one.value, parent), before, owners, one.file)
            found.setdefault(one.kind, {}).setdefault(to, set()).add(scenario)
            before.append(own)
    return found


def _relation(pointed: Any, before: Sequence[Any], owners: Mapping[Any, str], file: str) -> str:
    if pointed is None:
        return "nothing"
    if before and pointed == before[-1]:
        return "the record before"
    if pointed in before:
        return "an earlier record"
    if pointed not in owners:
        return "no record"
    return "a later record" if owners[pointed] == file else "a record of another file"


def _groups(before: Records, after: Records, response: str) -> Iterator[Change]:
    old, new = _made_of(before, response), _made_of(after, response)
    if old and new and old.keys() != new.keys():
        where = {name for one in (old, new) for names in one.values() for name in names}
        yield Change(
            "grouping-changed",
            f"order:{response}",
            " or ".join(sorted(old)),
            " or ".join(sorted(new)),
            tuple(sorted(where)),
        )


def _made_of(records: Records, response: str) -> dict[str, set[str]]:
    """Return of how many records responses are made, and in which scenarios."""
    found: dict[str, set[str]] = {}
    for scenario, all_of_it in records.items():
        counts = Counter(
            (one.file, value)
            for one in all_of_it
            if isinstance(value := value_at(one.value, response), str)
        )
        for count in counts.values():
            found.setdefault("one record" if count == 1 else "several records", set()).add(scenario)
    return found


def value_at(record: Any, place: str) -> Any:
    """Return what stands at a place of dotted keys, None where nothing does."""
    for key in place.split("."):
        if not isinstance(record, dict):
            return None
        record = record.get(key)
    return record
