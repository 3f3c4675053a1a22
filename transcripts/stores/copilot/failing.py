"""How Copilot CLI records failures: an event of their own, in all releases."""

from __future__ import annotations

from transcripts.stores.failing import FailureTraits, ReleaseNote, Token

FAILURES = FailureTraits(
    recorded_since="",
    tokens={
        "rate_limit": Token(kind="RateLimited"),
        "quota": Token(kind="RateLimited"),
        "authentication": Token(kind="Auth"),
        "authorization": Token(kind="Auth"),
        "context_limit": Token(kind="MaxTokens"),
    },
    notes=(
        ReleaseNote(
            note="status_in_words",
            until="0.0.406",
            why="0.0.384 has no field for the status; 0.0.406 is the first that was seen with one",
        ),
        ReleaseNote(
            note="several_records",
            until="0.0.406",
            why="0.0.384 records one failure as several events, each with a word of its own: they "
            "are one failure here, its attempts are listed",
        ),
        ReleaseNote(
            note="one_token_for_many",
            why="query is said of any failure that has no word of its own: there the status "
            "decides, then the wording",
        ),
        ReleaseNote(
            note="retries_not_recorded",
            why="an attempt that failed and was made again by the CLI itself leaves nothing",
        ),
    ),
)
