"""How hooks are registered with Codex and Copilot CLI, by release."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from live.agents.base import CannotDo, find_driver
from live.hooklog import LOG
from live.model import script
from live.releases import install
from live.running import perform
from live.sandbox import HOOK_COMMAND, WORKSPACE

# What Codex 0.130.0 and 0.171.0 say themselves (hooks/list of their servers) of a hook that runs
# "scenario-hook EVENT" for at most 60 seconds; of the second, that it gets 3.
_SAID = {
    "pre_tool_use": "sha256:081af7a5b03b3944bac9a41edd5ec7252b1d730b977266302dbb3e22ad8f1cd5",
    "session_end": "sha256:d1b928556d87f62ac9640a3b804dcc566069fccee70ad92832baf9e9d0590339",
}


def register(agent: str, version: str, home: Path) -> Sequence[str]:
    """Register every hook of a release under a home and return the events."""
    driver = find_driver(agent, version, hooked=True)
    driver.prepare(home, WORKSPACE, 1, None)
    return driver.register_hooks(home, WORKSPACE, HOOK_COMMAND)


def test_codex_trusts_hooks_by_the_digest_that_it_would_make(tmp_path: Path) -> None:
    events = register("codex", "0.171.0", tmp_path)
    config = tomllib.loads((tmp_path / ".codex" / "config.toml").read_text(encoding="utf-8"))
    state = config["hooks"]["state"]
    assert len(state) == len(events)
    for event, digest in _SAID.items():
        key = f"/srv/home/.codex/hooks.json:{event}:0:0"
        assert state[key] == {"trusted_hash": digest}


@pytest.mark.parametrize(("version", "count"), [("0.130.0", 8), ("0.145.0", 11), ("0.171.0", 14)])
def test_codex_is_told_of_the_events_that_the_release_lists(
    tmp_path: Path, version: str, count: int
) -> None:
    events = register("codex", version, tmp_path)
    hooks = json.loads((tmp_path / ".codex" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    assert list(hooks) == list(events)
    assert len(events) == count


@pytest.mark.parametrize("version", ["0.20.0", "0.110.0"])
def test_codex_before_its_hooks_says_why_there_are_none(tmp_path: Path, version: str) -> None:
    with pytest.raises(CannotDo, match=f"{version} has no hooks"):
        register("codex", version, tmp_path)


def test_the_newest_copilot_is_told_in_both_spellings_and_each_has_a_log(tmp_path: Path) -> None:
    events = register("copilot", "1.0.102", tmp_path)
    driver = find_driver("copilot", "1.0.102", hooked=True)
    logs = {event: driver.hook_log(event) for event in events}
    assert logs["preToolUse"] == LOG
    assert logs["PreToolUse"] == "hooks.pascal.jsonl"
    assert {event for event, log in logs.items() if log != LOG} == {
        event for event in events if event[0].isupper()
    }


def test_the_oldest_copilot_finds_its_hooks_in_the_project() -> None:
    scenario = script.load("command-ok")
    hooked = find_driver("copilot", "0.0.406", hooked=True).workspace_files(scenario)
    assert ".github/hooks/hooks.json" in hooked
    assert ".github/hooks/hooks.json" not in find_driver("copilot", "0.0.406").workspace_files(
        scenario
    )


_RUN = {
    "0.171.0": (
        *("SessionStart", "UserPromptSubmit", "PreModelRequest", "PreToolUse", "PostToolUse"),
        *("PostModelRequest", "PreModelRequest", "PostModelRequest", "Stop", "SessionEnd"),
    ),
    "0.130.0": ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"),
}


@pytest.mark.live
@pytest.mark.parametrize("version", list(_RUN))
def test_a_real_codex_runs_what_was_registered(tmp_path: Path, version: str) -> None:
    driver = find_driver("codex", version, hooked=True)
    release = install("codex", driver.package, version)
    run = perform(script.load("command-ok"), driver, release, tmp_path)
    assert tuple(row["event"] for row in run.told) == _RUN[version]
