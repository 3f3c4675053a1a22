"""Who wrote a message with the role of a user: the person, or Codex in their place.

Codex speaks to its model through user messages of its own (instructions, the environment, a
skill's text, a subagent's end). Releases from 0.150 tag each part; before, only the exact
shape of the whole text tells. A prompt that merely starts with ``<`` is the person's, and so
is one of such a shape that the record repeats as typed.
"""

from __future__ import annotations

import re
from typing import Any

from transcripts.model import Author
from transcripts.stores.codex.foreign import flag, items, mapping, text

_BLOCKS = (
    "environment_context",
    "user_instructions",
    "skill",
    "turn_aborted",
    "subagent_notification",
    "permissions instructions",
    "user_shell_command",
    "hook_prompt",
)
_SHAPES = re.compile(
    "|".join(
        [
            *(rf"<{name}(?: [^>]*)?>.*</{name}>" for name in _BLOCKS),
            r"# AGENTS\.md instructions for [^\n]*\n\n<INSTRUCTIONS>\n.*</INSTRUCTIONS>",
            r"Warning: apply_patch was requested via \w+\. Use the apply_patch tool [^\n]*",
        ]
    ),
    re.DOTALL,
)


def tags(item: Any) -> list[tuple[str | None, Author | None]]:
    """Return for each part of a message its recorded kind and the author it names.

    Two fields carry them: kinds (``user.text``, ``generic.turn_aborted``) and provenance.
    """
    passed = mapping(mapping(item).get("internal_chat_message_metadata_passthrough"))
    kinds = items(passed.get("content_item_kinds"))
    origins = items(passed.get("content_item_metadata"))
    found: list[tuple[str | None, Author | None]] = []
    for at in range(len(items(mapping(item).get("content")))):
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


def has_harness_shape(words: str) -> bool:
    """Whether a whole text has exactly the shape of something that Codex writes itself."""
    return _SHAPES.fullmatch(words.strip()) is not None
