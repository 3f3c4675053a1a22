"""What is known to have changed between recorded releases is found, and nothing in between.

Each change was measured on the real CLIs, release by release, before there were rules.
"""

from __future__ import annotations

from functools import cache

import pytest

from conformance.corpus import find_corpus, find_schemas, releases
from conformance.drift import Finding, compare, side

KNOWN = [
    # Claude: a row for each message became a row for each block of one.
    ("claude", "1.0.0", "1.0.60", "grouping-changed", "order:message.id"),
    # Subagents stood in the parent's file, then beside it, then under the session.
    ("claude", "2.0.0", "2.0.77", "file-added", "file:.claude/projects/-srv-project/agent-{hex}"),
    ("claude", "2.0.77", "2.1.50", "file-removed", "file:.claude/projects/-srv-project/agent-"),
    ("claude", "2.0.77", "2.1.50", "file-added", "{uuid}/subagents/agent-{hex}.jsonl"),
    # The checklist is made by other tools.
    ("claude", "2.1.112", "2.1.197", "tool-removed", "tool:TodoWrite"),
    ("claude", "2.1.112", "2.1.197", "tool-added", "tool:TaskCreate"),
    # What has no time was refused, then taken in part and in silence, refused again, and is taken.
    ("claude", "2.0.77", "2.1.50", "resume-tightened", "resume:no-timestamps"),
    ("claude", "2.1.50", "2.1.112", "resume-loosened", "resume:no-timestamps"),
    ("claude", "2.1.260", "2.1.332", "resume-loosened", "resume:no-timestamps"),
    # Calls made in parallel are forgotten by their own CLI when it resumes.
    ("claude", "2.0.0", "2.0.77", "resume-forgets", "in parallel-calls"),
    ("claude", "2.1.50", "2.1.112", "resume-remembers", "in parallel-calls"),
    # The whole request to the model is written down.
    ("claude", "2.1.260", "2.1.332", "kind-added", "api-request"),
    # Codex: every record was put into an envelope.
    ("codex", "0.20.0", "0.45.0", "kind-wrapped", "flat/message:user"),
    ("codex", "0.20.0", "0.45.0", "kind-wrapped", "flat/function_call_output"),
    ("codex", "0.140.0", "0.145.0", "field-added", "event_msg/task_complete#/payload/error"),
    # Events that said again what was answered became completed items.
    ("codex", "0.145.0", "0.150.0", "kind-removed", "event_msg/agent_message"),
    ("codex", "0.145.0", "0.150.0", "kind-added", "event_msg/item_completed/AgentMessage"),
    ("codex", "0.150.0", "0.160.0", "kind-added", "token_usage_record"),
    ("codex", "0.150.0", "0.160.0", "tool-removed", "tool:update_plan"),
    ("codex", "0.150.0", "0.160.0", "scenario-became-impossible", "scenario:todo-list"),
    # How the exit code is worded, twice.
    ("codex", "0.45.0", "0.77.0", "wording-added", "wording:'Exit code: '"),
    ("codex", "0.92.0", "0.110.0", "wording-removed", "wording:'Exit code: '"),
    ("codex", "0.92.0", "0.110.0", "wording-added", "wording:'Process exited with code '"),
    # Copilot: of a command that fails no exit code was kept.
    ("copilot", "0.0.423", "1.0.20", "value-kept", "kept:CommandExecution.exit_code"),
    ("copilot", "1.0.40", "1.0.60", "wording-removed", "wording:'exited with exit code'"),
    ("copilot", "1.0.40", "1.0.60", "wording-added", "wording:'completed with exit code'"),
    ("copilot", "1.0.80", "1.0.102", "numbering-changed", "wording:numbers of lines"),
    # An event of a type that it does not know is fatal to one release.
    ("copilot", "1.0.20", "1.0.60", "resume-loosened", "resume:unknown-event"),
    ("copilot", "1.0.80", "1.0.102", "field-moved", "assistant.message#/data/outputTokens"),
]
"""Agent, two neighbouring releases, the rule, and the beginning or the end of the place."""


@cache
def found(agent: str, before: str, after: str) -> list[Finding]:
    corpus, schemas = find_corpus(), find_schemas()
    return compare(side(corpus, schemas, agent, before), side(corpus, schemas, agent, after))


@pytest.mark.parametrize(("agent", "before", "after", "rule", "place"), KNOWN)
def test_a_known_change_is_found(
    agent: str, before: str, after: str, rule: str, place: str
) -> None:
    told = [one.place for one in found(agent, before, after) if one.rule == rule]
    assert any(one.startswith(place) or one.endswith(place) for one in told), told


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot"])
def test_a_release_does_not_differ_from_itself(agent: str) -> None:
    for release in releases(find_corpus(), agent):
        assert found(agent, release, release) == []
