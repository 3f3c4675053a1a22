"""Twice the records take twice the work: counted in calls, never in seconds."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from conformance.bench.sessions import RELEASES, Generator
from conformance.bench.sizes import histograms
from conformance.corpus import find_corpus
from transcripts.records import jsonlines
from transcripts.stores.base import store_class
from transcripts.stores.codex.reading.gathering import Gathering

AGENTS = sorted(RELEASES)


def calls(work: Callable[[], Any]) -> int:
    """Count the calls of functions, Python's and built-in ones, that some work makes."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def lines(agent: str, size: int) -> list[bytes]:
    generator = Generator(agent, find_corpus(), histograms()["small"])
    return list(generator.lines(size))


@pytest.mark.parametrize("way", ["read_path", "iter_path"])
@pytest.mark.parametrize("agent", AGENTS)
def test_the_work_grows_with_the_records(tmp_path: Path, agent: str, way: str) -> None:
    read = getattr(store_class(agent), way)
    work: list[int] = []
    records: list[int] = []
    for size in (150_000, 600_000):
        path = tmp_path / f"{size}" / "session.jsonl"
        path.parent.mkdir()
        said = lines(agent, size)
        path.write_bytes(b"".join(said))
        records.append(len(said))
        work.append(calls(lambda path=path: list(getattr(read(path), "messages", read(path)))))
    assert work[1] / work[0] < 1.3 * records[1] / records[0]


@pytest.mark.parametrize("agent", AGENTS)
def test_the_first_messages_come_before_the_last_are_made(tmp_path: Path, agent: str) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"".join(lines(agent, 300_000)))
    store = store_class(agent)
    left = len(list(store.iter_path(path))) - 5
    some = calls(lambda: list(islice(store.iter_path(path), 5)))
    assert calls(lambda: list(store.iter_path(path))) > some + 5 * left


def never_ending(count: int) -> list[dict[str, Any]]:
    """Return one turn of Codex in which much is said, each thing twice and much of it alike."""
    records: list[dict[str, Any]] = [{"type": "session_meta", "payload": {"id": "s"}}]
    for number in range(count):
        for role, words in (("user", f"do {number % 7}"), ("assistant", f"done {number % 5}")):
            told = "user_message" if role == "user" else "agent_message"
            kind = "input_text" if role == "user" else "output_text"
            content = [{"type": kind, "text": words}]
            item = {"type": "message", "role": role, "content": content}
            records.append({"type": "response_item", "payload": item})
            records.append({"type": "event_msg", "payload": {"type": told, "message": words}})
        thought = f"thinking {number}"
        summary = [{"type": "summary_text", "text": thought}]
        records.append(
            {"type": "event_msg", "payload": {"type": "agent_reasoning", "text": thought}}
        )
        records.append(
            {"type": "response_item", "payload": {"type": "reasoning", "summary": summary}}
        )
        script = {"type": "custom_tool_call", "name": "exec", "input": "", "call_id": f"c{number}"}
        done = {"type": "custom_tool_call_output", "call_id": f"c{number}", "output": "ok"}
        command = {"type": "exec_command_end", "call_id": f"exec-{number}", "exit_code": 0}
        records.append({"type": "response_item", "payload": script})
        records.append({"type": "event_msg", "payload": command})
        records.append({"type": "response_item", "payload": done})
    return [{"timestamp": "2026-01-05T10:00:00.000Z", **record} for record in records]


def test_a_turn_of_codex_without_an_end_is_read_in_linear_time(tmp_path: Path) -> None:
    work: list[int] = []
    for count in (200, 800):
        path = tmp_path / f"{count}.jsonl"
        path.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in never_ending(count)))
        messages = store_class("codex").read_path(path).messages
        assert len(messages) == 5 * count
        work.append(calls(lambda path=path: store_class("codex").read_path(path)))
    assert work[1] < 4.5 * work[0]


def test_what_was_told_before_is_looked_at_a_few_times_only(tmp_path: Path) -> None:
    looks: list[int] = []
    for count in (200, 800):
        path = tmp_path / f"{count}.jsonl"
        path.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in never_ending(count)))
        gathering = Gathering(path.name)
        gathering.feed(jsonlines.iterate(path, tmp_path, []))
        looks.append(gathering.looks)
    assert 0 < looks[1] < 4.5 * looks[0]


def test_a_long_line_is_not_gone_through_letter_by_letter(tmp_path: Path) -> None:
    work: list[int] = []
    # The first reading is not counted: what an interpreter does only once is no reading.
    for length in (10, 1_000, 100_000):
        text = r"\ud83d\ude00 \n é" * length
        path = tmp_path / f"{length}.jsonl"
        path.write_bytes(b'{"text":"' + text.encode() + b'"}\n')
        work.append(calls(lambda path=path: jsonlines.read(path, tmp_path)))
    assert work[1] == work[2]
