"""A text in one short line, as a title or a name shows it."""

from __future__ import annotations

_LONGEST = 60
_ENOUGH = 4000


def preview(text: str | None) -> str | None:
    """Return the text on one line, cut after 60 characters; None if it says nothing."""
    # Of a long text the beginning is enough; unless it begins with as much white space.
    shown = (text or "")[:_ENOUGH].split() or (text or "").split()
    line = " ".join(shown)
    if not line:
        return None
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
