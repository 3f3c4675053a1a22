"""The command around the search: pieces for a job matrix, and what they found put together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.commands.timeline import timeline
from conformance.drift.timeline_data import (
    CORE,
    SHAPES_REVISION,
    Known,
    Look,
    Published,
    Seen,
    TimelineError,
    known_of,
    load,
    text,
    timeline_file,
)
from conformance.drift.timeline_search import STRIDE
from live.model import script

VERSIONS = [f"9.{at}.0" for at in range(20, 61)]
"""Releases that there are not: what is committed says nothing of them."""

SEEN = {name: Seen(revision=script.load(name).revision) for name in CORE}


@pytest.fixture(autouse=True)
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An npm that lists a few releases, not in their order, and can install none."""
    listed = {
        "versions": ["9.61.0-alpha.1", *reversed(VERSIONS)],
        "time": {"modified": "x", **dict.fromkeys(VERSIONS, "2026-05-16T08:09:10.111Z")},
    }
    (tmp_path / "listed.json").write_text(json.dumps(listed), encoding="utf-8")
    found = tmp_path / "bin" / "npm"
    found.parent.mkdir()
    found.write_text(
        f'#!/bin/sh\n[ "$1" = view ] && exec cat {tmp_path}/listed.json\n'
        "echo 'npm error code E404' >&2; exit 1\n",
        encoding="utf-8",
    )
    found.chmod(0o755)
    monkeypatch.setenv("PATH", f"{found.parent}:/usr/bin:/bin")
    monkeypatch.setenv("TRANSCRIPT_CONFORMANCE_CACHE", str(tmp_path / "cache"))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(timeline, ["codex", *map(str, arguments)])


def write(path: Path, versions: Sequence[str]) -> Path:
    known = {
        version: Known(
            Look(agent="codex", version=version, on="2026-12-01", seconds=1, seen=SEEN),
            {name: {"session_meta": "record"} for name in CORE},
        )
        for version in versions
    }
    releases = [Published(version=version, on="2026-05-16") for version in VERSIONS]
    made = timeline_file("codex", "@openai/codex", "2026-12-01", releases, known, lambda *_: ())
    path.write_text(text(made), encoding="utf-8")
    return path


def test_a_plan_is_a_job_matrix_whose_pieces_cover_the_grid(tmp_path: Path) -> None:
    done = run("--plan", "json", "--pieces", 3, "--write", tmp_path / "out.json")
    rows = json.loads(done.stdout)["include"]
    assert [row["shard"] for row in rows] == ["1/3", "2/3", "3/3"]
    assert {row["agent"] for row in rows} == {"codex"}
    assert sum(row["releases"] for row in rows) == len(VERSIONS) + 2
    grid = len(VERSIONS[::STRIDE])
    assert sum(row["looks"] for row in rows) == grid + 2
    assert not (tmp_path / "out.json").exists()


def test_a_plan_leaves_out_pieces_that_have_nothing_left(tmp_path: Path) -> None:
    known = write(tmp_path / "out.json", VERSIONS[: STRIDE * 3 + 1])
    done = run("--plan", "json", "--pieces", 5, "--write", known)
    assert [row["shard"] for row in json.loads(done.stdout)["include"]] == ["4/5", "5/5"]


def test_what_pieces_found_is_put_together_and_nothing_is_looked_at(tmp_path: Path) -> None:
    one = write(tmp_path / "one.json", VERSIONS[:9])
    two = write(tmp_path / "two.json", VERSIONS[8:17])
    out = tmp_path / "out.json"
    done = run("--merge", one, "--merge", two, "--write", out)
    assert done.exit_code == 0, done.output
    assert [*known_of(load(out))] == VERSIONS[:17]
    assert not (tmp_path / "cache" / "timeline").exists()


def test_a_piece_with_shapes_of_another_revision_is_not_put_together(tmp_path: Path) -> None:
    other = write(tmp_path / "one.json", VERSIONS[:9])
    content = other.read_text(encoding="utf-8")
    old = content.replace(f'"shape": {SHAPES_REVISION}', f'"shape": {SHAPES_REVISION - 1}')
    other.write_text(old, encoding="utf-8")
    done = run("--merge", other, "--write", tmp_path / "out.json")
    assert isinstance(done.exception, TimelineError)
    assert "one.json: its shapes are of revision" in str(done.exception)


def test_a_piece_looks_at_its_own_part_and_keeps_what_it_saw_at_once(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = run("--shard", "2/5", "--at-most", 1, "--write", out)
    assert done.exit_code == 0, done.output
    (look,) = load(out).looks
    assert look.version == VERSIONS[STRIDE * 2]
    assert look.why is not None
    assert "E404" in look.why
    again = run("--shard", "2/5", "--write", out)
    assert again.exit_code == 0, again.output
    assert {one.version for one in load(out).looks} <= {*VERSIONS[STRIDE : STRIDE * 2 + 1]}
    assert len(load(out).looks) >= 2


def test_a_timeline_is_shown_as_epochs_and_printed_as_its_file(tmp_path: Path) -> None:
    known = write(tmp_path / "out.json", VERSIONS[:9])
    shown = run("--at-most", 0, "--write", known)
    assert f"{VERSIONS[0]} – {VERSIONS[8]}" in shown.stdout
    assert "9 of 41 releases looked at; 0 of 0 edges" in shown.stdout
    assert all(len(line) <= 80 for line in shown.stdout.splitlines()[:-1])
    printed = run("--at-most", 0, "--write", known, "--format", "json")
    assert printed.stdout == known.read_text(encoding="utf-8")


@pytest.mark.parametrize("piece", ["0/4", "5/4", "1", "a/b", "1/0"])
def test_a_piece_that_there_is_not_is_refused(tmp_path: Path, piece: str) -> None:
    done = run("--shard", piece, "--write", tmp_path / "out.json")
    assert done.exit_code == 2
    assert "no piece such as 2/4" in done.stderr
