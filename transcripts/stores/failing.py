"""What a CLI records when its provider gives up: the words it has for it, and since when.

Each store states it as data in its module ``failing``; what is made of it stands in
``transcripts.handoff``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

FailureKind = Literal[
    "Unknown",
    "RateLimited",
    "Overloaded",
    "Auth",
    "MaxTurns",
    "MaxTokens",
    "Refusal",
    "ApiError",
    "SessionNotFound",
]
"""The closed list of why a turn was refused."""

NoteId = Literal[
    "no_failure_records",  # the release keeps nothing of a failure
    "release_unknown",  # nobody can say whether the release would have kept one
    "empty_turn",  # a prompt after which nothing is recorded, where a failure leaves no record
    "retries_not_recorded",  # an attempt that was made again and went well leaves nothing
    "cut_stream_unmarked",  # an answer that broke off looks like one that ended
    "status_in_words",  # no field for the status: it is read from the words
    "one_token_for_many",  # a token that the release gives to failures of several kinds
    "several_records",  # one failure is recorded more than once; it is listed once
    "own_words",  # the CLI's sentence stands in place of what the provider said
]

_NUMBERS = re.compile(r"(\d+)\.(\d+)\.(\d+)")


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """What a CLI's own word for a failure means.

    ``covers`` are narrower kinds that the CLI gives the same word to: there the status, and
    then the wording, may say which.
    """

    kind: FailureKind
    covers: tuple[FailureKind, ...] = ()


class ReleaseNote(msgspec.Struct, frozen=True, kw_only=True):
    """Something to know of the failures of some releases: from ``since`` on, before ``until``."""

    note: NoteId
    why: str
    since: str | None = None
    until: str | None = None

    def applies(self, release: str | None) -> bool:
        """Whether it holds of a release; of an unknown one only what holds of all."""
        if self.since is None and self.until is None:
            return True
        numbers = release_numbers(release)
        if numbers is None:
            return False
        since, until = release_numbers(self.since), release_numbers(self.until)
        return (since is None or numbers >= since) and (until is None or numbers < until)


class FailureTraits(msgspec.Struct, frozen=True, kw_only=True):
    """How one CLI records failures.

    ``tokens`` are its words for them. Members of what the reader kept as ``raw``:
    ``token_members`` hold further words, ``word_members`` further sentences and
    ``status_members`` the status; where the last is None the record itself has a field for it.
    A status that stands in no such member was read from the sentence.
    """

    recorded_since: str | None = None
    """The first release that is known to record failures; "" for all, None for none."""
    tokens: Mapping[str, Token] = {}
    token_members: tuple[str, ...] = ()
    word_members: tuple[str, ...] = ()
    status_members: tuple[str, ...] | None = None
    notes: tuple[ReleaseNote, ...] = ()

    def recorded(self, release: str | None) -> bool | None:
        """Whether a release records its failures; None where nobody knows the release."""
        if not self.recorded_since:
            return self.recorded_since is not None
        numbers, since = release_numbers(release), release_numbers(self.recorded_since)
        return None if numbers is None or since is None else numbers >= since


def release_numbers(release: str | None) -> tuple[int, ...] | None:
    """Return a release as numbers that sort; None if it is none."""
    found = _NUMBERS.match(release or "")
    return tuple(int(number) for number in found.groups()) if found else None
