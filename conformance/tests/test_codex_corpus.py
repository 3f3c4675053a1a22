"""Codex's recordings: none is missing without a reason, and the newest come out the same again."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from live.agents.base import CannotDo, Driver, find_driver
from live.composing import steps
from live.model import script
from live.recorder import CORPUS, record
from live.sanitise import markers
from live.sanitise.rules import Marker

ANY_WORD = {"seconds", "FINAL_ANSWER", "NEW_TASK", "Task", "root", "type"}
CORE = (
    "awkward-text",
    "command-fails",
    "command-ok",
    "failure-auth",
    "file-edits",
    "killed-mid-edit",
    "mcp-call",
    "parallel-calls",
    "plain-exchange",
    "reasoning",
    "subagent",
    "todo-list",
    "tool-fails",
    "two-turns",
)
NEWEST = "0.171.0"
GENERATIONS = (
    "0.20.0",
    "0.45.0",
    "0.77.0",
    "0.92.0",
    "0.110.0",
    "0.130.0",
    "0.140.0",
    "0.145.0",
    "0.150.0",
    "0.160.0",
)
WAYS = (
    *((release, None, scenario) for release in GENERATIONS for scenario in CORE),
    *((NEWEST, dialect, one) for dialect in (None, "code-mode") for one in CORE),
)


def place(version: str, dialect: str | None, scenario: str) -> Path:
    name = scenario if dialect is None else f"{scenario}.{dialect}"
    return CORPUS / "codex" / version / name


def document(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def refusal(driver: Driver, scenario: str) -> str | None:
    try:
        steps(script.load(scenario), driver, "/srv/project")
    except CannotDo as reason:
        return str(reason)
    return None


@pytest.mark.parametrize(("version", "dialect", "scenario"), WAYS)
def test_every_scenario_is_recorded_or_said_to_be_impossible(
    version: str, dialect: str | None, scenario: str
) -> None:
    directory = place(version, dialect, scenario)
    driver = find_driver("codex", version, dialect)
    why = refusal(driver, scenario)
    if why is not None:
        assert document(directory / "cannot.json")["why"] == why
        assert [path.name for path in directory.iterdir()] == ["cannot.json"]
        return
    facts = document(directory / "case.json")
    assert facts["sealed"]
    assert facts["resumed"]
    assert facts["dialect"] == driver.dialect


@pytest.mark.parametrize("marker", markers("codex"), ids=lambda marker: repr(marker.text))
def test_every_wording_that_is_kept_is_parsed_where_it_says(marker: Marker) -> None:
    name = importlib.util.find_spec(marker.parsed_by)
    assert name is not None
    assert name.origin is not None
    code = Path(name.origin).read_text(encoding="utf-8")
    # A pattern for any of several words may stand for the word itself.
    words = [word for word in re.findall(r"[A-Za-z_]{4,}", marker.text) if word not in ANY_WORD]
    assert all(word in code for word in words), words


@pytest.mark.live
@pytest.mark.parametrize(
    ("dialect", "scenario"),
    [(None, "file-edits"), (None, "subagent"), ("code-mode", "parallel-calls")],
)
def test_the_newest_release_is_recorded_again_with_equal_bytes(
    dialect: str | None, scenario: str, tmp_path: Path
) -> None:
    again = record("codex", NEWEST, scenario, dialect, out=tmp_path)
    committed = place(NEWEST, dialect, scenario)
    names = {path.relative_to(committed) for path in committed.rglob("*") if path.is_file()}
    names.discard(Path("expected.json"))
    # Its run with hooks is a recording of its own.
    names = {name for name in names if name.parts[0] != "hooked"}
    assert names == {path.relative_to(again) for path in again.rglob("*") if path.is_file()}
    for name in sorted(names):
        if name.name == "case.json":
            # A later table that changes nothing here leaves the recording as good as it was.
            elsewhere = {"platform": None, "sanitiser": None}
            one, other = document(committed / name), document(again / name)
            one.pop("hooked", None)
            assert {**one, **elsewhere} == {**other, **elsewhere}
        else:
            assert (committed / name).read_bytes() == (again / name).read_bytes(), name
