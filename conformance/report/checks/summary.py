"""Results condensed: a row a check, what did not pass grouped by reason, text that shows itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple, get_args

from conformance.checks.catalogue import claims
from conformance.checks.check import CheckReport, Result, Verdict

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

WORDS: dict[Verdict, str] = {
    "passed": "passed",
    "failed": "failed",
    "known": "known to fail",
    "flaky": "flaky",
    "skipped": "skipped",
}

_TELLING: Sequence[Verdict] = ("failed", "passed", "known", "flaky", "skipped")

_PARTICULAR = re.compile(r"('[^']*'|\"[^\"]*\"|\d+)")
"""What differs between reasons that say the same: numbers, and words that are quoted."""


class Row(NamedTuple):
    """One check: what it claims, and what came of it."""

    check: str
    claim: str
    results: Sequence[Result]

    @property
    def counts(self) -> Counter[Verdict]:
        """How many results there are of each verdict."""
        return Counter(one.verdict for one in self.results)

    @property
    def verdict(self) -> Verdict:
        """The check's word on the whole: failed if anything did, passed only if something did."""
        return next(verdict for verdict in _TELLING if self.counts[verdict])


class Alike(NamedTuple):
    """Results of one check that say the same; ``why`` has … where they differ."""

    check: str
    claim: str
    why: str
    results: Sequence[Result]

    @property
    def cases(self) -> list[str]:
        """What it happened to."""
        return [one.case for one in self.results]


def rows(report: CheckReport) -> list[Row]:
    """Return a row for every check that has results, in the order of asking."""
    gathered: dict[str, list[Result]] = {check: [] for check in claims()}
    for one in report.results:
        gathered.setdefault(one.check, []).append(one)
    return [
        Row(check, claims().get(check, ""), found) for check, found in gathered.items() if found
    ]


def verdicts_of(found: Iterable[Row]) -> list[Verdict]:
    """Return the verdicts that occur, and always what passed and what failed."""
    present = {one.verdict for row in found for one in row.results} | {"passed", "failed"}
    return [verdict for verdict in VERDICTS if verdict in present]


def alike(found: Iterable[Row], verdict: Verdict) -> list[Alike]:
    """Return the results of one verdict, those of a check that say the same together."""
    groups: list[Alike] = []
    for row in found:
        same: dict[str, list[Result]] = {}
        for one in row.results:
            if one.verdict == verdict:
                same.setdefault(_PARTICULAR.sub("…", one.why), []).append(one)
        groups += [Alike(row.check, row.claim, _common(of), of) for of in same.values()]
    return groups


def _common(results: Sequence[Result]) -> str:
    """Return what reasons that are alike have in common, with … for what they have not."""
    parts = [_PARTICULAR.split(one.why) for one in results]
    return "".join(
        column[0] if len(set(column)) == 1 else "…" for column in zip(*parts, strict=True)
    )


def about(report: CheckReport) -> str:
    """Say who was checked: by its own name and release, and by the name it was opened under."""
    who = report.about
    return report.adapter if who is None else f"{who.name} {who.version} ({report.adapter})"


def verdict_line(report: CheckReport) -> str:
    """Say in one line how many results there are of each verdict."""
    summary = report.summary
    said = [f"{summary.passed} passed", f"{summary.failed} failed"]
    others: tuple[tuple[Verdict, int], ...] = (
        ("known", summary.known),
        ("flaky", summary.flaky),
        ("skipped", summary.skipped),
    )
    said += [f"{count} {WORDS[verdict]}" for verdict, count in others if count]
    return ", ".join(said)


def visible(text: str) -> str:
    """Return a text in which everything shows: controls and halves of pairs as their escapes.

    An adapter's own words reach terminals, pages and XML, where a control character would act,
    or is forbidden.
    """
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    code = ord(character)
    if character in "\n\t":
        return character
    if code < 0x20 or 0x7F <= code < 0xA0:  # C0, delete and C1
        return f"\\x{code:02x}"
    if 0xD800 <= code < 0xE000 or 0xFDD0 <= code < 0xFDF0 or code & 0xFFFE == 0xFFFE:
        return f"\\u{code:04x}"
    if 0x202A <= code < 0x202F or 0x2066 <= code < 0x206A:  # they turn the direction of reading
        return f"\\u{code:04x}"
    return character
