"""What comes later in a conversation and decides what is written before it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from transcripts.model import CompactBoundary, Error, Message, Other, UserMessage
from transcripts.narration import content_text
from transcripts.stores.copilot.writing.ledger import left_behind
from transcripts.stores.copilot.writing.requests import is_broken_off


def aborted(messages: Sequence[Message]) -> frozenset[str]:
    """Return the ids of the broken off calls whose thread has its own abort behind them."""
    found: set[str] = set()
    threads: set[str | None] = set()
    for message in reversed(messages):
        if isinstance(message, Other) and message.record == "abort":
            threads.add(message.agent)
        elif message.agent in threads and is_broken_off(message):
            found.add(message.id)
    return frozenset(found)


def begun(messages: Sequence[Message]) -> Mapping[str, Sequence[str]]:
    """Return, by the message before which they began, the ids of compactions.

    A summary replaces what stands before the record of its beginning, and the CLI goes on
    while it is made: what came meanwhile stays. Prompts stay wherever they stand.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    for place, boundary in enumerate(messages):
        if isinstance(boundary, CompactBoundary) and boundary.summary is not None:
            found[_first_kept(messages[:place], boundary)].append(boundary.id)
    return found


def taken_over(messages: Sequence[Message]) -> Mapping[str, Sequence[str]]:
    """Return the same of another CLI's summaries that can be written as compactions.

    What a summary replaced does not cross. All else before it must be told to the model still:
    prompts are, and what the summary left alone. (The CLI tells a prompt twice that came while
    the summary was made: among all prompts, and in its place.)
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    standing: list[str] = []
    for message in messages:
        if left_behind(message) is not None or isinstance(message, Error):
            continue
        if (
            isinstance(message, CompactBoundary)
            and content_text(message.summary).strip()
            and set(standing) <= set(message.preserved)
        ):
            found[standing[0] if standing else message.id].append(message.id)
        if not _is_prompt(message):
            standing.append(message.id)
    return found


def _first_kept(before: Sequence[Message], boundary: CompactBoundary) -> str:
    """Return the first message behind all that the summary replaced, prompts apart."""
    first = boundary.id
    for message in reversed(before):
        if message.superseded_by is not None and message.superseded_by.id == boundary.id:
            break
        if isinstance(message, CompactBoundary):
            break
        if message.agent is None and not _is_prompt(message):
            first = message.id
    return first


def _is_prompt(message: Message) -> bool:
    return isinstance(message, UserMessage) and message.author == "human"
