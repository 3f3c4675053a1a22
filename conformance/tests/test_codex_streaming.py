"""Messages told one by one, from drafts that were put away, are those of a whole reading."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.corpus import Case, cases, find_corpus, opened
from transcripts.errors import TranscriptError
from transcripts.model import Text
from transcripts.stores.codex import reader
from transcripts.stores.codex.reading import state

CASES = [case for case in cases(find_corpus()) if case.facts.agent == "codex"]


@pytest.fixture(autouse=True)
def hardly_anything_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "_AT_HAND", 1)


def write(path: Path, payloads: Iterator[dict[str, Any]]) -> None:
    """Write a session in which one thing is said after the other."""
    lines = [
        {"type": "session_meta", "payload": {"id": "s"}},
        *({"type": "response_item", "payload": payload} for payload in payloads),
    ]
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_recorded_session_is_told_as_it_is_read(case: Case) -> None:
    with opened(case) as home:
        path = home / case.facts.session_path
        try:
            whole = list(reader.read(path).messages)
        except TranscriptError:
            whole = list(reader.read(path, recover=True).messages)
            assert list(reader.iterate(path, recover=True)) == whole
            return
        assert list(reader.iterate(path)) == whole


def test_what_no_packed_form_holds_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "rollout-2026-01-05T10-00-00-s.jsonl"
    arguments = (
        '{"n":123456789012345678901234567890}',
        r'{"half":"\ud83d"}',
        "[" * 300 + "]" * 300,
    )
    calls = (
        {"type": "function_call", "call_id": f"c{at}", "name": "odd", "arguments": one}
        for at, one in enumerate(arguments * 4)
    )
    write(path, calls)
    assert list(reader.iterate(path)) == list(reader.read(path).messages)
    assert len(list(reader.iterate(path))) == 12


def test_a_result_finds_its_call_however_long_ago_that_was(tmp_path: Path) -> None:
    path = tmp_path / "rollout-2026-01-05T10-00-00-s.jsonl"
    calls = [{"type": "function_call", "call_id": f"c{at}", "name": "odd"} for at in range(50)]
    results = [
        {"type": "function_call_output", "call_id": f"c{at}", "output": f"came of {at}"}
        for at in range(50)
    ]
    write(path, iter(calls + results))
    told = list(reader.iterate(path))
    outputs: list[Any] = [getattr(one, "output", None) for one in told]
    assert outputs == [(Text(text=f"came of {at}"),) for at in range(50)]
    assert told == list(reader.read(path).messages)


def test_drafts_of_one_key_are_told_apart_by_their_order(tmp_path: Path) -> None:
    path = tmp_path / "rollout-2026-01-05T10-00-00-s.jsonl"
    said = (
        {"type": "message", "role": "user", "id": "m", "content": f"words {at}"} for at in range(30)
    )
    write(path, said)
    told = list(reader.iterate(path))
    assert len({one.id for one in told}) == 30
    assert told == list(reader.read(path).messages)
