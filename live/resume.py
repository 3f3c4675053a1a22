"""A session resumed by the real CLI: the witness that nobody on our side can bribe.

The home is copied, the CLI goes on with the session in it, and the scripted model tells what
it was then sent: the history as that CLI understood the files.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Literal

import msgspec

from live.agents.base import Driver, find_driver
from live.model.log import Exchange
from live.model.play import Judging, Play, PlayResponse, PlayTurn, Thread
from live.model.process import ScriptedModel
from live.releases import Release, install
from live.sandbox import Sandbox
from live.sanitise import restore

ANSWER = "Resumed and answered."
_SECONDS = 120.0


class Resumed(msgspec.Struct, frozen=True, kw_only=True):
    """How the run went and what the model was asked in it, requests on the side included."""

    returncode: int
    stdout: str
    stderr: str
    log_line: str | None
    exchanges: tuple[Exchange, ...]
    sealed: bool
    timed_out: bool = False

    @property
    def asked(self) -> Exchange | None:
        """The request that held the history and the prompt, or None if there was none."""
        turns = [exchange for exchange in self.exchanges if exchange.kind == "turn"]
        return turns[0] if turns else None


def resume(
    agent: str,
    version: str,
    home: Path,
    session_id: str,
    prompt: str,
    judging: Literal["record", "enforce"] = "enforce",
    dialect: str | None = None,
) -> Resumed:
    """Let a release go on with a session in a copy of ``home`` and answer its prompt once.

    ``home`` may be a user's home or a case's (databases as SQL); several sessions may be in
    it. Nothing in it changes.
    """
    driver = find_driver(agent, version, dialect)
    release = install(agent, driver.package, version)
    return resume_with(driver, release, home, session_id, prompt, judging)


def resume_with(
    driver: Driver,
    release: Release,
    home: Path,
    session_id: str,
    prompt: str,
    judging: Judging = "enforce",
    workspace: dict[str, str] | None = None,
    seconds: float = _SECONDS,
) -> Resumed:
    """Resume with a driver and a release already at hand."""
    turn = PlayTurn(prompt=prompt, responses=(PlayResponse(id="resumed", text=ANSWER),))
    play = Play(
        wire=driver.wire,
        model=driver.model,
        threads=(Thread(name=None, turns=(turn,)),),
        auxiliaries=tuple(driver.auxiliaries()),
        judging=judging,
    )
    with (
        tempfile.TemporaryDirectory(prefix="transcript-conformance-") as scratch,
        Sandbox(release.prefix, node_at_least=driver.node) as box,
    ):
        box.lay(workspace or {})
        restore(home, box.home)
        log = Path(scratch) / "model.log"
        with ScriptedModel(play, log, box.port, prefix=box.network) as model:
            driver.prepare(box.home, box.workspace_inside, model.port, None)
            ended = box.run(
                [
                    *driver.executable(release.prefix),
                    *driver.arguments(prompt, resume=session_id, session_id=session_id),
                ],
                driver.environment(box.home_inside, model.port),
                timeout=seconds,
            )
            exchanges = model.exchanges()
        return Resumed(
            returncode=ended.returncode,
            stdout=ended.stdout,
            stderr=ended.stderr,
            log_line=driver.newest_log_line(box.home),
            exchanges=tuple(exchanges),
            sealed=box.sealed,
            timed_out=ended.timed_out,
        )
