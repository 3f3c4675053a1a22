"""Why a provider gave up: by the CLI's word for it, then the status, then the wording.

A later source decides only where an earlier one does not: a word that is not known, or one
that the CLI gives to several kinds of failure (``covers``). The wording is last because it
moves with every release: one and the same limit has been told in four sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from transcripts.model import Error
from transcripts.stores.failing import FailureKind, FailureTraits, Token

ClassifiedBy = Literal["subtype", "status", "wording"]

_STATUSES: dict[int, Token] = {
    429: Token(kind="RateLimited"),
    529: Token(kind="Overloaded"),
    **dict.fromkeys((401, 402, 403), Token(kind="Auth")),
    **dict.fromkeys((408, 500, 502, 503, 504), Token(kind="ApiError")),
}
_OTHER_STATUS = Token(kind="ApiError", covers=("MaxTokens", "Refusal", "Auth", "RateLimited"))
"""Any other refusal by the API: what exactly was wrong stands in no status."""

_PATTERNS: dict[FailureKind, tuple[str, ...]] = {
    "RateLimited": (
        r"rate[ _-]?limit|\b429\b|too many requests|\bquota\b|(usage|session) limit",
        r"hit your [\w -]{0,40}limit",
    ),
    "Overloaded": (r"overloaded|\b529\b",),
    "Auth": (
        r"authentication|unauthorized|\b40[123]\b|api[ -]key|billing|credit balance",
        r"not logged in|not authenticated",
    ),
    "MaxTurns": (r"max[ _]turns|maximum number of turns",),
    "MaxTokens": (
        r"context.{0,80}limit|limit.{0,80}context|context[ _](length|window)",
        r"prompt is too long",
    ),
    "Refusal": (r"usage policy|content policy",),
    "ApiError": (
        r"unable to connect|could not connect|connection ?refused|timed out|timeout",
        r"bad gateway|service unavailable|internal server error|stream disconnected",
        r"invalid_request_error|\b50[0234]\b",
    ),
}
_WORDINGS: dict[FailureKind, re.Pattern[str]] = {
    kind: re.compile("|".join(patterns), re.IGNORECASE | re.DOTALL)
    for kind, patterns in _PATTERNS.items()
}
"""What a failure says of itself; the first that fits decides."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What kind of failure it is, and what said so; None where nothing did."""

    kind: FailureKind = "Unknown"
    by: ClassifiedBy | None = None


def classify(error: Error, traits: FailureTraits) -> Verdict:
    """Say why a turn was refused."""
    verdict, covers = Verdict(), None
    for token, by in _said(error, traits):
        if covers is None or token.kind in covers:
            verdict, covers = Verdict(kind=token.kind, by=by), token.covers
        if not covers:
            return verdict
    words = "\n".join((error.text, *_members(error.raw, traits.word_members)))
    for kind, pattern in _WORDINGS.items():
        if (covers is None or kind in covers) and pattern.search(words):
            return Verdict(kind=kind, by="wording")
    return verdict


def _said(error: Error, traits: FailureTraits) -> Iterator[tuple[Token, ClassifiedBy]]:
    """Yield what words and status say, the more telling first."""
    named = (error.failure, *_members(error.raw, traits.token_members))
    tokens = [token for name in named if name and (token := traits.tokens.get(name))]
    for token in sorted(tokens, key=lambda token: len(token.covers)):
        yield token, "subtype"
    if error.status_code is not None and error.status_code >= 400:
        known = _STATUSES.get(error.status_code, _OTHER_STATUS)
        yield known, "status" if _is_field(error, traits) else "wording"


def _is_field(error: Error, traits: FailureTraits) -> bool:
    """Whether the status was recorded as one, and not read from the sentence."""
    members = traits.status_members
    return members is None or error.status_code in _members(error.raw, members)


def _members(raw: Any, names: tuple[str, ...]) -> list[Any]:
    """Return the values of the members of an object, or of the objects in it, in that order."""
    if not isinstance(raw, dict):
        return []
    objects: list[dict[str, Any]] = [raw, *(one for one in raw.values() if isinstance(one, dict))]
    found = [one.get(name) for name in names for one in objects]
    return [value for value in found if isinstance(value, str | int)]
