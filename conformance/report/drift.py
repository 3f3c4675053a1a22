"""What a drift report says, before it is drawn: alike findings together, and the two answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from conformance.drift.findings import DriftReport, Finding, told, worse
from conformance.drift.rules import SEVERITIES, Severity

MOST_NAMED = 3
"""How many places, or scenarios, are named of a longer list."""


class Alike(NamedTuple):
    """Findings of one rule about one field, in however many kinds of record."""

    findings: Sequence[Finding]

    @property
    def first(self) -> Finding:
        """The one that stands for all."""
        return self.findings[0]

    @property
    def severity(self) -> Severity:
        """The worse of the two directions."""
        return worse(self.first.reader, self.first.writer)

    @property
    def text(self) -> str:
        """What happened, in words."""
        return told(self.first)

    @property
    def place(self) -> str:
        """Where: the first place, and in how many more kinds of record."""
        more = len(self.findings) - 1
        return f"{self.first.place} (and in {more} more)" if more else self.first.place


def alike(findings: Sequence[Finding]) -> list[Alike]:
    """Return findings, those together that tell the same of a field of several kinds.

    All of one rule stand together, where the first of them stood.
    """
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for one in findings:
        kind, pointed, pointer = one.place.partition("#")
        where = pointer.rpartition("/")[2] if pointed else kind
        bare = pointed and "[" not in pointer and not one.place.startswith("order:")
        key = (one.rule, where if bare else one.place, one.before, one.after, one.accepted)
        groups.setdefault(key, []).append(one)
    rules: dict[str, list[Alike]] = {}
    for group in groups.values():
        rules.setdefault(group[0].rule, []).append(Alike(group))
    return [one for of_a_rule in rules.values() for one in of_a_rule]


def answers(report: DriftReport) -> Iterator[tuple[str, str]]:
    """Yield the questions that a report answers, each with its answer."""
    counts = [
        f"{count} {severity}"
        for severity in SEVERITIES
        if (count := sum(one.severity == severity for one in alike(report.findings)))
    ]
    yield "Did anything change?", ", ".join(counts) if counts else "no"
    yield "Do our readers still read it?", _answer(report.reader_ok)
    yield "Does it resume what our writers write?", _answer(report.writer_ok)
    if report.vendor is not None:
        places = len(report.vendor)
        told = f"no: in {places} place{'' if places == 1 else 's'}" if places else "yes"
        yield "Does it keep to the schema that it carries?", told


def not_compared(report: DriftReport) -> Iterator[str]:
    """Yield why scenarios were not compared, each reason with the scenarios that it is true of."""
    reasons: dict[str, list[str]] = {}
    for name, why in report.not_compared.items():
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        yield f"{len(names)} {why}: {scenarios(names, 0)}"


def scenarios(names: Sequence[str], total: int) -> str:
    """Return where something was seen, in few words."""
    if len(names) >= total > 1:
        return "all scenarios"
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _answer(ok: bool | None) -> str:
    if ok is None:
        return "not asked: both releases come from the corpus"
    return "yes" if ok else "NO"
