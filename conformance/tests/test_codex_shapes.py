"""A record that is decoded by its shape says what it says as an object."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.corpus import Case, cases, find_corpus, opened
from transcripts.errors import TranscriptError
from transcripts.serialise import to_json
from transcripts.stores.codex import reader
from transcripts.stores.codex.dialects import shapes

CASES = [case for case in cases(find_corpus()) if case.facts.agent == "codex"]

odd_values = st.sampled_from(
    [
        *(None, True, False, 0, 1.5, -1, 10**30, "", "x", "\ud83d", [], {}, [None], {"a": 1}),
        *("2026-01-05T10:00:00.000Z", {"type": "text", "text": "words"}, {"turn_id": "t"}),
        [{"type": "input_text", "text": "words"}, {"type": "input_image", "image_url": "u"}],
        {"total_token_usage": {"input_tokens": 3}, "last_token_usage": {"input_tokens": "3"}},
    ]
)


def lines_of(case: Case) -> list[bytes]:
    with opened(case) as home:
        return (home / case.facts.session_path).read_bytes().splitlines()


def refuse(raw: bytes) -> Any:
    raise msgspec.DecodeError("every record is read as an object")


def read(lines: list[bytes]) -> bytes | str:
    """Return what is read of a file, or why it is not."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rollout-2026-01-05T10-00-00-x.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        try:
            return to_json(reader.read(path, recover=True))
        except TranscriptError as error:
            return str(error).replace(folder, "")


def read_as_objects(lines: list[bytes]) -> bytes | str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shapes, "decode", refuse)
        return read(lines)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every value in a record."""
    members: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, list):
        members = list(enumerate(value))
    return [
        place for key, member in members for place in [(*path, key), *places(member, (*path, key))]
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_recorded_session_is_read_the_same_by_shapes_and_as_objects(case: Case) -> None:
    lines = lines_of(case)
    assert read(lines) == read_as_objects(lines)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_fields_of_any_type_are_read_the_same_by_shapes_and_as_objects(data: st.DataObject) -> None:
    lines = lines_of(data.draw(st.sampled_from(CASES)))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(1, len(lines) - 1))
        value = json.loads(lines[at])
        ways = places(value)
        if not ways:
            continue
        *steps, key = data.draw(st.sampled_from(ways))
        holder = value
        for step in steps:
            holder = holder[step]
        if data.draw(st.booleans()):
            holder[key] = copy.deepcopy(data.draw(odd_values))
        else:
            del holder[key]
        lines[at] = json.dumps(value).encode()
    assert read(lines) == read_as_objects(lines)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_of_a_key_that_is_said_twice_the_last_counts(data: st.DataObject) -> None:
    lines = lines_of(data.draw(st.sampled_from(CASES)))
    at = data.draw(st.integers(1, len(lines) - 1))
    key = data.draw(st.sampled_from(sorted(json.loads(lines[at]))))
    said = json.dumps({key: data.draw(odd_values)}).encode()
    lines[at] = said[:-1] + b"," + lines[at].lstrip(b"{ ")
    assert read(lines) == read_as_objects(lines)


def test_what_is_recorded_mostly_has_a_shape() -> None:
    shaped = whole = 0
    for case in CASES:
        if case.facts.release.startswith("0.20."):
            continue  # Bare items, which are lifted out of no envelope.
        lines = lines_of(case)
        whole += len(lines)
        for line in lines:
            try:
                shapes.decode(line)
            except msgspec.DecodeError:
                continue
            shaped += 1
    assert shaped > 0.7 * whole


def test_bytes_that_are_not_utf8_are_seen_where_nothing_is_decoded(tmp_path: Path) -> None:
    meta = b'{"type":"session_meta","payload":{"id":"s"}}\n'
    said = b'{"type":"event_msg","payload":{"type":"agent_message","message":"hi","odd":"\xff"}}\n'
    path = tmp_path / "rollout-2026-01-05T10-00-00-s.jsonl"
    path.write_bytes(meta + said)
    transcript = reader.read(path, recover=True)
    assert ("invalid_utf8", 2) in [(one.kind, one.line) for one in transcript.damage]
    assert [message.kind for message in transcript.messages] == ["AgentMessage"]


def test_an_integer_of_many_digits_stays_exact(tmp_path: Path) -> None:
    call = {
        "type": "function_call",
        "call_id": "c",
        "name": "odd",
        "arguments": '{"n":123456789012345678901234567890}',
    }
    lines = [
        json.dumps({"type": "session_meta", "payload": {"id": "s"}}).encode(),
        json.dumps({"type": "response_item", "payload": call}).encode(),
    ]
    path = tmp_path / "rollout-2026-01-05T10-00-00-s.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    [message] = reader.read(path).messages
    assert getattr(message, "arguments", None) == {"n": 123456789012345678901234567890}


def test_half_a_surrogate_pair_where_a_list_belongs_costs_that_field_only() -> None:
    (case,) = (one for one in CASES if one.name == "codex/0.171.0/awkward-text.code-mode")
    lines = lines_of(case)
    passed = "internal_chat_message_metadata_passthrough"
    changed: list[bytes] = []
    for line in lines:
        record = json.loads(line)
        if isinstance(record["payload"].get(passed), dict):
            record["payload"][passed]["content_item_kinds"] = "\ud83d"
        changed.append(json.dumps(record).encode())
    assert changed != lines
    read_again = read(changed)
    assert read_again == read_as_objects(changed)
    assert json.loads(read_again)["messages"]
