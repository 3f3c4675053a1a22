"""Which skills and commands a conversation shows, and by which evidence: none stands for another.

That a SKILL.md was read says that the file was read; a slash command says what was asked for; a
mention in a thought says what was thought of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from transcripts.hooks.correlation.paths import name_of, parent_of

SkillEvidence = Literal["read", "tool", "attached", "mention"]

_MENTION = re.compile(r"(?<![\w-])([a-z0-9]+(?:-[a-z0-9]+)+)[*`_]*\s+skills?\b", re.IGNORECASE)
_QUERY = re.compile(r"<user_query>(.*?)</user_query>", re.DOTALL)
_ATTACHED = re.compile(r"<manually_attached_skills>(.*?)</manually_attached_skills>", re.DOTALL)
_SKILL_PATH = re.compile(r"\S*[\\/]SKILL\.md\b")
_SLASH = re.compile(r"(?<!\S)/([A-Za-z0-9][A-Za-z0-9_-]*)(?=$|[\s.,;!?)\]}\"'])")


def skill_of_path(path: str | None) -> str | None:
    """Return the skill whose SKILL.md a path names: the directory that it lies in."""
    if not path or not path.endswith("SKILL.md") or name_of(path) != "SKILL.md":
        return None
    return parent_of(path)


def mentioned(thought: str | None) -> Iterator[str]:
    """Yield the skills that a thought names: a hyphenated name before the word skill."""
    for found in _MENTION.finditer(thought or ""):
        yield found[1].lower()


def attached(prompt: str | None) -> Iterator[str]:
    """Yield the skills that a prompt brings along, as the harness lists them."""
    if not prompt or "<manually_attached_skills>" not in prompt:
        return
    for block in _ATTACHED.findall(prompt):
        for path in _SKILL_PATH.findall(block):
            if skill := skill_of_path(path):
                yield skill


def slash_commands(prompt: str | None) -> Iterator[str]:
    """Yield the commands that a prompt invokes, not what only looks like one.

    Neither a path nor a part of an address: a command begins a word and ends it.
    """
    text = prompt or ""
    if "/" not in text:
        return
    query = _QUERY.search(text)
    for found in _SLASH.finditer(query[1] if query else text):
        yield found[1]
