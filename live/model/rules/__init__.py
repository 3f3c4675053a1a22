"""What the providers' APIs would refuse, so that a request the model never got is noticed.

Each rule is one sentence, published by its vendor or shown in the API's own words of
refusal (:data:`RULES`). A request that breaks one would have been answered with status 400.
What no rule speaks of is listed as unjudged and never refused.
"""

from __future__ import annotations

import json
from typing import Any

from live.model.play import Wire
from live.model.rules import anthropic, chat, responses, shapes
from live.model.rules.base import Finding, Judgement, Rule, Unreadable, found

UTF_8 = Rule(
    id="utf-8",
    sentence="A body is strict UTF-8, without half a surrogate pair in any of its strings.",
    published="https://github.com/anthropics/claude-code/issues/6273",
)
RULES: tuple[Rule, ...] = (UTF_8, *anthropic.RULES, *responses.RULES, *chat.RULES)

_WIRES = {"anthropic": anthropic.judge, "responses": responses.judge, "chat": chat.judge}

__all__ = ["RULES", "Finding", "Judgement", "Rule", "Unreadable", "judge", "parse", "prepare"]


def parse(raw: bytes) -> tuple[Any, tuple[Finding, ...]]:
    """Parse a body: the object, and what is wrong with its encoding."""
    findings: list[Finding] = []
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        text = raw.decode(errors="replace")
        findings.append(found(UTF_8.id, f"byte {error.start}", str(error)))
    try:
        body = json.loads(text)
    except ValueError as error:
        raise Unreadable(f"the body is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise Unreadable("the body is not a JSON object")
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        words = "a string holds half a surrogate pair"
        findings.append(found(UTF_8.id, f"character {error.start}", words))
    return body, tuple(findings)


def judge(wire: Wire, body: Any, *, counting: bool = False) -> Judgement:
    """Hold a request against its wire's rules.

    ``counting`` says that tokens are only counted, for which no limit need be given.
    """
    return _WIRES[wire]({"max_tokens": 1, **body} if counting else body)


def prepare(wire: Wire) -> None:
    """Load what judging needs, so that the first request need not wait for it."""
    shapes.load(wire)
