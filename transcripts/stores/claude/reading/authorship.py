"""Who speaks in the user's place: a person, the harness, a hook or another agent."""

from __future__ import annotations

from typing import NamedTuple

from transcripts.model import Author, Content, Delivery, Text
from transcripts.stores.claude import wordings
from transcripts.stores.claude.reading.entries import Entry

_ORIGINS: dict[str, Author] = {
    "coordinator": "agent",
    "hook": "hook",
    "human": "human",
    "peer": "agent",
    "teammate": "agent",
}


class Voice(NamedTuple):
    """Who a text is from, the mark that says so, and the bare words behind their wrapper."""

    author: Author
    provenance: str | None
    content: Content


def author_of_origin(origin: str) -> Author:
    """Return who a stamped origin stands for: whatever is nobody's is the harness's."""
    return _ORIGINS.get(origin, "harness")


def voice_of(
    entry: Entry, content: Content, *, thread: str | None, stamping: frozenset[str]
) -> Voice:
    """Return whose words a user row holds.

    The row's own marks come first, then the wrapper around the words. Where the release marks
    what a person typed, a command without a mark is not a person's; plain words still are, for
    what a person said must not be lost for want of a mark.
    """
    origin = entry.origin_kind
    if entry.is_meta:
        return Voice(author_of_origin(origin or ""), origin or "meta", content)
    texts = [wordings.typed(part.text) for part in content if isinstance(part, Text)]
    said = texts[0] if len(texts) == len(content) == 1 else None
    if said is not None and said.author != "harness":
        content = (Text(text=said.text),)
    source = entry.prompt_source or None
    mark = (said.wrapper if said else None) or origin or source
    if origin is not None:
        return Voice(author_of_origin(origin), mark, content)
    if said is not None and said.author is not None:
        release = entry.version or ""
        # A prompt given by its command is a person's, marked or not.
        unmarked = said.wrapper != "slash-command" and source is None and release in stamping
        unmarked = unmarked and said.author == "human"
        return Voice("harness" if unmarked else said.author, mark, content)
    if texts and all(text.author == "harness" for text in texts):
        return Voice("harness", mark, content)
    return Voice("human" if thread is None else "agent", mark, content)


def is_unstamped(entry: Entry, stamping: frozenset[str]) -> bool:
    """Whether nothing says who gave a prompt, in a release that says it of what is typed."""
    return (
        entry.origin_kind is None and not entry.prompt_source and (entry.version or "") in stamping
    )


def delivery_of(entry: Entry, author: Author) -> Delivery | None:
    """Return how a prompt was sent, as far as the row says."""
    match entry.prompt_source:
        case "typed":
            return "typed"
        case "queued":
            return "queued"
        case "sdk":
            return "programmatic"
        case _:
            return "typed" if author == "human" and entry.origin_kind == "human" else None
