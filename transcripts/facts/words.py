"""The words of a message, as they were said."""

from __future__ import annotations

from transcripts.model import Content, Text

_LONGEST = 100_000
"""Characters of one message that a sheet repeats: a person may paste a file of any length."""


def words_of(content: Content) -> str:
    """Return the text of content, its parts one after the other."""
    text = "".join(part.text for part in content if isinstance(part, Text))
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
