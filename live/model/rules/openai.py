"""What OpenAI's two APIs refuse alike: names and lengths."""

from __future__ import annotations

import re
from collections.abc import Iterator

from live.model.rules.base import Finding, found

_NAME = re.compile(r"[A-Za-z0-9_-]+")


def judge_name(wire: str, at: str, name: object) -> Iterator[Finding]:
    """Hold a function's name against the pattern."""
    if isinstance(name, str) and not _NAME.fullmatch(name):
        words = f"{name!r} does not match the pattern '^[a-zA-Z0-9_-]+$'"
        yield found(f"{wire}/tool-name", at, words)


def judge_length(rule: str, at: str, value: object, most: int) -> Iterator[Finding]:
    """Hold an id against its length."""
    if isinstance(value, str) and not 1 <= len(value) <= most:
        words = f"a string of length 1 to {most} is expected, but this one has {len(value)}"
        yield found(rule, at, words)
