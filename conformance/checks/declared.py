"""An adapter held to its ``adapter.toml``: it does what is declared, no less, and no more either.

What is offered, what is skipped and what is lost must be exactly what the file says: more than
that has to be mended or declared, less has to be taken out of the file, which so never goes stale.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from conformance.adapters.declaration import BadDeclaration, Declaration, is_declaration, load
from conformance.checks.catalogue import PROBES
from conformance.checks.check import Result
from conformance.kinds import variants
from transcripts.losses import LossId


def declaration_of(name: str) -> Declaration | None:
    """Return what an adapter's file declares, None for an adapter of another name."""
    if not is_declaration(name):
        return None
    declared = load(Path(name))
    there = {f"{one.kind}/{one.name}" for one in variants()} | {one.kind for one in variants()}
    for agent, table in declared.degrades.items():
        if f"{agent}.write" not in declared.offers:
            raise BadDeclaration(
                name,
                f"degrades.{agent}: {agent}.write is not offered",
                next_step="add it to offers, or take the table away",
            )
        for key in table:
            if key not in there:
                raise BadDeclaration(
                    name,
                    f"degrades.{agent}: there is no made conversation {key!r}",
                    next_step='give a kind ("Plan") or one of its variants ("Plan/checklist"), '
                    "as results name them",
                )
    return declared


def held(
    results: Sequence[Result],
    offers: Sequence[str],
    declared: Declaration,
    *,
    stores: Collection[str] = (),
    whole: bool = True,
) -> Iterator[Result]:
    """Yield what an adapter does beside what is declared of it.

    ``stores`` are the agents that were asked about, all if none is named. Of a run that is not
    ``whole`` an entry that nothing was asked of says nothing.
    """
    yield from _offers(offers, declared, stores)
    if whole:
        yield from _cannot(results, declared)
    yield from _skips(results, declared)
    yield from _losses(results, declared)


def _offers(
    offers: Sequence[str], declared: Declaration, stores: Collection[str]
) -> Iterator[Result]:
    meant = [one for one in declared.offers if not stores or one.partition(".")[0] in stores]
    for one in dict.fromkeys([*meant, *offers]):
        if one not in offers:
            why = "is declared and not offered: mend the adapter, or take it out of offers"
        elif one not in meant:
            why = f"is offered and not declared: add {one!r} to offers"
        else:
            why = ""
        yield _result("declared.offers", one, why)


def _cannot(results: Sequence[Result], declared: Declaration) -> Iterator[Result]:
    for entry in declared.cannot:
        if not any(entry.matches(one.check, one.case) for one in results):
            why = "the entry stands for nothing that would be asked: take it out of cannot"
            yield _result("declared.cannot", entry.name, why)


def _skips(results: Sequence[Result], declared: Declaration) -> Iterator[Result]:
    """Find questions that the adapter skipped by itself: of those even the answer is skipped."""
    answers = {probe.answers for probe in PROBES}
    for one in results:
        if one.check not in answers or one.verdict != "skipped":
            continue
        if declared.by_design(one.check, one.case) is None:
            why = f"{one.check} was skipped, which no entry of cannot declares: {one.why}"
            yield _result("declared.skips", one.case, why)


def _losses(results: Sequence[Result], declared: Declaration) -> Iterator[Result]:
    """Compare what was lost of each made conversation: seen by reading, else as the writer says."""
    seen: dict[str, tuple[Result, bool]] = {}
    for one in results:
        reads = one.check == "round-trip.kept"
        if reads or (one.check == "write.answers" and one.case not in seen):
            seen[one.case] = (one, reads)
    for case, (one, reads) in seen.items():
        if one.verdict == "passed":
            _, agent, made = case.split("/", 2)
            meant = set(declared.losses(agent, made))
            yield _result("declared.losses", case, _differs(agent, made, one, meant, reads))


def _differs(agent: str, made: str, one: Result, meant: set[LossId], reads: bool) -> str:
    lost = set(one.losses)
    table = f"[degrades.{agent}]"
    now = ", ".join(f'"{loss}"' for loss in one.losses)
    line = f'"{made}" = [{now}]'
    if more := sorted(lost - meant):
        return f"loses {', '.join(more)}, which is not declared: write {line} in {table}"
    if less := sorted(meant - lost):
        how = "is not lost" if reads else "is not said to be lost"
        return f"{', '.join(less)} is declared and {how}: write {line} in {table}"
    return ""


def _result(check: str, case: str, why: str) -> Result:
    return Result(check=check, case=case, verdict="failed" if why else "passed", why=why)
