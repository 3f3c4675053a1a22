"""What a reader must find in a recording, known from the script before the file is read.

Nothing here looks at a session file. The scripted model's log only confirms that what the
script promises did happen: that every answer was asked for and that every result which the
CLI reported holds what the scenario says comes of the call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from live.agents.base import Driver
from live.composing import Step
from live.model.log import Exchange
from live.model.script import Scenario

FORMAT = 1


class Untrue(Exception):
    """The run did not go as the script says; the message names the first difference."""


def truth(
    scenario: Scenario, driver: Driver, played: Sequence[Step], exchanges: Sequence[Exchange]
) -> dict[str, Any]:
    """Return the document that a case's ``truth.json`` holds; :class:`Untrue` if it is not."""
    _check_asked(played, exchanges)
    messages = [message for message, _ in expected(played, driver)]
    _check_results(messages, exchanges)
    return {
        "format": FORMAT,
        "agent": driver.agent,
        "release": driver.version,
        "scenario": scenario.name,
        "revision": scenario.revision,
        "messages": messages,
    }


def expected(
    played: Sequence[Step], driver: Driver
) -> list[tuple[dict[str, Any], Mapping[str | None, str]]]:
    """Return each message with what its CLI is known not to record (field to reason).

    The field None stands for the whole message.
    They stand in the order in which a reader must find them on their threads, the main
    thread's first.
    """
    found: list[tuple[dict[str, Any], Mapping[str | None, str]]] = []
    opened: set[tuple[str | None, int]] = set()
    for step in played:
        if (step.thread, step.turn) not in opened:
            opened.add((step.thread, step.turn))
            author = "human" if step.thread is None else "agent"
            reason = None if step.thread is None else driver.task_unrecorded
            known: dict[str | None, str] = {} if reason is None else {None: reason}
            found.append((_message(step, "UserMessage", author, text=step.prompt), known))
        found += _answer(step)
    return found


def _answer(step: Step) -> list[tuple[dict[str, Any], Mapping[str | None, str]]]:
    response = step.response
    found: list[tuple[dict[str, Any], Mapping[str | None, str]]] = []
    if response.failure is not None:
        failure = response.failure
        error = _message(step, "Error", "harness", status_code=failure.status, text=failure.message)
        return [({**error, "status": "failed"}, {})]
    if response.reasoning is not None:
        found.append((_message(step, "Reasoning", "model", text=response.reasoning), {}))
    if response.text is not None:
        found.append((_message(step, "AgentMessage", "model", text=response.text), {}))
    for translation in step.translations:
        for one in translation.expects:
            known: dict[str | None, str] = {**one.unrecorded}
            found.append((_message(step, one.kind, "model", **one.fields), known))
    return found


def _message(step: Step, kind: str, author: str, **fields: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "author": author,
        "thread": step.thread,
        "turn": step.turn,
        "response": None if kind in ("UserMessage", "Error") else step.id,
        "status": "completed",
        **fields,
    }


def _check_asked(played: Sequence[Step], exchanges: Sequence[Exchange]) -> None:
    asked = {exchange.response for exchange in exchanges if exchange.kind == "turn"}
    for step in played:
        if step.id not in asked:
            raise Untrue(f"the CLI never asked for {step.id}")


def _check_results(messages: Sequence[Mapping[str, Any]], exchanges: Sequence[Exchange]) -> None:
    """See that every scripted result came back to the model."""
    results = "\n".join(
        entry.text or ""
        for exchange in exchanges
        for entry in exchange.history
        if entry.type == "result"
    )
    for message in messages:
        for field in ("output", "error"):
            wanted = message.get(field)
            if not isinstance(wanted, str):
                continue
            for line in wanted.split("\n"):
                if line.strip() and line.strip() not in results:
                    raise Untrue(f"no result holds the {field} {line!r} of {message['response']}")
