"""A timeline is kept as what changed from look to look, and everything shown follows from that."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.corpus import find_corpus
from conformance.drift.epochs import remarks, timeline
from conformance.drift.rules import RULES
from conformance.drift.timeline_data import (
    CORE,
    Change,
    Known,
    Look,
    Published,
    Seen,
    Shape,
    TimelineError,
    TimelineFile,
    known_of,
    load,
    text,
    timeline_file,
)
from conformance.drift.timeline_rules import rule_of
from conformance.report.timeline_page import html, markdown, timeline_pages

FAILS, EDITS = CORE[0], CORE[1]
EARLY: Shape = {"assistant[text+tool_use]": "record", "user[str] /costUSD": "number"}
LATE: Shape = {
    "assistant[text]": "record",
    "assistant[text] /message": "object",
    "assistant[tool_use]": "record",
    "user[str] /costUSD": "number or null",
}


def known(version: str, shape: Shape | None, why: str = "exit code 1 & <no words>") -> Known:
    if shape is None:
        return Known(
            Look(agent="claude", version=version, on="2026-12-01", seconds=9, why=why),
            dict.fromkeys(CORE),
        )
    seen = {FAILS: Seen(revision=1), EDITS: Seen(revision=1, why="no such tool", by_design=True)}
    look = Look(agent="claude", version=version, on="2026-12-01", seconds=9, seen=seen)
    return Known(look, {**dict.fromkeys(CORE), FAILS: shape})


def made() -> TimelineFile:
    releases = tuple(Published(version=f"1.0.{at}", on=f"2026-01-{at + 1:02}") for at in range(10))
    looks = [known("1.0.0", None), known("1.0.1", EARLY), known("1.0.4", EARLY)]
    looks += [known("1.0.5", LATE), known("1.0.9", {**LATE, "summary": "record"})]
    by_version = {one.look.version: one for one in looks}
    return timeline_file(
        "claude", "@made/up", "2026-12-01", releases, by_version, lambda _, __: ["agent_tool"]
    )


def test_the_shapes_of_every_look_come_back_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "claude.json"
    path.write_text(text(made()), encoding="utf-8")
    found = known_of(load(path))
    assert {name: one.shapes[FAILS] for name, one in found.items()} == {
        "1.0.0": None,
        "1.0.1": EARLY,
        "1.0.4": EARLY,
        "1.0.5": LATE,
        "1.0.9": {**LATE, "summary": "record"},
    }
    assert found["1.0.1"].digest == found["1.0.4"].digest
    assert len({one.digest for one in found.values()}) == 4
    assert found["1.0.0"].look.why == "exit code 1 & <no words>"


def test_what_is_kept_of_a_look_is_only_what_changed() -> None:
    by_version = {look.version: look for look in made().looks}
    assert by_version["1.0.4"].changed == ()
    assert by_version["1.0.9"].changed == (
        Change(place="summary", after="record", scenarios=(FAILS,)),
    )


def test_epochs_are_runs_of_one_shape_and_edges_say_how_exact_they_are() -> None:
    found = timeline(made())
    assert [epoch.name for epoch in found.epochs] == ["1.0.0", "1.0.1 – 1.0.4", "1.0.5", "1.0.9"]
    assert [epoch.releases for epoch in found.epochs] == [1, 4, 1, 1]
    assert [edge.between for edge in found.edges] == [(), (), ("1.0.6", "1.0.7", "1.0.8")]
    assert found.unlooked == 5
    assert [epoch.driven for epoch in found.epochs] == [False, True, True, True]


def test_a_kind_that_came_is_told_once_and_not_place_by_place() -> None:
    edge = timeline(made()).edges[1]
    told = {(remark.sort, remark.kinds, remark.places) for remark in remarks(edge.changes)}
    assert told == {
        ("added", ("assistant[text]", "assistant[tool_use]"), ("",)),
        ("removed", ("assistant[text+tool_use]",), ("",)),
        ("changed", ("user[str]",), ("/costUSD: number → number or null",)),
    }


def test_equal_changes_of_several_kinds_are_told_together() -> None:
    changes = [
        Change(
            place=f"tool.execution_complete:{tool} /data/rte", after="boolean", scenarios=(EDITS,)
        )
        for tool in ("bash", "edit")
    ]
    (one,) = remarks(changes)
    assert one.kinds == ("tool.execution_complete:bash", "tool.execution_complete:edit")
    assert one.places == ("/data/rte (boolean)",)


def test_what_is_inside_of_a_place_that_came_is_not_told_again() -> None:
    places = ("attachment /usage", "attachment /usage/tokens", "attachment /usage_total")
    changes = [Change(place=place, after="object", scenarios=(FAILS,)) for place in places]
    (one,) = remarks(changes)
    assert one.places == ("/usage (object)", "/usage_total (object)")


def test_the_page_says_how_fine_it_is_and_what_it_does_not_know() -> None:
    page = markdown(timeline(made()), ["1.0.3"])
    assert "5 of them were installed" in page
    assert "Of 3 edges 2 lie between neighbouring releases; 1 lies somewhere" in page
    assert "5 releases were not looked at" in page
    assert "somewhere among 4 releases*: 3 between them not looked at" in page
    assert "1.0.2 – 1.0.3, 1.0.6 – 1.0.8." in page
    assert "| 1.0.0 | exit code 1 & <no words> |" in page
    assert page.count("exit code 1 &") == 2  # once at the edge, once among what failed
    assert "our own driver does otherwise" in page
    assert "| 1.0.1 – 1.0.4 | 2026-01-02 – 2026-01-05 | 2 of 4 | 2 | 1.0.3 |" in page
    assert "of 1 of the 3 epochs; for one of each it would take 1.0.5, 1.0.9." in page


def test_the_picture_has_a_dot_for_each_look_and_a_band_for_each_epoch() -> None:
    page = html(timeline(made()), [])
    assert len(re.findall("<circle ", page)) == 5
    assert len(re.findall("<rect ", page)) == 4
    assert "<script" not in page
    assert "http" not in page
    assert "exit code 1 &amp; &lt;no words&gt;" in page


def test_each_timeline_has_two_pages_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "claude.json"
    path.write_text(text(made()), encoding="utf-8")
    pages = timeline_pages(find_corpus(), path)
    assert sorted(page.name for page in pages) == ["claude.html", "claude.md"]


@pytest.mark.parametrize("content", ["", "{}", '{"format": 1}', "[1"])
def test_a_file_that_is_no_timeline_is_named_with_what_to_do(tmp_path: Path, content: str) -> None:
    path = tmp_path / "codex.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(TimelineError, match=r"codex\.json: no timeline.*make it anew"):
        load(path)


def test_a_timeline_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "codex.json"
    path.write_text(text(made()).replace('"format": 1', '"format": 99'), encoding="utf-8")
    with pytest.raises(TimelineError, match="of format 99, not 1"):
        load(path)


@pytest.mark.parametrize(
    ("place", "before", "after", "rule"),
    [
        ("user[str]", None, "record", "kind-added"),
        ("user[str]", "record", None, "kind-removed"),
        ("user[str] /id", "string (uuid)", None, "field-removed"),
        ("user[str] /id", None, "string, not always", "field-added"),
        ("user[str] /id", "string", "string, not always", "field-became-optional"),
        ("user[str] /id", "string, not always", "string", "field-became-required"),
        ("user[str] /id", "string (uuid)", "null or string (uuid)", "became-nullable"),
        ("user[str] /id", "null or string", "string", "no-longer-null"),
        ("user[str] /id", "integer", "integer or number", "type-widened"),
        ("user[str] /id", "integer or string", "integer", "type-narrowed"),
        ("user[str] /id", "string", "object", "type-changed"),
        ("user[str] /id", "string: auto, none", "string: none, on", "word-added"),
        ("user[str] /id", "string: auto, none", "string: none", "word-removed"),
        ("user[str] /id", "string (date-time)", "string (date-time.3)", "encoding-changed"),
        ("user[str] /id", "string", "string (uuid)", "encoding-changed"),
        ("file .codex/x.jsonl", "yes", None, "file-removed"),
        ("tool offered: Task", None, "yes", "tool-added"),
        ("wording in user[str] /text", '"Exit {n}"', '"exit {n}"', "wording-changed"),
    ],
)
def test_a_change_falls_under_a_rule_of_drift(
    place: str, before: str | None, after: str | None, rule: str
) -> None:
    assert rule_of(Change(place=place, before=before, after=after, scenarios=(FAILS,))) == rule
    assert rule in RULES


def test_an_edge_says_whom_it_breaks_counting_what_came_or_went_as_a_whole_once() -> None:
    page = markdown(timeline(made()), [])
    assert (
        "for readers: error `became-nullable`×1, `kind-removed`×1; warning `kind-added`×2" in page
    )


def test_over_a_release_that_can_t_be_driven_changes_are_told_against_the_last_that_was() -> None:
    versions = [f"1.0.{at}" for at in range(3)]
    releases = [Published(version=version, on="2026-01-01") for version in versions]
    looks = zip(versions, (EARLY, None, LATE), strict=True)
    by_version = {version: known(version, shape) for version, shape in looks}
    file = timeline_file("claude", "@made/up", "2026-12-01", releases, by_version, lambda *_: ())
    gone, back = timeline(file).edges
    assert [*gone.lost] == [*back.won] == [FAILS]
    assert gone.changes == ()
    assert back.compared == {FAILS: "1.0.0"}
    assert {change.place for change in back.changes} == {*EARLY, *LATE}
    assert "against 1.0.0, the last that was recorded" in markdown(timeline(file), [])
