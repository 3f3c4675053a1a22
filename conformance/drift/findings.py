"""What was found: a rule, a place, before and after, where it was seen, and whom it breaks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Literal, NamedTuple

import msgspec

from conformance.drift.rules import RULES, SEVERITIES, Severity

Policy = Literal["strict", "reader", "roundtrip", "report"]

POLICIES: tuple[Policy, ...] = ("reader", "roundtrip", "strict", "report")
"""What a run fails for: errors of readers; of readers and writers; warnings too; nothing."""

_DIGITS = 12


class Change(NamedTuple):
    """A difference, under a rule: what the modules that compare yield.

    ``place`` names it within the agent's format: ``kind#/pointer`` for what is in a record,
    ``file:``, ``order:``, ``wording:``, ``table:``, ``tool:``, ``scenario:`` or ``resume:`` and a
    name for the rest. ``before`` and ``after`` are empty where there was, or is, nothing.
    """

    rule: str
    place: str
    before: str
    after: str
    scenarios: tuple[str, ...]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One finding of ``conformance drift``.

    ``reader`` and ``writer`` are its severities in both directions. The fingerprint holds no
    version, so that it is the same whatever releases lie on the two sides. ``accepted`` says who
    acknowledged it, and why.
    """

    rule: str
    place: str
    before: str
    after: str
    reader: Severity
    writer: Severity
    scenarios: Sequence[str]
    fingerprint: str
    accepted: str | None = None


class DriftReport(msgspec.Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    """What ``conformance drift`` prints.

    ``compared`` are the scenarios that were recorded alike on both sides: nothing is said of
    others, which are in ``not_compared`` with the reason. ``reader_ok`` and ``writer_ok`` say
    whether anything broke, apart from whether anything changed: our readers found in the newer
    side's recordings what the script says, and the release resumed what our writer wrote. Null:
    not asked. ``broken`` names what did not. ``vendor`` is where the newer side's recordings break
    the schema that its own release carries, null where that was not asked.
    """

    agent: str
    from_: str
    to: str
    policy: Policy
    findings: Sequence[Finding]
    reader_ok: bool | None
    writer_ok: bool | None
    broken: Sequence[str]
    compared: Sequence[str]
    not_compared: Mapping[str, str]
    unused: Sequence[str] = ()
    vendor: Sequence[str] | None = None


def fingerprint(agent: str, change: Change) -> str:
    """Return the twelve digits by which a finding is known, whatever the releases."""
    told = "\n".join((agent, change.rule, change.place, change.before, change.after))
    return sha256(told.encode()).hexdigest()[:_DIGITS]


def findings(agent: str, changes: Iterable[Change]) -> list[Finding]:
    """Return changes as findings, the most severe first."""
    found = [
        Finding(
            rule=change.rule,
            place=change.place,
            before=change.before,
            after=change.after,
            reader=RULES[change.rule].reader,
            writer=RULES[change.rule].writer,
            scenarios=change.scenarios,
            fingerprint=fingerprint(agent, change),
        )
        for change in dict.fromkeys(changes)
    ]
    return sorted(found, key=_order)


def worse(one: Severity, other: Severity) -> Severity:
    """Return the more severe of two."""
    return SEVERITIES[min(SEVERITIES.index(one), SEVERITIES.index(other))]


def worst(finding: Finding, policy: Policy) -> Severity:
    """Return how bad a finding is for whom a policy cares."""
    if policy == "reader":
        return finding.reader
    return worse(finding.reader, finding.writer)


def fails(finding: Finding, policy: Policy) -> bool:
    """Whether a run fails for a finding: never for one that is acknowledged."""
    if policy == "report" or finding.accepted is not None:
        return False
    severity = worst(finding, policy)
    return severity == "error" or (policy == "strict" and severity == "warning")


def told(finding: Finding) -> str:
    """Return what happened, in words."""
    return RULES[finding.rule].text.format(before=finding.before, after=finding.after)


def _order(finding: Finding) -> tuple[int, int, str, str, str, str]:
    ranks = (SEVERITIES.index(finding.reader), SEVERITIES.index(finding.writer))
    return (min(ranks), sum(ranks), finding.place, finding.rule, finding.before, finding.after)
