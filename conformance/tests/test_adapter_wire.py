"""Every way to break the wire is told apart, by a real process that breaks it."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.adapters import Failed, NotOffered, Offer, Skipped, TransportFault, open_adapter
from conformance.adapters.errors import (
    BrokenAnswer,
    Crashed,
    Hung,
    Noise,
    NotStarted,
    SplitAnswer,
    UnknownAdapter,
    WrongProtocol,
    WrongSequence,
)
from conformance.adapters.wire import WireAdapter

FAULTY = Path(__file__).with_name("wire_faults.py")
SHORT = 5.0
"""What a process that never answers is given: long enough for one that does, on a busy machine."""


def command(fault: str) -> str:
    return f"exec:{shlex.join([sys.executable, '-I', '-S', str(FAULTY), fault])}"


@contextmanager
def faulty(fault: str, deadline: float = 60.0) -> Generator[WireAdapter, None, None]:
    with open_adapter(command(fault), deadline=deadline) as adapter:
        assert isinstance(adapter, WireAdapter)
        yield adapter


def is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


HOME = Path("/home/nobody")

BREAKS: dict[str, tuple[type[Exception], str]] = {
    "crashes": (Crashed, "ended with exit code 3 before it had answered read"),
    "crashes in mid-line": (Crashed, "with half a line written"),
    "is killed": (Crashed, "was ended by SIGKILL"),
    "leaves a child that holds the pipe": (Crashed, "ended with exit code 4"),
    "closes its output": (Crashed, "closed its standard output"),
    "logs": (Noise, "no JSON: 'reading toy …'"),
    "logs an array": (Noise, """no JSON object: '["reading", "toy"]'"""),
    "writes bytes": (Noise, r"no JSON: b'\xff\xfe\x00'"),
    "writes an empty line": (Noise, "no JSON: ''"),
    "pretty-prints": (SplitAnswer, "goes on in the next line: '{'"),
    "breaks a string": (SplitAnswer, "print each answer as one line"),
    "counts for itself": (WrongSequence, "answered 2 when 1 was asked"),
    "says no number": (BrokenAnswer, "missing required field `seq`"),
    "says more": (BrokenAnswer, "unknown field `mood`"),
    "says too little": (BrokenAnswer, "`author` - at `$.transcript.messages[0]`"),
    "has a rumour": (BrokenAnswer, "Invalid value 'Rumour' - at `$.transcript.messages[0].kind`"),
    "misspells": (BrokenAnswer, "there is no field $.transcript.messages[0].externalId"),
    "misspells in a part": (BrokenAnswer, "missing required field `text`"),
    "has a part more": (BrokenAnswer, "no field $.transcript.messages[0].content[0].bold"),
    "knows no zone": (BrokenAnswer, "the time at messages[0].at has no zone"),
    "fails nowhere": (BrokenAnswer, "Invalid enum value 'attic' - at `$.stage`"),
    "fails": (Failed, "failed (read): toy.jsonl:3: cut short"),
    "skips": (Skipped, "a fork"),
}


@pytest.mark.parametrize("fault", BREAKS)
def test_a_fault_is_told_by_its_own_error_and_costs_one_answer(fault: str) -> None:
    kind, why = BREAKS[fault]
    with faulty(fault) as adapter:
        before = adapter.pid
        with pytest.raises(kind) as raised:
            adapter.read("toy", HOME, "1")
        assert type(raised.value) is kind
        assert why in str(raised.value)
        if isinstance(raised.value, TransportFault):
            assert before is not None
            assert not is_there(before), "what broke the wire is still there"
        else:
            assert adapter.pid == before, "the wire was not broken"
        assert adapter.read("toy", HOME, "fine").session_id == "fine"
        after = adapter.pid
    assert after is not None
    assert not is_there(after)


@pytest.mark.parametrize(
    ("fault", "half"),
    [
        ("hangs", False),
        ("hangs in mid-line", True),
        ("hangs with a child that ignores it", False),
    ],
)
def test_who_does_not_answer_is_ended_with_all_that_it_started(fault: str, half: bool) -> None:
    with faulty(fault, deadline=SHORT) as adapter:
        before = adapter.pid
        assert before is not None
        began = time.monotonic()
        with pytest.raises(Hung, match=f"no answer to read within {SHORT:g} s") as raised:
            adapter.read("toy", HOME, "1")
        assert time.monotonic() - began >= SHORT
        assert ("the beginning of a line came" in str(raised.value)) is half
        assert not is_there(before)
        assert adapter.read("toy", HOME, "fine").session_id == "fine"


def test_who_never_answers_is_waited_for_twice() -> None:
    with faulty("hangs", deadline=SHORT) as adapter:
        for _ in range(2):
            with pytest.raises(Hung, match="no answer to read"):
                adapter.read("toy", HOME, "1")
        began = time.monotonic()
        with pytest.raises(Hung, match=f"2 answers in a row did not come within {SHORT:g} s"):
            adapter.read("toy", HOME, "1")
        assert time.monotonic() - began < SHORT


def test_an_answer_in_between_is_waited_for_again() -> None:
    with faulty("hangs", deadline=SHORT) as adapter:
        for _ in range(3):
            with pytest.raises(Hung, match="no answer to read"):
                adapter.read("toy", HOME, "1")
            assert adapter.read("toy", HOME, "fine").session_id == "fine"


def test_an_answer_too_many_is_the_next_ones_wrong_number() -> None:
    with faulty("answers twice") as adapter:
        assert adapter.read("toy", HOME, "1").session_id == "1"
        with pytest.raises(WrongSequence) as raised:
            adapter.read("toy", HOME, "fine")
        assert (raised.value.asked, raised.value.answered) == (2, 1)
        assert adapter.read("toy", HOME, "fine").session_id == "fine"


@pytest.mark.parametrize("manner", ["writes in pieces", "ends lines with CR LF"])
def test_how_a_line_is_written_does_not_matter(manner: str) -> None:
    with faulty(manner) as adapter:
        assert adapter.read("toy", HOME, "1").session_id == "1"
        assert adapter.read("toy", HOME, "2").session_id == "2"


@pytest.mark.parametrize(
    ("fault", "kind", "why"),
    [
        ("another version", WrongProtocol, "speaks protocol 2, not 1; answer start with"),
        ("another version in another shape", WrongProtocol, "speaks protocol '2.0', not 1"),
        ("banner", Noise, "no JSON: 'wire-faults 1.0, ready'"),
        ("offers what there is not", BrokenAnswer, "unknown field `dream`"),
        ("crashes at start", Crashed, "before it had answered start; it said: no toy in this"),
        ("can't start", Failed, "failed (start): no toy here"),
        ("isn't here", Skipped, "needs a toy"),
    ],
)
def test_who_does_not_greet_is_not_opened(fault: str, kind: type[Exception], why: str) -> None:
    with pytest.raises(kind) as raised, faulty(fault):
        raise AssertionError("it was opened")
    assert type(raised.value) is kind
    assert why in str(raised.value)


def test_who_hangs_at_the_start_is_not_waited_for() -> None:
    with pytest.raises(Hung, match="no answer to start within 1 s"), faulty("hangs at start", 1.0):
        pass


@pytest.mark.parametrize(
    ("fault", "kind", "why"),
    [
        ("says goodbye", Noise, "after it was told to stop; answer each request once"),
        ("stops badly", Crashed, "ended with exit code 5 when it was told to stop"),
        ("does not stop", Hung, f"still there {SHORT:g} s after it was told to stop"),
    ],
)
def test_an_end_that_is_none_is_told(fault: str, kind: type[Exception], why: str) -> None:
    pids: list[int | None] = []

    def use() -> None:
        with faulty(fault, deadline=SHORT) as adapter:
            pids.append(adapter.pid)
            adapter.read("toy", HOME, "1")

    with pytest.raises(kind) as raised:
        use()
    assert why in str(raised.value)
    assert pids[0] is not None
    assert not is_there(pids[0])


def test_what_went_wrong_inside_comes_before_a_bad_end() -> None:
    with pytest.raises(KeyError), faulty("stops badly"):
        raise KeyError


def test_a_new_process_answers_after_reopening() -> None:
    with faulty("none") as adapter:
        adapter.read("toy", HOME, "1")
        before = adapter.pid
        adapter.reopen()
        assert before is not None
        assert not is_there(before)
        assert adapter.read("toy", HOME, "2").session_id == "2"
        assert adapter.pid != before


def test_threads_that_share_an_adapter_get_their_own_answers() -> None:
    ids = [str(number) for number in range(12)]
    with faulty("writes in pieces") as adapter, ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda one: adapter.read("toy", HOME, one).session_id, ids))
    assert answers == ids


def test_what_is_not_offered_is_not_asked() -> None:
    with faulty("crashes") as adapter:
        assert adapter.about.name == "wire-faults"
        assert adapter.agents() == ("toy",)
        assert adapter.offers("toy") == Offer(read=True)
        for ask in (
            lambda: adapter.read("claude", HOME, "1"),
            lambda: adapter.list("toy", HOME),
            lambda: adapter.convert("toy", HOME, "1", "claude", HOME, new_session_id="2"),
        ):
            with pytest.raises(NotOffered):
                ask()


@pytest.mark.parametrize(
    ("name", "kind", "why"),
    [
        ("exec:'node adapter.js", UnknownAdapter, "is no command: No closing quotation; quote it"),
        ("exec:''", NotStarted, "can't be started"),
        ("exec:no-such-command-anywhere", NotStarted, "No such file or directory"),
        ("exec:/", NotStarted, "see that the command runs in this directory"),
    ],
)
def test_what_can_not_be_run_says_so(name: str, kind: type[Exception], why: str) -> None:
    with pytest.raises(kind) as raised, open_adapter(name):
        raise AssertionError("it was opened")
    assert why in str(raised.value)
