"""Files: which there are, and how they are called, ids and times left out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from conformance.corpus import Case
from conformance.drift.findings import Change

_PARTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("{uuid}", re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")),
    ("{time}", re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d")),
    ("{hex}", re.compile(r"(?<![0-9a-z{])[0-9a-f]*\d[0-9a-f]{5,}(?![0-9a-z}])")),
    ("{n}", re.compile(r"\d+")),
)


def pattern(path: str) -> str:
    """Return a file's name with its ids, times and numbers left out."""
    for name, expression in _PARTS:
        path = expression.sub(name, path)
    return path


def compare_layouts(
    before: Mapping[str, Case], after: Mapping[str, Case], scenarios: Iterable[str]
) -> Iterator[Change]:
    """Yield what differs in the names of files."""
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
