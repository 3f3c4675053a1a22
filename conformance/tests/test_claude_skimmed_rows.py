"""A row that is skimmed by its types is the row that is made of the whole record."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.tests.test_claude_store_odd_fields import PLACES, WHOLE, odd_values
from transcripts.model import Damage
from transcripts.stores.claude.reading.gathering import rows_of_file
from transcripts.stores.claude.reading.rows import Row


def rows_both_ways(path: Path) -> tuple[list[Row], list[Row]]:
    """Return a file's rows, skimmed and of whole records; what is wrong must be the same too."""
    skimmed_damage: list[Damage] = []
    whole_damage: list[Damage] = []
    root = path.parent
    skimmed = rows_of_file(path, root, skimmed_damage, recover=True, shelve=True)
    whole = rows_of_file(path, root, whole_damage, recover=True)
    assert skimmed_damage == whole_damage
    return skimmed, whole


def assert_the_same(skimmed: list[Row], whole: list[Row]) -> None:
    """Compare rows by all that they say, and by where they lie."""
    assert [row[1:] for row in skimmed] == [row[1:] for row in whole]
    assert [row.value for row in skimmed] == [row.value for row in whole]
    assert [row.record.location for row in skimmed] == [row.record.location for row in whole]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(PLACES), odd_values), max_size=4))
def test_a_field_of_any_type_makes_the_same_row(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    rows = copy.deepcopy(WHOLE)
    for (*steps, key), value in changes:
        place: Any = rows
        try:
            for step in steps:
                place = place[step]
            place[key] = value
        except (LookupError, TypeError):
            continue
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        assert_the_same(*rows_both_ways(path))


def test_bytes_that_are_not_utf8_are_seen_where_nothing_is_decoded(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b'{"type":"last-prompt","lastPrompt":"\xff"}\n{"type":"tools-used"}\n')
    damage: list[Damage] = []
    rows = rows_of_file(path, tmp_path, damage, recover=True, shelve=True)
    assert ("invalid_utf8", 1) in [(one.kind, one.line) for one in damage]
    assert [row.type for row in rows] == ["last-prompt", "tools-used"]


def test_what_is_only_counted_is_one_row_where_little_is_to_be_held(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b'{"type":"last-prompt"}\n{"type":"ai-title","aiTitle":"a"}\n' * 3)
    rows = rows_of_file(path, tmp_path, [], recover=False, shelve=True, sparing=True)
    assert [row.type for row in rows] == ["last-prompt", "ai-title"] * 3
    assert len({id(row) for row in rows}) == 4
