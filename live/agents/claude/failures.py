"""A provider's failures as Anthropic's API says them, and what Claude Code records of one."""

from __future__ import annotations

import msgspec

from live.agents.base import Expected
from live.model.script import Failure, Response, Scenario

_RESETS = 1893456000
"""When the scripted allowance begins anew: 2030-01-01, so far away that no run comes after."""

_ALLOWANCE = {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": str(_RESETS),
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
    "anthropic-ratelimit-unified-5h-status": "rejected",
    "anthropic-ratelimit-unified-5h-reset": str(_RESETS),
}


def refusal(failure: Failure) -> Failure:
    """Return a failure with the headers by which the CLI tells what is meant."""
    if failure.reason != "usage-limit":
        return failure
    return msgspec.structs.replace(failure, headers={**_ALLOWANCE, **failure.headers})


def retried(failure: Failure) -> Expected:
    """Return what a reader must find of a failure after which it tried again."""
    fields = {"text": failure.message, "status_code": failure.status, "status": "failed"}
    return Expected(kind="Error", fields=fields)


def has_allowance(scenario: Scenario | None) -> bool:
    """Whether the person pays by subscription: only then does the CLI know usage limits."""
    return scenario is not None and any(
        response.failure is not None and response.failure.reason == "usage-limit"
        for response in _responses(scenario)
    )


def retries(scenario: Scenario | None) -> int:
    """Return how often the CLI may try again."""
    if scenario is None:
        return 0
    return int(any(response.fails_first is not None for response in _responses(scenario)))


def _responses(scenario: Scenario) -> list[Response]:
    return [response for turn in scenario.turns for response in turn.responses]
