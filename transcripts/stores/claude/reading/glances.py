"""What a row says that must be known before the first message: taken when the row is first seen.

A row's record may lie on a shelf; without this every row would be read from there once more,
only to learn which calls it answers.
"""

from __future__ import annotations

from typing import Any

import msgspec

from transcripts.model import Usage
from transcripts.stores.claude import wordings
from transcripts.stores.claude.reading.entries import (
    Attachment,
    Counts,
    Entry,
    Skimmed,
    SkimmedMessage,
    SkimmedResult,
    SkimmedUse,
    Words,
)

NOTIFICATION = "<task-notification>"


class Glance(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The calls that a row makes, those that it answers (with the places of the results), whether
    it says what its response cost, and whether it may tell of the end of a background call.

    ``only_answers``: nothing else is in it. ``asked_in`` is the session whose request it answers.
    ``prompt``: a person may have said it, as far as the row alone tells.
    """

    uses: tuple[str, ...] = ()
    results: tuple[tuple[int, str], ...] = ()
    spends: bool = False
    notifies: bool = False
    only_answers: bool = False
    asked_in: str | None = None
    prompt: bool = False


NOTHING = Glance()
_SPENDING = Glance(spends=True)
_NOTIFYING = Glance(notifies=True)
_PROMPT = Glance(prompt=True)
_NO_MESSAGE = SkimmedMessage()


def of_the_model(entry: Entry | Skimmed) -> Glance:
    """Look at a row of the model's."""
    message = entry.message or _NO_MESSAGE
    spends = message.usage is not None and _spends(message.usage)
    asked_in = entry.request_session_id or None
    content = message.content
    if type(content) is list:
        uses = [block.id for block in content if isinstance(block, SkimmedUse) and block.id]
        if uses:
            return Glance(uses=tuple(uses), spends=spends, asked_in=asked_in)
    if asked_in is None:
        return _SPENDING if spends else NOTHING
    return Glance(spends=spends, asked_in=asked_in)


def in_the_users_place(entry: Entry | Skimmed) -> Glance:
    """Look at a row of the user's side."""
    content = None if entry.message is None else entry.message.content
    spoken = bool(entry.uuid) and not (entry.is_meta or entry.is_compact_summary)
    if type(content) is str:
        prompt = spoken and wordings.typed(content).author != "harness"
        if NOTIFICATION not in content:
            return _PROMPT if prompt else NOTHING
        return Glance(notifies=True, prompt=prompt)
    if type(content) is not list or not content:
        return NOTHING
    results = [
        (position, block.tool_use_id)
        for position, block in enumerate(content)
        if isinstance(block, SkimmedResult) and block.tool_use_id
    ]
    if len(results) == len(content):
        return Glance(results=tuple(results), only_answers=True)
    notifies = _may_notify(content)
    prompt = (
        spoken
        and not any(isinstance(block, SkimmedResult) for block in content)
        and not all(
            isinstance(text := _text_of(block), str) and wordings.typed(text).author == "harness"
            for block in content
        )
    )
    return Glance(results=tuple(results), notifies=notifies, prompt=prompt)


def attached(attachment: Attachment | None) -> Glance:
    """Look at an attachment."""
    prompt = None if attachment is None else attachment.prompt
    if isinstance(prompt, str):
        return _NOTIFYING if NOTIFICATION in prompt else NOTHING
    return _NOTIFYING if isinstance(prompt, list) and _may_notify(prompt) else NOTHING


def usage_of(counts: Counts | None) -> Usage | None:
    """Return the token counts of an API message; None where nothing or only zeros are recorded.

    No real response costs nothing: zeros are what a writer puts where it knows no counts.
    """
    if counts is None or not _spends(counts):
        return None
    details = counts.output_tokens_details
    return Usage(
        scope="response",
        accounting="delta",
        input=counts.input_tokens,
        output=counts.output_tokens,
        cache_read=counts.cache_read_input_tokens,
        cache_write=counts.cache_creation_input_tokens,
        reasoning=None if details is None else details.thinking_tokens,
    )


def _spends(counts: Counts) -> bool:
    details = counts.output_tokens_details
    return bool(
        counts.output_tokens
        or counts.input_tokens
        or counts.cache_read_input_tokens
        or counts.cache_creation_input_tokens
        or (details is not None and details.thinking_tokens)
    )


def _may_notify(blocks: list[Any]) -> bool:
    """Whether content is worth a look: cheap, for every row is asked, and most tell of nothing."""
    for block in blocks:
        text = block if isinstance(block, str) else _text_of(block)
        if isinstance(text, str) and NOTIFICATION in text:
            return True
    return False


def _text_of(block: Any) -> Any:
    if type(block) is Words:
        return block.text
    return block.get("text") if isinstance(block, dict) else None
