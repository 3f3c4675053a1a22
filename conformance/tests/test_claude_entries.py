"""An entry that is decoded by its types is the entry that is taken from the whole record."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.corpus import Case, cases, find_corpus, opened
from conformance.tests.test_claude_store_odd_fields import PLACES, WHOLE, odd_values
from transcripts.model import Damage
from transcripts.records import jsonlines
from transcripts.stores.claude.reading.entries import decode, entry_of, skim
from transcripts.stores.claude.reading.rowmaking import rows_of_file
from transcripts.stores.claude.reading.rows import row_on, time_of
from transcripts.stores.claude.reading.shelf import Held

CASES = [case for case in cases(find_corpus()) if case.facts.agent == "claude"]


def assert_one_entry(raw: bytes, value: dict[str, Any]) -> None:
    """Hold what is decoded by types against the whole record, where the types are those."""
    whole = entry_of(value)
    with suppress(msgspec.DecodeError):
        assert decode(raw) == whole
    shelf = Held(value, whole, "session.jsonl")
    with suppress(msgspec.DecodeError):
        skimmed = row_on(shelf, 1, 0, len(raw), skim(raw), None)
        assert skimmed == row_on(shelf, 1, 0, len(raw), whole, None)


def is_typed(raw: bytes) -> bool:
    """Whether a record can be decoded by types."""
    try:
        decode(raw)
    except msgspec.DecodeError:
        return False
    return True


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(PLACES), odd_values), max_size=4))
def test_a_field_of_any_type_makes_the_same_entry(
    changes: list[tuple[tuple[Any, ...], Any]],
) -> None:
    rows = copy.deepcopy(WHOLE)
    for (*steps, key), value in changes:
        place: Any = rows
        try:
            for step in steps:
                place = place[step]
            place[key] = value
        except (LookupError, TypeError):
            continue
    for row in rows:
        assert_one_entry(json.dumps(row).encode(), row)


class Doubled(dict[str, Any]):
    """An object that says one key twice: last what it says, before that something else."""

    def __init__(self, value: dict[str, Any], key: str, before: Any) -> None:
        super().__init__(value)
        self._said = (key, before)

    def items(self) -> Any:
        """Return what is written."""
        return [self._said, *super().items()]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(PLACES), odd_values)
def test_of_a_key_that_is_said_twice_the_last_counts(place: tuple[Any, ...], before: Any) -> None:
    *steps, key = place
    rows: Any = copy.deepcopy(WHOLE)
    holder: Any = None
    found: Any = rows
    for step in steps:
        holder, found = found, found[step]
    if not isinstance(found, dict) or holder is None:
        return
    holder[steps[-1]] = Doubled(found, key, before)
    raw = json.dumps(rows[place[0]]).encode()
    assert_one_entry(raw, json.loads(raw))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_recorded_record_makes_the_same_entry(case: Case) -> None:
    with opened(case) as home:
        for path in home.rglob("*.jsonl"):
            for raw in path.read_bytes().splitlines():
                assert_one_entry(raw, jsonlines.parse(raw))


def test_what_is_recorded_mostly_is_of_the_types_that_are_decoded() -> None:
    decoded = whole = 0
    for case in CASES:
        with opened(case) as home:
            lines = (home / case.facts.session_path).read_bytes().splitlines()
        decoded += sum(map(is_typed, lines))
        whole += len(lines)
    assert decoded > 0.98 * whole


@pytest.mark.parametrize("sparing", [True, False])
def test_bytes_that_are_not_utf8_are_seen_where_nothing_is_decoded(
    tmp_path: Path, sparing: bool
) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b'{"type":"last-prompt","lastPrompt":"\xff"}\n{"type":"tools-used"}\n')
    damage: list[Damage] = []
    rows = rows_of_file(path, tmp_path, damage, recover=True, sparing=sparing)
    assert ("invalid_utf8", 1) in [(one.kind, one.line) for one in damage]
    assert [row.type for row in rows] == ["last-prompt", "tools-used"]


@pytest.mark.parametrize("sparing", [True, False])
def test_what_is_only_counted_is_one_row(tmp_path: Path, sparing: bool) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b'{"type":"last-prompt"}\n{"type":"ai-title","aiTitle":"a"}\n' * 3)
    rows = rows_of_file(path, tmp_path, [], recover=False, sparing=sparing)
    assert [row.type for row in rows] == ["last-prompt", "ai-title"] * 3
    assert len({id(row) for row in rows}) == 4


@pytest.mark.parametrize("sparing", [True, False])
def test_when_and_where_bookkeeping_begins_and_ends_is_known(tmp_path: Path, sparing: bool) -> None:
    path = tmp_path / "session.jsonl"
    says = [
        {"timestamp": "2026-01-05T10:00:00Z", "version": "1"},
        {"timestamp": "2026-01-05T10:00:01Z", "version": "2"},
        {"timestamp": "2026-01-05T10:00:02Z", "version": "3"},
        {"timestamp": "2026-01-05T10:00:03Z"},
        {"timestamp": "no time", "version": "4"},
        {},
    ]
    path.write_bytes(
        b"".join(json.dumps({"type": "api-request", **one}).encode() + b"\n" for one in says)
    )
    rows = rows_of_file(path, tmp_path, [], recover=False, sparing=sparing)
    times = [time for row in rows if (time := time_of(row)) is not None]
    assert [time.second for time in (times[0], times[-1])] == [0, 3]
    releases = [row.setting.version for row in rows if row.setting.version]
    assert (releases[0], releases[-1]) == ("1", "4")


@pytest.mark.parametrize("sparing", [True, False])
def test_a_row_says_what_was_recorded(tmp_path: Path, sparing: bool) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in WHOLE))
    rows = rows_of_file(path, tmp_path, [], recover=True, sparing=sparing)
    assert [row.value for row in rows] == WHOLE
    assert [row.entry for row in rows] == [entry_of(value) for value in WHOLE]
    assert [row.entry for row in reversed(rows)] == [entry_of(value) for value in WHOLE[::-1]]


@pytest.mark.parametrize("sparing", [True, False])
def test_records_longer_than_what_is_read_at_once_are_read_whole(
    tmp_path: Path, sparing: bool
) -> None:
    path = tmp_path / "session.jsonl"
    values = [
        {"type": "user", "uuid": f"{size}", "message": {"content": "x" * size}}
        for size in (1, 100_000, 40_000, 500_000, 7, 130_000)
    ]
    path.write_bytes(b"".join(json.dumps(value).encode() + b"\n" for value in values))
    rows = rows_of_file(path, tmp_path, [], recover=False, sparing=sparing)
    for row, value in [
        *zip(rows, values, strict=True),
        *zip(rows[::-1], values[::-1], strict=True),
    ]:
        assert row.entry == entry_of(value)
