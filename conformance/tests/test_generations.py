"""One scenario is one conversation in every generation; and what is not so is told."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

from conformance.corpus import Case, find_corpus
from conformance.generations import (
    ByDesign,
    Difference,
    Key,
    Reading,
    by_design,
    compare,
    generations,
    is_by_design,
    reading,
)
from conformance.matrix import read_case
from transcripts.stores.base import store_class

GENERATIONS = generations(find_corpus())
TABLE = by_design()


@cache
def _differences(agent: str, name: str) -> tuple[Difference, ...]:
    """Hold every release against the newest one."""
    ones = [_reading(case) for case in GENERATIONS[agent, name]]
    return tuple(found for one in ones[:-1] for found in compare(one, ones[-1]))


def _reading(case: Case) -> Reading:
    return reading(case, read_case(case, store_class(case.facts.agent)))


@pytest.mark.parametrize("place", GENERATIONS, ids="/".join)
def test_every_generation_tells_the_same_conversation(place: tuple[str, str]) -> None:
    found = [str(one) for one in _differences(*place) if is_by_design(one, TABLE) is None]
    assert found == []


def test_every_entry_of_the_table_covers_something() -> None:
    used = {is_by_design(one, TABLE) for place in GENERATIONS for one in _differences(*place)}
    assert [entry for entry in TABLE if entry not in used] == []


# ------------------------------------------------------------------ it can fail

SCENARIO = ("claude", "command-fails")


def _two() -> tuple[Reading, Reading]:
    one, two = (_reading(case) for case in GENERATIONS[SCENARIO][-2:])
    return one, two


def _found(one: Reading, two: Reading) -> Sequence[tuple[str, str]]:
    return [(found.key.kind, found.field) for found in compare(one, two)]


def _command(reading: Reading) -> Key:
    return next(key for key in reading.messages if key.kind == "CommandExecution")


def test_two_releases_of_one_shape_differ_in_nothing() -> None:
    assert _found(*_two()) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("command", "exit 4"),
        ("exit_code", 4),
        ("output", "turning"),
        ("status", "completed"),
        ("author", "human"),
    ],
)
def test_another_value_is_told(field: str, value: object) -> None:
    one, two = _two()
    key = _command(one)
    changed = {**one.messages, key: {**one.messages[key], field: value}}
    assert _found(one._replace(messages=changed), two) == [("CommandExecution", field)]


def test_a_message_that_only_one_side_has_is_told() -> None:
    one, two = _two()
    fewer = {key: value for key, value in one.messages.items() if key != _command(one)}
    assert _found(one._replace(messages=fewer), two) == [("CommandExecution", "message")]


def test_what_a_case_proves_unrecorded_is_no_difference() -> None:
    one, two = _two()
    key = _command(one)
    changed = {**one.messages, key: {**one.messages[key], "exit_code": None}}
    unproved = one._replace(messages=changed)
    assert _found(unproved, two) != []
    proved = unproved._replace(gone={**one.gone, key: frozenset({"exit_code"})})
    assert _found(proved, two) == []
    fewer = {other: value for other, value in one.messages.items() if other != key}
    assert _found(one._replace(messages=fewer, gone={**one.gone, key: None}), two) == []


def test_an_entry_covers_its_own_agent_release_scenario_kind_and_field_only() -> None:
    key = Key(None, 0, "a-1-1", "Plan", 0)
    told = Difference("claude", "a", ("1.0.0", "2.0.0"), key, "items", (1, 2))
    entry = ByDesign(
        agent="claude", releases=("1.0.*",), scenarios=("a",), kind="Plan", field="items", why="so"
    )
    assert is_by_design(told, (entry,)) is entry
    for other in (
        told._replace(agent="codex"),
        told._replace(scenario="b"),
        told._replace(releases=("1.1.0", "2.0.0")),
        told._replace(key=key._replace(kind="Error")),
        told._replace(field="status"),
    ):
        assert is_by_design(other, (entry,)) is None
