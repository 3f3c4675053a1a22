"""What a reader must find in a recording, known from the script before the file is read.

Nothing here looks at a session file. The scripted model's log only confirms that what the
script promises did happen: that every answer was asked for and that every result which the
CLI reported holds what the scenario says comes of the call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from live.agents.base import Driver
from live.compaction import dropped
from live.composing import Step
from live.model.log import Exchange
from live.model.script import Scenario, Turn
from live.model.wires.base import ENCRYPTED, pieces
from live.pictures import digest

FORMAT = 1


Known = tuple[dict[str, Any], Mapping[str | None, str]]
"""A message, and why which of its fields (None: all of it) are not recorded."""


class Untrue(Exception):
    """The run did not go as the script says; the message names the first difference."""


def truth(
    scenario: Scenario, driver: Driver, played: Sequence[Step], exchanges: Sequence[Exchange]
) -> dict[str, Any]:
    """Return the document that a case's ``truth.json`` holds; :class:`Untrue` if it is not."""
    _check_asked(played, exchanges)
    _check_summarised(scenario, exchanges)
    known = expected(played, driver, scenario, exchanges)
    messages = [message for message, _ in known]
    _check_results(known, exchanges)
    return {
        "format": FORMAT,
        "agent": driver.agent,
        "release": driver.version,
        "scenario": scenario.name,
        "revision": scenario.revision,
        "messages": messages,
    }


def expected(
    played: Sequence[Step],
    driver: Driver,
    scenario: Scenario,
    exchanges: Sequence[Exchange] = (),
) -> list[tuple[dict[str, Any], Mapping[str | None, str]]]:
    """Return each message with what its CLI is known not to record (field to reason).

    The field None stands for the whole message.
    They stand in the order in which a reader must find them on their threads, the main
    thread's first. What a compaction took out of context is known by the ``exchanges``.
    """
    found: list[Known] = []
    answers = _by_turn(played)
    for number, turn in enumerate(scenario.turns):
        asked: list[Known] = []
        if turn.summary is None:
            asked = [(_prompted(turn, number, scenario, driver), {})]
        elif driver.compact_prompt is not None:
            asked = [(_message("UserMessage", "human", number, text=driver.compact_prompt), {})]
        boundary = _boundary(scenario, number, driver)
        said = [one for step in answers.pop((None, number), ()) for one in _answer(step, driver)]
        if turn.summary is None and driver.compacts_beside_answer:
            said += boundary
        elif turn.summary is None and driver.compacts_behind_prompt:
            asked += boundary
        else:
            asked = boundary + asked
        found += [_placed(one, number, scenario, driver) for one in (*asked, *said)]
    for (_, _), steps in answers.items():
        reason = driver.task_unrecorded
        known: dict[str | None, str] = {} if reason is None else {None: reason}
        first = steps[0]
        found.append((_of(first, "UserMessage", "agent", text=first.prompt), known))
        found += [one for step in steps for one in _answer(step, driver)]
    gone = dropped([message for message, _ in found], exchanges)
    return [
        _reasoned(({**message, "superseded": "compaction"}, known), driver)
        if index in gone
        else (message, known)
        for index, (message, known) in enumerate(found)
    ]


def _by_turn(played: Sequence[Step]) -> dict[tuple[str | None, int], list[Step]]:
    turns: dict[tuple[str | None, int], list[Step]] = {}
    for step in played:
        turns.setdefault((step.thread, step.turn), []).append(step)
    return turns


def _prompted(turn: Turn, number: int, scenario: Scenario, driver: Driver) -> dict[str, Any]:
    """Return the prompt as the person gave it."""
    fields: dict[str, Any] = {"text": driver.typed(turn, scenario)}
    if turn.images:
        fields["assets"] = [digest(scenario.pictures[name]) for name in turn.images]
    if turn.queued_during is not None:
        fields["delivery"] = driver.typed_ahead
    return _message("UserMessage", "human", number, **fields)


def _boundary(scenario: Scenario, number: int, driver: Driver) -> list[Known]:
    """Return the compaction that a turn asks for, or that is due before it."""
    turn = scenario.turns[number]
    if turn.summary is not None:
        fields = {"trigger": "manual", "summary": turn.summary}
    elif number and any(one.fills_context for one in scenario.turns[number - 1].responses):
        fields = {"trigger": "auto", "summary": scenario.compaction_summary}
    else:
        return []
    del driver
    return [(_message("CompactBoundary", "harness", number, **fields), {})]


def _placed(one: Known, number: int, scenario: Scenario, driver: Driver) -> Known:
    """Say of a message whether the person went back before it, or forked the session after it."""
    message, known = one
    later = scenario.turns[number + 1 :]
    if any(turn.rewinds_to is not None and turn.rewinds_to <= number for turn in later):
        message = {**message, "superseded": "rewind"}
    if any(turn.forks for turn in later):
        message = {**message, "inherited": True}
    return _reasoned((message, known), driver)


def _reasoned(one: Known, driver: Driver) -> Known:
    """Say of a message why its CLI does not record some of it."""
    message, known = one
    reasons = {name: why for name, why in driver.never_recorded.items() if name in message}
    return message, {**known, **reasons}


def _answer(step: Step, driver: Driver) -> list[Known]:
    response = step.response
    found: list[Known] = []
    if response.fails_first is not None:
        failures = driver.retried(response.fails_first)
        found += [(_of(step, one.kind, "harness", **one.fields), {}) for one in failures]
    if response.failure is not None:
        failure = driver.refusal(response.failure)
        error = _of(step, "Error", "harness", status_code=failure.status, text=failure.message)
        known: dict[str | None, str] = {**driver.failure_unrecorded(response.failure)}
        return [*found, ({**error, "status": "failed"}, known)]
    if response.reasoning is not None:
        found.append((_of(step, "Reasoning", "model", text=response.reasoning), {}))
    if response.sealed_reasoning:
        sealed = _of(step, "Reasoning", "model", text="", opaque=[ENCRYPTED])
        found.append((sealed, {}))
    if response.text is not None:
        text = response.text if not response.cut else "".join(pieces(response.text)[:-1])
        found.append((_of(step, "AgentMessage", "model", text=text), {}))
    for translation in step.translations:
        for one in translation.expects:
            unrecorded: dict[str | None, str] = {**one.unrecorded}
            found.append((_of(step, one.kind, one.author, **one.fields), unrecorded))
    if response.cut:
        found.append(({**_of(step, "Error", "harness"), "status": "failed"}, {}))
    return found


def _of(step: Step, kind: str, author: str, **fields: Any) -> dict[str, Any]:
    """Return a message of one answer of the model."""
    message = _message(kind, author, step.turn, **fields)
    response = None if kind in ("UserMessage", "Error") else step.id
    return {**message, "thread": step.thread, "response": response}


def _message(kind: str, author: str, turn: int, **fields: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "author": author,
        "thread": None,
        "turn": turn,
        "response": None,
        "status": "completed",
        **fields,
    }


def _check_asked(played: Sequence[Step], exchanges: Sequence[Exchange]) -> None:
    asked = {exchange.response for exchange in exchanges if exchange.kind == "turn"}
    for step in played:
        if step.id not in asked:
            raise Untrue(f"the CLI never asked for {step.id}")


def _check_summarised(scenario: Scenario, exchanges: Sequence[Exchange]) -> None:
    """See that a summary was asked for where the script has one."""
    due = scenario.compaction_summary or any(turn.summary for turn in scenario.turns)
    if due and not any(exchange.kind == "compaction" for exchange in exchanges):
        raise Untrue("the CLI never asked for a summary")


def _check_results(
    known: Sequence[tuple[Mapping[str, Any], Mapping[str | None, str]]],
    exchanges: Sequence[Exchange],
) -> None:
    """See that every scripted result came back to the model, or an agent's in its own message.

    One that the CLI is known not to keep it may have lost before the model could see it.
    """
    results = "\n".join(
        entry.text or ""
        for exchange in exchanges
        for entry in exchange.history
        if entry.type == "result" or (entry.role == "user" and entry.name is not None)
    )
    for message, lost in known:
        for field in ("output", "error"):
            wanted = message.get(field)
            if field in lost or not isinstance(wanted, str):
                continue
            for line in wanted.split("\n"):
                told = line.strip()
                # A CLI may hand out a result inside JSON, where marks are escaped.
                if told not in results and _escaped(told) not in results:
                    raise Untrue(f"no result holds the {field} {line!r} of {message['response']}")


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
