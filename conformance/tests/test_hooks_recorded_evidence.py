"""On logs that real CLIs wrote, the correlator and the oracle decide the same links."""

from __future__ import annotations

import pytest

from conformance.corpus import find_corpus
from conformance.hooks import trees
from conformance.hooks.evidence import read
from conformance.hooks.oracle import decided_by
from conformance.hooks.reference import correlate

ROOT = find_corpus()
LOGS = sorted(path.relative_to(ROOT) for path in ROOT.glob("*/*/*/hooked/hooks*.jsonl"))


def test_there_are_recorded_logs() -> None:
    assert {path.parts[0] for path in LOGS} >= {"claude", "codex"}


@pytest.mark.parametrize("agent", sorted({path.parts[0] for path in LOGS}))
def test_recorded_logs_are_linked_as_the_evidence_decides(agent: str) -> None:
    wrong: list[str] = []
    compared = 0
    for path in LOGS:
        if path.parts[0] == agent:
            lines = (ROOT / path).read_bytes().splitlines()
            reading = read(lines, agent)
            tree = correlate(lines, agent)
            # What of the dialect the oracle has no rule for, or no fixed one, is not judged here.
            judged = {e.line for e in reading.events if e.part not in ("permission", "remark")}
            made = {pair for pair in trees.links(tree) if judged.issuperset(pair)}
            decided = {(link.end, link.start) for link in decided_by(reading).links}
            compared += len(decided)
            if made != decided or trees.lines(tree) != list(range(1, len(lines) + 1)):
                wrong.append(f"{path}: {sorted(made ^ decided)}")
    assert wrong == []
    assert compared > 30
