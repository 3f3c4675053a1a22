"""Timelines against the corpus: recorded twice, months of work apart, a release has one shape."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conformance.corpus import cases, find_corpus
from conformance.drift.epochs import timeline
from conformance.drift.timeline_data import CORE, SHAPES_REVISION, Shape, known_of, load, text
from conformance.drift.timeline_known import look_at
from conformance.drift.timeline_looks import look_place
from conformance.drift.timeline_shapes import shape_of
from conformance.generated import ROOT
from live.agents.base import driver_class, drivers
from live.model import script
from live.releases import ReleaseError, cache_root, install, installed

DRIFT = ROOT / "docs" / "drift"
AGENTS = drivers()
SCENARIOS = ("command-fails", "subagent")


def comparable(shape: Shape) -> Shape:
    """What both are made of: a recording keeps no request, and elides the vendor's words."""
    return {
        place: said
        for place, said in shape.items()
        if not place.startswith(("tool offered", "wording"))
    }


@pytest.mark.parametrize("agent", AGENTS)
def test_a_look_at_a_release_has_the_shape_of_its_recordings(agent: str) -> None:
    known = known_of(load(DRIFT / f"{agent}.json"))
    compared: set[str] = set()
    for case in cases(find_corpus(), agent):
        release, scenario = case.facts.release, case.facts.scenario
        own_dialect = case.directory.name == scenario
        shape = known[release].shapes.get(scenario) if release in known else None
        if shape is None or scenario not in SCENARIOS or not own_dialect:
            continue
        recorded = shape_of(agent, case.home, script.load(scenario), ())
        assert comparable(shape) == comparable(recorded), f"{release}, {scenario}"
        compared.add(release)
    assert compared, "no release was both recorded and looked at"


@pytest.mark.parametrize("agent", AGENTS)
def test_the_committed_looks_are_of_today_s_shapes_and_spelt_as_they_are_written(
    agent: str,
) -> None:
    path = DRIFT / f"{agent}.json"
    found = load(path)
    assert (found.shape, found.scenarios) == (SHAPES_REVISION, CORE)
    assert text(found) == path.read_text(encoding="utf-8")
    assert timeline(found).epochs


@pytest.mark.live
@pytest.mark.extended
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("release", ["codex@0.171.0", "copilot@1.0.102", "claude@2.1.332"])
def test_recorded_again_and_again_a_release_has_one_shape(
    release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, _, version = release.partition("@")
    committed = known_of(load(DRIFT / f"{agent}.json"))[version]
    install(agent, driver_class(agent).package, version)
    for name in ("releases", "unpacked"):
        (tmp_path / name).symlink_to(cache_root() / name)
    monkeypatch.setenv("TRANSCRIPT_CONFORMANCE_CACHE", str(tmp_path))
    for _ in range(3):
        found = look_at(agent, False, version)
        assert found.digest == committed.digest
        assert look_at(agent, False, version) == found
        shutil.rmtree(look_place(agent, version))
    assert installed(agent, driver_class(agent).package, version) is not None


@pytest.mark.live
@pytest.mark.extended
@pytest.mark.timeout(900)
def test_a_release_that_was_installed_for_a_look_is_gone_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSCRIPT_CONFORMANCE_CACHE", str(tmp_path))
    found = look_at("codex", False, "0.146.0")
    assert found.look.why is None
    assert found.digest == known_of(load(DRIFT / "codex.json"))["0.146.0"].digest
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert left
    assert all(path.is_relative_to(look_place("codex", "0.146.0")) for path in left)


def test_what_can_t_be_installed_is_told_without_a_place_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text("#!/bin/sh\necho 'npm error code E404' >&2; exit 1\n", encoding="utf-8")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:/usr/bin:/bin")
    monkeypatch.setenv("TRANSCRIPT_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    look = look_at("copilot", False, "0.0.340").look
    assert look.why is not None
    assert "`npm install @github/copilot@0.0.340`" in look.why
    assert "E404" in look.why
    assert str(tmp_path) not in look.why
    assert look.seen == {}
    assert look.wanting


def test_without_a_registry_nothing_is_said_of_a_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text("#!/bin/sh\necho 'npm error code ENOTFOUND' >&2; exit 1\n", encoding="utf-8")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:/usr/bin:/bin")
    monkeypatch.setenv("TRANSCRIPT_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ReleaseError, match="ENOTFOUND"):
        look_at("copilot", False, "0.0.340")
    assert not look_place("copilot", "0.0.340").exists()
