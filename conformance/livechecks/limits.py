"""What can't pass however good a writer is, with its measurement: ``impossible.toml``.

A limit is not believed: its check is run all the same. What fails as it says is impossible, what
fails otherwise failed; what passes has made the entry stale, and that fails the run.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import msgspec
from msgspec.structs import replace

from conformance.corpus import version_key
from conformance.livechecks.results import Measurement, Result

OWN = "own"
"""In an entry's ``from``: the control, which resumes what the CLI wrote itself."""


class Limit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry: a case into a range of one agent's releases, from agents or from its own.

    ``found`` are words of what is said of the check when it is tried.
    """

    case: str
    source: tuple[str, ...] = msgspec.field(name="from")
    to: str
    first: str
    last: str | None = None
    found: str
    why: str
    measured: Measurement

    def covers(self, result: Result) -> bool:
        """Whether the entry speaks of a check."""
        source = result.source if result.moved else OWN
        if (self.case, self.to) != (result.case, result.target) or source not in self.source:
            return False
        release = version_key(result.release)
        last = release if self.last is None else version_key(self.last)
        return version_key(self.first) <= release <= last


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    impossible: tuple[Limit, ...] = ()


@cache
def limits() -> tuple[Limit, ...]:
    """Return the entries of ``impossible.toml``."""
    text = (files("conformance.livechecks") / "impossible.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _File).impossible


def limited(result: Result, known: Sequence[Limit]) -> Result:
    """Return a result as it is to be taken, given what is known to be impossible."""
    entry = next((one for one in known if one.covers(result)), None)
    if entry is None or result.verdict == "skipped":
        return result
    if result.verdict == "passed":
        stale = f"impossible.toml says that it can't be, and it passed: {entry.why}"
        return replace(result, verdict="failed", why=stale)
    if entry.found not in result.why:
        return replace(result, verdict="failed")
    return replace(
        result,
        verdict="impossible",
        why=entry.why,
        measured=entry.measured,
        evidence={**result.evidence, "found": result.why},
    )
