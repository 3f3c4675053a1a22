"""A CLI that is started again, for something else, where sessions lie already."""

from __future__ import annotations

from pathlib import Path

from live.agents.base import find_driver
from live.model.script import Response, Scenario, Turn
from live.releases import install
from live.running import perform
from live.talking import Earlier
from transcripts.ids import derive


def started(agent: str, release: str, home: Path, place: Path, times: int) -> Path:
    """Start a CLI some times, for a conversation of its own; return the home as it left it.

    What a CLI does to other sessions when it starts (to index, migrate, clear away) it does now.
    """
    driver = find_driver(agent, release)
    turns = tuple(
        Turn(
            prompt=f"Drawer number {number} of the other desk: what is in it?",
            responses=(Response(text=f"In drawer number {number} there is nothing."),),
        )
        for number in range(1, times + 1)
    )
    run = perform(
        Scenario(name="elsewhere", revision=1, title="Another conversation", turns=turns),
        driver,
        install(agent, driver.package, release),
        place,
        earlier=Earlier(home=home, session_id=""),
        asked_id=derive("live-check", "elsewhere", agent),
    )
    return run.home
