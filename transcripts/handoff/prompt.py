"""The first prompt after a move: what the next agent is told beside the conversation itself.

A template is text with names in braces. A line that would say nothing (a name in it has no
value) is dropped; a name that nobody knows stays as it is, to be seen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

_NAME = re.compile(r"\{([a-z_]+)\}")


class HandoffDetails(msgspec.Struct, frozen=True, kw_only=True):
    """What a template can name; ``failure_kind`` and ``reason`` say why the session was moved."""

    source_cli: str | None = None
    target_cli: str | None = None
    source_session_id: str | None = None
    source_path: str | None = None
    cwd: str | None = None
    request: str | None = None
    reason: str | None = None
    failure_kind: str | None = None
    unresolved_call: str | None = None


PLACEHOLDERS: tuple[str, ...] = HandoffDetails.__struct_fields__

TEMPLATES: Mapping[str, str] = {
    "default": "\n".join(
        (
            "This conversation was moved here from {source_cli}.",
            "The other agent stopped because its provider gave up: {failure_kind}.",
            "The whole record of it is at {source_path}.",
            "This call has no result, and may have had its effect: {unresolved_call}.",
            "Look at the files as they are now before you do anything again.",
            "What is still to be done was asked in these words: {request}",
        )
    ),
    "moved": "\n".join(
        (
            "This conversation was moved here from {source_cli}. The files in {cwd} are the same.",
            "This call has no result, and may have had its effect: {unresolved_call}.",
            "Wait for the next request.",
        )
    ),
    "minimal": "Go on where the conversation stopped.",
}


def handoff_prompt(template: str, details: HandoffDetails) -> str:
    """Return a prompt by a template's name, or by a text; the minimal one if nothing is left."""
    values = {name: getattr(details, name) for name in PLACEHOLDERS}
    text = TEMPLATES.get(template, template)
    lines = [line for line in text.split("\n") if not _is_blank(line, values)]
    filled = "\n".join(_NAME.sub(lambda found: _value(found, values), line) for line in lines)
    return filled.strip() or TEMPLATES["minimal"]


def _is_blank(line: str, values: Mapping[str, str | None]) -> bool:
    """Whether a name in a line is known and has no value."""
    names = (found[1] for found in _NAME.finditer(line))
    return any(name in values and not (values[name] or "").strip() for name in names)


def _value(found: re.Match[str], values: Mapping[str, str | None]) -> str:
    return values.get(found[1]) or found[0]
