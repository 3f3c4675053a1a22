"""A record of Copilot that is skimmed says what the whole record says."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.corpus import find_corpus
from conformance.tests.copilot_events import Events
from transcripts.model import Text, UserMessage
from transcripts.records import jsonlines
from transcripts.stores.copilot.reading.index import TEACHING
from transcripts.stores.copilot.reading.skimming import of_whole, skim
from transcripts.stores.copilot.store import CopilotStore


def recorded() -> Iterator[Any]:
    """Yield one record of each kind and each release."""
    for release in sorted((find_corpus() / "copilot").iterdir()):
        kinds: dict[str, Any] = {}
        for path in sorted(release.rglob("events.jsonl")):
            for line in path.read_bytes().split(b"\n")[:-1]:
                value = json.loads(line)
                longest = kinds.get(value["type"])
                if longest is None or len(value["data"]) > len(longest["data"]):
                    kinds[value["type"]] = value
        yield from kinds.values()


RECORDS = list(recorded())

odd_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # Half a surrogate pair, too, as CLIs write it.
    | st.text(st.characters(exclude_categories=[]), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container of a record with each of its keys."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in members:
        yield value, key
        if isinstance(member, dict | list):
            yield from places(member)


def assert_the_same(line: bytes) -> None:
    """Compare a record skimmed with the same record whole; odd ones need not be skimmed."""
    try:
        seen = skim(line)
    except msgspec.DecodeError:
        return
    assert seen == of_whole(jsonlines.parse(line))


def test_every_recorded_kind_is_skimmed() -> None:
    assert len(RECORDS) > 100
    for record in RECORDS:
        assert skim(json.dumps(record).encode()) == of_whole(record)


@given(st.data())
def test_a_field_of_any_type_is_skimmed_as_it_is_read(data: st.DataObject) -> None:
    record = copy.deepcopy(data.draw(st.sampled_from(RECORDS)))
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(list(places(record))))
        holder[key] = data.draw(odd_values)
        if not record:
            return
    assert_the_same(json.dumps(record).encode())


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":1,"type":"user.message","data":{"model":"m"},"data":{"content":"a","content":"b"}}',
        b'{"type":"user.message","data":{"content":123456789012345678901234567890}}',
        b'{"data":{"toolRequests":[{"arguments":null},{}]},"type":"assistant.message"}',
        b'{"type":"tool.execution_complete","data":{"result":"words"}}',
        b'{"type":"tool.execution_complete","data":{"result":null,"error":null}}',
    ],
)
def test_what_is_doubled_or_long_or_null_is_skimmed_as_it_is_read(line: bytes) -> None:
    assert skim(line) == of_whole(jsonlines.parse(line))


@pytest.mark.parametrize("odd", [None, 7, "x", [1], {}], ids=repr)
@pytest.mark.parametrize("kind", sorted(TEACHING))
def test_data_of_an_odd_type_costs_no_session(tmp_path: Path, kind: str, odd: Any) -> None:
    session = Events()
    session.user("Grind the oats.")
    session.add(kind)
    session.lines[-1]["data"] = odd
    session.user("Grind the rye.")
    path = tmp_path / "events.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in session.lines), encoding="utf-8")
    messages = CopilotStore.read_path(path).messages
    said = [one.content for one in messages if isinstance(one, UserMessage)]
    assert said == [(Text(text="Grind the oats."),), (Text(text="Grind the rye."),)]
    assert tuple(CopilotStore.iter_path(path)) == messages
