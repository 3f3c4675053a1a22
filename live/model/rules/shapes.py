"""The shapes that the vendors' SDKs give to what a request may hold.

The types are loaded when they are first needed: importing an SDK takes a second, which a
CLI that waits for its model's port need not wait for.

An SDK is older or younger than a CLI, and APIs accept more than their types say. So only a
missing field or a value of the wrong JSON type breaks a rule; a field, a kind or a word
that the types don't know is left unjudged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Literal, get_args

from live.model.rules.base import Finding, found

Family = Literal["anthropic", "responses", "chat"]

_SDK: dict[Family, str] = {
    "anthropic": "Anthropic's SDK",
    "responses": "OpenAI's SDK",
    "chat": "OpenAI's SDK",
}
_TAG: dict[Family, str] = {"anthropic": "type", "responses": "type", "chat": "role"}

_OPTIONAL_IN_PRACTICE = frozenset({"id", "status"})
"""What the types require and the API does not: Codex itself sends items without them when
nothing is stored, and the OpenAI reference says that they are set by the API."""


def load(family: Family) -> None:
    """Load the SDK's types now rather than when the first request needs them."""
    _types(family)


def judge(family: Family, value: Any, at: str) -> tuple[list[Finding], list[Finding]]:
    """Hold a block, an item or a message against its type: violations, and what is unjudged."""
    tag = value.get(_TAG[family])
    if not isinstance(tag, str) or tag not in _types(family):
        words = f"{tag!r} is a {_TAG[family]} that {_SDK[family]} does not know"
        return [], [found(f"{family}/shape", at, words)]
    [type_, *_] = _types(family)[tag]
    unjudged = unknown_fields(family, tag, value, at)
    violations: list[Finding] = []
    for field, reasons, doubtful in _faults(type_, value):
        finding = found(f"{family}/shape", f"{at}.{field}", reasons)
        (unjudged if doubtful else violations).append(finding)
    return violations, unjudged


def unknown_fields(family: Family, tag: str, value: Any, at: str) -> list[Finding]:
    """List what none of the types of one word has a field for."""
    known = {field for type_ in _types(family)[tag] for field in type_.__annotations__}
    words = f"is a field of {tag} that {_SDK[family]} does not know"
    return [
        found(f"{family}/shape", at, f"{field!r} {words}") for field in sorted(set(value) - known)
    ]


def _faults(type_: Any, value: Any) -> Iterator[tuple[str, str, bool]]:
    """List the fields of the wrong shape, why, and whether the types may just not know it."""
    from pydantic import ValidationError  # noqa: PLC0415 (slow to import)

    try:
        _adapter(type_).validate_python(value, strict=True)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False)
    else:
        return
    for field in dict.fromkeys(str(detail["loc"][0]) for detail in details if detail["loc"]):
        own = [detail for detail in details if str(detail["loc"][0]) == field]
        missing = any(detail["type"] == "missing" and len(detail["loc"]) == 1 for detail in own)
        # One word that the types don't know may be a newer kind of the whole field.
        doubtful = any(detail["type"] in ("literal_error", "union_tag_invalid") for detail in own)
        doubtful = doubtful or (missing and field in _OPTIONAL_IN_PRACTICE)
        # Codex sends null for what it leaves out, and is answered.
        doubtful = doubtful or (not missing and value[field] is None)
        yield field, own[0]["msg"], doubtful


@cache
def _adapter(type_: Any) -> Any:
    from pydantic import TypeAdapter  # noqa: PLC0415 (slow to import)

    return TypeAdapter(type_)


@cache
def _types(family: Family) -> dict[str, list[Any]]:
    """Return the types of a family by the word that tells them apart; messages have several."""
    types: dict[str, list[Any]] = {}
    for type_ in get_args(_UNIONS[family]()):
        tag = str(getattr(type_, "__annotations__", {}).get(_TAG[family], ""))
        match = re.search(r"Literal\[['\"](\w+)['\"]\]", tag)
        if match is not None:
            types.setdefault(match.group(1), []).append(type_)
    return types


def _anthropic_blocks() -> Any:
    from anthropic.types.beta import BetaContentBlockParam  # noqa: PLC0415 (slow to import)

    return BetaContentBlockParam


def _responses_items() -> Any:
    from openai.types.responses import ResponseInputItemParam  # noqa: PLC0415 (slow to import)

    return ResponseInputItemParam


def _chat_messages() -> Any:
    from openai.types.chat import ChatCompletionMessageParam  # noqa: PLC0415 (slow to import)

    return ChatCompletionMessageParam


_UNIONS: dict[Family, Callable[[], Any]] = {
    "anthropic": _anthropic_blocks,
    "responses": _responses_items,
    "chat": _chat_messages,
}
