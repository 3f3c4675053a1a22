"""A scenario put into one CLI's words: the play that the scripted model follows, step by step.

Truth and play come from the same steps, so what a reader must find is what was played.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from live.agents.base import Driver, Translation
from live.model.play import Judging, Play, PlayResponse, PlayTurn, Thread
from live.model.script import Response, Scenario, Spawn, Turn

_ANSWER_SECONDS = 0.3
"""How long each answer takes, unless a driver paces otherwise: what a CLI writes behind its
own back (from timers, from requests on the side) has happened by then, so that the order of
its records does not depend on the machine."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of the model. ``turn`` counts from 0 within its thread."""

    id: str
    thread: str | None
    turn: int
    prompt: str
    response: Response
    translations: tuple[Translation, ...]


def steps(scenario: Scenario, driver: Driver, workspace: str) -> tuple[Step, ...]:
    """Return every answer of a scenario, the main thread's first; CannotDo if one can't be."""
    return tuple(_thread(None, scenario.turns, scenario, driver, workspace))


def _thread(
    name: str | None, turns: tuple[Turn, ...], scenario: Scenario, driver: Driver, workspace: str
) -> Iterator[Step]:
    spawned: list[Spawn] = []
    for number, turn in enumerate(turns):
        for index, response in enumerate(turn.responses):
            own = f"{scenario.name}-{number + 1}-{index + 1}"
            yield Step(
                id=own if name is None else f"{own}-{name}",
                thread=name,
                turn=number,
                prompt=turn.prompt,
                response=response,
                translations=_translations(response, scenario, driver, workspace),
            )
            spawned += [call for call in response.calls if isinstance(call, Spawn)]
    for call in spawned:
        turn = Turn(prompt=call.prompt, responses=call.responses)
        yield from _thread(call.id, (turn,), scenario, driver, workspace)


def _translations(
    response: Response, scenario: Scenario, driver: Driver, workspace: str
) -> tuple[Translation, ...]:
    translations = tuple(driver.translate_response(response, scenario, workspace))
    if not response.hang:
        return translations
    return tuple(
        msgspec.structs.replace(one, expects=tuple(driver.cut_short(e) for e in one.expects))
        for one in translations
    )


def play(played: tuple[Step, ...], driver: Driver, judging: Judging = "record") -> Play:
    """Return what the scripted model is started with, paced for the CLI."""
    threads: dict[str | None, dict[int, tuple[str, list[PlayResponse]]]] = {}
    for step in played:
        _, responses = threads.setdefault(step.thread, {}).setdefault(step.turn, (step.prompt, []))
        responses += _responses(step)
    composed = Play(
        wire=driver.wire,
        model=driver.model,
        threads=tuple(
            Thread(
                name=name,
                turns=tuple(
                    PlayTurn(prompt=prompt, responses=tuple(responses))
                    for prompt, responses in turns.values()
                ),
            )
            for name, turns in threads.items()
        ),
        auxiliaries=tuple(driver.auxiliaries()),
        judging=judging,
    )
    return driver.pace(composed)


def _responses(step: Step) -> Iterator[PlayResponse]:
    yield PlayResponse(
        id=step.id,
        reasoning=step.response.reasoning,
        text=step.response.text,
        calls=tuple(translation.call for translation in step.translations),
        failure=step.response.failure,
        hang=step.response.hang,
        delay=_ANSWER_SECONDS,
    )
    later = [call for translation in step.translations for call in translation.then]
    for index, call in enumerate(later):
        yield PlayResponse(id=f"{step.id}-then-{index + 1}", calls=(call,), delay=_ANSWER_SECONDS)
