"""What a row says that must be known before the first message: taken when the row is first seen.

A row's value may lie on a shelf; without this every row would be read from there once more,
only to learn which calls it answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from transcripts.model import Usage
from transcripts.stores.claude.foreign import integer, mapping, sequence, string

NOTIFICATION = "<task-notification>"


class Glance(NamedTuple):
    """The calls that a row makes, those that it answers (with the places of the results), whether
    it says what its response cost, and whether it may tell of the end of a background call.

    ``only_answers``: nothing else is in it. ``asked_in`` is the session whose request it answers.
    """

    uses: tuple[str, ...] = ()
    results: tuple[tuple[int, str], ...] = ()
    spends: bool = False
    notifies: bool = False
    only_answers: bool = False
    asked_in: str | None = None

    @property
    def calls(self) -> Iterator[str]:
        """The calls that the row answers."""
        return (call for _, call in self.results)


NOTHING = Glance()
SPENDING = Glance(spends=True)


def glance(kind: str | None, value: Mapping[str, Any]) -> Glance:
    """Look at a row of some kind."""
    if kind == "assistant":
        message = mapping(value.get("message"))
        uses = [
            use
            for block in sequence(message.get("content"))
            if isinstance(block, dict)
            and block.get("type") == "tool_use"
            and (use := string(block.get("id")))
        ]
        asked_in = string(value.get("requestSessionId"))
        return Glance(tuple(uses), spends=usage_of(message) is not None, asked_in=asked_in)
    if kind == "user":
        content = mapping(value.get("message")).get("content")
        blocks = sequence(content)
        results = [
            (position, call)
            for position, block in enumerate(blocks)
            if isinstance(block, dict)
            and block.get("type") == "tool_result"
            and (call := string(block.get("tool_use_id")))
        ]
        if blocks and len(results) == len(blocks):
            return Glance(results=tuple(results), only_answers=True)
        return Glance(results=tuple(results), notifies=_may_notify(content))
    if kind == "attachment":
        return Glance(notifies=_may_notify(mapping(value.get("attachment")).get("prompt")))
    return NOTHING


def usage_of(message: Mapping[str, Any]) -> Usage | None:
    """Return the token counts of an API message; None where nothing or only zeros are recorded.

    No real response costs nothing: zeros are what a writer puts where it knows no counts.
    """
    value = message.get("usage")
    if not isinstance(value, dict):
        return None
    count = value.get
    read = integer(count("input_tokens"))
    written = integer(count("output_tokens"))
    from_cache = integer(count("cache_read_input_tokens"))
    to_cache = integer(count("cache_creation_input_tokens"))
    thought = integer(mapping(count("output_tokens_details")).get("thinking_tokens"))
    if not (read or written or from_cache or to_cache or thought):
        return None
    return Usage(
        scope="response",
        accounting="delta",
        input=read,
        output=written,
        cache_read=from_cache,
        cache_write=to_cache,
        reasoning=thought,
    )


def _may_notify(content: Any) -> bool:
    """Whether content is worth a look: cheap, for every row is asked, and most tell of nothing."""
    if isinstance(content, str):
        return NOTIFICATION in content
    blocks: list[Any] = content if isinstance(content, list) else []
    for block in blocks:
        text = mapping(block).get("text", block)
        if isinstance(text, str) and NOTIFICATION in text:
            return True
    return False
