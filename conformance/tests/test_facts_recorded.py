"""The sheet of every recording says what its script says, question by question."""

from __future__ import annotations

from collections import Counter

import pytest

from conformance.corpus import Case, cases, find_corpus, opened, version_key
from conformance.scripted_facts import scripted_facts
from transcripts.facts import FactsSheet, facts_of_path
from transcripts.narration import split_name

CASES = list(cases(find_corpus()))
COUNTED_TOO_EARLY = version_key("2.1.50")
"""Up to here Claude Code counts an answer while it begins: how long it got is not recorded."""


def sheet_of(case: Case) -> FactsSheet:
    with opened(case) as home:
        return facts_of_path(str(home / case.facts.session_path), case.facts.agent)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_sheet_says_what_the_script_says(case: Case) -> None:
    script, sheet = scripted_facts(case), sheet_of(case)
    facts = sheet.facts
    assert facts.tool_calls.value == len(script.calls)
    if script.names is not None:
        names: Counter[str] = Counter()
        for name, count in (facts.tool_calls_by_name.value or {}).items():
            names[split_name(name)[0]] += count
        assert names == script.names
    assert facts.failed_calls.value == script.failed
    assert facts.unresolved_calls.value == script.unresolved
    assert [one.path for one in facts.changed_files.value or ()] == list(script.changed_files)
    assert [one.text for one in facts.human_turns.value or ()] == list(script.human_turns)
    final = facts.final_message.value
    assert (None if final is None else final.text) == script.final_message
    tasks = facts.subagents.value or []
    assert len(tasks) == len(script.tasks)
    for task, described in zip(tasks, script.tasks, strict=True):
        assert described is None or task.task == described
    requests = [(one.repository, one.number) for one in facts.pull_requests.value or ()]
    assert requests == list(script.pull_requests)
    threads = [
        (one.facts.tool_calls.value, last.text if (last := one.facts.final_message.value) else None)
        for one in sheet.subagents
    ]
    assert sorted(threads, key=str) == sorted(script.threads, key=str)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_tokens_are_those_that_the_scripted_model_told(case: Case) -> None:
    script, facts = scripted_facts(case), sheet_of(case).facts
    summed, total = facts.token_sum.value, facts.token_total.value
    if script.tokens is not None and summed is not None:
        taken, written = script.tokens
        assert summed.input in (taken, None)
        early = version_key(case.facts.release) <= COUNTED_TOO_EARLY
        if case.facts.agent == "claude" and early:
            assert summed.output is None
            assert facts.token_sum.partial is not None
        else:
            assert summed.output == written
    if script.total is not None and total is not None:
        assert total == script.total
