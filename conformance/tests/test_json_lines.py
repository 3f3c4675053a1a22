"""The record layer: what is whole is returned, what is not is named by place."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transcripts.errors import ChangedDuringRead, DamagedRecord
from transcripts.model import Damage
from transcripts.records import RecordFile, jsonlines

A = b'{"type":"user","uuid":"a","message":{"role":"user","content":"first"}}'
B = b'{"type":"user","uuid":"b","message":{"role":"user","content":"second"}}'


def read(tmp_path: Path, data: bytes, *, recover: bool = True) -> RecordFile:
    path = tmp_path / "session.jsonl"
    path.write_bytes(data)
    return jsonlines.read(path, tmp_path, recover=recover)


def faults(file: RecordFile) -> list[tuple[str, int | None, int | None]]:
    return [(damage.kind, damage.line, damage.offset) for damage in file.damage]


def uuids(file: RecordFile) -> list[str]:
    return [record.value["uuid"] for record in file.records]


def test_records_keep_their_bytes_and_places(tmp_path: Path):
    file = read(tmp_path, A + b"\r\n\n" + B)
    assert [(r.raw, r.line, r.offset, r.path) for r in file.records] == [
        (A, 1, 0, "session.jsonl"),
        (B, 3, len(A) + 3, "session.jsonl"),
    ]
    assert file.damage == []


def test_lines_end_at_line_feed_only(tmp_path: Path):
    text = "one\u2028two\u0085three"
    file = read(tmp_path, json.dumps({"text": text}, ensure_ascii=False).encode(), recover=False)
    assert file.records[0].value == {"text": text}


def test_a_byte_order_mark_costs_nothing(tmp_path: Path):
    file = read(tmp_path, b"\xef\xbb\xbf" + A + b"\n", recover=False)
    assert uuids(file) == ["a"]
    assert file.records[0].offset == 3
    assert faults(file) == [("byte_order_mark", 1, 0)]


def test_a_number_that_no_float_holds_is_kept_as_its_digits(tmp_path: Path):
    file = read(tmp_path, b'{"n":[1e400,-1E+999,1e308]}\n')
    assert file.records[0].value == {"n": ["1e400", "-1E+999", 1e308]}
    assert jsonlines.parse_text('{"n":1e400,"half":"\ud83d"}') == {"n": "1e400", "half": "\ud83d"}


def test_integers_longer_than_a_double_are_kept(tmp_path: Path):
    file = read(tmp_path, b'{"n":123456789012345678901234567890}', recover=False)
    assert file.records[0].value == {"n": 123456789012345678901234567890}


def test_the_last_of_two_equal_keys_wins(tmp_path: Path):
    assert read(tmp_path, b'{"k":1,"k":2}', recover=False).records[0].value == {"k": 2}


def test_half_a_surrogate_pair_is_read_and_named(tmp_path: Path):
    raw = b'{"message":{"content":[{"text":"abc\\ud83c"}]}}'
    file = read(tmp_path, raw, recover=False)
    assert file.records[0].value["message"]["content"][0]["text"] == "abc\ud83c"
    assert [(d.kind, d.why) for d in file.damage] == [
        ("lone_surrogate", "half a surrogate pair at /message/content/0/text, character 3")
    ]


def test_a_whole_surrogate_pair_is_no_damage(tmp_path: Path):
    file = read(tmp_path, b'{"text":"\\ud83c\\udf32"}', recover=False)
    assert file.records[0].value == {"text": "\U0001f332"}
    assert file.damage == []


@pytest.mark.parametrize("cut", [10, 40, 52, len(A) - 1])
def test_a_cut_record_gives_way_to_the_one_that_follows_on_its_line(tmp_path: Path, cut: int):
    file = read(tmp_path, A[:cut] + B + b"\n" + A + b"\n")
    assert uuids(file) == ["b", "a"]
    assert faults(file) == [("truncated_splice", 1, 0)]


def test_an_object_nested_in_a_cut_record_is_no_record(tmp_path: Path):
    cut = A[: A.index(b"}") + 1]
    assert cut.endswith(b'"first"}')
    file = read(tmp_path, cut + B + b"\n")
    assert uuids(file) == ["b"]


def test_two_records_on_one_line_are_two_records(tmp_path: Path):
    file = read(tmp_path, A + B + b"\n")
    assert uuids(file) == ["a", "b"]
    assert faults(file) == [("missing_newline", 1, len(A))]


def test_nul_bytes_are_counted_and_passed_over(tmp_path: Path):
    file = read(tmp_path, b"\0" * 9 + A + b"\n" + b"\0" * 4 + b"\n" + b"\0" * 5)
    assert uuids(file) == ["a"]
    assert [(d.kind, d.line, d.why) for d in file.damage] == [
        ("nul_run", 1, "9 NUL bytes"),
        ("nul_run", 2, "4 NUL bytes"),
        ("nul_tail", 3, "5 NUL bytes"),
    ]


def test_a_torn_tail_is_told_from_a_torn_line(tmp_path: Path):
    file = read(tmp_path, A[:30] + b"\n" + A + b"\n" + B[:30])
    assert uuids(file) == ["a"]
    assert faults(file) == [("torn_line", 1, 0), ("torn_tail", 3, 31 + len(A) + 1)]


def test_a_raw_newline_inside_a_record_is_repaired(tmp_path: Path):
    broken = b'{"uuid":"x","text":"two\nlines"}'
    file = read(tmp_path, A + b"\n" + broken + b"\n" + B + b"\n")
    assert uuids(file) == ["a", "x", "b"]
    assert file.records[1].value["text"] == "two\nlines"
    assert faults(file) == [("repaired", 2, len(A) + 1)]


def test_bytes_that_are_no_utf8_cost_themselves_only(tmp_path: Path):
    file = read(tmp_path, b'{"uuid":"x","text":"caf\xe9"}\n' + A + b"\n")
    assert uuids(file) == ["x", "a"]
    assert file.records[0].value["text"] == "caf\ufffd"
    assert "invalid_utf8" in [damage.kind for damage in file.damage]


@pytest.mark.parametrize(
    "data",
    [A[:30], A + B, b"\0\0" + A, b"\0\0\0", b'{"t":"a\nb"}', b'{"t":"\xff"}', b"null", b"[1]"],
)
def test_strict_reading_refuses_every_line_that_is_no_whole_record(tmp_path: Path, data: bytes):
    with pytest.raises(DamagedRecord) as caught:
        read(tmp_path, B + b"\n" + data + b"\n", recover=False)
    assert caught.value.line == 2
    assert caught.value.offset is not None
    assert caught.value.offset > len(B)
    assert "session.jsonl:2 (byte" in str(caught.value)


@pytest.mark.parametrize("data", [b"[" * 5000, b'{"a":' * 5000, b"{" * 5000, b'{"' * 5000])
def test_deep_nesting_is_refused_without_a_crash(tmp_path: Path, data: bytes):
    with pytest.raises(DamagedRecord):
        read(tmp_path, data, recover=False)
    file = read(tmp_path, data + b"\n" + A)
    assert uuids(file)[-1:] == ["a"]


def test_numbers_that_are_no_json_are_refused(tmp_path: Path):
    with pytest.raises(DamagedRecord):
        read(tmp_path, b'{"n":NaN}', recover=False)


def test_a_file_that_grows_while_it_is_read_is_noticed(tmp_path: Path):
    path = tmp_path / "live.jsonl"
    path.write_bytes(A + b"\n" + B + b"\n")
    damage: list[Damage] = []
    records = jsonlines.iterate(path, tmp_path, damage)
    next(records)
    with path.open("ab") as file:
        file.write(A + b"\n")
    with pytest.raises(ChangedDuringRead):
        list(records)


_OBJECTS = st.lists(
    st.dictionaries(
        st.sampled_from(["type", "text", "message"]),
        st.recursive(
            st.text(st.characters(codec="utf-8")) | st.integers(-(2**63), 2**64 - 1) | st.none(),
            lambda inner: (
                st.lists(inner, max_size=2)
                | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
            ),
            max_leaves=4,
        ),
        min_size=1,
    ),
    min_size=1,
    max_size=5,
)


@given(_OBJECTS)
def test_what_is_encoded_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, values: list[dict[str, Any]]
):
    file = read(tmp_path_factory.mktemp("whole"), jsonlines.encode(values), recover=False)
    assert [record.value for record in file.records] == values


@given(_OBJECTS, st.data())
def test_a_cut_anywhere_loses_only_the_record_it_falls_in(
    tmp_path_factory: pytest.TempPathFactory, values: list[dict[str, Any]], data: st.DataObject
):
    whole = jsonlines.encode(values)
    cut = data.draw(st.integers(0, len(whole)))
    file = read(tmp_path_factory.mktemp("cut"), whole[:cut])
    complete = whole[:cut].count(b"\n")
    found = [record.value for record in file.records]
    assert found[:complete] == values[:complete]
    assert len(found) <= complete + 1
    assert found == values[: len(found)]


def test_an_integer_of_more_than_64_bits_is_written_as_it_is() -> None:
    assert jsonlines.encode([{"n": 2**70, "t": "ü"}]) == f'{{"n":{2**70},"t":"ü"}}\n'.encode()


def test_undecodable_bytes_are_said_beside_any_other_character(tmp_path: Path):
    line = B.replace(b"second", "sec\U0001f332\uff21".encode() + b"\xff")
    file = read(tmp_path, line + b"\n")
    assert "invalid_utf8" in {damage.kind for damage in file.damage}
    assert "lone_surrogate" not in {damage.kind for damage in file.damage}
    assert file.records[0].value["message"]["content"] == "sec\U0001f332\uff21\ufffd"


def test_a_line_of_many_records_is_recovered_in_linear_time(tmp_path: Path):
    count = 20_000
    started = process_time()
    file = read(tmp_path, A * count)
    assert process_time() - started < 10
    assert len(file.records) == count
    assert file.records[-1].offset == len(A) * (count - 1)


def test_undecodable_bytes_are_said_beside_half_a_surrogate_pair(tmp_path: Path):
    line = B.replace(b"second", rb"sec\ud83d" + b"\xe2\x82\xff")
    file = read(tmp_path, line + b"\n")
    assert {"invalid_utf8", "lone_surrogate"} <= {damage.kind for damage in file.damage}
    assert file.records[0].value["message"]["content"] == "sec\ud83d\ufffd\ufffd"
