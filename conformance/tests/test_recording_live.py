"""A real CLI recorded, resumed and refused: what only the installed release can show."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from live.lint import alive, provenance
from live.recorder import record
from live.resume import ANSWER, resume

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
    # Where it was recorded is part of a case; what our reader makes of it is no recording.
    del ours[Path("case.json")], theirs[Path("case.json")]
    theirs.pop(Path("expected.json"), None)
    assert ours == theirs


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
