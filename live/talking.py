"""A scenario taken by somebody who is there: prompts, permissions, answers, interruptions.

What the person does next follows from the script and from what the model was asked so far,
never from time alone: a call is permitted when the CLI asks for it, a prompt is typed ahead
when the call that it goes with runs, and a turn is over when its last answer was delivered
and the CLI rests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from live.agents.base import Driver
from live.conversation import Conversation, Silent
from live.model.log import Exchange
from live.model.process import ScriptedModel
from live.model.script import Ask, Call, Propose, Scenario, Turn, calls_of
from live.releases import Release
from live.sandbox import Sandbox

_TURN_SECONDS = 120.0
_POLL_SECONDS = 0.1
_SETTLE_SECONDS = 1.5
"""What a CLI gets to write down what it received before something is done to it."""


class CliFailed(Exception):
    """A run of the CLI ended in another way than the scenario says."""


class Earlier(msgspec.Struct, frozen=True, kw_only=True):
    """A session that is there already and is gone on with: the home it is in, and its id.

    Without an id another session is begun in that home.
    With ``words``, its first prompt, a person opens it from the CLI's own list of sessions.
    """

    home: Path
    session_id: str
    words: str | None = None


def talk(
    scenario: Scenario,
    driver: Driver,
    release: Release,
    box: Sandbox,
    model: ScriptedModel,
    asked_id: str,
    earlier: Earlier | None,
) -> tuple[str, list[str]]:
    """Take every turn of a scenario; return the last session's id and what was streamed."""
    said: list[str] = []
    session_id = "" if earlier is None else earlier.session_id
    for processes, turns in enumerate(_processes(scenario.turns)):
        executable = driver.executable(release.prefix)
        picked = None if processes or earlier is None else earlier.words
        try:
            running = (
                driver.converse(
                    scenario,
                    box,
                    executable,
                    model.port,
                    resume=session_id or None,
                    session_id=asked_id,
                )
                if picked is None
                else driver.pick(box, executable, model.port, words=picked)
            )
        except Silent as silence:
            raise _failed(processes, silence, driver, box) from silence
        try:
            running.begin()
            _take(turns, running, box, model)
            if turns[-1][1].ends != "killed":
                running.end()
        except Silent as silence:
            unscripted(turns[0][0], model.exchanges())
            raise _failed(processes, silence, driver, box) from silence
        finally:
            running.kill()
        unscripted(turns[-1][0], model.exchanges())
        said.append("\n".join(running.stream()))
        session_id = driver.session_id(box.home)
    return session_id, said


def _failed(process: int, silence: Silent, driver: Driver, box: Sandbox) -> CliFailed:
    line = driver.newest_log_line(box.home)
    return CliFailed(f"process {process + 1}: {silence}; log: {line}")


def unscripted(number: int, exchanges: Sequence[Exchange]) -> None:
    """Raise :class:`CliFailed` if the CLI asked for something that no script answers."""
    for exchange in exchanges:
        if exchange.kind == "unscripted":
            raise CliFailed(f"turn {number + 1}: {(exchange.answer.error or {}).get('message')}")


def last_words(stderr: str, log_line: str | None, stdout: str) -> str:
    """Return what a CLI said last: on stderr, else in its own log, else on stdout."""
    for source, text in (("stderr", stderr), ("log", log_line), ("stdout", stdout)):
        if text and text.strip():
            return f"{source}: {text.strip()[-600:]}"
    return "it said nothing anywhere"


def _processes(turns: Sequence[Turn]) -> Iterator[list[tuple[int, Turn]]]:
    """Yield the turns of one process after the other, each with its number."""
    together: list[tuple[int, Turn]] = []
    for number, turn in enumerate(turns):
        if together and turn.resumes:
            yield together
            together = []
        together.append((number, turn))
    yield together


def _take(
    turns: Sequence[tuple[int, Turn]], running: Conversation, box: Sandbox, model: ScriptedModel
) -> None:
    """Take the turns of one process."""
    typed: set[int] = set()
    for place, (number, turn) in enumerate(turns):
        ahead = turns[place + 1] if place + 1 < len(turns) else None
        if turn.summary is not None:
            _compact(running, model)
            continue
        if number not in typed:
            running.say(turn)
        if ahead is not None and ahead[1].queued_during is not None:
            _until(lambda turn=turn: _stands(box, turn.cue), running, model, (), "run the call")
            running.say(ahead[1])
            typed.add(ahead[0])
            # What was typed ahead may be read before this turn is over, or end it: whichever
            # it is, both are over when the last answer to it has come.
            continue
        _finish(number, turn, running, box, model)


def _compact(running: Conversation, model: ScriptedModel) -> None:
    before = sum(one.kind == "compaction" for one in model.exchanges())
    running.compact()
    _until(
        lambda: sum(one.kind == "compaction" for one in model.exchanges()) > before,
        running,
        model,
        (),
        "ask for a summary",
    )
    _until(running.rests, running, model, (), "rest after the compaction")


def _finish(
    number: int, turn: Turn, running: Conversation, box: Sandbox, model: ScriptedModel
) -> None:
    """See a turn to its end, saying on the way what the script has the person say."""
    due = [call for call in calls_of(turn.responses) if _is_due(call)]
    if turn.ends in ("interrupted", "killed"):
        moment: Callable[[], bool] = lambda: (  # noqa: E731
            _stands(box, turn.cue) if turn.cue else _hangs(model, number)
        )
        _until(moment, running, model, due, "come to the moment of the interruption")
        time.sleep(_SETTLE_SECONDS)
        if turn.ends == "killed":
            running.kill()
            return
        running.interrupt()
        _until(running.rests, running, model, (), "rest after the interruption")
        return
    _until(lambda: _asks_all(model, number, turn), running, model, due, "ask for every answer")
    _until(running.rests, running, model, due, "rest")


def _until(
    holds: Callable[[], bool],
    running: Conversation,
    model: ScriptedModel,
    due: Sequence[Call],
    what: str,
) -> None:
    """Wait until something holds, and meanwhile say what the CLI asks the person for."""
    waiting = list(due)
    deadline = time.monotonic() + _TURN_SECONDS
    while not holds():
        unscripted(0, model.exchanges())
        if waiting and running.asks(waiting[0]):
            _reply(running, waiting.pop(0))
        if time.monotonic() > deadline:
            shown = running.shown()
            raise Silent(f"it did not {what}; it shows:\n{shown}", running.recording())
        time.sleep(_POLL_SECONDS)


def _is_due(call: Call) -> bool:
    return isinstance(call, (Ask, Propose)) or getattr(call, "permission", None) is not None


def _reply(running: Conversation, call: Call) -> None:
    permission = getattr(call, "permission", None)
    if isinstance(call, Ask):
        running.answer(call)
    elif isinstance(call, Propose):
        running.settle(call)
    elif permission is not None:
        running.permit(call, permission)


def _stands(box: Sandbox, cue: str | None) -> bool:
    if cue is None:
        raise ValueError("a turn that somebody acts in while a call runs needs a cue")
    return (box.workspace / cue).exists()


def _hangs(model: ScriptedModel, number: int) -> bool:
    return any(
        one.answer.ending == "hanging" and one.thread is None and one.turn == number
        for one in model.exchanges()
    )


def _asks_all(model: ScriptedModel, number: int, turn: Turn) -> bool:
    """Return whether the model was asked for the last answer that a turn comes to."""
    asked = {one.response for one in model.exchanges() if one.kind == "turn"}
    return any((name or "").endswith(f"-{number + 1}-{len(turn.responses)}") for name in asked)
