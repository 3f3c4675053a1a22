"""``conformance schema`` as people run it, over real recordings and files that are not whole."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance.corpus import find_corpus
from conformance.generated import ROOT
from conformance.shapes import schema_of

CASES = {
    "claude": "claude/2.1.332/subagent",
    "codex": "codex/0.171.0/subagent",
    "copilot": "copilot/1.0.102/todo-list",
}


def _run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    start = "from conformance.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", start, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **more},
        check=False,
    )


def _session(agent: str) -> Path:
    case = find_corpus() / CASES[agent]
    named = json.loads((case / "case.json").read_text(encoding="utf-8"))["session_path"]
    return case / "home" / named


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """A real session in which a field is new, one is gone, and one is of another type."""
    lines = _session("claude").read_text(encoding="utf-8").split("\n")
    at = next(at for at, line in enumerate(lines) if '"type":"assistant"' in line)
    row: dict[str, Any] = json.loads(lines[at])
    row["mood"] = {"my secret plan": "to warble"}
    row["isSidechain"] = "no"
    del row["uuid"]
    lines[at] = json.dumps(row)
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("agent", CASES)
@pytest.mark.parametrize("what", ["file", "home"])
def test_a_recording_agrees_with_its_own_release(agent: str, what: str) -> None:
    path = _session(agent) if what == "file" else find_corpus() / CASES[agent] / "home"
    ran = _run("schema", str(path), "--agent", agent, "--strict", "--format", "json")
    assert (ran.returncode, ran.stderr) == (0, "")
    document = json.loads(ran.stdout)
    Draft202012Validator(schema_of("format")).validate(document)
    assert document["strict_ok"]
    assert document["records"] > 5
    version = CASES[agent].split("/")[1]
    assert [(one["named"], one["judged_by"], one["nearness"]) for one in document["releases"]] == [
        (version, version, "same")
    ]


def test_what_disagrees_is_told_by_place_and_type_and_never_by_value(changed: Path) -> None:
    ran = _run("schema", str(changed), "--agent", "claude", "--format", "json")
    assert (ran.returncode, ran.stderr) == (1, "")
    document = json.loads(ran.stdout)
    Draft202012Validator(schema_of("format")).validate(document)
    found = {
        (one["finding"], one["pointer"], *one["expected"], "→", *one["found"], one["breaks"])
        for kind in document["kinds"]
        for one in kind["findings"]
    }
    assert found == {
        ("unknown-field", "/mood", "→", "object", False),
        ("missing-field", "/uuid", "→", True),
        ("type-changed", "/isSidechain", "boolean", "→", "string", True),
    }
    for text in (ran.stdout, _run("schema", str(changed), "--agent", "claude").stdout):
        assert "secret" not in text
        assert "warble" not in text


def test_what_is_only_new_fails_the_strict_view_alone(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    shutil.copy(_session("claude"), path)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"type": "moon-phase", "version": "2.1.332"}\n')
    assert _run("schema", str(path), "--agent", "claude").returncode == 0
    strictly = _run("schema", str(path), "--agent", "claude", "--strict")
    assert strictly.returncode == 1
    assert "moon-phase" in strictly.stdout


def test_the_release_that_judged_is_told(changed: Path) -> None:
    told = _run("schema", str(changed), "--agent", "claude", "--version", "2.1.400").stdout
    assert "written by 2.1.332, judged as 2.1.400, as asked" in told
    assert "by 2.1.332, the nearest recorded release below" in told


def test_a_damaged_file_is_a_typed_error_with_its_line_and_the_next_step(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(_session("codex").read_bytes() + b'{"type": "event\n')
    ran = _run("schema", str(path), "--agent", "codex")
    assert (ran.returncode, ran.stdout) == (2, "")
    lines = path.read_bytes().count(b"\n")
    assert ran.stderr.startswith(f"conformance: {path}:{lines} (byte ")
    assert "--recover" in ran.stderr
    recovered = _run("schema", str(path), "--agent", "codex", "--recover", "--format", "json")
    assert recovered.returncode == 1
    (damage,) = json.loads(recovered.stdout)["damage"]
    assert damage["line"] == lines


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.jsonl", "--agent", "claude"), "no such file"),
        (("README.md", "--agent", "claude"), "no file of claude's sessions"),
        (("pyproject.toml",), "--agent"),
        ((), "--agent"),
        (("--agent", "nobody"), "nobody"),
        (("docs", "--agent", "codex", "--schemas", "nowhere"), "nowhere"),
    ],
)
def test_misuse_and_what_is_no_session_exit_with_two(arguments: tuple[str, ...], said: str) -> None:
    ran = _run("schema", *(str(ROOT / one) if "." in one else one for one in arguments))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert said in ran.stderr


def test_snapshots_are_written_by_the_command_only(tmp_path: Path) -> None:
    """A copy of one case without its snapshots: syrupy's own flag must not make them."""
    name = "claude/2.1.332/plain-exchange"
    shutil.copytree(find_corpus() / name, tmp_path / "corpus" / name)
    (tmp_path / "corpus" / name / "expected.json").unlink()
    (tmp_path / "schemas").mkdir()
    tests = "conformance/tests/test_snapshots.py"
    options = ("-q", "-p", "no:cacheprovider", "-k", "kept_schemas", "--snapshot-update")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, tests],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "TRANSCRIPT_CONFORMANCE_CORPUS": str(tmp_path / "corpus")},
        check=False,
    )
    assert ran.returncode == 1
    assert "conformance review" in ran.stdout
    assert list((tmp_path / "schemas").rglob("*.json")) == []
