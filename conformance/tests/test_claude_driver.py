"""Claude Code's releases are started, asked and understood each in its own way."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from live.agents.base import CannotDo
from live.agents.claude import ClaudeDriver
from live.agents.claude.traits import traits
from live.model import script
from live.model.play import Play, PlayResponse, PlayTurn, Thread
from live.model.script import Call, Command, Failure, Mcp, Todo, TodoItem

SESSION = "5eed0a11-4c0d-4b1e-9a57-0000c0ffee01"
FAILS = Command(id="c", run="x", stdout="out\n", stderr="err\n", exit_code=3)
SILENT = Command(id="c", run="x", exit_code=1)


def _arguments(version: str, resume: str | None = None) -> list[str]:
    return list(ClaudeDriver(version).arguments("Go.", resume=resume, session_id=SESSION))


def _expected(version: str, call: Call) -> Any:
    return ClaudeDriver(version).translate(call, "/srv/project").expects[0]


def _line(version: str, todo: Todo) -> Any:
    call = ClaudeDriver(version).translate(todo, "/srv/project").call
    assert call is not None
    return call.arguments["todos"][0]


def test_an_old_release_is_told_which_tools_it_may_use_and_chooses_its_session() -> None:
    old = _arguments("1.0.0")
    assert SESSION not in old
    assert "--dangerously-skip-permissions" not in old
    assert "Bash" in old[old.index("--allowedTools") + 1].split(",")
    new = _arguments("1.0.60")
    assert new[new.index("--session-id") + 1] == SESSION
    assert "--dangerously-skip-permissions" in new


@pytest.mark.parametrize("version", ["0.2.126", "1.0.60", "2.1.332"])
def test_every_release_resumes_by_the_sessions_id(version: str) -> None:
    resumed = _arguments(version, SESSION)
    assert resumed[resumed.index("--resume") + 1] == SESSION
    assert resumed[-2:] == ["--", "Go."]


def test_a_release_without_the_argument_gets_its_model_by_a_variable() -> None:
    assert "--model" not in _arguments("0.2.126")
    assert ClaudeDriver("0.2.126").environment("/srv/home", 1)["ANTHROPIC_MODEL"]
    assert "ANTHROPIC_MODEL" not in ClaudeDriver("1.0.0").environment("/srv/home", 1)


@pytest.mark.parametrize(
    ("version", "shown", "silent"),
    [
        ("1.0.0", "err\n\nout\n", "Error"),
        ("2.0.0", "err\n\nout\n", "Error"),
        ("2.0.77", "err\n\nout\n", ""),
        ("2.1.50", "out\nerr\n\nout\nerr\n", ""),
        ("2.1.112", "out\nerr\n", ""),
    ],
)
def test_a_failing_command_is_shown_as_its_release_shows_it(
    version: str, shown: str, silent: str
) -> None:
    assert _expected(version, FAILS).fields["output"] == shown
    assert _expected(version, SILENT).fields["output"] == silent


def test_releases_until_2_0_0_do_not_record_with_which_code_a_command_failed() -> None:
    assert "exit_code" in _expected("2.0.0", FAILS).unrecorded
    assert "exit_code" not in _expected("2.0.77", FAILS).unrecorded


def test_an_mcp_tools_words_are_lost_where_the_release_looks_elsewhere_for_them() -> None:
    call = Mcp(id="m", tool="boom", arguments={}, error="frozen")
    assert "frozen" not in _expected("1.0.0", call).fields["error"]
    assert _expected("1.0.60", call).fields["error"] == "frozen"


def test_a_line_of_the_checklist_has_what_its_release_asks_for() -> None:
    todo = Todo(id="t", items=(TodoItem(text="dig", status="pending"),))
    old, new = (_line(version, todo) for version in ("1.0.60", "2.0.0"))
    assert {"id", "priority"} <= set(old)
    assert new["activeForm"] == "dig"


def test_only_a_release_that_cannot_count_is_told_by_the_provider_not_to_try_again() -> None:
    failure = Failure(status=401, type="authentication_error", message="no")
    assert ClaudeDriver("0.2.126").refusal(failure).headers["x-should-retry"] == "false"
    assert "x-should-retry" not in ClaudeDriver("1.0.0").refusal(failure).headers


@pytest.mark.parametrize(("version", "paused"), [("2.1.50", True), ("2.1.112", False)])
def test_rows_get_times_of_their_own_where_the_newest_leads(version: str, paused: bool) -> None:
    turn = PlayTurn(prompt="Go.", responses=(PlayResponse(id="a", text="Gone."),))
    play = Play(wire="anthropic", model="m", threads=(Thread(name=None, turns=(turn,)),))
    (response,) = ClaudeDriver(version).pace(play).threads[0].turns[0].responses
    assert (response.pause > 0) is paused


def test_each_release_knows_the_hook_events_of_those_before_it_and_the_first_knows_none() -> None:
    versions = ("1.0.60", "1.0.128", "2.0.77", "2.1.50", "2.1.112", "2.1.197", "2.1.260", "2.1.332")
    known = [traits(version).hook_events for version in versions]
    assert [len(events) for events in known] == [7, 9, 12, 16, 25, 28, 31, 32]
    for older, newer in itertools.pairwise(known):
        assert newer[: len(older)] == older
    assert traits("2.0.0").hook_events == traits("1.0.128").hook_events
    assert traits("1.0.0").hook_events == ()


def test_hooks_are_registered_beside_what_a_scenario_needs(tmp_path: Path) -> None:
    driver = ClaudeDriver("2.1.332", hooked=True)
    driver.prepare(tmp_path, "/srv/project", 1, script.load("todo-list"))
    driver.register_hooks(tmp_path, "/srv/project", "take-down")
    settings = json.loads((tmp_path / ".claude" / "settings.json").read_text(encoding="utf-8"))
    assert settings["env"]
    (entry,) = settings["hooks"]["PostToolUse"]
    assert entry["hooks"] == [{"type": "command", "command": "take-down PostToolUse"}]
    assert set(settings["hooks"]) == set(traits("2.1.332").hook_events)


def test_a_release_without_hooks_cannot_have_them_registered(tmp_path: Path) -> None:
    with pytest.raises(CannotDo, match="no hooks"):
        ClaudeDriver("1.0.0", hooked=True).register_hooks(tmp_path, "/srv/project", "take-down")
