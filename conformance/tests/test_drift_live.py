"""``conformance drift`` of releases that nobody recorded: installed, recorded, compared, asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli import conformance
from conformance.commands.running import CouldNotRun
from conformance.corpus import cases, find_corpus, releases
from conformance.coverage import demand

pytestmark = pytest.mark.live

UNRECORDED, BEFORE = "0.165.0", "0.160.0"
BEFORE_ALL = "0.1.2504172351"
"""Another program under the same name: it asks for a key, and for no server of ours."""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.timeout(300)
def test_a_release_that_is_not_driven_is_told_after_the_first_scenario(temporary: Path) -> None:
    result = CliRunner().invoke(conformance, ["drift", f"codex@{BEFORE_ALL}"])
    assert isinstance(result.exception, CouldNotRun)
    why = str(result.exception)
    assert why.startswith(f"codex {BEFORE_ALL} can't be driven here: plain-exchange: ")
    assert "Missing OpenAI API key" in why
    assert "\n" not in why
    recorded = [line for line in result.stderr.splitlines() if line.startswith("codex 0.1.")]
    assert recorded == [f"codex {BEFORE_ALL}: plain-exchange"]
    assert list(temporary.iterdir()) == []


@pytest.mark.extended
@pytest.mark.timeout(1800)
def test_a_release_that_is_not_recorded_is_answered_whole(temporary: Path) -> None:
    assert UNRECORDED not in releases(find_corpus(), "codex")
    words = ["drift", f"codex@{UNRECORDED}", "--policy", "roundtrip", "--format", "json"]
    result = CliRunner().invoke(conformance, words)
    found = json.loads(result.stdout)
    assert (found["from"], found["to"]) == (BEFORE, UNRECORDED)
    # What could not be recorded, read or resumed would stand here.
    assert found["broken"] == []
    assert found["reader_ok"] is True
    assert found["writer_ok"] is True
    assert isinstance(found["vendor"], list)
    there = {case.facts.scenario for case in cases(find_corpus(), "codex", BEFORE)}
    assert len(there) >= 10
    assert set(found["compared"]) == there & set(demand().core)
    grave = [one for one in found["findings"] if "error" in (one["reader"], one["writer"])]
    assert result.exit_code == (1 if grave else 0)
    assert list(temporary.iterdir()) == []
