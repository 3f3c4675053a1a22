"""How a terminal came to where a check failed is kept, to be looked at again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.corpus import find_corpus
from conformance.livechecks.moving import Moved, StoreMover
from conformance.livechecks.planning import Planned, newest, run_planned
from conformance.livechecks.running import Bench
from conformance.livechecks.sources import Sources
from live.agents.base import find_driver

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


class Forgetful(StoreMover):
    """Writes what it was given, and loses the number of the gate."""

    def move(
        self,
        source: str,
        source_home: Path,
        session_id: str,
        target: str,
        target_home: Path,
        *,
        new_session_id: str,
        cwd: str,
    ) -> Moved:
        moved = super().move(
            source,
            source_home,
            session_id,
            target,
            target_home,
            new_session_id=new_session_id,
            cwd=cwd,
        )
        files = find_driver(target, newest(find_corpus())[target]).session_files(target_home)
        for path in files:
            if moved.session_id in path.as_posix():
                path.write_bytes(path.read_bytes().replace(b"HOLLYHOCK-63", b"HOLLYHOCK-XX"))
        return Moved(moved.session_id, moved.losses)


def test_a_run_that_ends_with_a_wrong_answer_at_a_terminal_is_kept_with_its_last_screen(
    tmp_path: Path,
) -> None:
    bench = Bench(
        mover=Forgetful(),
        releases=newest(find_corpus()),
        sources=Sources(tmp_path / "sources"),
        keep=tmp_path / "kept",
    )
    result = run_planned(Planned("t0-terminal", "codex", "codex"), bench, ())
    assert result.verdict == "failed"
    assert "something I was not told" in result.why
    recording = tmp_path / "kept" / result.evidence["recording"]
    head, *events = recording.read_text(encoding="utf-8").splitlines()
    assert json.loads(head)["version"] == 2
    written = "".join(text for _, kind, text in map(json.loads, events) if kind == "o")
    assert "HOLLYHOCK-XX" in written
    screen = recording.with_name(f"{recording.stem}.screen.txt")
    assert "To continue this session" in screen.read_text(encoding="utf-8")
