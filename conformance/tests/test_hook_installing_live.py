"""The real CLIs run the installed recorder, go on as without it, and get their settings back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.corpus import find_corpus, load_case
from conformance.truth import differences
from live.agents.base import Driver, driver_class
from live.model import script
from live.model.script import Scenario, Turn
from live.releases import install
from live.running import Run, perform
from live.sandbox import HOME, WORKSPACE, sealing
from transcripts.reading import find_session

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

# The places of the sandbox, in a namespace of our own: what is registered holds absolute paths.
_IN_PLACE = """
set -e
home=$1; project=$2; shift 2
mount -t tmpfs tmpfs /srv
mkdir /srv/home /srv/project
mount --bind "$home" /srv/home
mount --bind "$project" /srv/project
cd /srv/project
exec "$@"
"""


def hooks(home: Path, project: Path, *arguments: str, path: str = "") -> dict[str, Any]:
    """Run ``transcripts hooks`` where the CLI will see the home and the project."""
    argv = [
        *(sys.executable, "-c", "from transcripts.cli import main; main()"),
        *("hooks", *arguments, "--format", "json"),
    ]
    sealed = sealing()
    if sealed is not None:
        user = ["--map-root-user"] if sealed == "user" else []
        places = [str(home), str(project)]
        argv = ["unshare", *user, "--mount", "--", "sh", "-c", _IN_PLACE, "sh", *places, *argv]
    environment = {
        "HOME": HOME if sealed else str(home),
        "PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    run = subprocess.run(argv, env=environment, capture_output=True, check=False, timeout=60)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


class Recording:
    """One run of a scenario with the recorder installed between its settings and its start."""

    def __init__(self, agent: str, version: str, scenario: str, scratch: Path) -> None:
        outer = self
        base: Any = driver_class(agent)

        class Prepared(base):
            def prepare(
                self, home: Path, workspace: str, port: int, scenario: Scenario | None
            ) -> None:
                super().prepare(home, workspace, port, scenario)
                outer.install(home, home.parent / "project")

            def turn_arguments(
                self, turn: Turn, scenario: Scenario, *, resume: str | None, session_id: str
            ) -> Sequence[str]:
                given = super().turn_arguments(turn, scenario, resume=resume, session_id=session_id)
                return outer.arguments(given)

        self.agent, self.version = agent, version
        self.before: Mapping[str, bytes] = {}
        self.installed: dict[str, Any] = {}
        self.claimed = version
        self.scope: tuple[str, ...] = ()
        self.trusted = True
        driver: Driver = Prepared(version)
        self.release = install(agent, driver.package, version)
        self.node = driver.node
        self.start = lambda: perform(script.load(scenario), driver, self.release, scratch)
        self.scratch = scratch

    def run(self) -> Run:
        return self.start()

    def install(self, home: Path, project: Path) -> None:
        self.before = files(home)
        asked = ("install", self.agent, "--release", self.claimed, *self.scope)
        self.installed = hooks(home, project, *asked)

    def arguments(self, given: Sequence[str]) -> Sequence[str]:
        if self.agent == "codex" and self.trusted:
            return [given[0], "--dangerously-bypass-hook-trust", *given[1:]]
        return given

    def rows(self, run: Run) -> list[dict[str, Any]]:
        log = self.inside(run, self.installed["log"])
        return [json.loads(line) for line in log.read_bytes().splitlines()] if log.exists() else []

    def inside(self, run: Run, path: str) -> Path:
        return run.home / Path(path).relative_to(HOME if run.sealed else run.home)

    def uninstalled(self, run: Run) -> None:
        """Undo it in what the run left, and see that every setting is what it was before."""
        config = self.inside(run, self.installed["config"])
        name = str(config.relative_to(run.home))
        project = self.scratch / "project"
        project.mkdir()
        gone = hooks(run.home, project, "uninstall", self.agent, *self.scope)
        assert gone["restored"] == "bytes"
        assert (config.read_bytes() if config.exists() else None) == self.before.get(name)
        left = [name for name in files(run.home) if "transcript-conformance" in name]
        assert left == [str(self.inside(run, self.installed["log"]).relative_to(run.home))]


def files(home: Path) -> dict[str, bytes]:
    return {str(p.relative_to(home)): p.read_bytes() for p in home.rglob("*") if p.is_file()}


EVENTS = {
    "claude": ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"),
    "codex": ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"),
    "copilot": ("sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "agentStop"),
}


@pytest.mark.parametrize(
    ("agent", "version", "scenario"),
    [
        ("claude", "2.1.332", "command-ok"),
        # There an event that the release doesn't know silently disables all others.
        ("claude", "2.1.50", "command-ok"),
        ("claude", "2.0.77", "command-ok"),
        ("claude", "1.0.128", "command-ok"),
        ("codex", "0.171.0", "command-ok"),
        ("codex", "0.145.0", "command-ok"),
        ("copilot", "1.0.102", "command-ok"),
        ("copilot", "0.0.423", "command-ok"),
        ("claude", "2.1.332", "parallel-calls"),
        ("copilot", "1.0.102", "parallel-calls"),
    ],
)
def test_events_are_recorded_and_the_session_is_the_same(
    tmp_path: Path, agent: str, version: str, scenario: str
) -> None:
    recording = Recording(agent, version, scenario, tmp_path)
    run = recording.run()
    rows = recording.rows(run)
    assert [row for row in rows if "fault" in row] == []
    counted = Counter(row["event"] for row in rows)
    assert set(counted) <= set(recording.installed["events"])
    assert set(EVENTS[agent]) <= set(counted), counted
    for row in rows:
        assert row["payload"].get("hook_event_name", row["event"]).lower() == row["event"].lower()
        assert row["payload"].get("cwd", run.workspace) == run.workspace

    corpus = find_corpus()
    case = load_case(corpus / agent / version / scenario, corpus)
    store, path = find_session(run.session_id, agent, run.home)
    assert differences(case, store.read_path(path)) == []
    recording.uninstalled(run)


def test_an_event_too_many_would_switch_all_others_off(tmp_path: Path) -> None:
    recording = Recording("claude", "2.1.50", "command-ok", tmp_path)
    recording.claimed = "2.1.112"  # and so with events that are not known yet
    run = recording.run()
    assert "StopFailure" in recording.installed["events"]
    assert recording.rows(run) == []


@pytest.mark.parametrize(
    ("agent", "version"), [("claude", "2.1.332"), ("copilot", "0.0.406"), ("copilot", "0.0.384")]
)
def test_hooks_of_a_project_are_run(tmp_path: Path, agent: str, version: str) -> None:
    recording = Recording(agent, version, "command-ok", tmp_path)
    recording.scope = ("--scope", "project")
    counted = Counter(row["event"] for row in recording.rows(recording.run()))
    assert set(EVENTS[agent][:4]) <= set(counted), counted
    config = Path(recording.installed["config"])
    assert config.is_relative_to(WORKSPACE) or sealing() is None


def test_codex_skips_what_is_not_trusted_and_we_say_so(tmp_path: Path) -> None:
    recording = Recording("codex", "0.171.0", "command-ok", tmp_path)
    recording.trusted = False
    run = recording.run()
    assert recording.rows(run) == []
    assert "trust" in recording.installed["trust"]


@pytest.mark.parametrize(
    ("agent", "version"),
    [("claude", "2.1.332"), ("claude", "1.0.128"), ("codex", "0.171.0"), ("copilot", "1.0.102")],
)
def test_the_program_on_the_path_says_its_release(tmp_path: Path, agent: str, version: str) -> None:
    driver = driver_class(agent)(version)
    release = install(agent, driver.package, version)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / agent
    words = " ".join(f"'{word}'" for word in driver.executable(release.prefix))
    program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    program.chmod(0o755)
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    done = hooks(
        tmp_path / "home", tmp_path / "project", "install", agent, path=str(tmp_path / "bin")
    )
    assert (done["release"], done["release_from"]) == (version, "program")
    assert WORKSPACE not in done["config"]
