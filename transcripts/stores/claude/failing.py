"""How Claude Code records failures: an assistant's row with a flag beside it, in all releases."""

from __future__ import annotations

from transcripts.stores.failing import FailureTraits, ReleaseNote, Token

_RATE_LIMITED = Token(kind="RateLimited")
_OVERLOADED = Token(kind="Overloaded")
_AUTH = Token(kind="Auth")
_TOO_LONG = Token(kind="MaxTokens")
_SERVER = Token(kind="ApiError", covers=("Overloaded",))
_REQUEST = Token(kind="ApiError", covers=("MaxTokens", "Refusal"))

FAILURES = FailureTraits(
    recorded_since="",
    tokens={
        "rate_limit": _RATE_LIMITED,
        "rate_limit_error": _RATE_LIMITED,
        "usage_limit_reached": _RATE_LIMITED,
        "overloaded": _OVERLOADED,
        "overloaded_error": _OVERLOADED,
        "authentication_failed": _AUTH,
        "authentication_error": _AUTH,
        "permission_error": _AUTH,
        "billing_error": _AUTH,
        "max_output_tokens": _TOO_LONG,
        "server_error": _SERVER,
        "api_error": _SERVER,
        "timeout_error": Token(kind="ApiError"),
        "invalid_request": _REQUEST,
        "invalid_request_error": _REQUEST,
        "model_not_found": Token(kind="ApiError"),
        "not_found_error": Token(kind="ApiError"),
    },
    token_members=("apiErrorType", "error"),
    word_members=("errorDetails",),
    status_members=("apiErrorStatus", "status"),
    notes=(
        ReleaseNote(
            note="status_in_words",
            until="2.1.112",
            why="releases before 2.1.112 have no field for the status: it is read from the "
            "sentence, and those before 2.0.77 have no word for the kind of failure either",
        ),
        ReleaseNote(
            note="cut_stream_unmarked",
            until="2.1.197",
            why="1.0.128 and 2.0.0 leave an answer that broke off unmarked; 2.1.197 is the first "
            "that was seen to mark it",
        ),
        ReleaseNote(
            note="retries_not_recorded",
            until="2.1.332",
            why="an attempt that failed and was made again by the CLI itself leaves nothing; "
            "2.1.332 is the first that was seen to record each",
        ),
        ReleaseNote(
            note="one_token_for_many",
            since="2.0.77",
            why="server_error is said of a provider that is overloaded, too, and invalid_request "
            "of a conversation that is too long and of a refusal: there the status decides, then "
            "the wording",
        ),
    ),
)
