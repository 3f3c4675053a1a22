"""A scenario put into one CLI's words: the play that the scripted model follows, step by step.

Truth and play come from the same steps, so what a reader must find is what was played.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from live.agents.base import Driver, Expected, Translation
from live.model.play import Auxiliary, Judging, Play, PlayResponse, PlayTurn, Search, Thread
from live.model.script import (
    Command,
    Failure,
    Given,
    Response,
    Scenario,
    SearchWeb,
    Spawn,
    Turn,
    calls_of,
)

_FOUND = "That is what was found."
"""What the provider says behind the hits of a search."""

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
        ahead = turns[number + 1].queued_during if number + 1 < len(turns) else None
        afterwards: tuple[Translation, ...] = ()
        for index, response in enumerate(_asked_for(turn, ahead, driver)):
            translations = _translations(response, scenario, driver, workspace)
            own = f"{scenario.name}-{number + 1}-{index + 1}"
            yield Step(
                id=own if name is None else f"{own}-{name}",
                thread=name,
                turn=number,
                prompt=turn.prompt,
                response=response,
                translations=(*translations, *afterwards),
            )
            afterwards = tuple(one for each in translations for one in each.afterwards)
            spawned += [call for call in response.calls if isinstance(call, Spawn)]
    for call in spawned:
        turn = Turn(prompt=call.prompt, responses=call.responses)
        yield from _thread(call.id, (turn,), scenario, driver, workspace)


def _asked_for(turn: Turn, ahead: str | None, driver: Driver) -> tuple[Response, ...]:
    """Return the answers that a turn comes to: those behind the call during which the next
    prompt is typed ahead only if the CLI keeps that prompt back until the turn is over."""
    if ahead is None or driver.queues_until_end:
        return turn.responses
    for index, response in enumerate(turn.responses):
        if any(call.id == ahead for call in response.calls):
            return turn.responses[: index + 1]
    raise ValueError(f"no call of the turn before is called {ahead}")


def _translations(
    response: Response, scenario: Scenario, driver: Driver, workspace: str
) -> tuple[Translation, ...]:
    translations = tuple(driver.translate_response(response, scenario, workspace))
    if response.hang:
        return _changed(translations, driver.cut_short)
    if any(isinstance(call, Command) and call.interrupted for call in response.calls):
        return _changed(translations, driver.interrupted)
    return translations


def _changed(
    translations: tuple[Translation, ...], change: Callable[[Expected], Expected]
) -> tuple[Translation, ...]:
    return tuple(
        msgspec.structs.replace(one, expects=tuple(change(expected) for expected in one.expects))
        for one in translations
    )


def play(
    played: tuple[Step, ...],
    driver: Driver,
    scenario: Scenario | None = None,
    judging: Judging = "record",
) -> Play:
    """Return what the scripted model is started with, paced for the CLI."""
    threads: dict[str | None, dict[int, tuple[str, list[PlayResponse]]]] = {}
    called = _wire_ids(played)
    for step in played:
        _, responses = threads.setdefault(step.thread, {}).setdefault(step.turn, (step.prompt, []))
        responses += _responses(step, driver, called)
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
        auxiliaries=(
            *_compactions(scenario, driver),
            *_searches(scenario),
            *driver.auxiliaries(),
        ),
        judging=judging,
    )
    return driver.pace(composed)


def _compactions(scenario: Scenario | None, driver: Driver) -> Iterator[Auxiliary]:
    """Yield the answer to requests for a summary, the same one however often it is asked."""
    if scenario is None:
        return
    summaries = [turn.summary for turn in scenario.turns if turn.summary is not None]
    if scenario.compaction_summary is not None:
        summaries.append(scenario.compaction_summary)
    if len(set(summaries)) > 1:
        raise ValueError(f"{scenario.name} has two summaries, and nothing tells them apart")
    for summary in summaries[:1]:
        yield Auxiliary(kind="compaction", answer=summary, contains=driver.compaction_words)


def _searches(scenario: Scenario | None) -> Iterator[Auxiliary]:
    """Yield what the provider finds where a CLI asks it to search in a request on the side."""
    if scenario is None:
        return
    for call in calls_of(response for turn in scenario.turns for response in turn.responses):
        if isinstance(call, SearchWeb):
            search = Search(query=call.query, hits=call.hits)
            yield Auxiliary(kind="web-search", answer=_FOUND, contains=(call.query,), search=search)


def _wire_ids(played: tuple[Step, ...]) -> dict[str, str]:
    """Return by what ids the calls that stand alone in their answers are known on the wire."""
    return {
        step.response.calls[0].id: step.translations[0].call.id
        for step in played
        if len(step.response.calls) == 1 and step.translations and step.translations[0].call
    }


def _responses(step: Step, driver: Driver, called: Mapping[str, str]) -> Iterator[PlayResponse]:
    response = step.response
    yield PlayResponse(
        id=step.id,
        reasoning=response.reasoning,
        sealed_reasoning=response.sealed_reasoning,
        text=_said(step),
        calls=tuple(one.call for one in step.translations if one.call is not None),
        failure=_refused(response.failure, driver),
        fails_first=_refused(response.fails_first, driver),
        hang=response.hang,
        cut=response.cut,
        usage={"input": driver.full_context} if response.fills_context else {},
        delay=_ANSWER_SECONDS,
        recalls=response.recalls,
        given=_checked(response.given, called),
    )
    later = [call for translation in step.translations for call in translation.then]
    for index, call in enumerate(later):
        yield PlayResponse(id=f"{step.id}-then-{index + 1}", calls=(call,), delay=_ANSWER_SECONDS)


def _checked(given: Given | None, called: Mapping[str, str]) -> Given | None:
    """Return a condition of an answer that looks for its call by the id on the wire."""
    if given is None or given.check is None:
        return given
    return msgspec.structs.replace(given, check=called[given.check])


def _said(step: Step) -> str | None:
    """Return the answer's words, and behind them what is said in place of a call."""
    words = "".join(translation.words for translation in step.translations)
    return (step.response.text or "") + words if words else step.response.text


def _refused(failure: Failure | None, driver: Driver) -> Failure | None:
    return None if failure is None else driver.refusal(failure)
