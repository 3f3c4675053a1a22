"""The words of Codex's provider for what a scenario says of a failure in neutral ones."""

from __future__ import annotations

import msgspec

from live.agents.codex.traits import Traits
from live.model.script import Failure

_REFUSALS = {
    "rate-limit": (429, "rate_limit_exceeded"),
    "usage-limit": (429, "usage_limit_reached"),
    "server": (500, "server_error"),
    "overloaded": (503, "server_is_overloaded"),
    "context": (400, "context_length_exceeded"),
}


def refusal(failure: Failure) -> Failure:
    """Return a failure with the status and the code by which Codex's provider names it."""
    if failure.reason not in _REFUSALS:
        return failure
    status, code = _REFUSALS[failure.reason]
    return msgspec.structs.replace(failure, status=status, type=code)


_OWN_WORDS = "Codex tells this failure in words of its own"
_NO_STATUS = "Codex names the kind of this failure and not its status"
_WITH_STATUS = (401, 429)


def unrecorded(failure: Failure, has: Traits) -> dict[str, str]:
    """Return which values of a failure are not recorded, and why."""
    found: dict[str, str] = {}
    if failure.reason is not None and (failure.reason != "context" or has.knows_full_context):
        found["text"] = _OWN_WORDS
    if refusal(failure).status not in _WITH_STATUS or failure.reason == "usage-limit":
        found["status_code"] = _NO_STATUS
    return found
