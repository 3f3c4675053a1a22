"""What the providers' APIs would refuse, so that a request the model never got is noticed.

Each rule is one sentence that its vendor published (:data:`RULES`). A request that breaks
one would have been answered with status 400 by the real API.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from live.model.play import Wire


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


def parse(raw: bytes) -> tuple[Any, tuple[Finding, ...]]:
    """Parse a body: the object and what is wrong with its encoding."""
    findings: list[Finding] = []
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        text = raw.decode(errors="replace")
        findings.append(Finding(rule="utf-8", at=f"byte {error.start}", message=str(error)))
    try:
        body = json.loads(text)
    except ValueError as error:
        raise Unreadable(f"the body is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise Unreadable("the body is not a JSON object")
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        message = "a string holds half a surrogate pair"
        findings.append(Finding(rule="utf-8", at=f"character {error.start}", message=message))
    return body, tuple(findings)


def judge(wire: Wire, body: Any) -> Judgement:
    """Hold a request against its wire's rules."""
    return Judgement()
