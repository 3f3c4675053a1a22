"""Failures that are known beforehand, held to what they say, so that a list never goes stale.

Two lists, two meanings. What is *failing* must fail, of the reason given if one is; what is *flaky*
may pass or fail. A listed check that passes, fails otherwise or is skipped is a failure itself, and
so is an entry that nothing was asked of.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
from msgspec.structs import replace

from conformance.checks.check import Result

MOST = 40
"""So many results one entry with wildcards may stand for, unless it says how many."""


class BadList(Exception):
    """A list can't be used; the message names the file, the entry and what to change."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One failure that is known: patterns of a check's id and of a subject's name, and why.

    ``says`` must stand in what the failure says. ``most`` is how many results it may stand for.
    """

    check: str
    case: str
    why: str
    says: str = ""
    most: int = MOST

    @property
    def name(self) -> str:
        """How results and messages name the entry."""
        return f"{self.check} of {self.case}"

    def matches(self, result: Result) -> bool:
        """Whether a result is meant."""
        return fnmatchcase(result.check, self.check) and fnmatchcase(result.case, self.case)


class Known(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of an adapter beforehand."""

    failing: tuple[Entry, ...] = ()
    flaky: tuple[Entry, ...] = ()


def load(path: Path) -> Known:
    """Read a list; :class:`BadList` if it is not there, not of its shape, or says too much."""
    try:
        known = msgspec.convert(tomllib.loads(path.read_text("utf-8")), Known)
    except OSError as error:
        raise BadList(f"{path}: {error.strerror}; check the path") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise BadList(f"{path}: {error}; see docs/adapters.md for its shape") from error
    for entry in (*known.failing, *known.flaky):
        if not entry.case.strip("*?") and not entry.check.strip("*?."):
            raise BadList(f"{path}: {entry.name} stands for everything; name the check or the case")
        if not entry.why.strip():
            raise BadList(f"{path}: {entry.name} gives no reason")
    return known


def judged(results: Sequence[Result], known: Known, *, whole: bool = True) -> list[Result]:
    """Return the results as the lists make them, and a failure for each entry that is stale.

    Of a run that is not ``whole`` an entry that nothing was asked of says nothing.
    """
    found = [_judged(result, known) for result in results]
    return [*found, *_stale(results, known, whole=whole)]


def _judged(result: Result, known: Known) -> Result:
    failing = next((one for one in known.failing if one.matches(result)), None)
    if failing is None:
        flaky = next((one for one in known.flaky if one.matches(result)), None)
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
        count = sum(entry.matches(result) for result in results)
        why = None
        if count > entry.most:
            why = f"the entry stands for {count} results, and may for {entry.most}"
        elif count == 0 and whole:
            why = "the entry stands for nothing that was asked"
        if why is not None:
            yield Result(check="known.entries", case=entry.name, verdict="failed", why=why)


def rewritten(results: Sequence[Result], known: Known) -> str:
    """Return a list of what fails now, one entry a failure; reasons that were given are kept.

    ``results`` are those of a whole run, before any list was held against them.
    """
    lines: list[str] = []
    for result in results:
        flaky = any(one.matches(result) for one in known.flaky)
        if result.verdict != "failed" or flaky:
            continue
        given = next((one.why for one in known.failing if one.matches(result)), "not looked into")
        lines += [
            "[[failing]]",
            f"check = {_quoted(result.check)}",
            f"case = {_quoted(result.case)}",
            f"why = {_quoted(given)}",
            "",
        ]
    for entry in known.flaky:
        lines += [
            "[[flaky]]",
            f"check = {_quoted(entry.check)}",
            f"case = {_quoted(entry.case)}",
            f"why = {_quoted(entry.why)}",
            *([f"most = {entry.most}"] if entry.most != MOST else []),
            "",
        ]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Return a text as TOML spells it: as JSON does, with the one character that it forbids."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")
