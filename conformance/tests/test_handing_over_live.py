"""The real CLIs go on with what was cut, trimmed or briefed for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.tests.test_handing_over import FAILURE, claude_session
from live.resume import resume
from transcripts.handoff.preparing import Preparation, prepare, prompt_for
from transcripts.handoff.summary import ACKNOWLEDGEMENT
from transcripts.reading import read_path
from transcripts.stores import open_store

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SESSION = "0199f3a0-5b1c-4e4d-8a2f-6c3d9e0b1a77"
NEWEST = {"claude": "2.1.332", "codex": "0.171.0", "copilot": "1.0.102"}


def told(target: str, prepared: Preparation, home: Path) -> tuple[str, str]:
    """Return the prompt, and all that the model of a CLI is told when it goes on by it."""
    prompt = prompt_for(
        "default", prepared, target=target, source_path="/srv/s.jsonl", cwd="/srv/project"
    )
    store = open_store(target, home)
    store.write(prepared.transcript, session_id=SESSION, cwd="/srv/project")
    resumed = resume(target, NEWEST[target], home, SESSION, prompt)
    assert resumed.returncode == 0, resumed.stderr
    asked = resumed.asked
    assert asked is not None, resumed.stderr
    words = [f"{entry.text or ''} {entry.arguments or ''}" for entry in asked.history]
    return prompt, "\n".join(words)


def in_order(text: str, *words: str) -> bool:
    place = 0
    for word in words:
        place = text.find(word, place)
        if place < 0:
            return False
        place += len(word)
    return True


@pytest.mark.parametrize("target", NEWEST)
def test_the_next_agent_is_shown_what_was_done_and_what_is_left(target: str, tmp_path: Path):
    transcript = read_path(claude_session(tmp_path / "source"))
    prompt, text = told(target, prepare(transcript, cut=True, trim=True), tmp_path / "home")
    done = ("Count the gates.", "Three gates.", "Paint them.", "paint gate-1", "painted gate-1")
    assert in_order(text, *done, prompt.split("\n", 1)[0], "asked in these words: Paint them.")
    # Of the call without a result only the prompt tells, of the failure nothing its own words.
    assert text.count("gate-2") == 1
    assert FAILURE not in text


@pytest.mark.parametrize("target", NEWEST)
def test_the_next_agent_is_shown_the_briefing_and_nothing_else(target: str, tmp_path: Path):
    transcript = read_path(claude_session(tmp_path / "source"))
    prepared = prepare(transcript, summarise_over=0)
    prompt, text = told(target, prepared, tmp_path / "home")
    assert in_order(text, "1. Count the gates.\n2. Paint them.", ACKNOWLEDGEMENT, prompt)
    assert "painted gate-1" not in text
