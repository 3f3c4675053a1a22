"""The ``conformance`` command as people run it: exit codes, formats, errors in one line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from conformance.corpus import find_corpus
from conformance.generated import ROOT
from conformance.shapes import schema_of

CASE = "claude/2.1.332/plain-exchange"


def _run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    start = "from conformance.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", start, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of one case."""
    directory = tmp_path_factory.mktemp("corpus")
    shutil.copytree(find_corpus() / CASE, directory / CASE)
    return directory


@pytest.fixture(scope="module")
def printed(corpus: Path) -> str:
    """What the matrix over one case prints as JSON."""
    ran = _run("matrix", "--format", "json", "--corpus", str(corpus))
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_the_matrix_is_of_its_schema_and_names_every_pair(printed: str) -> None:
    document = json.loads(printed)
    Draft202012Validator(schema_of("matrix")).validate(document)
    pairs = {
        (cell["from"], cell["store"]) for cell in document["cells"] if cell["witness"] == "file"
    }
    stores = ("claude", "codex", "copilot")
    assert pairs == {(source, store) for source in (None, "claude") for store in stores}
    assert len({cell["kind"] for cell in document["cells"]}) == 14


def test_the_matrix_prints_the_same_bytes_again(printed: str, corpus: Path) -> None:
    assert _run("matrix", "--format", "json", "--corpus", str(corpus)).stdout == printed


def test_a_direction_nobody_witnessed_fails_the_check(corpus: Path, tmp_path: Path) -> None:
    page = tmp_path / "matrix.html"
    ran = _run(
        *("matrix", "--check", "--format", "html", "--write", str(page)),
        *("--corpus", str(corpus)),
    )
    # One case of fourteen is not the conversation that the CLIs have resumed.
    assert ran.returncode == 1
    assert "UserMessage/plain-exchange claude->codex cli: stale" in ran.stderr
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("matrix", "--corpus", "nowhere"), 2, "no such corpus"),
        (("matrix", "--format", "xml"), 2, "Invalid value"),
        (("record", "claude"), 2, "AGENT@VERSION"),
        (("record", "nobody@1.0.0"), 2, "claude, codex, copilot"),
        (("record", "claude@2.1.332", "no-such-scenario"), 2, "plain-exchange"),
        (("corpus", "lint", "--corpus", "nowhere"), 2, "no such corpus"),
        (("frobnicate",), 2, "No such command"),
    ],
)
def test_misuse_is_exit_2_and_says_what_would_be_right(
    arguments: tuple[str, ...], code: int, said: str, tmp_path: Path
) -> None:
    ran = _run(*arguments, cwd=tmp_path)
    assert ran.returncode == code
    assert said in ran.stderr
    assert ran.stdout == ""
    assert "Traceback" not in ran.stderr


def test_a_case_that_cannot_be_read_is_one_line(corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(corpus, tmp_path / "corpus")
    case = tmp_path / "corpus" / CASE / "case.json"
    case.write_text(case.read_text(encoding="utf-8").replace('"sealed"', '"sealt"'))
    ran = _run("matrix", "--corpus", str(tmp_path / "corpus"))
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert "case.json" in ran.stderr
    assert "sealt" in ran.stderr


def test_markdown_needs_markers_in_the_page(corpus: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# No place for it\n", encoding="utf-8")
    ran = _run(*("matrix", "--format", "markdown", "--write", str(page), "--corpus", str(corpus)))
    assert ran.returncode == 2
    assert "fidelity:start" in ran.stderr
    assert page.read_text(encoding="utf-8") == "# No place for it\n"


def test_the_index_is_checked_and_written(corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(corpus, tmp_path / "corpus")
    where = ("--corpus", str(tmp_path / "corpus"))
    assert _run("corpus", "index", "--check", *where).returncode == 1
    assert _run("corpus", "index", *where).returncode == 0
    assert _run("corpus", "index", "--check", *where).returncode == 0
    index = json.loads((tmp_path / "corpus" / "index.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema_of("index")).validate(index)
    assert [case["case"] for case in index["cases"]] == [CASE]


def test_a_corpus_with_a_fault_fails_the_lint(corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("detect_secrets")
    shutil.copytree(corpus, tmp_path / "corpus")
    where = ("--corpus", str(tmp_path / "corpus"))
    _run("corpus", "index", *where)
    assert _run("corpus", "lint", *where).returncode == 0
    (tmp_path / "corpus" / CASE / "model.jsonl").unlink()
    ran = _run("corpus", "lint", *where)
    assert ran.returncode == 1
    assert f"{CASE}: model.jsonl: missing" in ran.stdout


def test_a_release_that_cannot_be_had_is_exit_3(tmp_path: Path) -> None:
    pytest.importorskip("starlette")
    where = str(tmp_path)
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            "from conformance.cli import main; main()",
            *("record", "claude@not-a-release", "plain-exchange", "--out", where),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TRANSCRIPT_CONFORMANCE_CACHE": where},
        check=False,
    )
    assert ran.returncode == 3
    assert ran.stderr.startswith("conformance: ")
    assert ran.stderr.count("\n") == 1
