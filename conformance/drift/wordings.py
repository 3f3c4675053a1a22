"""Text that is parsed: the wordings by which a reader knows an exit code, and numbers of lines.

``live/agents/<agent>/markers.toml`` lists the wordings, each with the code that parses it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.drift.findings import Change
from conformance.drift.links import Records
from conformance.formats.records import Named
from live.sanitise.rules import Marker, markers

_LONGEST = 60
_NUMBERED = re.compile(r" *(\d+)(\. |\t|→|: |\| )")
_NO_NUMBERS = "no numbers"


def compare_wordings(agent: str, before: Records, after: Records) -> Iterator[Change]:
    """Yield the wordings that only one side holds; one for one by the same parser is a change."""
    known = markers(agent)
    old, new = _seen(known, before), _seen(known, after)
    gone: defaultdict[str, list[Marker]] = defaultdict(list)
    come: defaultdict[str, list[Marker]] = defaultdict(list)
    for marker in known:
        if marker.text in old and marker.text not in new:
            gone[marker.parsed_by].append(marker)
        elif marker.text in new and marker.text not in old:
            come[marker.parsed_by].append(marker)
    for parser in sorted({*gone, *come}):
        yield from _changes(gone[parser], come[parser], old, new)
    yield from _numbering(before, after)


def _changes(
    gone: list[Marker],
    come: list[Marker],
    old: Mapping[str, set[str]],
    new: Mapping[str, set[str]],
) -> Iterator[Change]:
    if len(gone) == len(come) == 1 and old[gone[0].text] & new[come[0].text]:
        was, now = gone[0].text, come[0].text
        where = tuple(sorted(old[was] | new[now]))
        yield Change("wording-changed", _place(was), _told(was), _told(now), where)
        return
    for one in gone:
        where = tuple(sorted(old[one.text]))
        yield Change("wording-removed", _place(one.text), _told(one.text), "", where)
    for one in come:
        where = tuple(sorted(new[one.text]))
        yield Change("wording-added", _place(one.text), "", _told(one.text), where)


def _place(text: str) -> str:
    return f"wording:{_told(text)}"


def _told(text: str) -> str:
    return repr(text[:_LONGEST])


def _seen(known: tuple[Marker, ...], records: Records) -> dict[str, set[str]]:
    """Return the scenarios whose records hold each wording."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for scenario, all_of_it in records.items():
        texts = [text for one in all_of_it for text in _strings(one.value)]
        for marker in known:
            if any(marker.text in text for text in texts):
                found[marker.text].add(scenario)
    return dict(found)


def _numbering(before: Records, after: Records) -> Iterator[Change]:
    """Yield how the lines of files are numbered, where that differs in a scenario."""
    changed: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for scenario in before:
        was, now = _styles(before[scenario]), _styles(after[scenario])
        if was != now:
            changed[" or ".join(sorted(was)), " or ".join(sorted(now))].add(scenario)
    for (was, now), where in changed.items():
        told = (was or _NO_NUMBERS, now or _NO_NUMBERS)
        yield Change("numbering-changed", "wording:numbers of lines", *told, tuple(sorted(where)))


def _styles(records: Sequence[Named]) -> set[str]:
    """Return what stands behind the numbers of texts whose lines are counted from their first."""
    texts = {text for one in records for text in _strings(one.value) if "\n" in text}
    return {style for text in texts if (style := _style(text)) is not None}


def _style(text: str) -> str | None:
    """Return how a text's first two lines are numbered; a harness may add lines at its end."""
    first, second, *_ = (_NUMBERED.match(line) for line in text.split("\n"))
    if first is None or second is None or first[2] != second[2]:
        return None
    return repr(f"1{first[2]}") if int(second[1]) == int(first[1]) + 1 else None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)
