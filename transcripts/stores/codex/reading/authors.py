"""Who wrote a message with the role of a user: the person, or Codex in their place.

Codex speaks to its model through user messages of its own (instructions, the environment, a
skill's text, a subagent's end). Releases from 0.150 tag each part; before, only the exact
shape of the whole text tells. A prompt that merely starts with ``<`` is the person's, and so
is one of such a shape that the record repeats as typed.
"""

from __future__ import annotations

import re
from typing import Any

from transcripts.model import Author, Content, Text
from transcripts.stores.codex.dialects.shapes import Passed
from transcripts.stores.codex.foreign import flag, mapping, text


def _block(name: str) -> str:
    return rf"<{name}(?: [^>]*)?>.*</{name}>"


# Named as the tags of later releases name them, where they do.
_SHAPES = {
    "environments.environment_context": _block("environment_context"),
    "agents_md.instructions": (
        r"# AGENTS\.md instructions for [^\n]*\n\n<INSTRUCTIONS>\n.*</INSTRUCTIONS>"
    ),
    "user_instructions": _block("user_instructions"),
    "skills.selected_skill_instructions": _block("skill"),
    "generic.turn_aborted": _block("turn_aborted"),
    "multi_agent.subagent_notification": _block("subagent_notification"),
    "permissions.instructions": _block("permissions instructions"),
    "user_shell_command": _block("user_shell_command"),
    "hook_prompt": _block("hook_prompt"),
    "apply_patch warning": (
        r"Warning: apply_patch was requested via \w+\. Use the apply_patch tool [^\n]*"
    ),
}
_PATTERNS = {name: re.compile(pattern, re.DOTALL) for name, pattern in _SHAPES.items()}


_MARKING = (0, 150)


def is_shape(name: str | None) -> bool:
    """Whether a provenance is the name of one of the shapes of Codex's own texts."""
    return name in _SHAPES


def marks(release: str | None) -> bool:
    """Whether a release marks who wrote each part of a message."""
    found = re.match(r"([0-9]{1,6})\.([0-9]{1,6})", release or "")
    return found is not None and (int(found[1]), int(found[2])) >= _MARKING


def tags(passed: Passed | None, parts: int) -> list[tuple[str | None, Author | None]]:
    """Return for each part of a message its recorded kind and the author it names, if any.

    Two fields carry them: kinds (``user.text``, ``generic.turn_aborted``) and provenance.
    """
    kinds = (passed and passed.content_item_kinds) or []
    origins = (passed and passed.content_item_metadata) or []
    if not kinds and not origins:
        return []
    found: list[tuple[str | None, Author | None]] = []
    for at in range(parts):
        kind = text(kinds[at]) if at < len(kinds) else None
        origin = mapping(mapping(origins[at]).get("provenance")) if at < len(origins) else {}
        found.append((kind, _author(kind, origin)))
    return found


def _author(kind: str | None, origin: dict[str, Any]) -> Author | None:
    source = text(origin.get("type"))
    if source == "user":
        return "human"
    if source is not None and source != "unknown":
        return "hook" if flag(origin.get("hook")) else "harness"
    if kind is None or kind == "unknown":
        return None
    return "human" if kind.startswith("user.") else "harness"


LETTER = "multi_agent.agent_message"
"""The kind of a user message that carries what one agent wrote to another."""

_LETTER = re.compile(
    r"Message Type: [^\n]*\n(?:[A-Z][^\n:]*: [^\n]*\n)*?(?:Sender: (?P<sender>[^\n]*)\n)?Payload:\n"
)


def heading(sender: str) -> str:
    """Return the heading that Codex puts over what one agent wrote to another."""
    return f"Message Type: MESSAGE\nSender: {sender}\nPayload:\n"


def opened(words: str) -> tuple[str | None, str]:
    """Return the sender that a letter's heading names and the letter without its heading."""
    found = _LETTER.match(words)
    return (found["sender"], words[found.end() :]) if found else (None, words)


def harness_shapes(content: Content) -> tuple[str, ...]:
    """Return the names of the shapes that untagged content has; none if any of it has none.

    Either the whole is of one shape or each part is of its own.
    """
    texts = [part.text for part in content if isinstance(part, Text)]
    whole = _shape("".join(texts))
    if whole is not None:
        return (whole,)
    shapes = [_shape(words) for words in texts]
    named = tuple(shape for shape in shapes if shape is not None)
    return named if len(named) == len(texts) else ()


def is_by_harness(content: Content) -> bool:
    """Whether untagged content is Codex's own by its shape."""
    return bool(harness_shapes(content))


def _shape(words: str) -> str | None:
    stripped = words.strip()
    for name, pattern in _PATTERNS.items():
        if pattern.fullmatch(stripped):
            return name
    return None
