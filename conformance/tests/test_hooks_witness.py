"""The witness of the hook correlator is itself held to what was reasoned out by hand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.fakes.correlators import NaiveCorrelator, Sin
from conformance.hooks import (
    BY_NAME,
    OF_ONE_TREE,
    OF_SEVERAL_TREES,
    Choices,
    Conversation,
    Seeded,
    Size,
    Tape,
    conversation,
    conversations,
    decided,
    judged,
    traps,
)
from conformance.hooks.changes import another_order
from conformance.hooks.checks import no_false_link
from conformance.hooks.evidence import parsed, structure
from conformance.hooks.oracle import Link
from conformance.hooks.trees import links

TAPES = st.binary(min_size=40, max_size=400)
NAMES = sorted(BY_NAME)
TRAPS = {trap.name: trap.told for trap in traps()}


def some(dialect: str, count: int, size: Size | None = None) -> Iterator[Conversation]:
    for seed in range(count):
        yield conversation(Choices(Seeded(seed)), BY_NAME[dialect], size or Size())


def cursor_log(*events: tuple[str, Mapping[str, object]]) -> list[bytes]:
    common = {"conversation_id": "c", "generation_id": "g", "observed_at": "2026-01-10T10:00:00Z"}
    return [
        json.dumps({"hook_event_name": name, **common, **rest}).encode() for name, rest in events
    ]


# The generator


@pytest.mark.parametrize("dialect", NAMES)
def test_a_seed_tells_one_conversation(dialect: str) -> None:
    one, other = ([told.lines() for told in conversations(dialect, 7, 400)] for _ in range(2))

    assert one == other
    assert one != [told.lines() for told in conversations(dialect, 8, 400)]


@pytest.mark.parametrize("dialect", NAMES)
def test_a_tape_that_has_run_out_tells_the_plainest_conversation(dialect: str) -> None:
    told = conversation(Choices(Tape(b"")), BY_NAME[dialect])

    assert [each.part for each in told.arrived if each.part != "boundary"] == ["prompt"]
    assert not told.lost


def test_what_makes_correlators_stumble_does_happen() -> None:
    seen = Counter[str]()
    for told in some("cursor", 200):
        calls: dict[tuple[object, ...], set[int]] = {}
        open_calls: list[int | None] = []
        for each in told.arrived:
            if each.part == "pre" and each.again is None:
                payload = each.payload
                for what, key in (
                    ("ids reused", (payload["tool_use_id"],)),
                    ("calls alike", (payload["tool_use_id"], str(payload.get("tool_input")))),
                ):
                    group = calls.setdefault((what, each.session, each.turn, *key), set())
                    group.add(each.call or 0)
                    seen[what] += len(group) > 1
                open_calls.append(each.call)
            elif each.part in ("post", "failure") and each.call in open_calls:
                seen["ends that are not the last start's"] += open_calls[-1] != each.call
                open_calls.remove(each.call)
            seen[each.part] += 1
            seen["delivered twice"] += each.again is not None
            seen["an input in a string"] += isinstance(each.payload.get("tool_input"), str)
            seen["no input"] += each.part == "post" and "tool_input" not in each.payload
            seen["no turn"] += each.payload["generation_id"] == ""
            seen["an empty directory"] += each.payload.get("cwd") == ""
        seen["lost"] += len(told.lost)
        seen["bare"] += told.bare

    rare = {what: count for what, count in seen.items() if count < 10}
    assert not rare
    assert set(seen) >= {"subagent-stop", "failure", "ids reused", "calls alike", "lost"}


@pytest.mark.parametrize("dialect", NAMES)
def test_no_end_shows_what_its_start_lacks_unless_all_of_its_kind_do(dialect: str) -> None:
    """Otherwise the evidence itself would mislead, and no rule could be right."""
    for told in some(dialect, 60):
        starts = {each.call: each for each in told.arrived if each.part == "pre"}
        for each in told.arrived:
            start = starts.get(each.call)
            if each.part in ("post", "failure") and start is not None:
                for field in ("tool_use_id", "tool_name", "tool_input", "toolName", "toolArgs"):
                    assert (field in each.payload) <= (field in start.payload)


# The oracle


def test_inputs_are_compared_as_values() -> None:
    same = [
        ({"a": 1, "b": [{"x": 1, "y": 2}]}, {"b": [{"y": 2, "x": 1}], "a": 1}),
        ({"a": "é"}, json.dumps({"a": "é"})),
        ({"a": None}, ' {"a": null}'),
    ]
    for one, other in same:
        assert structure(parsed(json.dumps(one))) == structure(parsed(json.dumps(other)))
    for one, other in (
        ('{"a": 1}', '{"a": 1.0}'),
        ('{"a": 100}', '{"a": 1e2}'),
        ('{"a": 1}', '{"a": "1"}'),
        ('{"a": 1}', '{"a": true}'),
        ('{"a": [1, 2]}', '{"a": [2, 1]}'),
        ('{"a": "{\\"b\\": 1}"}', '{"a": "{\\"b\\":1}"}'),
        ('{"a": "{\\"b\\": 1}"}', '{"a": {"b": 1}}'),
        ('"[broken"', '["broken"]'),
    ):
        assert structure(parsed(one)) != structure(parsed(other)), (one, other)


def test_the_oracle_tells_crossed_shells_apart() -> None:
    lint = {"command": "lint", "cwd": ""}
    build = {"cwd": "", "command": "build"}
    log = cursor_log(
        ("preToolUse", {"tool_name": "Shell", "tool_use_id": "dup", "tool_input": build}),
        ("preToolUse", {"tool_name": "Shell", "tool_use_id": "dup", "tool_input": lint}),
        ("beforeShellExecution", {"command": "build", "cwd": "/w"}),
        ("beforeShellExecution", {"command": "lint", "cwd": "/w"}),
        ("afterShellExecution", {"command": "lint", "output": "clean"}),
        (
            "postToolUse",
            {"tool_name": "Shell", "tool_use_id": "dup", "tool_input": json.dumps(lint)},
        ),
        ("afterShellExecution", {"command": "build", "output": "ok"}),
        ("postToolUse", {"tool_name": "Shell", "tool_use_id": "dup", "tool_input": build}),
    )

    assert decided(log, "cursor").links == {
        Link(3, 1, "before"),
        Link(4, 2, "before"),
        Link(5, 4, "after"),
        Link(6, 2, "end"),
        Link(7, 3, "after"),
        Link(8, 1, "end"),
    }


def test_the_oracle_decides_nothing_that_is_tied() -> None:
    date = {"tool_name": "Shell", "tool_use_id": "s", "tool_input": {"command": "date"}}
    log = cursor_log(("preToolUse", date), ("preToolUse", date), ("postToolUse", date))

    assert decided(log, "cursor").links == set()
    assert decided([log[0], log[2], log[1], log[2]], "cursor").links == {
        Link(2, 1, "end"),
        Link(4, 3, "end"),
    }


def test_the_oracle_gives_no_end_to_a_call_without_an_id() -> None:
    read = {"tool_name": "Read", "tool_input": {"path": "C:\\W\\A.txt"}}
    log = cursor_log(
        ("preToolUse", read), ("beforeReadFile", {"file_path": "c:/w/a.txt"}), ("postToolUse", read)
    )

    assert decided(log, "cursor").links == {Link(2, 1, "file")}


# What a false link can be excused with


def test_a_lost_twin_excuses_a_false_link() -> None:
    told = TRAPS["two-equal-calls-one-end"].without([1])
    tree = NaiveCorrelator()(told.lines(), told.agent)

    assert links(tree) == {(3, 2)}, "the end of the call whose start is lost, at its twin"
    assert list(no_false_link(judged(NaiveCorrelator(), told))) == []


@pytest.mark.parametrize(
    ("trap", "lost", "sin"),
    [
        ("ends-in-order-of-starts", 1, "id-only"),
        ("case-counts", 2, "id-only"),
        ("another-sandbox", None, "differing-field-weighs-nothing"),
    ],
)
def test_what_evidence_tells_apart_excuses_nothing(trap: str, lost: int | None, sin: Sin) -> None:
    told = TRAPS[trap] if lost is None else TRAPS[trap].without([lost])

    assert list(no_false_link(judged(NaiveCorrelator(sin), told)))


# Other orders


def test_another_order_keeps_what_must_keep_its_order() -> None:
    moved = 0
    for seed, told in enumerate(some("cursor", 60)):
        other = another_order(told, Choices(Seeded(seed)))
        moved += [each.key for each in other.arrived] != [each.key for each in told.arrived]
        assert sorted(other.lines()) == sorted(told.lines())
        for part in ("prompt", "boundary"):
            of_one = [[e.key for e in each.arrived if e.part == part] for each in (told, other)]
            assert Counter(of_one[0]) == Counter(of_one[1])
        place = {each.key: number for number, each in enumerate(other.arrived)}
        for first, second in _in_order(told):
            assert place[first] < place[second]
    assert moved > 40


def _in_order(told: Conversation) -> Iterator[tuple[int, int]]:
    """Yield what is of one call, in its order, and each turn's prompt with all that follows."""
    for number, each in enumerate(told.arrived):
        for other in told.arrived[number + 1 :]:
            same_place = each.payload.get("conversation_id") == other.payload["conversation_id"]
            if same_place and (
                (each.call is not None and each.call == other.call) or each.part == "prompt"
            ):
                yield each.key, other.key


# The sinless one


@pytest.mark.parametrize("dialect", NAMES)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(tape=TAPES)
def test_the_simple_correlator_holds_every_check(dialect: str, tape: bytes) -> None:
    told = conversation(Choices(Tape(tape)), BY_NAME[dialect])
    given_tree = judged(NaiveCorrelator(), told)

    findings = [finding for check in OF_ONE_TREE.values() for finding in check(given_tree)]
    assert not findings


@pytest.mark.parametrize("dialect", NAMES)
@pytest.mark.parametrize("check", OF_SEVERAL_TREES)
@settings(max_examples=8, deadline=None, derandomize=True)
@given(tape=TAPES)
def test_the_simple_correlator_holds_whatever_changes(
    dialect: str, check: str, tape: bytes
) -> None:
    told = conversation(Choices(Tape(tape)), BY_NAME[dialect], Size(1, 2, 4))

    assert not list(OF_SEVERAL_TREES[check](NaiveCorrelator(), told, Choices(Tape(tape[::-1]))))
