"""What a release can do: the tools that it offers, the scenarios that it runs, how it resumes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.drift.findings import Change
from conformance.drift.sides import Side
from live.resume_rules import Effect

_BEST: tuple[Effect, ...] = ("full", "refused", "partial", "silent", "hang")
"""From the best on: a refusal is known, a part of a conversation is taken for the whole."""

_FORGETTING = "resume:what the CLI itself recorded"


def compare_abilities(before: Side, after: Side, scenarios: Iterable[str]) -> Iterator[Change]:
    """Yield what one of two releases can do and the other can't."""
    yield from _tools(before, after)
    yield from _possible(before, after)
    yield from _resumed(before, after)
    yield from _forgotten(before, after, scenarios)
    yield from _kept(before, after, scenarios)


def _tools(before: Side, after: Side) -> Iterator[Change]:
    if before.offered is None or after.offered is None:
        return
    for name in sorted(after.offered - before.offered):
        yield Change("tool-added", f"tool:{name}", "", name, ())
    for name in sorted(before.offered - after.offered):
        yield Change("tool-removed", f"tool:{name}", name, "", ())


def _possible(before: Side, after: Side) -> Iterator[Change]:
    for name in sorted(before.cases.keys() & after.cannot.keys()):
        why = after.cannot[name]
        yield Change("scenario-became-impossible", f"scenario:{name}", "", why, (name,))
    for name in sorted(before.cannot.keys() & after.cases.keys()):
        why = before.cannot[name]
        yield Change("scenario-became-possible", f"scenario:{name}", why, "", (name,))


def _resumed(before: Side, after: Side) -> Iterator[Change]:
    if before.resumes is None or after.resumes is None:
        return
    for defect in sorted(before.resumes.keys() & after.resumes.keys()):
        was, now = before.resumes[defect], after.resumes[defect]
        if was != now:
            better = _BEST.index(now) < _BEST.index(was)
            rule = "resume-loosened" if better else "resume-tightened"
            yield Change(rule, f"resume:{defect}", was, now, ())


def _forgotten(before: Side, after: Side, scenarios: Iterable[str]) -> Iterator[Change]:
    for name in scenarios:
        old, new = before.cases[name], after.cases[name]
        forgot, forgets = set(old.facts.forgets), set(new.facts.forgets)
        if told := _kinds(new.truth.messages, forgets - forgot):
            yield Change("resume-forgets", f"{_FORGETTING} in {name}", "", told, (name,))
        if told := _kinds(old.truth.messages, forgot - forgets):
            yield Change("resume-remembers", f"{_FORGETTING} in {name}", told, "", (name,))


def _kept(before: Side, after: Side, scenarios: Iterable[str]) -> Iterator[Change]:
    """Yield what only one side keeps of what the script caused."""
    old, new = _unkept(before, scenarios), _unkept(after, scenarios)
    for value in sorted({*old, *new}):
        was, now = old.get(value, set()), new.get(value, set())
        if lost := now - was:
            yield Change("value-lost", f"kept:{value}", "", value, tuple(sorted(lost)))
        if found := was - now:
            yield Change("value-kept", f"kept:{value}", value, "", tuple(sorted(found)))


def _unkept(side: Side, scenarios: Iterable[str]) -> dict[str, set[str]]:
    """Return the values that the files of a release do not hold, by kind of message and field."""
    found: dict[str, set[str]] = {}
    for name in scenarios:
        case = side.cases[name]
        for one in case.facts.unrecorded:
            kind = str(case.truth.messages[one.message]["kind"])
            for value in (kind,) if one.fields is None else (f"{kind}.{it}" for it in one.fields):
                found.setdefault(value, set()).add(name)
    return found


def _kinds(messages: Iterable[object], numbers: Iterable[int]) -> str:
    """Return the kinds of the messages of some numbers, and how many there are of each."""
    listed = list(messages)
    kinds = [str(listed[at]["kind"]) for at in sorted(numbers)]  # type: ignore[index]
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
