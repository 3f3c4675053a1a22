"""Workflows that people copy: pinned, allowed no more than they need, their commands exist."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from conformance.cli import conformance
from conformance.corpus import VARIABLE, find_corpus
from conformance.generated import ROOT

FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
COPIED = ("adapter", "drift", "live", "timeline")
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
SAID = re.compile(r"^\s*-?\s*uses:\s*(.+)$", re.MULTILINE)
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")

VALUES = {
    "AGENT": "codex",
    "ADAPTER": "adapter.toml",
    "SHARD": "1/4",
    "PIECE": "piece-1.json",
    "PIECES": "4",
    "piece": "piece-1.json",
    "RELEASE": "codex@0.171.0",
    "cases[@]": "t0",
    "chosen[@]": "--release=codex@0.171.0",
    "merged[@]": "--merge=piece-1.json",
}
"""What stands for a variable where a command is only looked at, not run."""


def workflow(name: str) -> dict[Any, Any]:
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8"))


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in FILES:
        for name, job in workflow(path.stem)["jobs"].items():
            yield f"{path.stem}/{name}", job


def scripts() -> Iterator[tuple[str, str]]:
    for name, job in jobs():
        for step in job["steps"]:
            if "run" in step:
                yield name, step["run"]


def script(name: str, job: str, step: str) -> str:
    return next(it["run"] for it in workflow(name)["jobs"][job]["steps"] if it.get("name") == step)


def test_every_action_is_a_commit_with_its_version_beside_it_and_the_same_everywhere() -> None:
    used = [one for path in FILES for one in SAID.findall(path.read_text(encoding="utf-8"))]
    assert used
    assert [one for one in used if not PINNED.fullmatch(one)] == []
    assert len({one.partition("@")[0] for one in used}) == len(set(used))


def test_only_the_job_that_opens_issues_may_write_and_it_runs_nothing_of_others() -> None:
    assert [path.stem for path in FILES if workflow(path.stem)["permissions"] != {}] == []
    may = {name: job["permissions"] for name, job in jobs()}
    writing = {name: it for name, it in may.items() if it != {"contents": "read"}}
    assert writing == {"drift/report": {"issues": "write"}}
    steps = workflow("drift")["jobs"]["report"]["steps"]
    ran = " ".join(f"{one.get('run', '')} {one.get('uses', '')}" for one in steps)
    assert re.findall(r"conformance|pip|npm|checkout|node", ran) == []


def test_every_job_ends_by_itself_and_no_workflow_runs_twice_at_once() -> None:
    assert [name for name, job in jobs() if not 0 < job["timeout-minutes"] <= 350] == []
    assert [path.stem for path in FILES if "group" not in workflow(path.stem)["concurrency"]] == []


def test_nothing_is_trusted_with_more_than_the_token_of_its_own_job() -> None:
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert re.findall(r"secrets\b|pull_request_target|workflow_run", text) == []
        for step in (one for job in workflow(path.stem)["jobs"].values() for one in job["steps"]):
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False
    assert [name for name, job in jobs() if "token" in json.dumps(job)] == ["drift/report"]


def test_values_reach_a_script_by_the_environment_alone() -> None:
    assert [name for name, text in scripts() if "${{" in text] == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_every_script_is_one_that_a_shell_can_read() -> None:
    for name, text in scripts():
        done = subprocess.run(
            ["bash", "-n"], input=text, capture_output=True, text=True, check=False
        )
        assert (name, done.stderr) == (name, "")


# ------------------------------------------------------------------ commands


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of every call of ours in a script, its variables filled in."""
    joined = text.replace("\\\n", " ")
    for line in joined.splitlines():
        match = re.match(r"\s*(?:\.venv/bin/)?(conformance [^>|;#]*)", line)
        if match:
            filled = re.sub(r"\$\{?([\w\[\]@]+)\}?", lambda found: VALUES[found[1]], match[1])
            yield shlex.split(filled)[1:]


def parsed(words: Sequence[str]) -> None:
    """Have click read a call, so that a command or an option that is not there is told."""
    with click.Context(conformance, info_name="conformance") as context:
        command = conformance.get_command(context, words[0])
        assert command is not None, words
        command.make_context(words[0], list(words[1:]), parent=context)


def test_every_command_in_a_workflow_and_on_its_page_is_one_that_there_is() -> None:
    called = [words for _, text in scripts() for words in commands(text)]
    called += [
        words
        for block in re.findall(r"^```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
        for words in commands(re.sub(r"^\s*(- run: |- )", "", block, flags=re.MULTILINE))
    ]
    assert {words[0] for words in called} == {"check", "drift", "live", "timeline"}
    for words in called:
        parsed(words)


def test_a_command_that_is_not_there_would_be_noticed() -> None:
    with pytest.raises(click.NoSuchOption):
        parsed(["drift", "codex", "--nightly"])
    with pytest.raises(click.BadParameter):
        parsed(["drift", "codex", "--policy", "readers"])


def test_the_page_names_every_workflow_and_every_line_to_edit() -> None:
    for path in FILES:
        assert f"`{path.name}`" in PAGE
    for name in COPIED:
        assert "SUITE" in workflow(name)["env"]
        assert workflow(name)["env"]["SUITE_COMMIT"] == "${{ github.sha }}"


# ------------------------------------------------------------------ the nightly one, run


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """Return an empty directory with our command, and a stand-in for GitHub's, which keeps its
    issues in a file."""
    programs = tmp_path / "bin"
    programs.mkdir()
    ours = f'exec {shlex.quote(sys.executable)} -c "from conformance.cli import main; main()" "$@"'
    (programs / "conformance").write_text(f"#!/bin/sh\n{ours}\n")
    github = (
        "import json, os, pathlib, sys\n"
        "kept = pathlib.Path(os.environ['ISSUES'])\n"
        "issues = json.loads(kept.read_text()) if kept.exists() else {}\n"
        "what, said = sys.argv[1:3], sys.argv[3:]\n"
        "given = dict(zip(said, said[1:]))\n"
        "if what == ['issue', 'list']:\n"
        "    asked = given['--label'], given['--state']\n"
        "    found = [n for n, it in issues.items() if (it['label'], it['state']) == asked]\n"
        "    told = [n if given['--json'] == 'number' else issues[n]['title'] for n in found]\n"
        "    print('\\n'.join(told[:1] if given['--jq'].startswith('.[0]') else told))\n"
        "elif what[0] == 'issue':\n"
        "    body = pathlib.Path(given['--body-file']).read_text()\n"
        "    number = said[0] if what[1] == 'edit' else str(len(issues) + 1)\n"
        "    label = issues[number]['label'] if what[1] == 'edit' else given['--label']\n"
        "    told = {'label': label, 'title': given['--title'], 'body': body, 'state': 'open'}\n"
        "    issues[number] = told\n"
        "kept.write_text(json.dumps(issues))\n"
    )
    (programs / "gh").write_text(f"#!{sys.executable}\n{github}")
    for program in programs.iterdir():
        program.chmod(0o755)
    return tmp_path


def steps(there: Path, text: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a step's script as a runner does: by bash, which stops at the first failure."""
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(there / "bin"), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(there / "summary.md"),
        "ISSUES": str(there / "issues.json"),
        "RUN": "https://example.com/run/1",
        **variables,
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", text],
        cwd=there,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_a_night_opens_an_issue_where_readers_break_once_and_none_where_they_do_not(
    there: Path,
) -> None:
    compare, report = script("drift", "compare", "Compare"), script("drift", "report", "Report")
    broke = steps(there, compare, AGENT="codex@0.150.0")
    assert broke.returncode == 0, broke.stderr
    body = there / "drift" / "codex@0.150.0" / "body.md"
    assert body.read_text(encoding="utf-8") == (there / "summary.md").read_text(encoding="utf-8")
    # Nothing changed: another release, recorded alike.
    small = there / "corpus" / "codex"
    for release in ("0.170.0", "0.171.0"):
        case = small / release / "plain-exchange"
        shutil.copytree(find_corpus() / "codex" / "0.171.0" / "plain-exchange", case)
        facts = json.loads((case / "case.json").read_text(encoding="utf-8"))
        (case / "case.json").write_text(json.dumps({**facts, "release": release}))
    same = steps(there, compare, AGENT="codex@0.171.0", **{VARIABLE: str(small.parent)})
    assert same.returncode == 0, same.stderr
    # Nothing to compare with: neither drift nor none.
    shutil.rmtree(small / "0.170.0")
    failed = steps(there, compare, AGENT="codex@0.171.0", **{VARIABLE: str(small.parent)})
    assert failed.returncode == 3
    assert "::error title=drift of codex@0.171.0::" in failed.stdout
    # GitHub keeps the artifacts of jobs that passed: the last one made none.
    (there / "drift" / "codex@0.171.0" / "exit-code").write_text("0\n")
    for _ in range(2):
        told = steps(there, report)
        assert told.returncode == 0, told.stderr
        (issue,) = json.loads((there / "issues.json").read_text()).values()
        assert issue["label"] == "drift: codex@0.150.0"
        assert issue["title"] == "Drift: codex 0.145.0 → 0.150.0"
        assert issue["body"].startswith("# codex 0.145.0 → 0.150.0\n")
        assert issue["body"].endswith("[The run that found it](https://example.com/run/1)\n")
    # Somebody closes it: the same is not told again, what another release breaks is.
    kept = there / "issues.json"
    kept.write_text(kept.read_text().replace('"open"', '"closed"'))
    assert steps(there, report).returncode == 0
    assert len(json.loads(kept.read_text())) == 1
    body.write_text(body.read_text().replace("→ 0.150.0", "→ 0.151.0"))
    assert steps(there, report).returncode == 0
    assert [it["title"] for it in json.loads(kept.read_text()).values()] == [
        "Drift: codex 0.145.0 → 0.150.0",
        "Drift: codex 0.145.0 → 0.151.0",
    ]
