"""When two inputs of a call are one: however they are written, and only then."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from transcripts.hooks.correlation.canonical import CanonicalInput, canonical

NUMBERS = st.sampled_from(["1", "1.0", "1e0", "-0", "0", "0.10", "0.1", "NaN", "1" * 30, "1e999"])
TEXTS = st.sampled_from(["", "a", "é", "\ud800", "{", '{"a":1}', '{"a":1.0}', "[]", "[NaN]", "\n"])
KEYS = st.sampled_from(["a", "b", "\ud800"])


def _written(value: Any) -> st.SearchStrategy[str]:
    return st.tuples(st.booleans(), st.sampled_from(["", " ", "\n"])).map(
        lambda way: json.dumps(value, ensure_ascii=way[0]) + way[1]
    )


def _lists(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]")


def _objects(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Objects in any order of their keys, some of which may stand twice."""
    fields = st.tuples(KEYS.flatmap(_written), inner).map(":".join)
    return st.lists(fields, max_size=3).map(lambda fields: f"{{{', '.join(fields)}}}")


JSON = st.recursive(
    NUMBERS | TEXTS.flatmap(_written), lambda inner: _lists(inner) | _objects(inner), max_leaves=6
)
INPUTS = (JSON | JSON.flatmap(_written) | st.sampled_from(["", "{", '"{', "\x00"])).map(
    lambda text: text.encode("utf-8", "surrogatepass")
)


def _canonical(raw: bytes) -> str | bytes:
    try:
        return canonical(raw)
    except ValueError:
        return raw


@settings(max_examples=200, deadline=None, derandomize=True)
@given(one=INPUTS, other=INPUTS)
def test_inputs_are_equal_if_their_canonical_texts_are(one: bytes, other: bytes) -> None:
    equal = _canonical(one) == _canonical(other)
    assert (CanonicalInput(one) == CanonicalInput(other)) == equal
    if equal:
        assert hash(CanonicalInput(one)) == hash(CanonicalInput(other))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(raw=INPUTS)
def test_an_input_equals_its_canonical_text(raw: bytes) -> None:
    text = _canonical(raw)
    again = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    assert CanonicalInput(again) == CanonicalInput(raw)
    assert len({CanonicalInput(again), CanonicalInput(raw)}) == 1


def test_an_object_is_the_same_in_a_string_and_in_any_order_but_a_number_is_its_text() -> None:
    one = CanonicalInput(b'{"a": 1, "b": "\\u00e9"}')
    assert one == CanonicalInput(json.dumps('{"b":"é","a":1}').encode())
    assert one != CanonicalInput(b'{"a": 1.0, "b": "\\u00e9"}')
    # Of a key that stands twice the last counts, whatever the first one was.
    twice = CanonicalInput(b'{"a": "\\ud800", "a": 1e0}')
    assert {twice} == {CanonicalInput(b'{"a":1e0}')}
