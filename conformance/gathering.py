"""Witnesses gathered from the real CLIs: every direction into every store's newest release."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from conformance.corpus import CorpusError, releases
from conformance.crossing import Stores
from conformance.matrix import Tick, recorded
from conformance.witnesses import (
    FORMAT,
    WITNESSES_DIRECTORY,
    Carried,
    Resumed,
    StoredWitnesses,
    gather,
    made_conversation,
    recorded_conversation,
    store_witnesses,
)
from live import resume as real

PROMPT = "Please go on from here, token GOON-0002."


def gather_all(
    corpus: Path, stores: Stores, tick: Tick, directory: Path = WITNESSES_DIRECTORY
) -> list[Path]:
    """Gather and store the witnesses of the newest recorded release of every CLI."""
    directions = [
        made_conversation(),
        *(
            recorded_conversation(one.agent, one.release, one.read, one.forgotten)
            for one in recorded(corpus, stores)
        ),
    ]
    return [
        gather_release(agent, _newest(corpus, agent), directions, stores, tick, directory)
        for agent in stores
    ]


def gather_release(
    agent: str,
    release: str,
    directions: list[Carried],
    stores: Stores,
    tick: Tick,
    directory: Path = WITNESSES_DIRECTORY,
) -> Path:
    """Gather and store what one release does with every direction into its store."""
    today = f"{datetime.now(UTC):%Y-%m-%dT00:00:00Z}"
    witnesses = StoredWitnesses(
        format=FORMAT,
        agent=agent,
        release=release,
        directions=tuple(
            gather(carried, stores[agent], release, resume, today, tick) for carried in directions
        ),
    )
    return store_witnesses(directory, witnesses)


def resume(agent: str, release: str, home: Path, session_id: str) -> Resumed:
    """Let the real CLI go on with a session, its requests judged as the provider would."""
    resumed = real.resume(agent, release, home, session_id, PROMPT, "enforce")
    asked = resumed.asked
    said = next(filter(None, (resumed.stderr.strip(), resumed.log_line, resumed.stdout)), "")
    if asked is None:
        return Resumed(f"nothing was asked of the model: {_tail(said)}", ())
    if asked.answer.status != 200:
        refusal = (asked.answer.error or {}).get("message", "")
        return Resumed(f"the provider refuses its request: {refusal}", asked.history)
    if resumed.returncode != 0:
        return Resumed(f"exit code {resumed.returncode}: {_tail(said)}", asked.history)
    return Resumed(None, asked.history)


def _newest(corpus: Path, agent: str) -> str:
    found = releases(corpus, agent)
    if not found:
        raise CorpusError(f"{corpus}: no release of {agent} is recorded")
    return found[-1]


def _tail(said: str) -> str:
    return " ".join(said.split())[-300:]
