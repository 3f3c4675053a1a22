"""The program that takes down hook events, and the order that its log is put in."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from live import hooklog
from live.arrivals import arranged
from live.hooklog import Unlogged, read
from live.model.log import Answer, Exchange
from live.model.play import WireCall
from live.sanitise.rules import Hooks, Together

PAYLOAD = b'{"session_id": "s", "n": 12345678901234567890, "text": "Gr\xc3\xbc\xc3\x9fe \\ud800"}'


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The program as it lies in a sandbox: alone."""
    return Path(shutil.copy(hooklog.__file__, tmp_path / "hooklog.py"))


def start(program: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start it as a CLI would."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(program), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def tell(program: Path, payload: bytes, *arguments: str) -> None:
    """Tell it one event; it must end well and say nothing."""
    process = start(program, *arguments)
    out, err = process.communicate(payload, timeout=30)
    assert (process.returncode, out, err) == (0, b"", b"")


def test_a_payload_is_kept_as_it_came_under_its_event(program: Path) -> None:
    tell(program, PAYLOAD, "PreToolUse")
    line = program.with_name(hooklog.LOG).read_bytes()
    assert PAYLOAD in line
    (row,) = read(program.with_name(hooklog.LOG))
    assert row["event"] == "PreToolUse"
    assert row["payload"] == json.loads(PAYLOAD)


def test_nobody_else_may_read_the_log(program: Path) -> None:
    tell(program, PAYLOAD)
    assert stat.S_IMODE(program.with_name(hooklog.LOG).stat().st_mode) == 0o600


def test_a_payload_of_several_lines_is_one_row(program: Path) -> None:
    payload = json.dumps({"a": [1, {"b": "c\nd"}]}, indent=2).encode()
    tell(program, payload, "Stop")
    (row,) = read(program.with_name(hooklog.LOG))
    assert row["payload"] == json.loads(payload)


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (b"", "empty_payload"),
        (b" \n", "empty_payload"),
        (b'{"torn": ', "malformed_payload"),
        (b"\xff\xfe{\x00}\x00", "malformed_payload"),
    ],
)
def test_what_is_no_payload_is_told_by_length_and_never_a_recording(
    program: Path, raw: bytes, fault: str
) -> None:
    tell(program, raw, "Stop")
    line = json.loads(program.with_name(hooklog.LOG).read_bytes())
    assert (line["fault"], line["bytes"]) == (fault, len(raw))
    with pytest.raises(Unlogged, match="row 1: Stop"):
        read(program.with_name(hooklog.LOG))


def test_a_log_that_cannot_be_written_stops_nobody(program: Path) -> None:
    program.with_name(hooklog.LOG).mkdir()
    process = start(program, "Stop")
    out, _ = process.communicate(PAYLOAD, timeout=30)
    assert (process.returncode, out) == (0, b"")


def test_events_told_at_once_do_not_tear_each_other(program: Path) -> None:
    running = [start(program, f"Event{number}") for number in range(12)]
    for number, process in enumerate(running):
        assert process.stdin is not None
        process.stdin.write(json.dumps({"n": number, "text": "x" * 60_000}).encode())
        process.stdin.close()
    assert [process.wait(timeout=60) for process in running] == [0] * 12
    for process in running:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stderr.close()
    found = read(program.with_name(hooklog.LOG))
    assert sorted(row["payload"]["n"] for row in found) == list(range(12))
    assert all(row["event"] == f"Event{row['payload']['n']}" for row in found)


# ------------------------------------------------------------------ order

TABLE = Hooks(
    call=("id",),
    tool=("tool", "id"),
    input=("input",),
    thread=("agent",),
    thread_ends=("Begun", "Ended"),
    begins="Start",
    together=(Together(events=("Shown", "Before"), why="both are begun at once"),),
)


def exchange(*calls: tuple[str, Any], response: str = "r1") -> Exchange:
    """Return an answer with calls."""
    return Exchange(
        seq=0,
        kind="turn",
        response=response,
        method="POST",
        path="/",
        answer=Answer(
            calls=tuple(WireCall(id=name, name="sh", arguments=value) for name, value in calls)
        ),
    )


def told(at: float, event: str, **payload: Any) -> dict[str, Any]:
    """Return a row that came so many seconds into a minute."""
    return {"observed_at": f"2026-11-30T10:00:{at:09.6f}Z", "event": event, "payload": payload}


def order(rows: list[dict[str, Any]], *exchanges: Exchange) -> list[tuple[str, Any]]:
    """Return events and call ids in the order that rows are put in."""
    found = arranged(rows, exchanges, TABLE)
    assert [row["observed_at"] for row in found] == sorted(row["observed_at"] for row in rows)
    return [(row["event"], row["payload"].get("id")) for row in found]


THREE = exchange(("a", {"n": 1}), ("b", {"n": 2}), ("c", {"n": 3}))


def test_calls_announced_at_once_stand_as_the_model_made_them_however_they_came() -> None:
    for arrival in itertools.permutations("abc"):
        rows = [told(1 + i / 100, "Before", id=one) for i, one in enumerate(arrival)]
        assert order(rows, THREE) == [("Before", one) for one in "abc"]


def test_results_that_came_one_after_the_other_stay_so() -> None:
    rows = [told(1, "After", id="b"), told(1.8, "After", id="c"), told(2.6, "After", id="a")]
    assert [one for _, one in order(rows, THREE)] == ["b", "c", "a"]


def test_calls_taken_one_by_one_stay_so_however_quick_they_are() -> None:
    rows = [
        told(1 + i / 100, event, id=one)
        for i, (event, one) in enumerate(itertools.product(("Before", "After"), "ab"))
    ]
    serial = [rows[1], rows[3], rows[0], rows[2]]
    assert order(serial, THREE) == [(row["event"], row["payload"]["id"]) for row in serial]


def test_calls_of_different_answers_stay_as_they_came() -> None:
    second = exchange(("d", {"n": 4}), response="r0")
    rows = [told(1, "Before", id="d"), told(1.01, "Before", id="a")]
    assert [one for _, one in order(rows, THREE, second)] == ["d", "a"]


def test_a_call_without_an_id_is_known_by_its_name_and_input() -> None:
    rows = [
        told(1, "Before", tool="sh", input={"n": 2}),
        told(1.01, "Before", tool="sh", input='{"n": 1}'),
    ]
    found = arranged(rows, [THREE], TABLE)
    assert [row["payload"]["input"] for row in found] == ['{"n": 1}', {"n": 2}]


def test_equal_calls_without_ids_stay_as_they_came() -> None:
    twins = exchange(("a", {"n": 1}), ("b", {"n": 1}))
    rows = [told(1 + i / 100, "Before", tool="sh", input={"n": 1}, mark=i) for i in range(3)]
    assert [row["payload"]["mark"] for row in arranged(rows, [twins], TABLE)] == [0, 1, 2]


def test_events_begun_together_stand_as_the_table_says() -> None:
    rows = [told(1, "Before", id="a"), told(1.01, "Shown"), told(3, "Before", id="b")]
    expected = [("Shown", None), ("Before", "a"), ("Before", "b")]
    assert order(rows, THREE) == expected
    assert order([rows[1], rows[0], rows[2]], THREE) == expected


def test_what_threads_do_at_the_same_time_stands_main_thread_first() -> None:
    rows = [
        told(1, "Before", id="x", agent="g"),
        told(1.01, "After", id="x", agent="g"),
        told(1.02, "Stop"),
        told(4, "Stop"),
    ]
    assert order(rows, THREE) == [
        ("Stop", None),
        ("Before", "x"),
        ("After", "x"),
        ("Stop", None),
    ]


def test_a_thread_begins_behind_the_call_that_asked_for_it_and_ends_before_its_result() -> None:
    rows = [
        told(1, "Before", id="a"),
        told(1.01, "Begun", agent="g"),
        told(1.02, "Before", id="x", agent="g"),
        told(1.03, "Ended", agent="g"),
        told(1.04, "After", id="a"),
    ]
    assert order(rows, THREE) == [(row["event"], row["payload"].get("id")) for row in rows]


def test_agents_that_nobody_sent_stand_behind_the_start_however_they_came() -> None:
    chance = random.Random(11)
    main = [
        told(0, "Start"),
        told(0, "Prompt"),
        told(0, "Before", id="a"),
        told(0, "Begun", agent="sent"),
        told(0, "Ended", agent="sent"),
        told(0, "After", id="a"),
    ]
    agents = {
        one: [told(0, "Begun", agent=one, kind=one.upper()), told(0, "Ended", agent=one)]
        for one in "pqr"
    }
    for _ in range(100):
        # Each thread in its own order, the threads mixed; all begin before a call is told.
        begun = list("pqr")
        chance.shuffle(begun)
        ends = list("pqr")
        chance.shuffle(ends)
        rows = [main[0], *(agents[one][0] for one in begun), *main[1:3]]
        rest = main[3:]
        for one in ends:
            rest.insert(chance.randrange(len(rest) + 1), agents[one][1])
        # The insertions keep the order of the main thread's rows.
        rows += rest
        timed = [
            {**row, "observed_at": told(1 + i, "x")["observed_at"]} for i, row in enumerate(rows)
        ]
        found = arranged(timed, [THREE], TABLE)
        assert [(row["event"], row["payload"].get("agent")) for row in found] == [
            ("Start", None),
            *(("Begun", one) for one in "pqr"),
            *(("Ended", one) for one in "pqr"),
            ("Prompt", None),
            ("Before", None),
            ("Begun", "sent"),
            ("Ended", "sent"),
            ("After", None),
        ]


def test_an_agent_of_which_only_the_end_is_told_stays_where_it_was_told_of() -> None:
    rows = [told(1, "Start"), told(2, "Prompt"), told(3, "Ended", agent="g"), told(4, "Stop")]
    assert [event for event, _ in order(rows, THREE)] == ["Start", "Prompt", "Ended", "Stop"]


def test_no_order_of_arrival_takes_an_end_before_its_beginning() -> None:
    chance = random.Random(7)
    for _ in range(300):
        names = [(event, one) for one in "abc" for event in ("Before", "After")]
        chance.shuffle(names)
        for one in "abc":
            first, second = names.index(("Before", one)), names.index(("After", one))
            if first > second:
                names[first], names[second] = names[second], names[first]
        times = itertools.accumulate(chance.choice((0.01, 0.2, 0.5)) for _ in names)
        rows = [told(at, event, id=one) for at, (event, one) in zip(times, names, strict=True)]
        found = order(rows, THREE)
        for one in "abc":
            assert found.index(("Before", one)) < found.index(("After", one))


def test_a_call_is_known_by_a_part_of_its_input_under_whatever_name() -> None:
    both = exchange(("a", {"run": "x", "why": "w"}), ("b", {"run": "y", "why": "w"}))
    rows = [
        told(1, "Before", tool="Bash", input={"run": "y"}),
        told(1.01, "Before", tool="Bash", input={"run": "x"}),
    ]
    found = arranged(rows, [both], TABLE)
    assert [row["payload"]["input"]["run"] for row in found] == ["x", "y"]


def test_calls_made_inside_one_script_stand_as_it_makes_them() -> None:
    script = exchange(("outer", 'both(sh({cmd: "echo \\"b\\""}), sh({cmd: "echo a"}))'))
    rows = [
        told(1, "Before", id="x-2", tool="Bash", input={"command": "echo a"}),
        told(1.01, "Before", id="x-1", tool="Bash", input={"command": 'echo "b"'}),
    ]
    assert [one for _, one in order(rows, script)] == ["x-1", "x-2"]


def test_what_a_subagent_does_beside_its_sender_stands_behind_it_until_it_ends() -> None:
    table = Hooks(thread=("agent",), thread_ends=("AgentEnd",))
    rows = [
        told(1, "Before", agent="child"),
        told(1.5, "Asked"),
        told(5, "AgentEnd", agent="child"),
        told(5.1, "After"),
    ]
    found = [row["event"] for row in arranged(rows, [], table)]
    assert found == ["Asked", "Before", "AgentEnd", "After"]


def test_beginnings_are_put_in_order_over_a_longer_time_than_ends() -> None:
    table = Hooks(call=("id",), result=("result",))
    rows = [told(1, "Before", id="b"), told(1.8, "Before", id="a")]
    assert [row["payload"]["id"] for row in arranged(rows, [THREE], table)] == ["a", "b"]
    rows = [told(1, "After", id="b", result=1), told(1.8, "After", id="a", result=2)]
    assert [row["payload"]["id"] for row in arranged(rows, [THREE], table)] == ["b", "a"]
