"""One run of ``conformance drift``: two sides obtained, compared, and asked what broke."""

from __future__ import annotations

from pathlib import Path

from conformance.drift.accepting import NAME, accept, load_accepted, unused
from conformance.drift.breakage import misread
from conformance.drift.comparing import compare
from conformance.drift.findings import DriftReport, Policy, fails
from conformance.drift.obtaining import NotRecorded, Obtained, obtained
from conformance.drift.sides import Common, common
from conformance.matrix import Tick


def drift(
    agent: str,
    before: str,
    after: str,
    corpus: Path,
    schemas: Path,
    *,
    own: Path | None = None,
    policy: Policy = "reader",
    tick: Tick = lambda _: None,
) -> DriftReport:
    """Compare two exact releases of an agent; what is not recorded is installed and recorded.

    ``own`` is a list of accepted changes beside that of the schemas.
    """
    accepted = [one for path in (schemas / NAME, own) if path for one in load_accepted(path)]
    with (
        obtained(agent, before, after, corpus, schemas, tick) as old,
        obtained(agent, after, before, corpus, schemas, tick) as new,
    ):
        shared = common(old.side, new.side)
        if not shared.scenarios:
            raise NotRecorded(_nothing_alike(agent, before, after, shared))
        tick(f"comparing {agent} {before} and {after}")
        found = accept(compare(old.side, new.side), accepted)
        wrong = [*old.failed, *new.failed]
        unread = list(misread(new.side.cases))
        unresumed = _unresumed(agent, after, corpus, new, tick)
        vendor = _against_the_vendor(agent, after, new, tick)
    return DriftReport(
        agent=agent,
        from_=before,
        to=after,
        policy=policy,
        findings=found,
        reader_ok=not unread and not wrong,
        writer_ok=None if unresumed is None else not unresumed,
        broken=[*wrong, *unread, *(unresumed or ())],
        compared=shared.scenarios,
        not_compared=shared.others,
        unused=unused(found, accepted, agent, after),
        vendor=vendor,
    )


def is_bad(report: DriftReport) -> bool:
    """Whether a run fails: for what its policy names, for what broke, for stale acceptances."""
    if report.policy == "report":
        return False
    broken = report.reader_ok is False or (
        report.writer_ok is False and report.policy in ("roundtrip", "strict")
    )
    drifted = any(fails(finding, report.policy) for finding in report.findings)
    return broken or drifted or bool(report.unused)


def _nothing_alike(agent: str, before: str, after: str, shared: Common) -> str:
    """Return what to say where both sides have no scenario: that is not "nothing changed"."""
    name, why = next(iter(shared.others.items()))
    return (
        f"{agent} {before} and {after} have no scenario alike ({name}: {why});"
        f" record one of both, or name another --against"
    )


def _unresumed(
    agent: str, release: str, corpus: Path, new: Obtained, tick: Tick
) -> list[str] | None:
    """Return what a release that was installed for this does not resume, None for any other."""
    if not new.live:
        return None
    from conformance.drift.resuming import not_resumed  # noqa: PLC0415 - the CLIs' own extra

    return list(not_resumed(agent, release, corpus, tick))


def _against_the_vendor(agent: str, release: str, new: Obtained, tick: Tick) -> list[str] | None:
    """Return where recordings break the schema of a release that was installed for this."""
    if not new.live:
        return None
    from conformance.drift.vendor import against_the_vendor  # noqa: PLC0415

    tick(f"{agent} {release}: asking its own schema")
    return list(against_the_vendor(agent, release, new.side.cases))
