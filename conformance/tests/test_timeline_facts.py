"""What was known of the formats before any timeline was made is what the timelines show.

Each fact was measured by hand on two releases: the last that is so, and the first that is not. The
timeline must have one edge there, and between these two no other.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import pytest
from semver import Version

from conformance.drift.timeline_data import Known, known_of, load
from conformance.generated import ROOT


class Fact(NamedTuple):
    """``place`` begins with this; it came (or ``went``) after ``last`` and by ``first``."""

    agent: str
    place: str
    last: str
    first: str
    went: bool = False
    said: str = ""


FACTS = [
    Fact("codex", "flat/session_meta", "0.20.0", "0.45.0", went=True),
    Fact("codex", "session_meta", "0.20.0", "0.45.0"),
    Fact("codex", "event_msg/task_complete /payload/error", "0.140.0", "0.145.0"),
    Fact("codex", "event_msg/item_completed/UserMessage", "0.145.0", "0.150.0"),
    Fact("codex", "event_msg/user_message", "0.145.0", "0.150.0", went=True),
    Fact("codex", "token_usage_record", "0.150.0", "0.160.0"),
    Fact("codex", "tool offered: update_plan", "0.150.0", "0.160.0", went=True),
    Fact("codex", "wording in", "0.45.0", "0.77.0", went=True, said="exit_code"),
    Fact("codex", "wording in", "0.92.0", "0.110.0", said="Process exited with code"),
    Fact("copilot", "session.usage_record", "1.0.80", "1.0.102"),
    Fact("copilot", "wording in tool.execution_complete:bash", "1.0.40", "1.0.60", said="<shellId"),
    Fact("copilot", "tool.execution_complete:bash /data/shellExecution", "1.0.80", "1.0.102"),
    Fact("copilot", "system.message", "1.0.20", "1.0.40"),
    Fact("claude", "api-request-blob", "2.1.260", "2.1.332"),
    Fact("claude", "attachment/agent_listing_delta", "2.1.162", "2.1.197"),
    Fact("claude", "assistant[text] /apiBlockIndex", "2.1.197", "2.1.261"),
]


def has(known: Known, fact: Fact) -> bool:
    shapes = [shape for shape in known.shapes.values() if shape]
    return any(
        (place == fact.place or (fact.said and place.startswith(fact.place))) and fact.said in said
        for shape in shapes
        for place, said in shape.items()
    )


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact.agent} {fact.place} {fact.said}")
def test_an_edge_lies_where_it_was_known_to_lie(fact: Fact) -> None:
    known = known_of(load(ROOT / "docs" / "drift" / f"{fact.agent}.json"))
    looks = {
        Version.parse(version): has(one, fact) is not fact.went
        for version, one in known.items()
        if any(one.shapes.values())
    }
    before = [at for at in looks if at <= Version.parse(fact.last)] or [min(looks)]
    after = [at for at in looks if at >= Version.parse(fact.first)]
    story = [looks[at] for at in sorted(looks) if max(before) <= at <= min(after)]
    assert (story[0], story[-1]) == (False, True)
    assert sum(one != two for one, two in pairwise(story)) == 1
