"""How Codex records failures: in the end of a turn, and only since 0.145.0."""

from __future__ import annotations

from transcripts.stores.failing import FailureTraits, ReleaseNote, Token

_RECORDED_SINCE = "0.145.0"
_CONNECTION = Token(kind="ApiError", covers=("RateLimited", "Overloaded", "Auth"))

FAILURES = FailureTraits(
    recorded_since=_RECORDED_SINCE,
    tokens={
        "usage_limit_exceeded": Token(kind="RateLimited"),
        "rate_limit_exceeded": Token(kind="RateLimited"),
        "server_overloaded": Token(kind="Overloaded"),
        "unauthorized": Token(kind="Auth"),
        "context_window_exceeded": Token(kind="MaxTokens"),
        "cyber_policy": Token(kind="Refusal"),
        "internal_server_error": Token(kind="ApiError"),
        "bad_request": Token(kind="ApiError", covers=("MaxTokens", "Refusal")),
        "http_connection_failed": _CONNECTION,
        "response_stream_connection_failed": _CONNECTION,
        "response_stream_disconnected": _CONNECTION,
        "response_too_many_failed_attempts": _CONNECTION,
    },
    status_members=("http_status_code",),
    notes=(
        ReleaseNote(
            note="no_failure_records",
            until=_RECORDED_SINCE,
            why="releases before 0.145.0 end the turn, or the file, without a word of a failure: "
            "a session that one killed looks like one that stopped",
        ),
        ReleaseNote(
            note="one_token_for_many",
            since=_RECORDED_SINCE,
            why="a failure may be called other, or by its connection only: there the status "
            "decides, then the wording",
        ),
        ReleaseNote(
            note="own_words",
            since=_RECORDED_SINCE,
            why="a failure of which Codex knows the kind is told in its own sentence, without "
            "what the provider said and often without the status",
        ),
        ReleaseNote(
            note="retries_not_recorded",
            why="an attempt that failed and was made again by the CLI itself leaves nothing",
        ),
    ),
)
