"""Failures that are known beforehand, held to what they say, so that a list never goes stale.

Two lists, two meanings. What is *failing* must fail, of the reason given if one is; what is *flaky*
may pass or fail. A listed check that passes, fails otherwise or is skipped is a failure itself, and
so is an entry that nothing was asked of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from conformance.adapters.declaration import MOST, Declaration, Entry, decoded
from conformance.checks.catalogue import HELD, checks
from conformance.checks.check import Result

MOST_OF_ALL = 200
"""So many results no entry may go beyond, whatever it says."""

_SAYS = 120
"""So much of what a failure says is written into a list."""

_Shape = TypeVar("_Shape")


class BadList(Exception):
    """A list can't be used; the message names the file, the entry and what to change."""


class Known(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of an adapter beforehand."""

    failing: tuple[Entry, ...] = ()
    flaky: tuple[Entry, ...] = ()


class _Failing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    failing: tuple[Entry, ...] = ()


class _Flaky(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    flaky: tuple[Entry, ...] = ()


def load(failing: Path | None = None, flaky: Path | None = None) -> Known:
    """Read a list of each kind, ``[[failing]]`` in the one file and ``[[flaky]]`` in the other.

    :class:`BadList` if one is not there, not of its shape, or says too much.
    """
    return _sound(
        () if failing is None else _decoded(failing, _Failing).failing,
        () if flaky is None else _decoded(flaky, _Flaky).flaky,
        str(failing or flaky),
        str(flaky),
    )


def declared(path: Path, declaration: Declaration) -> Known:
    """Return the lists that an ``adapter.toml`` holds or names."""
    failing, flaky = declaration.known, declaration.known_flaky
    return _sound(
        _decoded(path.parent / failing, _Failing).failing if isinstance(failing, str) else failing,
        _decoded(path.parent / flaky, _Flaky).flaky if isinstance(flaky, str) else flaky,
        str(path.parent / failing if isinstance(failing, str) else path),
        str(path.parent / flaky if isinstance(flaky, str) else path),
    )


def _decoded(path: Path, shape: type[_Shape]) -> _Shape:
    try:
        return decoded(path, shape)
    except ValueError as error:
        raise BadList(f"{path}: {error}; see docs/adapters.md for its shape") from error


def _sound(
    failing: tuple[Entry, ...], flaky: tuple[Entry, ...], in_failing: str, in_flaky: str
) -> Known:
    """Return the lists together; :class:`BadList` for an entry that may not stand in its list."""
    named = [("failing", number, in_failing, one) for number, one in enumerate(failing)]
    named += [("flaky", number, in_flaky, one) for number, one in enumerate(flaky)]
    there = {*checks(), *HELD}
    for name, number, path, entry in named:
        why = None
        if not entry.case.strip("*?") and not entry.check.strip("*?."):
            why = "stands for everything; name the check or the case"
        elif not entry.why.strip():
            why = "gives no reason; say in why what is wrong"
        elif entry.most > MOST_OF_ALL:
            why = f"stands for too many results; most may be {MOST_OF_ALL}, use several entries"
        elif name == "flaky" and entry.check not in there:
            why = "names no check; what is flaky is one check, by its whole id"
        elif name == "flaky" and any(one.name == entry.name for one in failing):
            why = "is listed as failing too; take it off one of the lists"
        if why is not None:
            raise BadList(f"{path}: {name}[{number}]: {entry.name} {why}")
    return Known(failing=failing, flaky=flaky)


def judged(results: Sequence[Result], known: Known, *, whole: bool = True) -> list[Result]:
    """Return the results as the lists make them, and a failure for each entry that is stale.

    Of a run that is not ``whole`` an entry that nothing was asked of says nothing.
    """
    found = [_judged(result, known) for result in results]
    return [*found, *_stale(results, known, whole=whole)]


def _judged(result: Result, known: Known) -> Result:
    failing = next((one for one in known.failing if one.matches(result.check, result.case)), None)
    if failing is None:
        flaky = next((one for one in known.flaky if one.matches(result.check, result.case)), None)
        return result if flaky is None else _flaky(result, flaky)
    if result.verdict == "failed" and failing.says in result.why:
        return replace(result, verdict="known", why=f"{result.why} ({failing.why})")
    otherwise = {
        "failed": f"fails otherwise than listed ({failing.says!r}): {result.why}",
        "passed": "is listed as failing, and passes: take it off the list",
        "skipped": f"is listed as failing, and was not asked: {result.why}",
    }
    return replace(result, verdict="failed", why=otherwise[result.verdict])


def _flaky(result: Result, entry: Entry) -> Result:
    """Return what may pass or fail as neither; what was not asked can't be flaky."""
    if result.verdict == "skipped":
        why = f"is listed as flaky, and was not asked: {result.why}"
        return replace(result, verdict="failed", why=why)
    now = f"failed: {result.why}" if result.verdict == "failed" else "passed this time"
    return replace(result, verdict="flaky", why=f"{now} ({entry.why})")


def _stale(results: Sequence[Result], known: Known, *, whole: bool) -> Iterator[Result]:
    for entry in (*known.failing, *known.flaky):
        count = sum(entry.matches(result.check, result.case) for result in results)
        why = None
        if count > entry.most:
            why = f"the entry stands for {count} results, and may for {entry.most}"
        elif count == 0 and whole:
            why = "the entry stands for nothing that was asked"
        if why is not None:
            yield Result(check="known.entries", case=entry.name, verdict="failed", why=why)


def rewritten(results: Sequence[Result], known: Known) -> str:
    """Return a list of what fails now: entries that still hold, and one for each other failure.

    ``results`` are those of a whole run, before any list was held against them. What is flaky
    stays in its own list, and what is declared of an adapter is no bug to be listed.
    """
    entries = [entry for entry in known.failing if _holds(entry, results)]
    for result in results:
        listed = any(one.matches(result.check, result.case) for one in (*entries, *known.flaky))
        if result.verdict != "failed" or listed or result.check in HELD:
            continue
        given = (one.why for one in known.failing if one.matches(result.check, result.case))
        entries.append(
            Entry(
                check=result.check,
                case=result.case,
                why=next(given, "not looked into"),
                says=result.why[:_SAYS],
            )
        )
    return "\n".join(line for entry in entries for line in _lines(entry))


def _holds(entry: Entry, results: Sequence[Result]) -> bool:
    """Whether all that an entry stands for fails as it says."""
    meant = [one for one in results if entry.matches(one.check, one.case)]
    return 0 < len(meant) <= entry.most and all(
        one.verdict == "failed" and entry.says in one.why for one in meant
    )


def _lines(entry: Entry) -> Iterator[str]:
    yield "[[failing]]"
    yield f"check = {_quoted(entry.check)}"
    yield f"case = {_quoted(entry.case)}"
    yield f"why = {_quoted(entry.why)}"
    if entry.says:
        yield f"says = {_quoted(entry.says)}"
    if entry.most != MOST:
        yield f"most = {entry.most}"
    yield ""


def _quoted(text: str) -> str:
    """Return a text as TOML spells it: as JSON does, with the one character that it forbids.

    Half of a surrogate pair no TOML file can hold.
    """
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return msgspec.json.encode(whole).decode().replace("\x7f", "\\u007f")
