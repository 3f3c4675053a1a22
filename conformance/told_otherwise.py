"""What hooks tell otherwise than the script, each with its reason: ``hooked.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

import msgspec

from conformance.corpus import Case

What = Literal[
    "prompt-untold",
    "prompt-of-none",
    "call-untold",
    "call-of-none",
    "word",
    "input",
    "thread",
    "order",
    "outcome",
    "subagents",
    "orphan",
    "phantom",
    "join",
    "join-seen-only",
    "join-recorded-only",
    "join-disagrees",
    "summary",
]


class Difference(NamedTuple):
    """One thing that hooks show otherwise than the script has it, and about what."""

    what: What
    subject: str


class Known(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A difference that is the harness's own doing; all names are patterns with ``*``."""

    agent: str
    releases: tuple[str, ...] = ("*",)
    scenarios: tuple[str, ...] = ("*",)
    what: What
    subjects: tuple[str, ...] = ("*",)
    why: str

    def covers(self, case: Case, difference: Difference) -> bool:
        """Return whether a difference of a case is this one."""
        return (
            self.agent == case.facts.agent
            and self.what == difference.what
            and _any(case.facts.release, self.releases)
            and _any(case.facts.scenario, self.scenarios)
            and _any(difference.subject, self.subjects)
        )


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``hooked.toml``: how hooks name what the model called, and what they show otherwise."""

    words: Mapping[str, Mapping[str, tuple[str, ...]]]
    """By agent: the model's word for a tool, and the hooks' (one for each spelling of events)."""
    arguments: Mapping[str, Mapping[str, str]]
    """By agent: the model's word for an argument, and the hooks'."""
    known: tuple[Known, ...]


@cache
def table() -> Table:
    """Read the table of known differences."""
    text = (files("conformance") / "hooked.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Table)


def _any(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
