"""Every run with hooks: the tree, the summary and the join say what the script made happen."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.corpus import HOOK_LOG, Case, cases, find_corpus, load_case
from conformance.hooked import differences, logs
from conformance.told_otherwise import Difference, table

AGENTS = ("claude", "codex", "copilot")
RUNS = [hooked for case in cases(find_corpus()) if (hooked := case.hooked) is not None]
PARALLEL = "claude/2.1.332/parallel-calls"
SUBAGENT = "claude/2.1.332/subagent"

Rows = list[dict[str, Any]]


@pytest.mark.parametrize("agent", AGENTS)
def test_hooks_show_the_script_or_the_table_says_why_not(agent: str) -> None:
    entries = [known for known in table().known if known.agent == agent]
    used: set[int] = set()
    unexplained: list[str] = []
    for hooked in RUNS:
        if hooked.facts.agent != agent:
            continue
        for log in logs(hooked):
            for difference in differences(hooked, log):
                covering = [at for at, one in enumerate(entries) if one.covers(hooked, difference)]
                used.update(covering)
                if not covering:
                    unexplained.append(f"{hooked.name}, {log.name}: {difference}")
    assert unexplained == []
    assert [one for at, one in enumerate(entries) if at not in used] == []


# ------------------------------------------------------------------ it can fail


def changed(place: Path, name: str, edit: Callable[[Rows], None]) -> list[Difference]:
    """Return what is found in a copy of a run whose log was changed, and the table excuses not."""
    shutil.copytree(find_corpus() / name, place / name)
    log = place / name / "hooked" / HOOK_LOG
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").split("\n") if line]
    edit(rows)
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    hooked: Case | None = load_case(place / name, place).hooked
    assert hooked is not None
    found = differences(hooked, log)
    return [one for one in found if not any(known.covers(hooked, one) for known in table().known)]


def of(rows: Rows, event: str, call: str | None = None) -> dict[str, Any]:
    """Return the first row of an event, and of a call."""
    return next(
        row
        for row in rows
        if row["event"] == event and call in (None, row["payload"].get("tool_use_id"))
    )


def lose_the_prompt(rows: Rows) -> None:
    rows.remove(of(rows, "UserPromptSubmit"))


def lose_a_call(rows: Rows) -> None:
    rows.remove(of(rows, "PreToolUse", "toolu_north"))


def name_another_tool(rows: Rows) -> None:
    for event in ("PreToolUse", "PostToolUse"):
        of(rows, event, "toolu_north")["payload"]["tool_name"] = "Read"


def say_another_input(rows: Rows) -> None:
    of(rows, "PreToolUse", "toolu_north")["payload"]["tool_input"] = {"command": "true"}


def turn_a_success_into_a_failure(rows: Rows) -> None:
    row = of(rows, "PostToolUse", "toolu_north")
    row["event"] = row["payload"]["hook_event_name"] = "PostToolUseFailure"


def tell_of_a_call_that_nobody_made(rows: Rows) -> None:
    row = json.loads(json.dumps(of(rows, "PreToolUse", "toolu_north")))
    row["payload"]["tool_use_id"] = "toolu_nobody"
    rows.append(row)


def turn_two_calls_round(rows: Rows) -> None:
    one, other = of(rows, "PreToolUse", "toolu_north"), of(rows, "PreToolUse", "toolu_south")
    one["payload"], other["payload"] = other["payload"], one["payload"]


def end_what_never_began(rows: Rows) -> None:
    row = json.loads(json.dumps(of(rows, "PostToolUse", "toolu_north")))
    row["payload"]["tool_use_id"] = "toolu_nobody"
    rows.append(row)


def change_hands(rows: Rows) -> None:
    for row in rows:
        if row["payload"].get("tool_use_id") == "toolu_boxes":
            del row["payload"]["agent_id"]


def lose_a_subagent(rows: Rows) -> None:
    rows[:] = [row for row in rows if "agent_id" not in row["payload"]]


@pytest.mark.parametrize(
    ("name", "edit", "whats"),
    [
        (PARALLEL, lose_the_prompt, {"prompt-untold", "join-recorded-only"}),
        (PARALLEL, lose_a_call, {"call-untold", "join-recorded-only", "orphan"}),
        (PARALLEL, name_another_tool, {"word", "summary"}),
        (PARALLEL, say_another_input, {"input"}),
        (PARALLEL, turn_a_success_into_a_failure, {"outcome", "join-disagrees"}),
        (PARALLEL, tell_of_a_call_that_nobody_made, {"call-of-none", "join-seen-only"}),
        (PARALLEL, turn_two_calls_round, {"order"}),
        (PARALLEL, end_what_never_began, {"orphan"}),
        (SUBAGENT, change_hands, {"thread"}),
        (SUBAGENT, lose_a_subagent, {"subagents", "call-untold"}),
    ],
    ids=lambda value: value.__name__ if callable(value) else None,
)
def test_what_hooks_show_otherwise_is_seen(
    tmp_path: Path, name: str, edit: Callable[[Rows], None], whats: set[str]
) -> None:
    assert {one.what for one in changed(tmp_path, name, edit)} >= whats


@pytest.mark.parametrize("name", [PARALLEL, SUBAGENT])
def test_a_log_as_committed_shows_nothing_otherwise(tmp_path: Path, name: str) -> None:
    assert changed(tmp_path, name, lambda rows: None) == []
