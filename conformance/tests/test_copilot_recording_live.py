"""Both recorded releases of Copilot CLI do again, here, what the corpus says they did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from live.recorder import record

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "copilot"


@pytest.mark.parametrize(
    ("version", "scenario", "dialect"),
    [
        ("1.0.102", "subagent", None),
        ("1.0.102", "file-edits", "apply-patch"),
        ("1.0.60", "two-turns", None),
        ("0.0.406", "parallel-calls", None),
    ],
)
def test_a_case_recorded_again_is_the_one_committed(
    tmp_path: Path, version: str, scenario: str, dialect: str | None
) -> None:
    case = record("copilot", version, scenario, dialect, out=tmp_path)
    committed = CORPUS / version / case.name
    ours = {p.relative_to(case): p.read_bytes() for p in case.rglob("*") if p.is_file()}
    theirs = {p.relative_to(committed): p.read_bytes() for p in committed.rglob("*") if p.is_file()}
    # What our reader makes of it is nothing that a recording is made of.
    theirs.pop(Path("expected.json"), None)
    # Its run with hooks is a recording of its own.
    theirs = {path: content for path, content in theirs.items() if path.parts[0] != "hooked"}
    facts, known = (json.loads(files.pop(Path("case.json"))) for files in (ours, theirs))
    assert ours == theirs
    # On which machine it was recorded is part of a case, but of nothing that is in it; and a
    # later table that changes nothing here leaves the recording as good as it was.
    for one in (facts, known):
        del one["platform"], one["sanitiser"]
        # What was recorded before streams were has none, and says nothing of them.
        one.setdefault("streams", {})
        one.setdefault("one_sided", None)
        one.pop("hooked", None)
    assert facts == known
    assert facts["resumed"]
