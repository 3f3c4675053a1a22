"""Files and tables: which there are, and how they are called, ids and times left out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from conformance.corpus import DATABASE_TEXT, Case
from conformance.drift.findings import Change

_PARTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("{uuid}", re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")),
    ("{time}", re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d")),
    ("{hex}", re.compile(r"(?<![0-9a-z{])[0-9a-f]*\d[0-9a-f]{5,}(?![0-9a-z}])")),
    ("{n}", re.compile(r"\d+")),
)

_TABLE = re.compile(r"CREATE TABLE (?:IF NOT EXISTS )?[\"'`]?(\w+)[\"'`]?\s*\((.*?)\);", re.S)
_VERSION = re.compile(r"PRAGMA user_version\s*=\s*(\d+)")


def compare_layouts(
    before: Mapping[str, Case], after: Mapping[str, Case], scenarios: Iterable[str]
) -> Iterator[Change]:
    """Yield what differs in the names of files, and in the tables of databases."""
    yield from _files(before, after, scenarios)
    yield from _tables(before, after, scenarios)


def pattern(path: str) -> str:
    """Return a file's name with its ids, times and numbers left out."""
    for name, expression in _PARTS:
        path = expression.sub(name, path)
    return path


def _files(
    before: Mapping[str, Case], after: Mapping[str, Case], scenarios: Iterable[str]
) -> Iterator[Change]:
    old, new = _patterns(before, scenarios), _patterns(after, scenarios)
    gone = {name: old[name] for name in sorted(old.keys() - new.keys())}
    come = {name: new[name] for name in sorted(new.keys() - old.keys())}
    for one in list(gone):
        # Of the files that only one side has in just these scenarios there must be one each.
        alike = [other for other in come if come[other] == gone[one] and _ends_alike(one, other)]
        rivals = [other for other in gone if gone[other] == gone[one] and _ends_alike(one, other)]
        if len(alike) == len(rivals) == 1:
            yield Change("file-moved", f"file:{one}", one, alike[0], tuple(sorted(gone[one])))
            del gone[one], come[alike[0]]
    for name, where in gone.items():
        yield Change("file-removed", f"file:{name}", name, "", tuple(sorted(where)))
    for name, where in come.items():
        yield Change("file-added", f"file:{name}", "", name, tuple(sorted(where)))


def _patterns(cases: Mapping[str, Case], scenarios: Iterable[str]) -> dict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for scenario in scenarios:
        for path in cases[scenario].facts.files:
            found[pattern(path)].add(scenario)
    return found


def _ends_alike(one: str, other: str) -> bool:
    return one.rpartition(".")[2] == other.rpartition(".")[2]


# ------------------------------------------------------------------ tables


def _tables(
    before: Mapping[str, Case], after: Mapping[str, Case], scenarios: Iterable[str]
) -> Iterator[Change]:
    changed: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for scenario in scenarios:
        old, new = _schema(before[scenario]), _schema(after[scenario])
        for table in sorted(old.keys() & new.keys()):
            if old[table] != new[table]:
                changed[table, old[table], new[table]].add(scenario)
    for (table, was, now), where in changed.items():
        yield Change("table-changed", f"table:{table}", was, now, tuple(sorted(where)))


def _schema(case: Case) -> dict[str, str]:
    """Return the columns of each table of a case's databases, and each database's version."""
    found: dict[str, str] = {}
    for path in sorted(case.home.rglob(f"*{DATABASE_TEXT}")):
        name = pattern(path.name.removesuffix(DATABASE_TEXT))
        text = path.read_text(encoding="utf-8")
        for table, columns in _TABLE.findall(text):
            found[f"{name}/{table}"] = " ".join(columns.split())
        if version := _VERSION.search(text):
            found[f"{name} (version)"] = version[1]
    return found
