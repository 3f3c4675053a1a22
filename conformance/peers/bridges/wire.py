"""The wire of docs/adapters.md, for bridges: a tool's answers and nothing else on standard output.

A bridge gives :func:`serve` what it offers and a function for each verb. Whatever a tool prints
goes to standard error, and what a tool raises is told as its own failure by :func:`tool`, so that
it is told apart from a fault of the bridge (stage ``internal``).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

Json = dict[str, Any]
Verb = Callable[[Json], Json]
Stage = Literal["start", "find", "read", "write"]

_PROTOCOL = 1


class Failure(Exception):
    """The tool can't do it: at which stage, and why."""

    def __init__(self, stage: Stage, message: str) -> None:
        super().__init__(message)
        self.stage = stage
        self.message = message


class Skipped(Exception):
    """The tool does not claim to do this; the message says why."""


@contextmanager
def tool(stage: Stage) -> Generator[None, None, None]:
    """Lend the tool the floor: what it raises, or an exit of its own, is its failure."""
    try:
        yield
    except (Failure, Skipped):
        raise
    except SystemExit as error:
        raise Failure(stage, f"it ended by itself: {error}") from error
    except Exception as error:
        raise Failure(stage, f"{type(error).__name__}: {error}") from error


def serve(about: Mapping[str, str], stores: Mapping[str, Json], verbs: Mapping[str, Verb]) -> None:
    """Answer requests until told to stop.

    ``about`` is the tool's name, version and language; ``stores`` what is offered of each agent;
    a verb's function takes the request and returns the fields of an ``ok`` answer.
    """
    # What the tool or a child of it prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        request: Json = json.loads(line)
        if request["cmd"] == "stop":
            break
        answer = _answer(request, about, stores, verbs)
        answers.write(json.dumps({"seq": request["seq"], **answer}) + "\n")
        answers.flush()


def _answer(
    request: Json,
    about: Mapping[str, str],
    stores: Mapping[str, Json],
    verbs: Mapping[str, Verb],
) -> Json:
    if request["cmd"] == "start":
        return {"reply": "ok", "protocol": _PROTOCOL, "adapter": about, "stores": stores}
    try:
        return {"reply": "ok", **verbs[request["verb"]](request)}
    except Skipped as skipped:
        return {"reply": "skipped", "why": str(skipped)}
    except Failure as failure:
        return {"reply": "error", "stage": failure.stage, "message": failure.message}
    except Exception as error:  # a fault of the bridge is told as one
        words = f"the bridge failed: {type(error).__name__}: {error}"
        return {"reply": "error", "stage": "internal", "message": words}
