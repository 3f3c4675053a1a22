"""Which changes of a killed CLI count as done: those of which it recorded something."""

from __future__ import annotations

from pathlib import Path

from conformance.livechecks.sources import forgotten, without_trace
from live.agents.base import find_driver
from live.checks import load
from live.composing import steps

PLAYED = steps(load("t6-midstream").source, find_driver("claude", "2.1.332"), "/srv/project")
CHANGED = ("gates/ash.yaml", "gates/birch.yaml", "gates/cedar.yaml")


def lay(home: Path, *rows: str) -> Path:
    place = home / ".claude" / "projects" / "p"
    place.mkdir(parents=True)
    (place / "s.jsonl").write_text("\n".join(rows), "utf-8")
    return home


EDITED = ('{"id":"toolu_ash"}', '{"id":"toolu_birch"}')


def test_a_change_of_whose_answer_no_byte_is_kept_is_told_with_its_proof(tmp_path: Path) -> None:
    home = lay(tmp_path, *EDITED, '{"read":"gates/cedar.yaml","look":"toolu_look-cedar"}')
    found = without_trace(PLAYED, CHANGED, home)
    assert list(found) == ["gates/cedar.yaml"]
    assert '"toolu_cedar"' in found["gates/cedar.yaml"]
    assert "And the third." in found["gates/cedar.yaml"]


def test_any_trace_of_the_answer_makes_its_change_known(tmp_path: Path) -> None:
    for number, trace in enumerate(
        ('{"id":"toolu_cedar"}', '{"text":"And the third."}', '{"id":"msg_t6-midstream-1-6"}')
    ):
        home = lay(tmp_path / str(number), *EDITED, trace)
        assert without_trace(PLAYED, CHANGED, home) == {}


def test_what_was_not_changed_needs_no_trace(tmp_path: Path) -> None:
    home = lay(tmp_path, *EDITED)
    assert without_trace(PLAYED, CHANGED[:2], home) == {}


def test_what_no_byte_of_a_home_holds_cannot_be_moved(tmp_path: Path) -> None:
    check = load("t9-midstream")
    assert forgotten(check, lay(tmp_path / "kept", '{"text":"the medlar TANSY-63, and"}')) is None
    proof = forgotten(check, lay(tmp_path / "lost", '{"text":"the medlar"}'))
    assert proof == "no byte of 1 files of its home holds 'TANSY-63'"
