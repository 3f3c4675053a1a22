"""Real CLIs at a terminal: a session that our writers made is found in each one's own list."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from conformance.crossing import all_stores
from live import asciicast, sandbox
from live.agents.base import find_driver
from live.conversation import Silent
from live.model.script import Response, Scenario, Turn
from live.releases import install
from live.running import perform
from live.talking import CliFailed, Earlier
from transcripts.ids import derive
from transcripts.model import AgentMessage, Text, Transcript, UserMessage

pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sandbox.sealing() is None, reason="no namespaces here"),
]
NEWEST = [("claude", "2.1.332"), ("codex", "0.171.0"), ("copilot", "1.0.102")]
OLDER = [
    *(("claude", version) for version in ("2.1.112", "2.1.260")),
    *(("codex", version) for version in ("0.45.0", "0.110.0", "0.150.0", "0.160.0")),
    *(("copilot", version) for version in ("1.0.20", "1.0.60", "1.0.80")),
]
ASKED = "Where did the ferryman leave his lantern last winter?"
FOUND = "Below the stair QUILLWORT-27."
OTHER = "Which tree stands by the gate?"
STARTED = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def _write(agent: str, home: Path, prompt: str, answer: str) -> str:
    """Write a session of one exchange into a home, by the reference writer; return its id."""
    asked = UserMessage(
        id=derive("typed", prompt),
        at=STARTED,
        at_source="record",
        author="human",
        content=(Text(text=prompt),),
    )
    answered = AgentMessage(
        id=derive("typed", answer),
        at=STARTED + timedelta(seconds=2),
        at_source="record",
        author="model",
        follows=asked.id,
        content=(Text(text=answer),),
    )
    transcript = Transcript(
        agent="made",
        session_id=derive("typed", "made", prompt),
        cwd=sandbox.WORKSPACE,
        created_at=STARTED,
        updated_at=STARTED + timedelta(seconds=2),
        messages=(asked, answered),
    )
    session_id = derive("typed", agent, prompt)
    return all_stores()[agent](home).write(transcript, session_id=session_id).session_id


def _opened(agent: str, version: str, place: Path, words: str | None) -> str:
    """Go on with one of two sessions at a terminal; return what the model was shown."""
    home, keep = place / "home", place / "kept"
    home.mkdir()
    keep.mkdir()
    _write(agent, home, OTHER, "A mulberry.")
    session_id = _write(agent, home, ASKED, FOUND)
    driver = find_driver(agent, version)
    turn = Turn(
        prompt="And name what stands beside it.", responses=(Response(text="A bench of slate."),)
    )
    run = perform(
        Scenario(name="typed", revision=1, title="Typed", terminal=True, turns=(turn,)),
        driver,
        install(agent, driver.package, version),
        keep,
        earlier=Earlier(home=home, session_id=session_id, words=words),
    )
    [asked] = [one for one in run.exchanges if one.kind == "turn" and one.response]
    return str(asked.history)


@pytest.mark.parametrize(("agent", "version"), NEWEST)
def test_a_written_session_is_found_in_the_list_of_sessions_and_gone_on_with(
    agent: str, version: str, tmp_path: Path
) -> None:
    shown = _opened(agent, version, tmp_path, ASKED)
    assert FOUND in shown
    assert OTHER not in shown


@pytest.mark.parametrize(("agent", "version"), NEWEST)
def test_a_written_session_is_opened_at_a_terminal_by_its_id(
    agent: str, version: str, tmp_path: Path
) -> None:
    shown = _opened(agent, version, tmp_path, None)
    assert FOUND in shown
    assert OTHER not in shown


@pytest.mark.deep
@pytest.mark.parametrize(("agent", "version"), OLDER)
def test_older_releases_list_a_written_session_too(
    agent: str, version: str, tmp_path: Path
) -> None:
    assert FOUND in _opened(agent, version, tmp_path, ASKED)


@pytest.mark.extended
def test_a_session_that_no_list_shows_leaves_the_list_and_how_it_came_to_be(
    tmp_path: Path,
) -> None:
    with pytest.raises(CliFailed, match="did not list a session that begins with") as failed:
        _opened("codex", "0.171.0", tmp_path, "Who rang the bell in the fog?")
    silence = failed.value.__cause__
    assert isinstance(silence, Silent)
    cast, screen = asciicast.keep(silence, tmp_path / "failed", "list")
    assert ASKED in screen.read_text(encoding="utf-8")
    assert ASKED in asciicast.last_screen(cast.read_text(encoding="utf-8"))
