"""A real CLI recorded, resumed and refused: what only the installed release can show."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from live.agents.base import find_driver
from live.agents.claude import ClaudeDriver
from live.agents.claude.surroundings import lay_hooks
from live.hooked import record_hooked
from live.lint import alive, provenance
from live.model import script
from live.recorder import record
from live.releases import install
from live.resume import ANSWER, resume
from live.running import perform

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
CORPUS = Path(__file__).resolve().parents[2] / "corpus"
PROMPT = "What was the token, again?"


def test_a_scenario_recorded_twice_is_the_same_bytes_and_clean(tmp_path: Path) -> None:
    case = record("claude", "2.1.332", "plain-exchange", out=tmp_path, verify=True)
    assert case == tmp_path / "claude" / "2.1.332" / "plain-exchange"
    assert provenance(case) + alive(case) == []
    facts = json.loads((case / "case.json").read_text())
    assert (facts["resumed"], facts["forgets"], facts["unrecorded"]) == (True, [], [])
    assert sorted(path.name for path in tmp_path.rglob("*") if path.name[0] == ".") == [".claude"]


def test_a_recording_is_what_the_corpus_holds(tmp_path: Path) -> None:
    case = record("claude", "2.1.332", "command-ok", out=tmp_path)
    committed = CORPUS / "claude" / "2.1.332" / "command-ok"
    ours = {p.relative_to(case): p.read_bytes() for p in case.rglob("*") if p.is_file()}
    theirs = {p.relative_to(committed): p.read_bytes() for p in committed.rglob("*") if p.is_file()}
    theirs = {path: content for path, content in theirs.items() if path.parts[0] != "hooked"}
    # Where it was recorded is part of a case; what our reader makes of it is no recording.
    del ours[Path("case.json")], theirs[Path("case.json")]
    theirs.pop(Path("expected.json"), None)
    assert ours == theirs


def test_a_run_with_hooks_is_what_the_corpus_holds(tmp_path: Path) -> None:
    committed = CORPUS / "claude" / "2.1.332" / "parallel-calls"
    shutil.copytree(committed, tmp_path / "claude" / "2.1.332" / "parallel-calls")
    case = record_hooked("claude", "2.1.332", "parallel-calls", out=tmp_path)
    ours = {p.relative_to(case): p.read_bytes() for p in case.rglob("*") if p.is_file()}
    theirs = {p.relative_to(committed): p.read_bytes() for p in committed.rglob("*") if p.is_file()}
    # By which tables it was made is part of a case.
    del ours[Path("case.json")], theirs[Path("case.json")]
    assert ours == theirs


def test_a_release_without_hooks_says_so_and_its_recording_stays(tmp_path: Path) -> None:
    committed = CORPUS / "claude" / "1.0.0" / "command-ok"
    shutil.copytree(committed, tmp_path / "claude" / "1.0.0" / "command-ok")
    case = record_hooked("claude", "1.0.0", "command-ok", out=tmp_path)
    facts = json.loads((case / "case.json").read_text())
    assert (facts["hooked"], "no hooks" in facts["unhooked"]) == (None, True)
    assert not (case / "hooked").exists()
    assert provenance(case) + alive(case) == []


@pytest.mark.parametrize(("version", "runs"), [("2.1.50", False), ("2.1.332", True)])
def test_an_event_that_a_release_does_not_know_may_silence_all_others(
    version: str, runs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def known_and_not(driver: ClaudeDriver, home: Path, workspace: str, command: str) -> list[str]:
        lay_hooks(home, ["Stop", "NoSuchEvent"], command)
        return ["Stop", "NoSuchEvent"]

    monkeypatch.setattr(ClaudeDriver, "register_hooks", known_and_not)
    driver = find_driver("claude", version, hooked=True)
    release = install("claude", driver.package, version)
    run = perform(script.load("plain-exchange"), driver, release, tmp_path)
    assert [row["event"] for row in run.told] == (["Stop"] if runs else [])


def test_a_session_is_resumed_among_several_and_none_of_them_changes(tmp_path: Path) -> None:
    for name in ("command-ok", "reasoning"):
        home = CORPUS / "claude" / "2.1.332" / name / "home"
        shutil.copytree(home, tmp_path, dirs_exist_ok=True)
    (session,) = tmp_path.glob(".claude/projects/*/*.jsonl")
    other = session.with_name("11111111-0000-4000-8000-000000000001.jsonl")
    (told,) = (CORPUS / "claude" / "2.1.332" / "two-turns" / "home").rglob("*.jsonl")
    renamed = told.read_bytes().replace(session.stem.encode(), other.stem.encode())
    other.write_bytes(renamed)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    resumed = resume("claude", "2.1.332", tmp_path, other.stem, PROMPT)
    assert resumed.returncode == 0, resumed
    assert ANSWER in resumed.stdout
    assert resumed.asked is not None
    said = [entry.text for entry in resumed.asked.history if entry.role == "assistant"]
    assert "The second bed is thyme, token THYME-1102." in said
    assert resumed.asked.violations == ()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_session_that_is_not_there_is_not_resumed_and_the_cli_says_so(tmp_path: Path) -> None:
    missing = "22222222-0000-4000-8000-000000000002"
    resumed = resume("claude", "2.1.332", tmp_path, missing, PROMPT)
    assert resumed.asked is None
    assert resumed.returncode != 0
    assert missing in resumed.stderr + resumed.stdout
