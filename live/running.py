"""One real CLI taken through a scenario against the scripted model.

Whatever does not go as scripted ends the run with an error that says what the CLI said
itself: a recording of a run that went wrong would be believed.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from live import asciicast, hooklog
from live.agents.base import Driver
from live.composing import Step, play, steps
from live.model.log import Answer, Exchange
from live.model.play import Judging, Play
from live.model.process import ScriptedModel
from live.model.script import Scenario, Turn
from live.pictures import png
from live.releases import Release
from live.sandbox import HOOK_COMMAND, Ended, Sandbox
from live.sanitise import restore
from live.talking import CliFailed, Earlier, last_words, talk, unscripted

SESSION_ID = "5eed0a11-4c0d-4b1e-9a57-0000c0ffee01"
"""Asked for where a CLI lets one choose, so that a run can be told from any other."""

_SETTLE_SECONDS = 1.5
"""What a CLI gets to write down what it received before the stream stood still."""

_RUN_SECONDS = 180.0


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What a run left: the CLI's home, what the model was asked, and how it was set up.

    ``workspace`` is the workspace as the CLI knew it, ``workspace_files`` what was left of it.
    ``said`` is what each process of the CLI wrote to its standard output; ``registered`` are the
    events for which hooks were registered, ``told`` the rows of their log as they arrived.
    """

    home: Path
    session_id: str
    workspace: str
    workspace_files: Path
    play: Play
    steps: tuple[Step, ...]
    exchanges: tuple[Exchange, ...]
    said: tuple[str, ...]
    sealed: bool
    started: float
    ended: float
    node: Path
    registered: tuple[str, ...] = ()
    told: tuple[dict[str, Any], ...] = ()


def perform(
    scenario: Scenario,
    driver: Driver,
    release: Release,
    keep: Path,
    *,
    earlier: Earlier | None = None,
    workspace: Mapping[str, bytes] | None = None,
    judging: Judging = "record",
    asked_id: str = SESSION_ID,
    node_at_least: int | None = None,
) -> Run:
    """Run every turn of a scenario; leave the CLI's home, the workspace and a recording of each
    terminal under ``keep``.

    With a ``hooked`` driver every hook is registered that the release knows. ``earlier`` is the
    session that the first turn resumes (else it begins one, with ``asked_id`` where the CLI lets
    one choose); ``workspace`` are files that lie ready beside the scenario's own. ``node_at_least``
    is for a release that needs another Node than its driver's.
    """
    started = time.time()
    with Sandbox(release.prefix, node_at_least=node_at_least or driver.node) as box:
        pictures = {name: png(picture) for name, picture in scenario.pictures.items()}
        files = {**scenario.workspace, **pictures, **driver.workspace_files(scenario)}
        box.lay({**files, **(workspace or {})})
        if earlier is not None:
            restore(earlier.home, box.home)
        box.provide(scenario.programs)
        played = steps(scenario, driver, box.workspace_inside)
        scripted = play(played, driver, scenario, judging)
        log = keep / "model.log"
        with ScriptedModel(scripted, log, box.port, prefix=box.network) as model:
            driver.prepare(box.home, box.workspace_inside, model.port, scenario)
            registered = (
                driver.register_hooks(box.home, box.workspace_inside, HOOK_COMMAND)
                if driver.hooked
                else ()
            )
            taken = talk if driver.talks(scenario) else _turn_by_turn
            session_id, said = taken(scenario, driver, release, box, model, asked_id, earlier)
            exchanges = model.exchanges()
        shutil.copytree(box.home, keep / "home", symlinks=True)
        shutil.copytree(box.workspace, keep / "workspace", symlinks=True)
        for number, recorded in enumerate(box.recordings, 1):
            asciicast.write(recorded(), keep, f"terminal-{number}")
        told = hooklog.read(box.hook_log)
    return Run(
        home=keep / "home",
        session_id=session_id,
        workspace=box.workspace_inside,
        workspace_files=keep / "workspace",
        play=scripted,
        steps=played,
        exchanges=tuple(exchanges),
        said=tuple(said),
        sealed=box.sealed,
        started=started,
        ended=time.time(),
        node=box.node,
        registered=tuple(registered),
        told=tuple(told),
    )


def _turn_by_turn(
    scenario: Scenario,
    driver: Driver,
    release: Release,
    box: Sandbox,
    model: ScriptedModel,
    asked_id: str,
    earlier: Earlier | None,
) -> tuple[str, list[str]]:
    """Run a process a turn; return the last session's id and what each process said."""
    session_id = "" if earlier is None else earlier.session_id
    said: list[str] = []
    for number, turn in enumerate(scenario.turns):
        argv = [
            *driver.executable(release.prefix),
            *driver.turn_arguments(turn, scenario, resume=session_id or None, session_id=asked_id),
        ]
        ended = box.run(
            argv,
            driver.environment(box.home_inside, model.port, scenario),
            timeout=_RUN_SECONDS,
            stop_when=_over(turn, driver, box, model),
        )
        _check(turn, number, ended, model.exchanges(), driver, box.home)
        said.append(ended.stdout)
        if turn.forks or driver.resumes_anew or not session_id:
            session_id = driver.session_id(box.home)
    return session_id, said


def _over(
    turn: Turn, driver: Driver, box: Sandbox, model: ScriptedModel
) -> Callable[[], bool] | None:
    """Return how to tell that a process has to be ended; None for one that ends by itself."""
    if turn.ends == "killed" and turn.cue is not None:
        cue = box.workspace / turn.cue
        return _since(cue.exists)
    if turn.ends == "killed":
        return _since(_answered(model, lambda answer: answer.ending == "hanging"))
    if turn.ends == "failed" and driver.hangs_after_failure:
        return _since(_answered(model, lambda answer: answer.status >= 400))
    return None


def _answered(model: ScriptedModel, told: Callable[[Answer], bool]) -> Callable[[], bool]:
    return lambda: any(told(one.answer) for one in model.exchanges())


def _since(holds: Callable[[], bool]) -> Callable[[], bool]:
    """Return a test that holds once another has held for a while."""
    seen: list[float] = []

    def still() -> bool:
        if not seen and holds():
            seen.append(time.monotonic())
        return bool(seen) and time.monotonic() - seen[0] > _SETTLE_SECONDS

    return still


def _check(
    turn: Turn,
    number: int,
    ended: Ended,
    exchanges: Sequence[Exchange],
    driver: Driver,
    home: Path,
) -> None:
    """See that a turn ended as scripted; :class:`CliFailed` says how it did not."""
    unscripted(number, exchanges)
    wrong = _wrong(turn, ended, driver.exit_codes(turn))
    if wrong is not None:
        said = last_words(ended.stderr, driver.newest_log_line(home), ended.stdout)
        raise CliFailed(f"turn {number + 1}: {wrong}; {said}")


def _wrong(turn: Turn, ended: Ended, codes: Sequence[int]) -> str | None:
    if ended.timed_out:
        return f"still running after {ended.seconds:.0f} s"
    if turn.ends == "killed":
        return None if ended.stopped else f"exit code {ended.returncode} before it could be killed"
    if turn.ends == "failed":
        return None
    if ended.returncode not in codes:
        return f"exit code {ended.returncode}"
    if not ended.stdout.strip():
        return f"exit code {ended.returncode} and not a word of output"
    return None
