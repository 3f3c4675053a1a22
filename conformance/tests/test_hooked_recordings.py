"""Runs with hooks: clean, of one truth with the recording beside them, and told by the script."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.corpus import HOOK_LOG, Case, cases, find_corpus
from conformance.lint import lint_case
from conformance.matrix import read_case
from conformance.truth import differences
from live.calls import calls, lines_of
from live.hooked import carry
from live.lint import provenance
from live.sanitise import rules
from transcripts.stores.base import store_class

CASES = [(case, hooked) for case in cases(find_corpus()) if (hooked := case.hooked) is not None]
HOOKED = [hooked for _, hooked in CASES]
PARALLEL = "claude/2.1.332/parallel-calls"

every_run = pytest.mark.parametrize("hooked", HOOKED, ids=lambda case: case.name)


def rows(hooked: Case) -> list[dict[str, Any]]:
    """Return what a run's hooks were told."""
    text = (hooked.directory / HOOK_LOG).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


@every_run
def test_the_reader_finds_what_the_script_says_although_hooks_ran(hooked: Case) -> None:
    transcript = read_case(hooked, store_class(hooked.facts.agent))
    assert differences(hooked, transcript) == []


@pytest.mark.parametrize(
    "hooked",
    # Copilot tells its hooks what a command says, not what was typed.
    [one for one in HOOKED if not one.name.startswith("copilot/") or "slash-" not in one.name],
    ids=lambda case: case.name,
)
def test_hooks_were_told_the_prompt_that_began_the_session(hooked: Case) -> None:
    told = [one for row in rows(hooked) for one in row["payload"].values()]
    prompts = [one["text"] for one in hooked.truth.messages if one["kind"] == "UserMessage"]
    assert any(isinstance(one, str) and prompts[0] in one for one in told)


@pytest.mark.parametrize(
    "hooked",
    [one for one in HOOKED if one.facts.agent == "claude"],
    ids=lambda case: case.name,
)
def test_claude_tells_of_a_call_before_it_begins_and_of_its_result_if_it_has_one(
    hooked: Case,
) -> None:
    made = calls(hooked.directory / "model.jsonl")
    told = lines_of(rows(hooked), made, rules("claude").hooks)
    for call in made:
        events = [event for _, event in told.get(call.id, ())]
        assert events[:1] in ([], ["PreToolUse"])
        assert events.count("PreToolUse") <= 1
        ends = [event for event in events if event.startswith("PostToolUse")]
        assert ends in ([], events[-1:])
        if call.outcome == "completed":
            assert ends == ["PostToolUse"]
        if call.outcome == "failed":
            assert ends in ([], ["PostToolUseFailure"])


# ------------------------------------------------------------------ the witness


def test_calls_and_what_came_of_them_are_known_from_the_model_alone() -> None:
    found = calls(find_corpus() / PARALLEL / "hooked" / "model.jsonl")
    assert [(call.id, call.outcome, call.output) for call in found] == [
        ("toolu_north", "completed", "north 11"),
        ("toolu_middle", "completed", "middle 22"),
        ("toolu_south", "completed", "south 33"),
    ]
    assert {call.thread for call in found} == {None}


def test_the_lines_that_tell_of_each_call_are_known_by_its_id() -> None:
    hooked = find_corpus() / PARALLEL / "hooked"
    told = [json.loads(line) for line in (hooked / HOOK_LOG).read_bytes().split(b"\n") if line]
    found = lines_of(told, calls(hooked / "model.jsonl"), rules("claude").hooks)
    assert found == {
        "toolu_north": ((4, "PreToolUse"), (9, "PostToolUse")),
        "toolu_middle": ((5, "PreToolUse"), (7, "PostToolUse")),
        "toolu_south": ((6, "PreToolUse"), (8, "PostToolUse")),
    }
    assert {told[line - 1]["payload"]["tool_use_id"] for line, _ in found["toolu_north"]} == {
        "toolu_north"
    }


def test_without_ids_a_call_is_known_by_what_no_other_asks_for() -> None:
    hooked = find_corpus() / PARALLEL / "hooked"
    told = [json.loads(line) for line in (hooked / HOOK_LOG).read_bytes().split(b"\n") if line]
    for row in told:
        row["payload"].pop("tool_use_id", None)
    made = calls(hooked / "model.jsonl")
    assert lines_of(told, made, rules("claude").hooks)["toolu_south"] == (
        (6, "PreToolUse"),
        (8, "PostToolUse"),
    )
    twins = [*made, replace(made[2], id="toolu_twin")]
    assert "toolu_south" not in lines_of(told, twins, rules("claude").hooks)


# ------------------------------------------------------------------ it can fail


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A copy of one case, hooks and all."""
    shutil.copytree(find_corpus() / PARALLEL, tmp_path / PARALLEL)
    return tmp_path / PARALLEL


def change(case: Path, edit: Callable[[list[dict[str, Any]]], None]) -> None:
    """Change a copy's hook log, and the digest in case.json with it."""
    path = case / "hooked" / HOOK_LOG
    told = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    edit(told)
    text = "".join(
        json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in told
    )
    path.write_text(text, encoding="utf-8")
    facts = json.loads((case / "case.json").read_text(encoding="utf-8"))
    facts["hooked"]["files"][HOOK_LOG] = sha256(text.encode()).hexdigest()
    (case / "case.json").write_text(json.dumps(facts), encoding="utf-8")


def test_a_run_as_committed_has_no_fault(case: Path) -> None:
    change(case, lambda told: None)
    assert list(lint_case(case, case.parents[2])) == []


def test_a_planted_sentence_in_a_payload_is_found(case: Path) -> None:
    def plant(told: list[dict[str, Any]]) -> None:
        told[3]["payload"]["tool_input"]["description"] += ", for a helpful beekeeper"

    change(case, plant)
    found = provenance(case)
    assert len(found) == 1
    assert "hooked/hooks.jsonl, record 4" in found[0]
    assert "beekeeper" in found[0]


def lose_the_last(told: list[dict[str, Any]]) -> None:
    del told[-1]


def rename_an_event(told: list[dict[str, Any]]) -> None:
    told[0]["event"] = "SessionBegin"


def turn_two(told: list[dict[str, Any]]) -> None:
    told[0], told[1] = told[1], told[0]


def forget_the_time(told: list[dict[str, Any]]) -> None:
    del told[0]["observed_at"]


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lose_the_last, "case.json says"),
        (rename_an_event, "nobody registered a hook for SessionBegin"),
        (turn_two, "observed before the line above"),
        (forget_the_time, "observed_at"),
    ],
)
def test_a_log_that_is_not_what_was_recorded_is_seen(
    case: Path, edit: Callable[[list[dict[str, Any]]], None], says: str
) -> None:
    change(case, edit)
    assert any(says in fault for fault in lint_case(case, case.parents[2]))


def test_a_changed_byte_is_seen(case: Path) -> None:
    path = case / "hooked" / HOOK_LOG
    path.write_bytes(path.read_bytes().replace(b"north", b"North", 1))
    found = list(lint_case(case, case.parents[2]))
    assert "hooked/hooks.jsonl: its sha256 is not the one in case.json" in found


def test_a_value_that_the_run_should_hold_and_does_not_is_seen(case: Path) -> None:
    (path,) = (case / "hooked" / "home").rglob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b"PONDS-6631", b"PONDS-0000"))
    assert any("no file holds its text" in fault for fault in lint_case(case, case.parents[2]))


# ------------------------------------------------------------------ recorded again


def test_a_case_that_is_recorded_again_keeps_its_run_with_hooks(case: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.mkdir()
    facts = json.loads((case / "case.json").read_text(encoding="utf-8"))
    kept = facts.pop("hooked")
    (new / "case.json").write_text(json.dumps(facts), encoding="utf-8")
    carry(case, new)
    assert json.loads((new / "case.json").read_text(encoding="utf-8"))["hooked"] == kept
    assert (new / "hooked" / HOOK_LOG).is_file()


def test_a_case_of_another_script_does_not(case: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.mkdir()
    facts = json.loads((case / "case.json").read_text(encoding="utf-8"))
    del facts["hooked"]
    (new / "case.json").write_text(json.dumps({**facts, "revision": 99}), encoding="utf-8")
    carry(case, new)
    assert not (new / "hooked").exists()
