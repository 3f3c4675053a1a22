"""``conformance review``: what waits, how it is told, and that nothing else writes it."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from conformance.cli import conformance
from conformance.corpus import SCHEMAS_VARIABLE, VARIABLE, find_corpus, find_schemas
from conformance.generated import ROOT
from conformance.review.differences import MOST, reading_differences, schema_differences
from conformance.review.recordings import pending_recordings
from conformance.shapes import schema_of

CASE = "codex/0.145.0/plain-exchange"
OLDER = "codex/0.140.0/plain-exchange"


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a corpus of one case of which every snapshot is as it should be."""
    corpus = tmp_path / "corpus"
    shutil.copytree(find_corpus() / CASE, corpus / CASE)
    (tmp_path / "schemas").mkdir()
    monkeypatch.setenv(VARIABLE, str(corpus))
    monkeypatch.setenv(SCHEMAS_VARIABLE, str(tmp_path / "schemas"))
    monkeypatch.delenv("CI", raising=False)
    assert run("--accept", "*").exit_code == 0
    return corpus


def run(*arguments: str) -> Result:
    return CliRunner().invoke(conformance, ["review", *arguments])


def waiting(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--format", "json").stdout)


def test_nothing_waits_where_everything_is_as_it_is_made(corpus: Path) -> None:
    assert corpus.is_dir()
    result = run("--check")
    assert (result.exit_code, result.stdout) == (0, "")
    document = waiting("--check")
    assert document == {"pending": [], "accepted": [], "rejected": []}
    assert list(Draft202012Validator(schema_of("review")).iter_errors(document)) == []


def test_what_is_made_is_what_the_repository_keeps(corpus: Path) -> None:
    kept = (find_corpus() / CASE / "expected.json").read_bytes()
    assert (corpus / CASE / "expected.json").read_bytes() == kept


def test_a_changed_reading_is_told_by_its_messages_and_written_only_when_accepted(
    corpus: Path,
) -> None:
    path = corpus / CASE / "expected.json"
    right = path.read_text("utf-8")
    document = json.loads(right)
    gone = document["messages"].pop()
    document["messages"][0]["author"] = "nobody"
    path.write_text(json.dumps(document), "utf-8")
    wrong = path.read_text("utf-8")
    (one,) = waiting("--check")["pending"]
    assert (one["name"], one["state"]) == (f"corpus/{CASE}/expected.json", "changed")
    first = document["messages"][0]
    assert one["told"] == [
        f"~ {first['kind']} {first['id'][:8]}: author",
        f"+ {gone['kind']} {gone['id'][:8]}",
    ]
    assert run().exit_code == 1
    assert path.read_text("utf-8") == wrong
    assert run("--accept", "schemas/*").exit_code == 1
    assert path.read_text("utf-8") == wrong
    assert run("--accept", "*/expected.json").exit_code == 0
    assert path.read_text("utf-8") == right


def test_a_snapshot_of_nothing_recorded_fails_and_is_removed_when_accepted(corpus: Path) -> None:
    left = corpus.parent / "schemas" / "codex" / "0.1.0" / "session_meta.json"
    left.parent.mkdir(parents=True)
    shutil.copy(find_schemas() / "codex/0.145.0/session_meta.json", left)
    (one,) = waiting("--check")["pending"]
    assert (one["name"], one["state"]) == ("schemas/codex/0.1.0/session_meta.json", "unreferenced")
    assert run("--check").exit_code == 1
    assert run("--accept", one["name"]).exit_code == 0
    assert not left.parent.exists()


def test_nothing_is_accepted_where_ci_is_set(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = corpus / CASE / "expected.json"
    path.write_text("{}", "utf-8")
    monkeypatch.setenv("CI", "true")
    result = run("--accept", "*")
    assert result.exit_code == 2
    assert "CI is set" in result.output
    assert path.read_text("utf-8") == "{}"


def test_a_changed_schema_is_told_by_its_places() -> None:
    before = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}
    after = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "null"}}}
    assert schema_differences(json.dumps(before), json.dumps(after)) == [
        "~ /a: string (always) → string",
        "+ /b: null",
    ]
    counted = json.dumps({**before, "x-seen": 3})
    assert schema_differences(json.dumps(before), counted) == ["nothing but counts and scenarios"]


def test_long_differences_are_shortened() -> None:
    before = {"messages": []}
    after = {"messages": [{"id": f"{n:08}", "kind": "Other"} for n in range(MOST + 2)]}
    told = reading_differences(json.dumps(before), json.dumps(after))
    assert len(told) == MOST + 1
    assert told[-1] == "… and 2 more"


# ------------------------------------------------------------------ recordings


@pytest.fixture
def pending(tmp_path: Path) -> Path:
    """Return where one recording waits."""
    shutil.copytree(find_corpus() / CASE, tmp_path / "waiting" / CASE)
    return tmp_path / "waiting"


def test_a_recording_is_told_by_what_changed_since_the_release_before(
    tmp_path: Path, pending: Path
) -> None:
    corpus = tmp_path / "corpus"
    shutil.copytree(find_corpus() / OLDER, corpus / OLDER)
    (one,) = pending_recordings(corpus, pending)
    assert one.name == f"recording {CASE}"
    assert one.told[0] == f"against {OLDER}:"
    assert "kind-added world_state: a new kind of record" in one.told
    one.accept()
    assert (corpus / CASE / "case.json").is_file()
    assert list(pending_recordings(corpus, pending)) == []


def test_a_recording_that_replaces_one_keeps_its_run_with_hooks(
    tmp_path: Path, pending: Path
) -> None:
    corpus = tmp_path / "corpus"
    shutil.copytree(find_corpus() / CASE, corpus / CASE)
    shutil.rmtree(pending / CASE / "hooked")
    (one,) = pending_recordings(corpus, pending)
    assert one.told == [f"the same files as {CASE}"]
    one.accept()
    assert (corpus / CASE / "hooked").is_dir()


def test_a_rejected_recording_is_removed_and_the_corpus_is_as_it_was(
    tmp_path: Path, pending: Path
) -> None:
    (one,) = pending_recordings(tmp_path / "corpus", pending)
    assert one.told == ["the first of its scenario"]
    assert one.reject is not None
    one.reject()
    assert not (pending / CASE).exists()
    assert not (tmp_path / "corpus").exists()


# ------------------------------------------------------------------ at a terminal


def test_at_a_terminal_each_is_asked_about(corpus: Path) -> None:
    path = corpus / CASE / "expected.json"
    right = path.read_text("utf-8")
    path.write_text(right.replace("plain", "plane"), "utf-8")
    start = "from conformance.cli import main; main()"
    child = pexpect.spawn(
        sys.executable, ["-c", start, "review"], cwd=str(ROOT), encoding="utf-8", timeout=60
    )
    child.expect_exact(f"corpus/{CASE}/expected.json")
    child.expect_exact("[a/r/s/d/q]? ")
    child.sendline("r")
    child.expect_exact("a snapshot changes back when the code does")
    child.sendline("d")
    child.expect_exact("+++ made")
    child.expect_exact("[a/r/s/d/q]? ")
    child.sendline("a")
    child.expect_exact("accepted")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert path.read_text("utf-8") == right
