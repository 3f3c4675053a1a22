"""A person's own CLIs, found on the PATH, are asked, moved between and judged, as with a login.

The models behind them are scripted: they do what real ones are asked to, and answer the question
from the request alone.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.corpus import find_corpus, releases
from conformance.tests.real_person import Person, person
from live.model.script import Scenario
from live.real import RealCase, load
from transcripts.model import Transcript
from transcripts.stores.base import WrittenSession
from transcripts.stores.codex import CodexStore

pytestmark = [pytest.mark.live, pytest.mark.extended, pytest.mark.timeout(600)]


REFUSED = {"status": 401, "type": "authentication_error", "message": "placeholder refused"}
HERE = "Use no tool. Answer with one word: here."


def newest(agent: str) -> str:
    return releases(find_corpus(), agent)[-1]


def scenario(name: str, prompt: str, *responses: dict[str, Any]) -> Scenario:
    turn = {"prompt": prompt, "responses": responses}
    document = {"name": name, "revision": 1, "title": name, "turns": [turn]}
    return msgspec.convert(document, Scenario)


def read(case: RealCase, path: str) -> dict[str, Any]:
    name = path.replace("/", "-").replace(".", "-")
    return {"verb": "read", "id": f"look-{name}", "path": path, "content": case.workspace[path]}


def update(path: str, old: str, new: str, call_id: str) -> dict[str, Any]:
    return {"verb": "update", "id": call_id, "path": path, "old": old, "new": new}


def outcome(run: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return json.loads(run.stdout)["results"][0]


def digests(directory: Path) -> dict[str, str]:
    return {
        path.relative_to(directory).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def lay_earlier_sessions(home: Path) -> None:
    """Put sessions of the person's into their home: what their CLIs recorded before."""
    for agent in ("claude", "codex"):
        recorded = find_corpus() / agent / newest(agent) / "file-edits" / "home"
        shutil.copytree(recorded, home, dirs_exist_ok=True)


@pytest.fixture
def edited(tmp_path: Path) -> Iterator[Person]:
    """Claude changes a file, Codex is asked what to."""
    case = load("t1")
    source = scenario(
        "edited",
        case.asks,
        {"calls": [read(case, "service.yaml"), read(case, "wanted.txt")]},
        {"calls": [update("service.yaml", "port: 8080", "port: 47183", "port")]},
        {"calls": [update("service.yaml", "keeper: nobody", "keeper: QUILLFEATHER", "keeper")]},
        {"text": "done"},
    )
    recalls = {"port": {"pattern": r"port: (\d+)"}, "keeper": {"pattern": r"keeper: ([A-Z]+)"}}
    target = scenario("asked", case.then, {"text": "{port} and {keeper}.", "recalls": recalls})
    with person(
        tmp_path, {"claude": (newest("claude"), source), "codex": (newest("codex"), target)}
    ) as somebody:
        yield somebody


def test_an_edit_is_known_and_what_was_made_is_told_and_left(edited: Person) -> None:
    run = edited.runs("t1", "--from", "claude", "--to", "codex", "--yes", "--format", "json")
    assert run.returncode == 0, run.stderr
    found = outcome(run)
    assert found["verdict"] == "passed"
    assert found["evidence"]["answer"] == "47183 and QUILLFEATHER."
    assert found["releases"] == {"claude": newest("claude"), "codex": newest("codex")}
    made = [
        *edited.home.glob(".claude/projects/*/*.jsonl"),
        *edited.home.glob(".codex/**/rollout-*"),
    ]
    assert len(made) == 2
    assert "this removes it" in run.stderr
    places = [line.strip(" \\") for line in run.stderr.partition("rm -r -- ")[2].splitlines()]
    told = [Path(place) for place in places if place]
    assert all(any(path.is_relative_to(place) for place in told) for path in made)


def test_no_more_is_asked_than_was_said(edited: Person) -> None:
    run = edited.runs("t1", "--from", "claude", "--to", "codex", "--yes")
    assert run.returncode == 0, run.stderr
    case = load("t1")
    prompts = [case.asks, case.then]
    for agent, prompt in zip(("claude", "codex"), prompts, strict=True):
        said = next(line for line in run.stderr.splitlines() if line.strip().startswith(agent))
        assert "prompts: 1," in said
        asked = edited.asked(agent)
        assert {one.turn for one in asked} == {0}
        assert any(prompt in (entry.text or "") for entry in asked[0].history)
        assert len(asked) <= int(said.partition("requests: about ")[2].partition(",")[0])


def test_a_clean_run_leaves_the_persons_sessions_byte_for_byte_and_nothing_else(
    edited: Person,
) -> None:
    lay_earlier_sessions(edited.home)
    stores = [edited.home / ".claude" / "projects", edited.home / ".codex" / "sessions"]
    before = [digests(store) for store in stores]
    assert all(before)
    run = edited.runs("t1", "--from", "claude", "--to", "codex", "--yes", "--clean")
    assert run.returncode == 0, run.stderr
    assert [digests(store) for store in stores] == before
    assert "of 2 session files that were made here 0 are left" in run.stderr
    assert "this removes it" not in run.stderr


class WrongProvider(CodexStore):
    """Says of every session that it was had with a provider that nobody has."""

    def write(self, transcript: Transcript, **arguments: Any) -> WrittenSession:
        written = super().write(transcript, **arguments)
        first, *rest = written.path.read_text("utf-8").split("\n")
        meta = json.loads(first)
        meta["payload"]["model_provider"] = "nobody"
        written.path.write_text("\n".join((json.dumps(meta), *rest)), encoding="utf-8")
        return written


def test_a_session_that_is_not_gone_on_with_is_told_from_a_cli_that_answers_nothing(
    tmp_path: Path,
) -> None:
    case = load("t0")
    source = scenario("told", case.asks, {"text": "noted"})
    adapter = f"py:{__name__}:{WrongProvider.__name__}"
    arguments = ("t0", "--from", "claude", "--to", "codex", "--yes", "--format", "json")
    for answers, verdict in ((True, "failed"), (False, "skipped")):
        answer = {"text": "here"} if answers else {"failure": REFUSED}
        target = scenario("anew", HERE, answer)
        logs = tmp_path / verdict
        logs.mkdir()
        scripts = {"claude": (newest("claude"), source), "codex": (newest("codex"), target)}
        with person(logs, scripts) as somebody:
            run = somebody.runs(*arguments, "--adapter", adapter)
        assert outcome(run)["verdict"] == verdict, run.stderr
    assert "ended with exit code" in outcome(run)["why"]


def test_sessions_are_made_where_the_persons_environment_says(tmp_path: Path) -> None:
    case = load("t0")
    source = scenario("told", case.asks, {"text": "noted"})
    recalls = {"bell": {"pattern": r"(MARROWBONE-\d+)"}}
    turns = scenario("asked", case.then, {"text": "{bell}", "recalls": recalls}).turns
    both = msgspec.structs.replace(source, turns=(*source.turns, *turns))
    elsewhere = tmp_path / "elsewhere"
    with person(tmp_path, {"claude": (newest("claude"), both)}) as somebody:
        arguments = ("t0", "--from", "claude", "--to", "claude", "--yes", "--format", "json")
        run = somebody.runs(*arguments, CLAUDE_CONFIG_DIR=str(elsewhere))
        assert outcome(run)["verdict"] == "passed", run.stderr
        assert not list(somebody.home.glob(".claude/projects/*/*.jsonl"))
    assert len(list(elsewhere.glob("projects/*/*.jsonl"))) == 2


def test_a_failed_commands_numbers_and_status_are_known(tmp_path: Path) -> None:
    case = load("t2")
    run_it = {"verb": "command", "id": "run", "run": "./run-checks", "exit_code": 29}
    source = scenario("ran", case.asks, {"calls": [run_it]}, {"text": "done"})
    status = (
        r"(?i)exit(?:ed)?\W{0,3}(?:with)?\W{0,3}(?:exit)?[\s_-]{0,2}(?:code|status)?\D{0,4}(\d+)"
    )
    recalls = {
        "failed": {"pattern": r"Failed: (\d+)"},
        "passed": {"pattern": r"Passed: (\d+)"},
        "status": {"pattern": status},
    }
    words = "{failed} failed, {passed} passed, status {status}"
    target = scenario("asked", case.then, {"text": words, "recalls": recalls})
    scripts = {"codex": (newest("codex"), source), "copilot": (newest("copilot"), target)}
    with person(tmp_path, scripts) as somebody:
        run = somebody.runs("t2", "--from", "codex", "--to", "copilot", "--yes", "--format", "json")
    assert run.returncode == 0, run.stderr
    assert outcome(run)["evidence"]["answer"] == "47 failed, 183 passed, status 29"


def half_done(case: RealCase) -> Scenario:
    """Two of the files are changed, then the model is silent."""
    assert case.edits is not None
    responses: list[dict[str, Any]] = []
    for path in list(case.edits.files)[:2]:
        responses.append({"calls": [read(case, path)]})
        change = update(path, "timeout: 10", "timeout: 99", f"do-{Path(path).stem}")
        responses.append({"calls": [change]})
    return scenario("half", case.asks, *responses, {"text": "Two are done.", "hang": True})


def going_on(case: RealCase, *, blind: bool = False) -> Scenario:
    """A file that the request shows as done is left; any other is looked at and written whole."""
    assert case.edits is not None
    responses: list[dict[str, Any]] = []
    for path, content in case.edits.files.items():
        stem = Path(path).stem
        write = f"printf '%s' '{content.strip()}' > {path}"
        call = {"verb": "command", "id": f"write-{stem}", "run": write}
        given = {"path": path, "holds": case.edits.holds, "state": "hidden"}
        told: dict[str, Any] = {"text": f"Writing {stem}.", "calls": [call]}
        responses.append(told if blind else {**told, "given": given})
    return scenario("went-on", case.then, *responses, {"text": "All are done."})


@pytest.mark.parametrize(("blind", "verdict"), [(False, "passed"), (True, "failed")])
def test_what_was_done_before_the_cli_was_killed_must_not_be_done_again(
    tmp_path: Path, blind: bool, verdict: str
) -> None:
    case = load("t6")
    scripts: Mapping[str, tuple[str, Scenario]] = {
        "copilot": (newest("copilot"), half_done(case)),
        "codex": (newest("codex"), going_on(case, blind=blind)),
    }
    with person(tmp_path, scripts) as somebody:
        run = somebody.runs("t6", "--from", "copilot", "--to", "codex", "--yes", "--format", "json")
    assert run.returncode == (1 if blind else 0), run.stderr
    found = outcome(run)
    assert found["verdict"] == verdict
    if blind:
        assert "gates/ash.yaml was done before and was done again" in found["why"]
        assert "gates/birch.yaml was done before and was done again" in found["why"]
        assert "gates/cedar.yaml" not in found["why"]


def test_a_model_that_does_not_do_what_it_is_asked_is_skipped_and_told(tmp_path: Path) -> None:
    case = load("t1")
    source = scenario("idle", case.asks, {"text": "done"})
    with person(tmp_path, {"claude": (newest("claude"), source)}) as somebody:
        run = somebody.runs("t1", "--from", "claude", "--to", "claude", "--yes", "--format", "json")
    assert run.returncode == 3, run.stderr
    assert outcome(run)["why"] == "the model did not do what it was asked: see service.yaml"


def test_a_login_that_no_provider_takes_is_no_fault_of_the_writer(tmp_path: Path) -> None:
    case = load("t0")
    source = scenario("refused", case.asks, {"failure": REFUSED})
    with person(tmp_path, {"claude": (newest("claude"), source)}) as somebody:
        run = somebody.runs("t0", "--from", "claude", "--to", "claude", "--yes", "--format", "json")
    assert run.returncode == 3, run.stderr
    assert outcome(run)["verdict"] == "skipped"
    assert "ended with exit code 1" in outcome(run)["why"]
    assert "placeholder refused" not in run.stdout + run.stderr
