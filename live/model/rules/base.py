"""A rule, what breaks it, and what no rule speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that an API refuses: in a sentence, and where its vendor says so.

    ``published`` is a page of the vendor's, a type of its SDK, or a thread that shows the
    API's own words of refusal.
    """

    id: str
    sentence: str
    published: str


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that a request breaks, or something in it that no rule speaks of."""

    rule: str
    at: str
    message: str


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules say of one request."""

    violations: tuple[Finding, ...] = ()
    unjudged: tuple[Finding, ...] = ()


class Unreadable(Exception):
    """A body is no JSON object; the message says why."""


def found(rule: str, at: str, message: str) -> Finding:
    """Return a finding."""
    return Finding(rule=rule, at=at, message=message)


def numbered(value: Any) -> Iterator[tuple[int, Any]]:
    """List a JSON array's objects with their places in it."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, dict):
                yield index, item


def once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Keep the first of the findings that differ only in their place in an array.

    What a rule does not know stands in every message of a long conversation.
    """
    kept: dict[tuple[str, str, str], Finding] = {}
    for finding in findings:
        kept.setdefault((finding.rule, re.sub(r"\d+", "N", finding.at), finding.message), finding)
    return tuple(kept.values())
